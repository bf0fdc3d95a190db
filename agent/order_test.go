//go:build linux

package agent

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestOrdersThatCannotBeCarriedOut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*stopwatt.DriveOrder)
		want   string
	}{
		{"no port", func(o *stopwatt.DriveOrder) { o.Address = "localhost" }, `address "localhost" is not host:port`},
		{"no method", func(o *stopwatt.DriveOrder) { o.Request.Method = "" }, `method "" is no HTTP method`},
		{"a method with a space", func(o *stopwatt.DriveOrder) { o.Request.Method = "GET X" }, `method "GET X" is no HTTP method`},
		{"no path", func(o *stopwatt.DriveOrder) { o.Request.Path = "" }, `path "" does not begin with /`},
		{"a path that ends the line", func(o *stopwatt.DriveOrder) { o.Request.Path = "/\r\nX: y" }, `path "/\r\nX: y" holds a space or control character; write it percent-encoded`},
		{"a header that ends the line", header("X", "a\r\nY: b"), `header X: value "a\r\nY: b" holds a line end`},
		{"a header without name", header("", "a"), `header name "" is no token`},
		{"a header name with a colon", header("X:", "a"), `header name "X:" is no token`},
		{"a connection header", header("connection", "close"), `header connection is the driver's; whether connections are kept is said by the load`},
		{"a transfer coding", header("Transfer-Encoding", "chunked"), `header Transfer-Encoding is the driver's; bodies are sent with their length`},
		{"another length than the body's", header("Content-Length", "7"), `header Content-Length: 7, but the body has 0 bytes; leave the header out`},
		{"a status that ends nothing", func(o *stopwatt.DriveOrder) { o.Expect.Status = 100 }, `expected status 100 is none that ends an answer`},
		{"half a hash", func(o *stopwatt.DriveOrder) { o.Expect.BodySHA256 = "abc" }, `expected body hash "abc" is no SHA-256 in lower-case hex`},
		{"no users", func(o *stopwatt.DriveOrder) { o.Load.Users = 0 }, `0 users; at least 1 is needed`},
		{"neither requests nor time", func(o *stopwatt.DriveOrder) { o.Load.Requests = 0 }, `load needs either requests or a time to drive for, not both`},
		{"both requests and time", func(o *stopwatt.DriveOrder) { o.Load.For = time.Second }, `load needs either requests or a time to drive for, not both`},
		{"no timeout", func(o *stopwatt.DriveOrder) { o.Load.Timeout = 0 }, `timeout 0s; every answer needs a bound`},
		{"a socket without a path", func(o *stopwatt.DriveOrder) { o.Address = "unix:s" }, `address "unix:s" names no path of a socket`},
		{"a wrong request among others", func(o *stopwatt.DriveOrder) {
			o.Others = []stopwatt.Ask{{Request: stopwatt.Request{Method: "GET", Path: "x"}, Expect: o.Expect}}
		}, `path "x" does not begin with /`},
		{"a row too short", func(o *stopwatt.DriveOrder) {
			o.Data = &stopwatt.Data{Columns: []string{"a", "b"}, Rows: [][]string{{"1"}}}
		}, `row 1 of data has 1 values for 2 columns`},
		{"data without rows", func(o *stopwatt.DriveOrder) { o.Data = &stopwatt.Data{Columns: []string{"a"}} }, `data have no rows`},
		{"a value that breaks a header", func(o *stopwatt.DriveOrder) {
			o.Request.Headers = map[string]string{"X": "{a}"}
			o.Data = &stopwatt.Data{Columns: []string{"a"}, Rows: [][]string{{"1"}, {"\n"}}}
		}, `with row 2 of data: header X: value "\n" holds a line end`},
		{"thinking without a clock's leave", func(o *stopwatt.DriveOrder) {
			o.Load = openOrder("", 5, time.Second).Load
			o.Load.Think = 1
		}, `think 1ns: users of a closed load think, and for a while`},
		{"a stage that falls below nothing", func(o *stopwatt.DriveOrder) {
			o.Load = openOrder("", 5, time.Second).Load
			o.Load.Stages[0].To = -1
		}, `stage 1, from 5/s to -1/s for 1s, cannot be driven`},
		{"stages without a request", func(o *stopwatt.DriveOrder) { o.Load = openOrder("", 0.5, time.Second).Load }, `the stages order no request at all`},
		{"a search without a promise", func(o *stopwatt.DriveOrder) {
			o.Load.Requests, o.Load.For, o.Load.Find = 0, time.Second, &stopwatt.Find{Probe: 1}
		}, `what is to be found needs a promise and a length of probes`},
		{"a negative warm-up", func(o *stopwatt.DriveOrder) { o.Warmup = -1 }, `warmup -1ns is negative`},
		{"two faults", func(o *stopwatt.DriveOrder) { o.Load.Users, o.Request.Path = 0, "x" }, "path \"x\" does not begin with /\n0 users; at least 1 is needed"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			order := orderFor("127.0.0.1:80")
			if err := CheckOrder(order); err != nil {
				t.Fatalf("before the change: %v", err)
			}
			test.change(&order)
			if err := CheckOrder(order); err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func header(name, value string) func(*stopwatt.DriveOrder) {
	return func(o *stopwatt.DriveOrder) { o.Request.Headers = map[string]string{name: value} }
}

func TestRequestsAsTheyAreSent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		request stopwatt.Request
		close   bool
		want    string
	}{
		{"a plain one", stopwatt.Request{Method: "GET", Path: "/a?b=c"}, false,
			"GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: stopwatt\r\n\r\n"},
		{"one that closes", stopwatt.Request{Method: "GET", Path: "/"}, true,
			"GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: stopwatt\r\nConnection: close\r\n\r\n"},
		{"headers in order, Host and User-Agent replaced", stopwatt.Request{Method: "GET", Path: "/", Headers: map[string]string{"host": "example.org", "B": "2", "A": "1", "USER-AGENT": "x"}}, false,
			"GET / HTTP/1.1\r\nA: 1\r\nB: 2\r\nUSER-AGENT: x\r\nhost: example.org\r\n\r\n"},
		{"a body", stopwatt.Request{Method: "DELETE", Path: "/", Body: []byte("hello")}, false,
			"DELETE / HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: stopwatt\r\nContent-Length: 5\r\n\r\nhello"},
		{"a length of the suite's own", stopwatt.Request{Method: "PUT", Path: "/", Headers: map[string]string{"content-length": "5"}, Body: []byte("hello")}, false,
			"PUT / HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: stopwatt\r\ncontent-length: 5\r\n\r\nhello"},
		{"a POST without body", stopwatt.Request{Method: "POST", Path: "/"}, false,
			"POST / HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: stopwatt\r\nContent-Length: 0\r\n\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			order := orderFor("127.0.0.1:80")
			order.Request, order.Load.Close = test.request, test.close
			if err := CheckOrder(order); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(compose(order, order.Request))); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
		})
	}
}
