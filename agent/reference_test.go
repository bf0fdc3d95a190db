//go:build linux

package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"gitlab.com/stopwatt/stopwatt"
)

// reference drives by net/http, slowly and surely: the driver that the other
// is checked against. It stands among the tests so that the agent does not
// carry net/http along.
type reference struct{}

var _ = []Driver{Epoll{}, reference{}}

func (reference) Drive(ctx context.Context, order stopwatt.DriveOrder, bodyBytes ...int64) (stopwatt.DriveResult, error) {
	if err := CheckOrder(order); err != nil {
		return stopwatt.DriveResult{}, err
	}
	clock := newClock()
	before := cpuTime()
	until := clock.now() + int64(order.Load.For)
	users := make([]*referenceUser, order.Load.Users)
	tallies := make([]*tally, order.Load.Users)
	var ended sync.WaitGroup
	for i := range users {
		tallies[i] = newTally(order.Load)
		users[i] = newReferenceUser(order, append(bodyBytes, AnyLength)[0], clock, tallies[i])
		ended.Go(func() { users[i].run(ctx, until) })
	}
	ended.Wait()
	all := result(tallies, order.Load)
	all.CPU = cpuTime() - before
	return all, ctx.Err()
}

// A referenceUser is one user, with a transport of its own.
type referenceUser struct {
	order          stopwatt.DriveOrder
	bodyBytes      int64
	clock          clock
	tally          *tally
	client         *http.Client
	sent, received atomic.Int64
}

func newReferenceUser(order stopwatt.DriveOrder, bodyBytes int64, clock clock, tally *tally) *referenceUser {
	u := &referenceUser{order: order, bodyBytes: bodyBytes, clock: clock, tally: tally}
	u.client = &http.Client{
		Timeout:       order.Load.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:        u.dial,
			DisableKeepAlives:  order.Load.Close,
			DisableCompression: true,
		},
	}
	return u
}

func (u *referenceUser) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return countedConn{conn, u}, nil
}

// A countedConn counts the bytes that pass through it.
type countedConn struct {
	net.Conn
	user *referenceUser
}

func (c countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.user.received.Add(int64(n))
	return n, err
}

func (c countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.user.sent.Add(int64(n))
	return n, err
}

func (u *referenceUser) run(ctx context.Context, until int64) {
	defer u.client.CloseIdleConnections()
	u.tally.start = u.clock.now()
	for asked := 0; ctx.Err() == nil; asked++ {
		if u.order.Load.Requests > 0 && asked == u.order.Load.Requests || u.order.Load.For > 0 && u.clock.now() >= until {
			break
		}
		u.ask(ctx)
	}
	u.tally.sent, u.tally.received = u.sent.Load(), u.received.Load()
}

func (u *referenceUser) ask(ctx context.Context) {
	request, err := u.request(ctx)
	if err != nil {
		panic(err) // the order was checked
	}
	start := u.clock.now()
	status, body, err := u.exchange(request)
	u.tally.end = u.clock.now()
	switch {
	case err != nil:
		u.wrong(referenceKind(err), err.Error())
	case status != u.order.Expect.Status:
		u.wrong(kindStatus, fmt.Sprint("status ", status))
	case u.bodyBytes != AnyLength && body != u.bodyBytes:
		u.wrong(kindBody, fmt.Sprintf("a body of %d bytes", body))
	default:
		u.tally.right(u.tally.end - start)
	}
}

func (u *referenceUser) wrong(k kind, what string) {
	if u.tally.wrong(k) {
		u.tally.first[k] = what
	}
}

func (u *referenceUser) request(ctx context.Context) (*http.Request, error) {
	ask := u.order.Request
	request, err := http.NewRequestWithContext(ctx, ask.Method, "http://"+u.order.Address+ask.Path, bytes.NewReader(ask.Body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("User-Agent", "stopwatt")
	for name, value := range ask.Headers {
		request.Header.Set(name, value)
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	return request, nil
}

// exchange asks and reads the answer to its end.
func (u *referenceUser) exchange(request *http.Request) (status int, body int64, err error) {
	response, err := u.client.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close() // read to its end, or failed
	body, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, body, err
}

// referenceKind sorts net/http's errors into our kinds.
func referenceKind(err error) kind {
	var dialing *net.OpError
	switch {
	case errors.As(err, &dialing) && dialing.Op == "dial":
		return kindConnect
	case os.IsTimeout(err):
		return kindTimeout
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return kindClosed
	}
	return kindProtocol
}
