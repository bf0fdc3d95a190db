//go:build linux

package agent

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	// longestBody bounds the body that is read where it must be verified.
	longestBody = 64 << 20
	// quotedBytes bounds how much of a body is quoted in messages.
	quotedBytes = 200
)

var errBodyTooLong = errors.New("the body is longer than 64 MiB")

// A reply is what came of asking once.
type reply struct {
	connected bool
	at        int64  // when it was read whole, ns of CLOCK_MONOTONIC
	received  int64  // bytes
	begins    []byte // the first of them
	status    int
	location  string
	bodyBytes int64
	sha256    string // of the body
	body      []byte // its beginning
	err       error  // nil when an answer was read whole
	bounded   bool   // the end of all waiting cut it off, before the load's timeout did
}

// dial makes a connection to the server of an order, encrypted if it says so.
func dial(ctx context.Context, order stopwatt.DriveOrder, deadline time.Time) (net.Conn, error) {
	name, to := network(order.Address)
	dialer := net.Dialer{Deadline: deadline}
	if order.TLS == nil {
		return dialer.DialContext(ctx, name, to)
	}
	secure := tls.Dialer{NetDialer: &dialer, Config: tlsConfig(order)}
	return secure.DialContext(ctx, name, to)
}

// tlsConfig is how connections of an order are encrypted.
func tlsConfig(order stopwatt.DriveOrder) *tls.Config {
	name := order.TLS.Name
	if name == "" {
		name, _, _ = net.SplitHostPort(order.Address) // a Unix socket has no name
	}
	return &tls.Config{ServerName: name, InsecureSkipVerify: !order.TLS.Verify, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
}

// ask asks, with the first row of data, and asks on where the order follows
// redirects.
func ask(ctx context.Context, order stopwatt.DriveOrder, what stopwatt.Ask, deadline time.Time) reply {
	request, head := composeRows(order, what.Request)[0], what.Request.Method == "HEAD"
	for hops := 0; ; hops++ {
		r := askOnce(ctx, order, request, head, deadline)
		if !order.Follow || r.err != nil || r.status == what.Expect.Status || !redirects(r.status) || r.location == "" {
			return r
		}
		if hops == mostRedirects {
			r.err = errCircles
			return r
		}
		if request, r.err = redirected(nil, request, r.status, r.location, originOf(order, what.Request)); r.err != nil {
			return r
		}
	}
}

// askOnce sends a request over a new connection and reads the answer whole.
func askOnce(ctx context.Context, order stopwatt.DriveOrder, request []byte, head bool, deadline time.Time) reply {
	conn, err := dial(ctx, order, deadline)
	if err != nil {
		return reply{err: err}
	}
	defer conn.Close() // all that matters has been read by then
	if err := conn.SetDeadline(deadline); err != nil {
		return reply{connected: true, err: err}
	}
	if order.Connects {
		return reply{connected: true, at: monotonic()}
	}
	defer context.AfterFunc(ctx, func() { conn.Close() })() // which lets reads and writes go: theirs is the error that counts
	// A server may answer, and close, before it has read a request whole. Then
	// writing fails, and what counts is what can be read.
	_, writeErr := conn.Write(request)
	r := read(conn, head)
	if r.received == 0 && writeErr != nil {
		r.err = writeErr
	}
	return r
}

// read reads one answer and hashes its body.
func read(conn io.Reader, head bool) reply {
	r := reply{connected: true}
	hash := sha256.New()
	a := answer{body: func(part []byte) {
		hash.Write(part)
		r.body = appendUpTo(r.body, part, quotedBytes)
	}}
	a.await(head)
	buffer := make([]byte, bufferBytes)
	for r.err == nil && !a.done() {
		n, err := conn.Read(buffer)
		r.received += int64(n)
		r.begins = appendUpTo(r.begins, buffer[:n], quotedBytes)
		a.feedLast(buffer[:n])
		switch {
		case a.bodyBytes > longestBody:
			a.fail(errBodyTooLong)
		case err == io.EOF:
			a.end()
		case !a.done():
			r.err = err
		}
	}
	if r.err == nil {
		r.err = a.err
	}
	r.at, r.status, r.location, r.bodyBytes = monotonic(), a.status, a.location, a.bodyBytes
	r.sha256 = hex.EncodeToString(hash.Sum(nil))
	return r
}

// appendUpTo appends what fits until to has limit bytes.
func appendUpTo(to, from []byte, limit int) []byte {
	return append(to, from[:min(len(from), limit-len(to))]...)
}
