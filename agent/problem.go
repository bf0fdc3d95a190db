//go:build linux

package agent

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A problem is what is wrong with a reply.
type problem struct {
	what string // told whole
	// same names a wrong answer, to tell whether the next is wrong alike. It is
	// empty where asking again may well mend it.
	same    string
	refused bool // nobody listens (yet)
}

// after is the error when the problem has outlasted a bound.
func (p problem) after(bound time.Duration) error {
	if p.refused {
		return fmt.Errorf("%s after %v", p.what, bound)
	}
	return fmt.Errorf("%s; still so after %v", p.what, bound)
}

// once is the error when it was asked only once.
func (p problem) once() error { return errors.New(p.what) }

// judge compares a reply to the first request with what the order expects; nil
// says that it is right.
func judge(r reply, order stopwatt.DriveOrder) *problem {
	return judgeBy(r, order, order.Expect)
}

// judgeBy compares a reply with what is expected.
func judgeBy(r reply, order stopwatt.DriveOrder, expect stopwatt.Expect) *problem {
	if r.err != nil {
		return judgeError(r, order)
	}
	if order.Connects {
		return nil
	}
	if r.status != expect.Status {
		return judgeStatus(r, expect.Status)
	}
	if expected := expect.BodySHA256; expected != "" && r.sha256 != expected {
		what := fmt.Sprintf("expected a body of SHA-256 %s, found %s of %d bytes; %s", expected, r.sha256, r.bodyBytes, r.quoteBody())
		return &problem{what: what, same: "body"}
	}
	return nil
}

func judgeStatus(r reply, expected int) *problem {
	const unavailable = 503
	p := &problem{what: fmt.Sprintf("expected status %d, found %d; %s", expected, r.status, r.quoteBody())}
	if r.status != unavailable {
		p.same = fmt.Sprint("status ", r.status)
	}
	return p
}

// judgeError tells the ways apart in which there was no answer.
func judgeError(r reply, order stopwatt.DriveOrder) *problem {
	where := place(order.Address)
	reset := errors.Is(r.err, syscall.ECONNRESET) // which may already show while connecting
	p := &problem{}
	switch {
	case errors.Is(r.err, syscall.ECONNREFUSED):
		p.what, p.refused = "nothing listens on "+where, true
	case !r.connected && !reset:
		p.what = fmt.Sprintf("connect to %s: %v", where, r.err)
	case os.IsTimeout(r.err):
		p.what = tellTooLong(r, where, order.Load.Timeout)
	case r.received == 0:
		p.what = fmt.Sprintf("%s accepts connections and closes them without an answer", where)
	case errors.Is(r.err, errCutShort) || reset:
		p.what = fmt.Sprintf("the answer on %s was cut short: %v; it begins %q", where, r.err, r.begins)
	default:
		p.what, p.same = fmt.Sprintf("%s: %v; the answer begins %q", where, r.err, r.begins), r.err.Error()
	}
	return p
}

// tellTooLong tells of an answer that had not ended when the asking did. A
// timeout is named: it may be shorter than a good answer takes.
func tellTooLong(r reply, where string, timeout time.Duration) string {
	switch {
	case r.bounded && r.received == 0:
		return fmt.Sprintf("%s accepts connections but does not answer", where)
	case r.bounded:
		return fmt.Sprintf("the answer on %s does not end; it begins %q", where, r.begins)
	case r.received == 0:
		return fmt.Sprintf("%s: no whole answer within load.timeout of %v; nothing was read of an answer", where, timeout)
	}
	return fmt.Sprintf("%s: no whole answer within load.timeout of %v; the answer begins %q", where, timeout, r.begins)
}

// place is where a server is to listen: its port, or its socket.
func place(address string) string {
	if name, path := network(address); name == "unix" {
		return "socket " + path
	}
	_, port, _ := net.SplitHostPort(address) // CheckOrder has seen it
	return "port " + port
}

// quoteBody quotes the beginning of the body.
func (r reply) quoteBody() string {
	if r.bodyBytes == 0 {
		return "the body is empty"
	}
	return fmt.Sprintf("the body begins %q", r.body)
}
