//go:build linux

package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// An exchange is one request, as the bytes that are sent, and what the right
// answer to it looks like.
type exchange struct {
	address   string // for messages
	request   []byte
	head      bool // the request is a HEAD: its answer has no body
	status    int
	bodyBytes int64 // or AnyLength
}

// newExchange composes the request of a checked order.
func newExchange(order stopwatt.DriveOrder, bodyBytes int64) exchange {
	return exchange{
		address:   order.Address,
		request:   compose(order),
		head:      order.Request.Method == "HEAD",
		status:    order.Expect.Status,
		bodyBytes: bodyBytes,
	}
}

// compose writes the request of a checked order as HTTP/1.1: Host and
// User-Agent first, the order's headers by name, the framing last.
func compose(order stopwatt.DriveOrder) []byte {
	request := order.Request
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", request.Method, request.Path)
	if !hasHeader(request, "Host") {
		fmt.Fprintf(&b, "Host: %s\r\n", order.Address)
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
