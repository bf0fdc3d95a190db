package agent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Streams is the driver for encrypted connections: a goroutine for each user,
// which blocks. crypto/tls reads and writes where it likes, and cannot be
// resumed in the middle of a record, so that it does not fit under an epoll.
// What it costs beside Epoll is mostly the encryption itself. It asks the same,
// reads answers by the same reader, and counts alike.
type Streams struct{}

// streams are the users of one load.
type streams struct {
	order stopwatt.DriveOrder
	clock clock
	until int64 // no request of a closed load begins at or after this instant

	mu     sync.Mutex // of all below
	mix    mix
	pace   *pace // of an open load, else nil; its users take turns by themselves
	tally  *tally
	gaveUp kind
}

// A stream is one user.
type stream struct {
	user
	*streams
	conn     net.Conn
	letGo    func() bool // the connection outlives the context
	memories []memory
	buffer   []byte
}

// Drive drives load as ordered.
func (Streams) Drive(ctx context.Context, order stopwatt.DriveOrder, bodyBytes ...int64) (stopwatt.DriveResult, error) {
	if err := checkDriven(order); err != nil {
		return stopwatt.DriveResult{}, err
	}
	driving.Lock()
	defer driving.Unlock()
	questions := newQuestions(order, bodyBytes)
	s := &streams{order: order, clock: newClock(), until: 1<<63 - 1, mix: newMix(order, questions, 0, 1), tally: newTally(order.Load)}
	s.begin()
	before := cpuTime()
	var ended sync.WaitGroup
	for i := range order.Load.Users {
		u := &stream{
			user:     newUser(int32(i), order.Load.Requests, questions),
			streams:  s,
			memories: make([]memory, len(questions)),
			buffer:   make([]byte, bufferBytes),
		}
		ended.Go(func() { u.run(ctx) })
	}
	ended.Wait()
	if err := ctx.Err(); err != nil {
		return stopwatt.DriveResult{}, fmt.Errorf("drive %s: %w", order.Address, err)
	}
	s.end()
	all := result([]*tally{s.tally}, order.Load)
	all.CPU, all.Threads = cpuTime()-before, runtime.GOMAXPROCS(0)
	return all, nil
}

func (s *streams) begin() {
	now := s.clock.now()
	s.tally.begin(now)
	switch load := s.order.Load; {
	case load.Open():
		s.pace = newPace(s.order, nil, 0, 1)
		s.pace.begin(now, load.Timeout)
	case load.For > 0:
		s.until = now + int64(load.For)
	}
}

// end accounts for what came due when every user had given up.
func (s *streams) end() {
	if s.pace == nil {
		return
	}
	if n := s.pace.rest(); n > 0 {
		s.tally.due += n
		s.tally.unsent(s.gaveUp, n)
	}
}

// run asks until nothing is left to ask.
func (u *stream) run(ctx context.Context) {
	defer u.hangUp()
	for ctx.Err() == nil && u.next(ctx) {
		k, cause := u.exchange(ctx)
		u.account(k, cause)
		if cause != nil || u.order.Load.Close || !u.answer.kept() {
			u.hangUp()
		}
		if u.order.Load.Think > 0 {
			_ = sleep(ctx, u.order.Load.Think) // ended by ctx, which is looked at next
		}
	}
}

// next chooses the user's next request, and waits until it is due. It returns
// false when there is none.
func (u *stream) next(ctx context.Context) bool {
	if u.left == 0 || u.clock.now() >= u.until || u.pace != nil && !u.takeDue(ctx) {
		return false
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	number, request := u.mix.draw()
	u.question, u.memory, u.request = &u.mix.questions[number], &u.memories[number], request
	u.answer.await(u.question.head)
	u.answer.body = u.check.part(u.mix.asked, u.question.oneIn)
	u.seenLen, u.hops = 0, 0
	u.started = u.clock.now()
	if u.pace != nil {
		u.tally.due++
		u.tally.lag.Record(u.started - max(u.due, u.rested))
	}
	return true
}

// takeDue takes the next request of an open load and waits until it is due.
func (u *stream) takeDue(ctx context.Context) bool {
	u.rested = u.clock.now()
	u.mu.Lock()
	if u.rested > u.pace.last {
		n := u.pace.rest()
		u.tally.due, u.tally.late = u.tally.due+n, u.tally.late+n
	}
	over := u.pace.over()
	if !over {
		u.pace.take(&u.user)
	}
	u.mu.Unlock()
	if over {
		return false
	}
	if wait := u.due - u.rested; wait > 0 {
		return sleep(ctx, time.Duration(wait)) == nil
	}
	return true
}

// exchange asks, reads the answer, and asks on where that leads elsewhere. It
// returns what went wrong, or a nil cause.
func (u *stream) exchange(ctx context.Context) (k kind, cause error) {
	deadline := time.Now().Add(u.order.Load.Timeout)
	for {
		if k, cause := u.once(ctx, deadline); cause != errWrongAnswer || k != kindStatus {
			return k, cause
		}
		kept := !u.order.Load.Close && u.answer.kept()
		switch is, err := u.redirect(); {
		case !is:
			return kindStatus, errWrongAnswer
		case err != nil:
			return kindProtocol, err
		case !kept:
			u.hangUp()
		}
		u.mu.Lock()
		u.tally.redirects++
		u.mu.Unlock()
	}
}

// once asks and reads the answer.
func (u *stream) once(ctx context.Context, deadline time.Time) (k kind, cause error) {
	if u.fresh = u.conn == nil; u.fresh {
		if err := u.connect(ctx, deadline); err != nil {
			return kindConnect, err
		}
	}
	if err := u.conn.SetDeadline(deadline); err != nil {
		return kindClosed, err
	}
	// A server may answer, and close, before it has read a request whole. Then
	// writing fails, and what counts is what can be read.
	_, writeErr := u.conn.Write(u.request)
	received, err := u.read()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tally.sent += int64(len(u.request))
	u.tally.received += received
	if received == 0 && writeErr != nil {
		err = writeErr
	}
	if err != nil {
		return streamKind(err)
	}
	return u.judge()
}

// connect makes a connection; its handshake is part of that.
func (u *stream) connect(ctx context.Context, deadline time.Time) error {
	asked := u.clock.now()
	conn, err := dial(ctx, u.order, deadline)
	if err != nil {
		if os.IsTimeout(err) {
			return errTooLong
		}
		return err
	}
	u.conn = conn
	u.letGo = context.AfterFunc(ctx, func() { conn.Close() }) // which lets reads and writes go: theirs is the error that counts
	u.mu.Lock()
	defer u.mu.Unlock()
	now := u.clock.now()
	u.tally.connect.Record(now - asked)
	if !u.order.Load.Close && u.hops == 0 {
		u.started = now
	}
	return nil
}

// read reads the answer to its end.
func (u *stream) read() (received int64, err error) {
	for !u.answer.done() {
		n, err := u.conn.Read(u.buffer)
		received += int64(n)
		u.digest(u.buffer[:n])
		switch {
		case err == io.EOF:
			u.answer.end()
			u.answer.closing = true
		case err != nil && !u.answer.done():
			return received, err
		}
	}
	return received, u.answer.err
}

// judge compares a whole answer with the right one.
func (u *stream) judge() (k kind, cause error) {
	switch {
	case u.answer.status != u.question.status:
		return kindStatus, errWrongAnswer
	case u.question.bodyBytes != AnyLength && u.answer.bodyBytes != u.question.bodyBytes:
		return kindBody, errWrongAnswer
	case u.answer.body != nil:
		u.tally.checked++
		if !u.check.right(u.question.sha256) {
			return kindBody, errWrongBody
		}
	}
	return 0, nil
}

var errWrongAnswer = errors.New("the answer is another than the right one")

// streamKind sorts the errors of reading and writing into kinds.
func streamKind(err error) (kind, error) {
	switch {
	case os.IsTimeout(err):
		return kindTimeout, errTooLong
	case err == errCutShort, errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return kindClosed, err
	}
	return kindProtocol, err
}

// account counts what came of a request.
func (u *stream) account(k kind, cause error) {
	now := u.clock.now()
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tally.at(max(now, u.tally.end))
	u.left--
	if cause == nil {
		from := u.started
		if u.pace != nil {
			u.tally.service.Record(now - u.started)
			from = u.due
		}
		u.repeated = 0
		u.tally.right(now - from)
		return
	}
	if u.tally.wrong(k) {
		u.tally.first[k] = u.tell(k, cause, u.order.Load.Timeout)
	}
	if u.bore(k) >= patienceWith(k, cause) {
		u.giveUp(k)
	}
}

// giveUp lets the user end, with whatever requests it was still to make.
func (u *stream) giveUp(k kind) {
	u.gaveUp = k
	if u.order.Load.Requests > 0 {
		u.tally.unsent(k, u.left)
	}
	u.left = 0
}

// hangUp closes the user's connection, if there is one.
func (u *stream) hangUp() {
	if u.conn == nil {
		return
	}
	u.letGo()
	u.conn.Close() // all that matters has been read
	u.conn = nil
}
