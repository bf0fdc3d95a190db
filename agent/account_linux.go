package agent

import (
	"errors"
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// Where a user gives up. A server that is gone, or that never answers, would
// otherwise be asked for as long as it takes to ask all that was ordered. The
// rest of the user's requests counts as errors of the same kind, unsent.
const (
	giveUpTimeouts = 5   // in a row, connections not made in time included
	giveUpConnects = 100 // in a row, otherwise not made: each costs some microseconds
)

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
	if !u.connected {
		k = kindConnect
	}
	l.fail(u, k, errTooLong)
}

var errTooLong = errors.New("too long")

// count accounts for a request that ended in an error; and for all that are
// left when the user gives up.
func (l *loop) count(u *user, k kind, cause error) {
	if u.repeated == 0 || u.lastKind != k {
		u.repeated, u.lastKind = 0, k
	}
	u.repeated++
	if l.tally.wrong(k) {
		l.tally.first[k] = l.tell(u, k, cause)
	}
	u.left--
	if u.repeated >= patienceWith(k, cause) {
		l.giveUp(u, k)
	}
}

// patienceWith is how many errors of one kind in a row a user bears.
func patienceWith(k kind, cause error) int {
	switch {
	case cause == errTooLong:
		return giveUpTimeouts
	case k == kindConnect:
		return giveUpConnects
	}
	return math.MaxInt
}

// giveUp lets the user end, with whatever requests it was still to make.
func (l *loop) giveUp(u *user, k kind) {
	if l.load.Requests > 0 {
		l.tally.unsent(k, u.left)
	}
	u.left = 0
}

// tell describes an error whole: whom it met, what was wrong, and how the
// answer began.
func (l *loop) tell(u *user, k kind, cause error) string {
	what := l.tellWhat(u, k, cause)
	if u.seenLen == 0 {
		return fmt.Sprintf("%s: %s; nothing was read of an answer", l.exchange.address, what)
	}
	return fmt.Sprintf("%s: %s; the answer begins %q", l.exchange.address, what, u.seen[:u.seenLen])
}

// tellWhat tells what was wrong.
func (l *loop) tellWhat(u *user, k kind, cause error) string {
	switch {
	case k == kindStatus:
		return fmt.Sprintf("status %d, expected %d", u.answer.status, l.exchange.status)
	case k == kindBody:
		return fmt.Sprintf("a body of %d bytes, expected %d", u.answer.bodyBytes, l.exchange.bodyBytes)
	case k == kindConnect && cause == errTooLong:
		return fmt.Sprintf("no connection within %v", l.load.Timeout)
	case cause == errTooLong:
		return fmt.Sprintf("no whole answer within %v", l.load.Timeout)
	case k == kindClosed && !u.fresh && u.seenLen == 0:
		return cause.Error() + "; it had carried answers before, and the server closed it without having said `Connection: close`"
	case cause == unix.EADDRNOTAVAIL:
		return cause.Error() + "; every local port is in use or in TIME_WAIT: keep connections, or ask fewer requests"
	}
	return cause.Error()
}
