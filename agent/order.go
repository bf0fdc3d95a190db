//go:build linux

package agent

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// CheckOrder says all that is wrong with an order, or nil. A driver carries
// out nothing that this refuses.
func CheckOrder(order stopwatt.DriveOrder) error {
	_, _, addressErr := net.SplitHostPort(order.Address)
	return errors.Join(
		complain(addressErr != nil, "address %q is not host:port", order.Address),
		checkRequest(order.Request),
		checkExpect(order.Expect),
		checkLoad(order.Load),
		complain(order.Warmup < 0, "warmup %v is negative", order.Warmup),
		complain(order.ReadyWithin < 0, "ready-within %v is negative", order.ReadyWithin),
	)
}

// complain is an error when wrong is true, and nil otherwise.
func complain(wrong bool, format string, args ...any) error {
	if !wrong {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func checkRequest(request stopwatt.Request) error {
	faults := []error{
		complain(!isToken(request.Method), "method %q is no HTTP method", request.Method),
		complain(!strings.HasPrefix(request.Path, "/"), "path %q does not begin with /", request.Path),
		complain(strings.ContainsFunc(request.Path, isNoPath), "path %q holds a space or control character; write it percent-encoded", request.Path),
	}
	for _, name := range slices.Sorted(maps.Keys(request.Headers)) {
		faults = append(faults, checkHeader(name, request.Headers[name], len(request.Body)))
	}
	return errors.Join(faults...)
}

// checkHeader refuses what would break the request's framing, and the headers
// that the driver itself is answerable for.
func checkHeader(name, value string, bodyBytes int) error {
	switch {
	case !isToken(name):
		return fmt.Errorf("header name %q is no token", name)
	case strings.ContainsAny(value, "\r\n\x00"):
		return fmt.Errorf("header %s: value %q holds a line end", name, value)
	case strings.EqualFold(name, "Connection"):
		return fmt.Errorf("header %s is the driver's; whether connections are kept is said by the load", name)
	case strings.EqualFold(name, "Transfer-Encoding"):
		return fmt.Errorf("header %s is the driver's; bodies are sent with their length", name)
	case strings.EqualFold(name, "Content-Length") && value != fmt.Sprint(bodyBytes):
		return fmt.Errorf("header %s: %s, but the body has %d bytes; leave the header out", name, value, bodyBytes)
	}
	return nil
}

func checkExpect(expect stopwatt.Expect) error {
	wrongHash := expect.BodySHA256 != "" && (len(expect.BodySHA256) != 64 || strings.Trim(expect.BodySHA256, "0123456789abcdef") != "")
	return errors.Join(
		complain(expect.Status < 200 || expect.Status > 999, "expected status %d is none that ends an answer", expect.Status),
		complain(wrongHash, "expected body hash %q is no SHA-256 in lower-case hex", expect.BodySHA256),
	)
}

func checkLoad(load stopwatt.Load) error {
	return errors.Join(
		complain(load.Users < 1, "%d users; at least 1 is needed", load.Users),
		complain(load.Requests < 0, "%d requests", load.Requests),
		complain(load.For < 0, "for %v is negative", load.For),
		complain((load.Requests == 0) == (load.For == 0), "load needs either requests or a time to drive for, not both"),
		complain(load.Timeout <= 0, "timeout %v; every answer needs a bound", load.Timeout),
	)
}

// isNoPath tells characters that may not stand in a request's first line.
func isNoPath(r rune) bool { return r <= ' ' || r == 0x7f }

// isToken tells whether s is a token as RFC 9110 defines it.
func isToken(s string) bool {
	for i := range len(s) {
		if !tokenBytes[s[i]] {
			return false
		}
	}
	return s != ""
}

// tokenBytes are the bytes that names of methods and headers are made of
// (RFC 9110, section 5.6.2).
var tokenBytes = func() (table [256]bool) {
	const marks = "!#$%&'*+-.^_`|~"
	for c := range table {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		table[c] = letter || c >= '0' && c <= '9' || strings.IndexByte(marks, byte(c)) >= 0
	}
	return table
}()
