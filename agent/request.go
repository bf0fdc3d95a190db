//go:build linux

package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A question is one request of an order, as the bytes that are sent, and what
// the right answer to it looks like. It is only read while load is driven.
type question struct {
	address string   // for messages
	origin  string   // that redirects may lead to; empty: none is followed
	rows    [][]byte // the request: once, or once for each row of data
	head    bool     // it is a HEAD: its answer has no body
	status  int
	// bodyBytes is how long a right answer's body is, or AnyLength.
	bodyBytes int64
	sha256    string // of a right answer's body, or empty
	oneIn     int    // of so many answers, one has its body hashed; 0: none
	weight    int
}

// newQuestions composes the requests of a checked order. bodyBytes are the
// lengths of right answers' bodies, as far as they are known.
func newQuestions(order stopwatt.DriveOrder, bodyBytes []int64) []question {
	var all []question
	for i, ask := range order.Asks() {
		q := question{
			address:   order.Address,
			rows:      composeRows(order, ask.Request),
			head:      ask.Request.Method == "HEAD",
			status:    ask.Expect.Status,
			bodyBytes: AnyLength,
			sha256:    ask.Expect.BodySHA256,
			weight:    max(ask.Request.Weight, 1),
		}
		if q.sha256 != "" {
			q.oneIn = ask.Expect.CheckOneIn
		}
		if order.Follow {
			q.origin = originOf(order, ask.Request)
		}
		if i < len(bodyBytes) {
			q.bodyBytes = bodyBytes[i]
		}
		all = append(all, q)
	}
	return all
}

// composeRows composes a request once for each row of data that it has a place
// for, or once.
func composeRows(order stopwatt.DriveOrder, request stopwatt.Request) [][]byte {
	if order.Data == nil || !hasPlaces(request, order.Data.Columns) {
		return [][]byte{compose(order, request)}
	}
	rows := make([][]byte, len(order.Data.Rows))
	for i, row := range order.Data.Rows {
		rows[i] = compose(order, filled(request, order.Data.Columns, row))
	}
	return rows
}

// compose writes a request of a checked order as HTTP/1.1: Host and User-Agent
// first, the order's headers by name, the framing last.
func compose(order stopwatt.DriveOrder, request stopwatt.Request) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", request.Method, request.Path)
	if !hasHeader(request, "Host") {
		fmt.Fprintf(&b, "Host: %s\r\n", host(order))
	}
	if !hasHeader(request, "User-Agent") {
		b.WriteString("User-Agent: stopwatt\r\n")
	}
	for _, name := range slices.Sorted(maps.Keys(request.Headers)) {
		fmt.Fprintf(&b, "%s: %s\r\n", name, request.Headers[name])
	}
	if needsLength(request) {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(request.Body))
	}
	if order.Load.Close {
		b.WriteString("Connection: close\r\n")
	}
	b.WriteString("\r\n")
	b.Write(request.Body)
	return []byte(b.String())
}

// host is what the server is called in requests. A Unix socket has no name.
func host(order stopwatt.DriveOrder) string {
	switch {
	case order.TLS != nil && order.TLS.Name != "":
		return order.TLS.Name
	case strings.HasPrefix(order.Address, unixPrefix):
		return "localhost"
	}
	return order.Address
}

// needsLength tells whether the request must say how long its body is: a
// server may otherwise refuse it (411) or wait for a body.
func needsLength(request stopwatt.Request) bool {
	expectsBody := request.Method == "POST" || request.Method == "PUT" || request.Method == "PATCH"
	return (len(request.Body) > 0 || expectsBody) && !hasHeader(request, "Content-Length")
}

// hasHeader tells whether the order names this header, in whichever case.
func hasHeader(request stopwatt.Request, name string) bool {
	for given := range request.Headers {
		if strings.EqualFold(given, name) {
			return true
		}
	}
	return false
}
