package agent

import (
	"errors"
	"fmt"
	"math"
	"time"

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
	l.readClock()
	switch a := &u.answer; {
	case a.err != nil:
		l.fail(u, kindOf(a.err), a.err)
		return
	case l.now > u.deadline:
		l.timeOut(u)
		return
	case a.status != u.question.status && l.follow(u):
		return
	case a.status != u.question.status:
		l.count(u, kindStatus, nil)
	case u.question.bodyBytes != AnyLength && a.bodyBytes != u.question.bodyBytes:
		l.count(u, kindBody, nil)
	case a.body != nil && !l.checked(u):
		l.count(u, kindBody, errWrongBody)
	default:
		l.right(u)
	}
	if l.load.Close || u.over || !u.answer.kept() || u.sent < len(u.request) {
		l.hangUp(u)
	}
	l.goOn(u, u.cut) // where it is cut, we are inside begin or happened
}

// right counts a right answer.
func (l *loop) right(u *user) {
	from := u.started
	if l.pace != nil {
		l.tally.service.Record(l.now - u.started)
		from = u.due
	}
	l.tally.right(l.now - from)
	u.left--
	u.repeated = 0
}

// readClock says what time it is, before anything of that instant is counted.
func (l *loop) readClock() {
	l.now = l.clock.now()
	l.tally.at(l.now)
}

// goOn has the user begin its next request as the load says. Later says that it
// may not begin anything in this turn.
func (l *loop) goOn(u *user, later bool) {
	u.busy = false
	switch {
	case u.left == 0 || l.now >= l.until || l.pace != nil && l.pace.over():
		l.retire(u)
	case l.pace != nil:
		l.pacedOn(u, later)
	case l.load.Think > 0:
		u.wake = l.now + int64(l.load.Think)
		l.thinking.add(u)
	case later:
		l.again = append(l.again, u)
	default:
		l.begin(u)
	}
}

// retire lets the user end.
func (l *loop) retire(u *user) {
	l.hangUp(u)
	l.active--
}

// kindOf is the kind of an error that the reading of an answer ended in.
func kindOf(err error) kind {
	if err == errCutShort {
		return kindClosed
	}
	return kindProtocol
}

// fail ends a request, and its connection, with an error.
func (l *loop) fail(u *user, k kind, cause error) {
	l.readClock()
	l.count(u, k, cause)
	l.hangUp(u)
	l.goOn(u, true)
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
	if l.tally.wrong(k) {
		l.tally.first[k] = u.tell(k, cause, l.load.Timeout)
	}
	u.left--
	if u.bore(k) >= patienceWith(k, cause) {
		l.giveUp(u, k)
	}
}

// bore counts how many errors of one kind the user has met in a row.
func (u *user) bore(k kind) int {
	if u.lastKind != k {
		u.repeated, u.lastKind = 0, k
	}
	u.repeated++
	return u.repeated
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
	l.gaveUp = k
	if l.load.Requests > 0 {
		l.tally.unsent(k, u.left)
	}
	u.left = 0
}

// tell describes an error whole: whom it met, what was wrong, and how the
// answer began.
func (u *user) tell(k kind, cause error, timeout time.Duration) string {
	what := u.tellWhat(k, cause, timeout)
	if u.seenLen == 0 {
		return fmt.Sprintf("%s: %s; nothing was read of an answer", u.question.address, what)
	}
	return fmt.Sprintf("%s: %s; the answer begins %q", u.question.address, what, u.seen[:u.seenLen])
}

// tellWhat tells what was wrong.
func (u *user) tellWhat(k kind, cause error, timeout time.Duration) string {
	switch {
	case k == kindStatus:
		return fmt.Sprintf("status %d, expected %d", u.answer.status, u.question.status)
	case cause == errWrongBody:
		return fmt.Sprintf("a body of SHA-256 %s, expected %s", u.check.hex(), u.question.sha256)
	case k == kindBody:
		return fmt.Sprintf("a body of %d bytes, expected %d", u.answer.bodyBytes, u.question.bodyBytes)
	case k == kindConnect && cause == errTooLong:
		return fmt.Sprintf("no connection within %v", timeout)
	case cause == errTooLong:
		return fmt.Sprintf("no whole answer within %v", timeout)
	case k == kindClosed && !u.fresh && u.seenLen == 0:
		return cause.Error() + "; it had carried answers before, and the server closed it without having said `Connection: close`"
	case cause == unix.EADDRNOTAVAIL:
		return cause.Error() + "; every local port is in use or in TIME_WAIT: keep connections, or ask fewer requests"
	}
	return cause.Error()
}
