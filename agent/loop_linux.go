package agent

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	eventsAtOnce = 256
	// stopperNumber stands for the team's stopper among the users' numbers.
	stopperNumber = -1
	// bufferBytes is read at once where the bytes must be seen.
	bufferBytes = 64 << 10
	// firstRead is read of an answer at first: enough for its head, and for
	// small answers whole. Most of a long body is dropped unseen.
	firstRead = 8 << 10
	// Bytes are dropped inside the kernel when there are at least so many to
	// drop: for fewer, a copy is cheaper than another call.
	discardAtLeast = 8 << 10
	discardAtMost  = 1 << 30
	// While at least dozeAtLeast bytes of a body are missing, epoll is to report
	// no fewer than what is missing, or dozeAtMost. At 1 MiB this saved two
	// thirds of the driver's CPU; more than dozeAtMost saved nothing more.
	dozeAtLeast = 16 << 10
	dozeAtMost  = 256 << 10
)

// A loop is one thread's share of the load: its users, and all that happens
// to their connections. Nothing of it is shared while it runs.
type loop struct {
	mix      mix
	load     stopwatt.Load
	to       endpoint
	clock    clock
	epoll    int
	users    []user
	again    []*user // begin their next request at the next turn
	thinking queue   // of a closed load
	pace     *pace   // of an open load, else nil
	active   int     // users that have not ended
	gaveUp   kind    // what the last user to give up had met
	until    int64   // no request begins at or after this instant
	deadline int64   // no request in flight times out before this instant
	now      int64   // the last reading of the clock
	buffer   []byte
	events   []unix.EpollEvent
	tally    *tally
	unlooked int // requests until the next look for an answer that came too early
}

// newLoop makes the loop of one of several threads.
func newLoop(order stopwatt.DriveOrder, questions []question, to endpoint, stopper, thread, threads int) (*loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make an epoll: %w", err)
	}
	users := (order.Load.Users + threads - 1 - thread) / threads
	l := &loop{
		mix:      newMix(order, questions, thread, threads),
		load:     order.Load,
		to:       to,
		epoll:    epoll,
		users:    make([]user, users),
		again:    make([]*user, 0, users),
		active:   users,
		until:    math.MaxInt64,
		deadline: math.MaxInt64,
		buffer:   make([]byte, bufferBytes),
		events:   make([]unix.EpollEvent, min(eventsAtOnce, users+1)),
		tally:    newTally(order.Load),
	}
	if errno := watchSocket(epoll, unix.EPOLL_CTL_ADD, stopper, unix.EPOLLIN, stopperNumber); errno != 0 {
		l.close()
		return nil, fmt.Errorf("watch for the end: %w", errno)
	}
	for i := range l.users {
		l.users[i] = newUser(int32(i), order.Load.Requests, questions)
	}
	l.ready(order, thread, threads)
	return l, nil
}

// ready has all users wait for what begins their first request.
func (l *loop) ready(order stopwatt.DriveOrder, thread, threads int) {
	if order.Load.Open() {
		l.pace = newPace(order, l.users, thread, threads)
		return
	}
	l.thinking = newQueue(len(l.users))
	for i := range l.users {
		l.again = append(l.again, &l.users[i])
	}
}

// close frees what the loop has open. It may be called once.
func (l *loop) close() {
	for i := range l.users {
		l.hangUp(&l.users[i])
	}
	closeSocket(l.epoll)
}

// run drives until every user has ended or the stopper is written to.
func (l *loop) run() {
	l.begins()
	for l.active > 0 {
		l.beginAgain()
		l.beginTimed()
		n, errno := l.wait()
		if errno != 0 {
			n = 0 // EINTR: the runtime knocked
		}
		woken := l.clock.now()
		l.now = woken
		for i := range n {
			number := l.events[i].Fd
			if number == stopperNumber {
				return
			}
			l.happened(&l.users[number], l.events[i].Events)
		}
		if l.pace == nil && n > 0 {
			l.tally.lag.Record(l.now - woken)
		}
		if l.now >= l.deadline {
			l.expire()
		}
	}
	l.ends()
}

// begins says when driving begins.
func (l *loop) begins() {
	l.clock = newClock()
	l.now = l.clock.now()
	l.tally.begin(l.now)
	switch {
	case l.pace != nil:
		l.pace.begin(l.now, l.load.Timeout)
	case l.load.For > 0:
		l.until = l.now + int64(l.load.For)
	}
}

// ends accounts for what came due when every user had given up.
func (l *loop) ends() {
	if l.pace == nil {
		return
	}
	if n := l.pace.rest(); n > 0 {
		l.tally.due += n
		l.tally.unsent(l.gaveUp, n)
	}
}

// beginAgain begins the requests of those who could not go on at once. Whoever
// fails now gets the next turn.
func (l *loop) beginAgain() {
	waiting := len(l.again)
	for _, u := range l.again[:waiting] {
		l.begin(u)
	}
	rest := copy(l.again, l.again[waiting:])
	l.again = l.again[:rest]
}

// wait waits until something happens, or is to happen.
func (l *loop) wait() (n int, errno unix.Errno) {
	if l.pace == nil && l.load.Think == 0 {
		return waitSockets(l.epoll, l.events, l.patience())
	}
	return waitSocketsUntil(l.epoll, l.events, l.now, l.alarm())
}

// patience is how many milliseconds to wait for events: not at all when there
// is something to do, else until the first request times out.
func (l *loop) patience() int {
	if len(l.again) > 0 || l.active == 0 {
		return 0
	}
	if l.deadline == math.MaxInt64 {
		return -1
	}
	const millisecond = 1_000_000
	left := max(l.deadline-l.now, 0)
	return int(min((left+millisecond-1)/millisecond, math.MaxInt32))
}

// expire ends the requests whose time is up, and finds when the next will be.
// It looks at every user, but only about once per timeout: deadlines only ever
// move away from the one that was the earliest.
func (l *loop) expire() {
	l.deadline = math.MaxInt64
	for i := range l.users {
		u := &l.users[i]
		if !u.busy {
			continue
		}
		if l.now >= u.deadline {
			l.timeOut(u)
			continue
		}
		l.deadline = min(l.deadline, u.deadline)
	}
}

// happened carries on with a user whose connection epoll reported.
func (l *loop) happened(u *user, events uint32) {
	const over = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	if !u.busy {
		if events&(over|unix.EPOLLIN) != 0 {
			l.hangUp(u) // ended, or written to unasked, while it rested
		}
		return
	}
	u.over = events&over != 0
	if u.sent < len(u.request) && events&(unix.EPOLLOUT|over) != 0 && !l.send(u) {
		return
	}
	if events&(unix.EPOLLIN|over) != 0 {
		l.receive(u)
	}
}
