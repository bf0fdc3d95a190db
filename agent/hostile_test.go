//go:build linux

package agent

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// Every row drives 2 users × 3 requests at a server that is odd or hostile.
func TestOddServers(t *testing.T) {
	t.Parallel()
	all := func(kind string) map[string]int64 { return map[string]int64{kind: 6} }
	brief := func(order *stopwatt.DriveOrder) { order.Load.Timeout = 100 * time.Millisecond }
	tests := []struct {
		name   string
		serve  func(*testServer, *testConn)
		change func(*stopwatt.DriveOrder)
		kept   bool             // connections outlive an answer, if that is wanted
		errors map[string]int64 // nil: every answer is right
		first  string           // part of the first error
	}{
		{name: "answers byte by byte", kept: true, serve: dripping(okAnswer)},
		{name: "answers in chunks byte by byte", kept: true, serve: dripping("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")},
		{name: "closes after each answer and says so", serve: once("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")},
		{name: "speaks HTTP/1.0", serve: once("HTTP/1.0 200 OK\r\n\r\nhello")},
		{name: "speaks HTTP/1.0 and keeps connections", kept: true, serve: always("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello")},
		{name: "ends bodies by closing", serve: once("HTTP/1.1 200 OK\r\n\r\nhello")},
		{name: "sends trailers", kept: true, serve: always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX: y\r\n\r\n")},
		{name: "sends interim answers", kept: true, serve: always("HTTP/1.1 103 Early Hints\r\n\r\n" + okAnswer)},
		{name: "closes its half after each answer", serve: halfClosing},
		{name: "answers before the request is whole", serve: hasty, change: func(order *stopwatt.DriveOrder) {
			order.Request.Method, order.Request.Body = "POST", make([]byte, 8<<20)
		}},

		{name: "answers with another status", serve: always("HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nhello"),
			errors: all(stopwatt.ErrorStatus), first: `status 500, expected 200; the answer begins "HTTP/1.1 500 No\r\n`},
		{name: "answers with a shorter body", serve: always("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell"),
			errors: all(stopwatt.ErrorBody), first: "a body of 4 bytes, expected 5; the answer begins"},
		{name: "closes without an answer", serve: func(_ *testServer, c *testConn) { c.question() },
			errors: all(stopwatt.ErrorClosed), first: "the connection ended before the answer did; nothing was read of an answer"},
		{name: "closes before it reads", serve: func(*testServer, *testConn) {}, errors: all(stopwatt.ErrorClosed)},
		{name: "resets before it reads", serve: func(_ *testServer, c *testConn) { c.reset() }, errors: all(stopwatt.ErrorClosed)},
		{name: "resets without an answer", serve: func(_ *testServer, c *testConn) { c.question(); c.reset() },
			errors: all(stopwatt.ErrorClosed), first: "connection reset by peer"},
		{name: "closes within the head", serve: once("HTTP/1.1 200 OK\r\nContent-"), errors: all(stopwatt.ErrorClosed), first: `the answer begins "HTTP/1.1 200 OK\r\nContent-"`},
		{name: "closes within a body", serve: once("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello"), errors: all(stopwatt.ErrorClosed)},
		{name: "closes within a long body", serve: once("HTTP/1.1 200 OK\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("x", 100_000)), errors: all(stopwatt.ErrorClosed)},
		{name: "closes within a chunk", serve: once("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello"), errors: all(stopwatt.ErrorClosed)},
		{name: "speaks another protocol", serve: always("+PONG\r\n"), errors: all(stopwatt.ErrorProtocol), first: `the answer is no HTTP/1.1; the answer begins "+PONG\r\n"`},
		{name: "sends more than it says", serve: always(okAnswer + "!"), errors: all(stopwatt.ErrorProtocol), first: "more was sent than one answer"},
		{name: "sends headers without end", serve: endless("HTTP/1.1 200 OK\r\n", "X: y\r\n"), errors: all(stopwatt.ErrorProtocol), first: "longer than 64 KiB"},
		{name: "sends one header without end", serve: endless("HTTP/1.1 200 OK\r\nX: ", "yyyyyyyy"), errors: all(stopwatt.ErrorProtocol), first: "longer than 64 KiB"},
		{name: "sends interim answers without end", serve: endless("", "HTTP/1.1 100 Continue\r\n\r\n"), errors: all(stopwatt.ErrorProtocol), first: "longer than 64 KiB"},
		{name: "sends a body without end", serve: endless("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 8192)), change: brief, errors: all(stopwatt.ErrorTimeout)},
		{name: "sends chunks without end", serve: endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"), change: brief, errors: all(stopwatt.ErrorTimeout)},
		{name: "drips without end", serve: func(_ *testServer, c *testConn) {
			c.say("HTTP/1.1 200 OK\r\n\r\n")
			for range 1000 {
				c.say("x")
				time.Sleep(time.Millisecond)
			}
		}, change: brief, errors: all(stopwatt.ErrorTimeout)},
		{name: "never answers", serve: func(_ *testServer, c *testConn) { c.untilGone() }, change: brief,
			errors: all(stopwatt.ErrorTimeout), first: "no whole answer within 100ms; nothing was read of an answer"},
		{name: "never ends its answer", serve: func(_ *testServer, c *testConn) { c.say("HTTP/1.1 200 OK\r\n"); c.untilGone() }, change: brief,
			errors: all(stopwatt.ErrorTimeout), first: `the answer begins "HTTP/1.1 200 OK\r\n"`},
		{name: "never reads", serve: func(s *testServer, _ *testConn) { <-s.closing }, change: func(order *stopwatt.DriveOrder) {
			order.Request.Method, order.Request.Body = "POST", make([]byte, 16<<20)
			order.Load.Timeout = 200 * time.Millisecond
		}, errors: all(stopwatt.ErrorTimeout)},
		{name: "answers too late", serve: func(_ *testServer, c *testConn) {
			c.question()
			time.Sleep(150 * time.Millisecond)
			c.say(okAnswer)
		}, change: brief, errors: all(stopwatt.ErrorTimeout)},
	}
	for _, test := range tests {
		for _, closing := range []bool{false, true} {
			name := test.name
			if closing {
				name += ", a connection per request"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				server := startServer(t, test.serve)
				order := orderFor(server.address())
				order.Load.Close = closing
				if test.change != nil {
					test.change(&order)
				}
				got := drive(t, order, 5)
				want := test.errors
				if want == nil {
					want = map[string]int64{}
				}
				if diff := cmp.Diff(want, got.Errors); diff != "" {
					t.Errorf("errors (-want +got):\n%s\nfirst: %v", diff, got.FirstErrors)
				}
				if accounted(got) != 6 || got.Latency.Count() != got.Requests {
					t.Errorf("%d requests accounted for, %d right, %d latencies", accounted(got), got.Requests, got.Latency.Count())
				}
				if connections := server.connections.Load(); test.errors == nil && (connections == 2) != (test.kept && !closing) {
					t.Errorf("%d connections", connections)
				}
				for kind, first := range got.FirstErrors {
					if !strings.HasPrefix(first, order.Address+": ") || !strings.Contains(first, test.first) || len(first) > 800 {
						t.Errorf("first %s error %q; want the address, %q, and no more than 800 bytes", kind, first, test.first)
					}
				}
			})
		}
	}
}

// dripping answers every request one byte at a time.
func dripping(text string) func(*testServer, *testConn) {
	return func(_ *testServer, c *testConn) {
		for c.question() != nil {
			for i := range text {
				c.say(text[i : i+1])
			}
		}
	}
}

// endless says text again and again until the client hangs up.
func endless(begin, text string) func(*testServer, *testConn) {
	return func(_ *testServer, c *testConn) {
		c.question()
		c.say(begin)
		for {
			if _, err := c.Write([]byte(text)); err != nil {
				return
			}
		}
	}
}

// halfClosing answers and ends its half of the connection, without having
// said that it would.
func halfClosing(_ *testServer, c *testConn) {
	if c.question() != nil {
		c.sayLast(okAnswer)
		c.untilGone()
	}
}

// hasty answers when it has read a request's head, and ends its half of the
// connection.
func hasty(_ *testServer, c *testConn) {
	if _, err := http.ReadRequest(c.reader); err == nil {
		c.sayLast(okAnswer)
		c.untilGone()
	}
}

func TestNobodyListens(t *testing.T) {
	t.Parallel()
	for _, closing := range []bool{false, true} {
		order := orderFor(closedPort(t))
		order.Load = stopwatt.Load{Users: 3, Requests: 5000, Close: closing, Timeout: 20 * time.Second}
		got := drive(t, order, AnyLength)
		if diff := cmp.Diff(map[string]int64{stopwatt.ErrorConnect: 15000}, got.Errors); diff != "" {
			t.Errorf("errors (-want +got):\n%s", diff)
		}
		if first := got.FirstErrors[stopwatt.ErrorConnect]; !strings.Contains(first, "connection refused") {
			t.Errorf("first error %q", first)
		}
	}
}

// closedPort is an address that nobody listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // that is the point
	return listener.Addr().String()
}

func TestUsersGiveUpOnAServerThatNeverAnswers(t *testing.T) {
	t.Parallel()
	server := startServer(t, func(_ *testServer, c *testConn) {
		c.question()
		c.untilGone()
	})
	order := orderFor(server.address())
	order.Load.Requests, order.Load.Timeout = 1000, 10*time.Millisecond
	got := drive(t, order, AnyLength)
	if diff := cmp.Diff(map[string]int64{stopwatt.ErrorTimeout: 2000}, got.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if want := int64(2 * giveUpTimeouts * len(compose(order, order.Request))); got.BytesSent != want {
		t.Errorf("sent %d bytes, want %d: %d requests of each user", got.BytesSent, want, giveUpTimeouts)
	}
	order.Load.Requests, order.Load.For = 0, time.Hour
	got = drive(t, order, AnyLength)
	if diff := cmp.Diff(map[string]int64{stopwatt.ErrorTimeout: 2 * giveUpTimeouts}, got.Errors); diff != "" {
		t.Errorf("for a time: errors (-want +got):\n%s", diff)
	}
}

func TestUsersGiveUpOnAServerThatTakesNoConnections(t *testing.T) {
	t.Parallel()
	order := orderFor(fullListener(t))
	order.Load = stopwatt.Load{Users: 8, Requests: 1000, Timeout: 100 * time.Millisecond}
	got := drive(t, order, AnyLength)
	if accounted(got) != 8000 || got.Requests > 0 {
		t.Errorf("%d requests accounted for, %d right, errors %v", accounted(got), got.Requests, got.Errors)
	}
	if got.Window.Duration() > 5*time.Second { // five timeouts of each user take half a second
		t.Errorf("the users gave up after %v only", got.Window.Duration())
	}
	if first := got.FirstErrors[stopwatt.ErrorConnect]; !strings.Contains(first, "no connection within 100ms") || !strings.Contains(first, "were not even sent") {
		t.Errorf("first error %q", first)
	}
}

// fullListener is an address where the kernel takes one or two connections,
// and nobody takes them from the kernel.
func fullListener(t *testing.T) string {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	if err := errors.Join(unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}), unix.Listen(fd, 0)); err != nil {
		t.Fatal(err)
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("127.0.0.1:%d", name.(*unix.SockaddrInet4).Port)
}

func TestAServerThatDiesMidwayIsAccountedFor(t *testing.T) {
	t.Parallel()
	for _, closing := range []bool{false, true} {
		const alive = 50
		server := startServer(t, func(s *testServer, c *testConn) {
			for c.question() != nil {
				if s.requests.Load() > alive {
					s.listener.Close()
					c.reset()
					return
				}
				c.say(okAnswer)
			}
		})
		order := orderFor(server.address())
		order.Load = stopwatt.Load{Users: 4, Requests: 3000, Close: closing, Timeout: 20 * time.Second}
		got := drive(t, order, 5)
		if accounted(got) != 12000 || got.Requests > alive || got.Errors[stopwatt.ErrorConnect] == 0 {
			t.Errorf("close %v: %d requests accounted for, %d right, errors %v", closing, accounted(got), got.Requests, got.Errors)
		}
	}
}

func TestTheFirstErrorNamesAServerThatClosesUnannounced(t *testing.T) {
	t.Parallel()
	server := startServer(t, func(_ *testServer, c *testConn) {
		c.question()
		c.say(okAnswer)
		c.question() // the second is read before the connection ends
	})
	order := orderFor(server.address())
	got := drive(t, order, 5)
	if got.Requests != 4 || got.Errors[stopwatt.ErrorClosed] != 2 {
		t.Errorf("%d right, errors %v; want 4 and 2 closed", got.Requests, got.Errors)
	}
	if first := got.FirstErrors[stopwatt.ErrorClosed]; !strings.Contains(first, "without having said `Connection: close`") {
		t.Errorf("first error %q", first)
	}
}

func TestTheFirstErrorExplainsWhenPortsRunOut(t *testing.T) {
	t.Parallel()
	u := &user{question: &question{address: "127.0.0.1:80"}}
	got := u.tell(kindConnect, unix.EADDRNOTAVAIL, time.Second)
	want := "127.0.0.1:80: cannot assign requested address; every local port is in use or in TIME_WAIT: keep connections, or ask fewer requests; nothing was read of an answer"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestErrorsAreCountedUnderTheirNames(t *testing.T) {
	t.Parallel()
	want := []string{stopwatt.ErrorConnect, stopwatt.ErrorTimeout, stopwatt.ErrorClosed, stopwatt.ErrorProtocol, stopwatt.ErrorStatus, stopwatt.ErrorBody}
	var got []string
	for k := range kinds {
		got = append(got, k.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
}
