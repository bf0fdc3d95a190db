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
	exchange exchange
	load     stopwatt.Load
	to       endpoint
	clock    clock
	epoll    int
	users    []user
	again    []*user // begin their next request at the next turn
	active   int     // users that have not ended
	until    int64   // no request begins at or after this instant
	deadline int64   // no request in flight times out before this instant
	now      int64   // the last reading of the clock
	buffer   []byte
	memory   memory
	events   []unix.EpollEvent
	tally    *tally
}

func newLoop(ask exchange, load stopwatt.Load, to endpoint, users, stopper int) (*loop, error) {
	epoll, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make an epoll: %w", err)
	}
	l := &loop{
		exchange: ask,
		load:     load,
		to:       to,
		epoll:    epoll,
		users:    make([]user, users),
		again:    make([]*user, 0, users),
		active:   users,
		until:    math.MaxInt64,
		deadline: math.MaxInt64,
		buffer:   make([]byte, bufferBytes),
		events:   make([]unix.EpollEvent, min(eventsAtOnce, users+1)),
		tally:    newTally(),
	}
	if errno := watchSocket(epoll, unix.EPOLL_CTL_ADD, stopper, unix.EPOLLIN, stopperNumber); errno != 0 {
		l.close()
		return nil, fmt.Errorf("watch for the end: %w", errno)
	}
	for i := range l.users {
		l.users[i] = newUser(int32(i), load.Requests)
		l.again = append(l.again, &l.users[i])
	}
	return l, nil
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
	l.clock = newClock()
	l.now = l.clock.now()
	l.tally.start = l.now
	if l.load.For > 0 {
		l.until = l.now + int64(l.load.For)
	}
	for l.active > 0 {
		l.beginAgain()
		before := l.now
		n, errno := waitSockets(l.epoll, l.events, l.patience())
		if errno != 0 {
			n = 0 // EINTR: the runtime knocked
		}
		for i := range n {
			number := l.events[i].Fd
			if number == stopperNumber {
				return
			}
			l.happened(&l.users[number], l.events[i].Events)
		}
		if l.now == before { // else a request ended just now, and read the clock
			l.now = l.clock.now()
		}
		if l.now >= l.deadline {
			l.expire()
		}
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
	if !u.busy {
		return
	}
	const over = unix.EPOLLRDHUP | unix.EPOLLHUP | unix.EPOLLERR
	u.over = events&over != 0
	if u.sent < len(l.exchange.request) && events&(unix.EPOLLOUT|over) != 0 && !l.send(u) {
		return
	}
	if events&(unix.EPOLLIN|over) != 0 {
		l.receive(u)
	}
}
