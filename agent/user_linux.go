package agent

import (
	"errors"
	"fmt"
	"math"

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
	sent      int   // bytes of the request
	started   int64 // what latency counts from, ns
	deadline  int64
	answer    answer
	seen      [seenBytes]byte
	seenLen   int
}

func newUser(number int32, requests int) user {
	left := int64(requests)
	if requests == 0 {
		left = math.MaxInt64 // time ends it
	}
	return user{number: number, fd: -1, left: left}
}

// Where a user gives up. A server that is gone, or that never answers, would
// otherwise be asked for as long as it takes to ask all that was ordered. The
// rest of the user's requests counts as errors of the same kind, unsent.
const (
	giveUpConnects = 100
	giveUpTimeouts = 5
)

// begin sends the next request, over a new connection where there is none.
func (l *loop) begin(u *user) {
	u.answer.await(l.exchange.head)
	u.sent, u.seenLen = 0, 0
	u.busy, u.cut, u.over = true, false, false
	l.now = l.clock.now()
	u.started = l.now
	u.deadline = l.now + int64(l.load.Timeout)
	l.deadline = min(l.deadline, u.deadline)
	if u.fd >= 0 {
		u.fresh = false
		l.doze(u)
		l.send(u)
		return
	}
	if l.open(u) && l.send(u) {
		l.watch(u, unix.EPOLL_CTL_ADD)
	}
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
	if !l.load.Close || len(l.exchange.request) > smallestSegment {
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
	u.writable = u.sent < len(l.exchange.request)
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
	for u.sent < len(l.exchange.request) && !u.cut {
		if u.sent == 0 && u.fresh && !l.load.Close {
			u.started = l.clock.now() // connecting is not counted where connections are kept
		}
		n, errno := sendSocket(u.fd, l.exchange.request[u.sent:])
		switch {
		case errno == 0:
			u.sent += n
			l.tally.sent += int64(n)
			u.connected = true
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

// sendCut ends a request that could not be sent whole. The server may have
// answered before it closed: that answer counts.
func (l *loop) sendCut(u *user, errno unix.Errno) {
	u.cut, u.over = true, true
	l.receive(u)
	if u.busy {
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

// receive reads what has come of the answer.
func (l *loop) receive(u *user) {
	for {
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
	if skippable := u.answer.skippable(); skippable >= discardAtLeast {
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
		l.digest(u, l.buffer[:n])
	}
	return n, asked, errno
}

// digest reads the answer from bytes that were received.
func (l *loop) digest(u *user, p []byte) {
	if u.seenLen < seenBytes {
		u.seenLen += copy(u.seen[u.seenLen:], p)
	}
	if n := l.memory.feed(&u.answer, p); n < len(p) && u.answer.err == nil {
		u.answer.fail(errTooMuch)
	}
}

// finish ends a request whose answer is complete or broken.
func (l *loop) finish(u *user) {
	l.now = l.clock.now()
	l.tally.end = l.now
	switch a := &u.answer; {
	case a.err != nil:
		l.fail(u, kindOf(a.err), a.err)
		return
	case l.now > u.deadline:
		l.timeOut(u)
		return
	case a.status != l.exchange.status:
		l.count(u, kindStatus, nil)
	case l.exchange.bodyBytes != AnyLength && a.bodyBytes != l.exchange.bodyBytes:
		l.count(u, kindBody, nil)
	default:
		l.tally.right(l.now - u.started)
		u.left--
		u.repeated = 0
	}
	if l.load.Close || u.over || !u.answer.kept() || u.sent < len(l.exchange.request) {
		l.hangUp(u)
	}
	switch {
	case !l.goesOn(u):
	case u.cut:
		l.later(u) // for we are inside begin or happened
	default:
		l.begin(u)
	}
}

// later has the user begin its next request at the next turn.
func (l *loop) later(u *user) {
	u.busy = false
	l.again = append(l.again, u)
}

// kindOf is the kind of an error that the reading of an answer ended in.
func kindOf(err error) kind {
	if err == errCutShort {
		return kindClosed
	}
	return kindProtocol
}

// goesOn tells whether the user has another request to make, and lets it end
// when it has none.
func (l *loop) goesOn(u *user) bool {
	if u.left > 0 && l.now < l.until {
		return true
	}
	u.busy = false
	l.hangUp(u)
	l.active--
	return false
}

// fail ends a request, and its connection, with an error.
func (l *loop) fail(u *user, k kind, cause error) {
	l.now = l.clock.now()
	l.tally.end = l.now
	l.count(u, k, cause)
	l.hangUp(u)
	if l.goesOn(u) {
		l.later(u)
	}
}

// timeOut ends a request that took too long.
func (l *loop) timeOut(u *user) {
	k := kindTimeout
	if u.fd >= 0 && !u.connected {
		k = kindConnect
	}
	l.fail(u, k, errTooLong)
}

var errTooLong = errors.New("no whole answer within the timeout")

// count accounts for a request that ended in an error; and for all that are
// left when the user gives up.
func (l *loop) count(u *user, k kind, cause error) {
	if u.repeated == 0 || u.lastKind != k {
		u.repeated, u.lastKind = 0, k
	}
	u.repeated++
	if l.tally.wrong(k, 1) {
		l.tally.first[k] = l.tell(u, k, cause)
	}
	u.left--
	if givesUp(k, u.repeated) {
		l.giveUp(u, k)
	}
}

// giveUp lets the user end, with whatever requests it was still to make.
func (l *loop) giveUp(u *user, k kind) {
	if l.load.Requests > 0 {
		l.tally.wrong(k, u.left)
	}
	u.left = 0
}

func givesUp(k kind, repeated int) bool {
	return k == kindConnect && repeated >= giveUpConnects || k == kindTimeout && repeated >= giveUpTimeouts
}

// hangUp closes the user's connection, if there is one.
func (l *loop) hangUp(u *user) {
	if u.fd >= 0 {
		closeSocket(u.fd)
		u.fd = -1
	}
}

// tell describes an error whole: whom it met, what was wrong, and how the
// answer began.
func (l *loop) tell(u *user, k kind, cause error) string {
	what := ""
	switch {
	case k == kindStatus:
		what = fmt.Sprintf("status %d, expected %d", u.answer.status, l.exchange.status)
	case k == kindBody:
		what = fmt.Sprintf("a body of %d bytes, expected %d", u.answer.bodyBytes, l.exchange.bodyBytes)
	case k == kindClosed && !u.fresh && u.seenLen == 0:
		what = cause.Error() + "; it had carried answers before, and the server closed it without having said `Connection: close`"
	case cause == unix.EADDRNOTAVAIL:
		what = cause.Error() + "; every local port is in use or in TIME_WAIT: keep connections, or ask fewer requests"
	default:
		what = cause.Error()
	}
	if u.seenLen == 0 {
		return fmt.Sprintf("%s: %s; nothing was read of an answer", l.exchange.address, what)
	}
	return fmt.Sprintf("%s: %s; the answer begins %q", l.exchange.address, what, u.seen[:u.seenLen])
}
