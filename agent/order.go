//go:build linux

package agent

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// CheckOrder says all that is wrong with an order, or nil. A driver carries
// out nothing that this refuses.
func CheckOrder(order stopwatt.DriveOrder) error {
	faults := []error{checkAddress(order.Address)}
	if order.Connects {
		return errors.Join(append(faults, complain(order.Load.Timeout <= 0, "timeout %v; every answer needs a bound", order.Load.Timeout))...)
	}
	for _, ask := range order.Asks() {
		faults = append(faults, checkRequest(ask.Request), checkExpect(ask.Expect))
	}
	faults = append(faults,
		checkLoad(order.Load),
		checkData(order),
		complain(order.Warmup < 0, "warmup %v is negative", order.Warmup),
		complain(order.ReadyWithin < 0, "ready-within %v is negative", order.ReadyWithin),
	)
	return errors.Join(faults...)
}

// checkDriven is CheckOrder when load is to be driven at once.
func checkDriven(order stopwatt.DriveOrder) error {
	if err := CheckOrder(order); err != nil {
		return err
	}
	if order.Connects {
		return errors.New("a server that only connects cannot be asked anything")
	}
	return complain(order.Load.Open() && len(order.Load.Stages) == 0, "the rate to drive at has not been found yet")
}

func checkAddress(address string) error {
	name, rest := network(address)
	_, _, err := net.SplitHostPort(address)
	return errors.Join(
		complain(name == "tcp" && err != nil, "address %q is not host:port", address),
		complain(name == "unix" && !strings.HasPrefix(rest, "/"), "address %q names no path of a socket", address),
	)
}

// checkData refuses rows that do not fit, that make too much together, or that
// break a request which they are put into.
func checkData(order stopwatt.DriveOrder) error {
	if order.Data == nil {
		return nil
	}
	if len(order.Data.Rows) == 0 {
		return errors.New("data have no rows")
	}
	for i, row := range order.Data.Rows {
		if len(row) != len(order.Data.Columns) {
			return fmt.Errorf("row %d of data has %d values for %d columns", i+1, len(row), len(order.Data.Columns))
		}
	}
	bytes := 0
	for _, ask := range order.Asks() {
		if !hasPlaces(ask.Request, order.Data.Columns) {
			continue
		}
		for i, row := range order.Data.Rows {
			request := filled(ask.Request, order.Data.Columns, row)
			if err := checkRequest(request); err != nil {
				return fmt.Errorf("with row %d of data: %w", i+1, err)
			}
			if bytes += len(request.Path) + len(request.Body); bytes > stopwatt.MostComposed {
				return fmt.Errorf("requests and rows of data make more than %d bytes together", stopwatt.MostComposed)
			}
		}
	}
	return nil
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
		complain(request.Weight < 0, "weight %d is negative", request.Weight),
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
		complain(expect.CheckOneIn < 0, "one body in %d cannot be checked", expect.CheckOneIn),
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
		complain(load.Think < 0 || load.Think > 0 && load.Open(), "think %v: users of a closed load think, and for a while", load.Think),
		complain(load.Open() && load.For == 0, "an open load ends by time"),
		complain(load.Find != nil && (len(load.Find.While) == 0 || load.Find.Probe <= 0), "what is to be found needs a promise and a length of probes"),
		checkStages(load.Stages),
	)
}

func checkStages(stages []stopwatt.Stage) error {
	requests := 0.0
	for i, stage := range stages {
		requests += stage.Requests()
		if !(stage.From >= 0 && stage.To >= 0 && stage.From+stage.To < math.MaxInt32) || stage.For <= 0 {
			return fmt.Errorf("stage %d, from %v/s to %v/s for %v, cannot be driven", i+1, stage.From, stage.To, stage.For)
		}
	}
	return complain(len(stages) > 0 && requests < 1, "the stages order no request at all")
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
