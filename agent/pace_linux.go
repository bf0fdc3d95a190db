package agent

import (
	"math"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A pace begins the requests of an open load as they come due. The connection
// that was used last is used next, as pools of clients do it: there are only as
// many connections as are needed at one time.
type pace struct {
	schedule *schedule
	zero     int64 // when the load began, ns of CLOCK_MONOTONIC
	next     int64 // when the next request is due; never when none is left
	last     int64 // after this instant nothing is begun: what is due stays unsent
	free     []*user
}

func newPace(order stopwatt.DriveOrder, users []user, thread, threads int) *pace {
	p := &pace{schedule: newSchedule(order.Load, order.Seed, thread, threads), free: make([]*user, len(users))}
	for i := range users {
		p.free[len(users)-1-i] = &users[i]
	}
	return p
}

// begin says when the load begins.
func (p *pace) begin(now int64, timeout time.Duration) {
	p.zero = now
	p.last = now + p.schedule.end() + int64(timeout)
	p.look()
}

// look finds when the next request is due.
func (p *pace) look() {
	p.next = p.schedule.due()
	if p.next != math.MaxInt64 {
		p.next += p.zero
	}
}

// take gives the next request to a user.
func (p *pace) take(u *user) {
	u.due = p.next
	p.schedule.advance()
	p.look()
}

// over tells whether no request is left.
func (p *pace) over() bool { return p.next == math.MaxInt64 }

// rest is how many requests are left. It uses them up.
func (p *pace) rest() int64 {
	n := p.schedule.rest()
	p.next = math.MaxInt64
	return n
}

// beginTimed begins what the clock says.
func (l *loop) beginTimed() {
	switch {
	case l.pace != nil:
		l.beginDue()
	case l.thinking.n > 0:
		l.beginThought()
	}
}

// beginDue begins the requests that are due, as long as a user is free; and
// lets all free users end when there are no more.
func (l *loop) beginDue() {
	p := l.pace
	if l.now > p.last {
		n := p.rest()
		l.tally.due, l.tally.late = l.tally.due+n, l.tally.late+n
	}
	for p.next <= l.now && len(p.free) > 0 {
		u := p.free[len(p.free)-1]
		p.free = p.free[:len(p.free)-1]
		p.take(u)
		l.begin(u)
	}
	if !p.over() {
		return
	}
	for _, u := range p.free {
		l.retire(u)
	}
	p.free = p.free[:0]
}

// pacedOn has a user of an open load begin what has been due, or rest. Later
// says that it may not begin anything in this turn.
func (l *loop) pacedOn(u *user, later bool) {
	u.rested = l.now
	if l.pace.next <= l.now && !later && l.now <= l.pace.last {
		l.pace.take(u)
		l.begin(u)
		return
	}
	l.pace.free = append(l.pace.free, u)
}

// beginThought begins the requests of users who have thought long enough; all
// end when the time is up.
func (l *loop) beginThought() {
	for l.thinking.n > 0 && min(l.thinking.first().wake, l.until) <= l.now {
		u := l.thinking.take()
		if l.now >= l.until {
			l.retire(u)
			continue
		}
		l.begin(u)
	}
}

// alarm is when the clock begins something, or ends a request that takes too
// long.
func (l *loop) alarm() int64 {
	at := l.deadline
	switch {
	case len(l.again) > 0 || l.active == 0:
		return l.now
	case l.pace != nil && len(l.pace.free) > 0:
		at = min(at, l.pace.next)
	case l.thinking.n > 0:
		at = min(at, l.thinking.first().wake, l.until)
	}
	return at
}

// A queue holds users in the order in which they came, in memory of its own.
type queue struct {
	ring     []*user
	start, n int
}

func newQueue(size int) queue { return queue{ring: make([]*user, size)} }

func (q *queue) first() *user { return q.ring[q.start] }

func (q *queue) add(u *user) {
	q.ring[(q.start+q.n)%len(q.ring)] = u
	q.n++
}

func (q *queue) take() *user {
	u := q.first()
	q.start = (q.start + 1) % len(q.ring)
	q.n--
	return u
}
