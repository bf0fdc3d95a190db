package agent

import (
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/sys/unix"
)

// seenBytes is how much of an answer's beginning is kept for messages.
const seenBytes = 160

// A user asks, waits for the answer and asks again, over one connection at a
// time.
type user struct {
	number    int32
	fd        int // -1: no connection
	busy      bool
	fresh     bool // nothing was sent on this connection before this request
	connected bool // something was sent on it
	writable  bool // epoll tells when it can be written
	cut       bool // the rest of the request cannot be sent
	over      bool // epoll said that the server will send no more
	repeated  int  // how often in a row its requests ended as lastKind
	lastKind  kind
	wakeAt    int   // bytes that must have come for epoll to report them
	left      int64 // requests that are not accounted for yet
	question  *question
	memory    *memory
	request   []byte
	own       []byte // a request that a redirect asks for
	spare     []byte // for the one after it
	hops      int    // redirects that were followed
	sent      int    // bytes of the request
	due       int64  // of an open load, ns
	rested    int64  // since when it had nothing to do, ns
	wake      int64  // when it has thought long enough, ns
	opened    int64  // when the connection was asked for, ns
	started   int64  // when the request was, ns
	deadline  int64
	answer    answer
	check     *check // of bodies; nil where no question asks for it
	seen      [seenBytes]byte
	seenLen   int
}

func newUser(number int32, requests int, questions []question) user {
	left := int64(requests)
	if requests == 0 {
		left = math.MaxInt64 // time ends it
	}
	u := user{number: number, fd: -1, left: left}
	if slices.ContainsFunc(questions, func(q question) bool { return q.oneIn > 0 }) {
		u.check = newCheck()
	}
	return u
}

// begin has the user make its next request.
func (l *loop) begin(u *user) {
	number, request := l.mix.draw()
	u.question, u.memory, u.request = &l.mix.questions[number], &l.mix.memories[number], request
	u.answer.await(u.question.head)
	u.answer.body = u.check.part(l.mix.asked, u.question.oneIn)
	u.sent, u.seenLen, u.hops = 0, 0, 0
	u.busy, u.cut, u.over = true, false, false
	l.now = l.clock.now()
	u.started = l.now
	u.deadline = l.now + int64(l.load.Timeout)
	l.deadline = min(l.deadline, u.deadline)
	if l.pace != nil {
		l.tally.due++
		l.tally.lag.Record(l.now - max(u.due, u.rested))
	}
	l.ask(u)
}

// ask sends the user's request, over a new connection where there is none.
func (l *loop) ask(u *user) {
	if u.fd >= 0 {
		u.fresh = false
		if l.lookAhead() && hasCome(u.fd) {
			l.fail(u, kindProtocol, errEarly)
			return
		}
		l.doze(u)
		l.send(u)
		return
	}
	if l.open(u) && l.send(u) {
		l.watch(u, unix.EPOLL_CTL_ADD)
	}
}

// lookOneIn is how many requests there are, on average, to one before which is looked
// whether its answer is there already. A look is one more call of the kernel; a server
// that sends answers ahead does so always, and is met with many requests before that.
const lookOneIn = 16

// lookAhead says whether to look before this request. When it does nobody can foresee.
func (l *loop) lookAhead() bool {
	if l.unlooked--; l.unlooked > 0 {
		return false
	}
	l.unlooked = 1 + rand.IntN(2*lookOneIn-1)
	return true
}

// open makes a connection, or begins to. It returns false when the request has
// ended with that.
func (l *loop) open(u *user) bool {
	fd, errno := openSocket(l.to.family)
	if errno != 0 {
		l.fail(u, kindConnect, errno)
		return false
	}
	u.fd, u.fresh, u.connected, u.writable, u.wakeAt = fd, true, false, false, 1
	u.opened = l.now
	if !l.load.Close || len(u.request) > smallestSegment {
		sendAtOnce(fd)
	}
	errno = connectSocket(fd, &l.to)
	if errno != 0 && errno != unix.EINPROGRESS {
		l.fail(u, kindConnect, errno)
		return false
	}
	return true
}

// smallestSegment is what surely fits into one packet (RFC 9293, section
// 3.7.1). The one small write of a connection is never delayed.
const smallestSegment = 536

// watch has epoll report the user's connection: once, edge-triggered, and
// whether it can be written only while that is needed.
func (l *loop) watch(u *user, operation int) {
	events := uint32(unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLET)
	u.writable = u.sent < len(u.request)
	if u.writable {
		events |= unix.EPOLLOUT
	}
	if errno := watchSocket(l.epoll, operation, u.fd, events, u.number); errno != 0 {
		l.fail(u, kindConnect, errno)
	}
}

// send writes what it can of the request. It returns false when the request
// has ended with that.
func (l *loop) send(u *user) bool {
	for u.sent < len(u.request) && !u.cut {
		if u.sent == 0 && u.fresh {
			l.now = l.clock.now()
		}
		n, errno := sendSocket(u.fd, u.request[u.sent:])
		switch {
		case errno == 0:
			if !u.connected {
				l.connected(u)
			}
			u.sent += n
			l.tally.sent += int64(n)
		case errno == unix.EINTR:
		case errno == unix.EAGAIN:
			l.watchWritable(u)
			return u.busy
		case !u.connected && notConnected(errno):
			l.fail(u, kindConnect, errno)
			return false
		default:
			l.sendCut(u, errno)
			return false
		}
	}
	return true
}

// connected notes that the connection was made when the clock was read last.
// Connecting is not counted as latency where connections are kept.
func (l *loop) connected(u *user) {
	u.connected = true
	l.tally.connect.Record(l.now - u.opened)
	if !l.load.Close && u.hops == 0 {
		u.started = l.now
	}
}

// sendCut ends a request that could not be sent whole. The server may have
// answered before it closed: that answer counts.
func (l *loop) sendCut(u *user, errno unix.Errno) {
	u.cut, u.over = true, true
	l.receive(u)
	if u.busy && u.cut { // else a redirect has been followed
		l.fail(u, kindClosed, errno)
	}
}

// watchWritable has epoll tell when the rest of the request can be written. A
// fresh connection is not yet watched at all; begin will do it.
func (l *loop) watchWritable(u *user) {
	if u.connected && !u.fresh && !u.writable {
		l.watch(u, unix.EPOLL_CTL_MOD)
	}
}

// notConnected tells errors that say that there never was a connection.
func notConnected(errno unix.Errno) bool {
	switch errno {
	case unix.EPIPE, unix.ECONNRESET:
		return false
	}
	return true
}

// readsBetweenLooks is how often receive reads between two looks at the clock.
const readsBetweenLooks = 64

// receive reads what has come of the answer.
func (l *loop) receive(u *user) {
	for reads := 1; ; reads++ {
		n, asked, errno := l.read(u)
		switch {
		case errno == unix.EINTR:
			continue
		case errno == unix.EAGAIN:
			l.doze(u)
			return
		case errno != 0 && !u.connected && notConnected(errno):
			l.fail(u, kindConnect, errno)
			return
		case errno != 0:
			l.fail(u, kindClosed, errno)
			return
		case n == 0:
			u.over = true
			u.answer.end()
		}
		if u.answer.done() {
			l.finish(u)
			return
		}
		if n < asked && !u.over {
			l.doze(u)
			return // all that has come was read (epoll(7), question 9)
		}
		if reads%readsBetweenLooks == 0 && l.clock.now() >= u.deadline {
			l.timeOut(u) // the server writes as fast as we read, and does not end
			return
		}
	}
}

// doze has long bodies come in large parts: the driver need not wake up for
// each packet to throw it away.
func (l *loop) doze(u *user) {
	want := 1
	if left := u.answer.skippable(); left >= dozeAtLeast {
		want = int(min(left, dozeAtMost))
	}
	if want != u.wakeAt {
		wakeAt(u.fd, want)
		u.wakeAt = want
	}
}

// read reads once: into the buffer, or, where nobody needs to see the bytes,
// into nothing. asked is how much could have been read.
func (l *loop) read(u *user) (n, asked int, errno unix.Errno) {
	if skippable := u.answer.skippable(); skippable >= discardAtLeast && l.to.family != unix.AF_UNIX {
		asked = int(min(skippable, discardAtMost))
		n, errno = discardSocket(u.fd, asked)
		if errno == 0 {
			l.tally.received += int64(n)
			u.answer.skip(int64(n))
		}
		return n, asked, errno
	}
	asked = bufferBytes
	if u.seenLen == 0 {
		asked = firstRead
	}
	n, errno = receiveSocket(u.fd, l.buffer[:asked])
	if errno == 0 {
		l.tally.received += int64(n)
		u.digest(l.buffer[:n])
	}
	return n, asked, errno
}

// digest reads the answer from bytes that were received.
func (u *user) digest(p []byte) {
	if u.seenLen < seenBytes {
		u.seenLen += copy(u.seen[u.seenLen:], p)
	}
	if n := u.memory.feed(&u.answer, p); n < len(p) && u.answer.err == nil {
		u.answer.fail(errTooMuch)
	}
}

// hangUp closes the user's connection, if there is one.
func (l *loop) hangUp(u *user) {
	if u.fd >= 0 {
		closeSocket(u.fd)
		u.fd = -1
	}
}
