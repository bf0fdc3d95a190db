//go:build linux

package agent

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// contextUntilEOF ends when the reader does.
func contextUntilEOF(r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, r)
		cancel()
	}()
	return ctx
}

// drive drives with the measuring driver and fails the test if it cannot.
func drive(t testing.TB, order stopwatt.DriveOrder, bodyBytes ...int64) stopwatt.DriveResult {
	t.Helper()
	result, err := Epoll{}.Drive(t.Context(), order, bodyBytes...)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// accounted is the number of requests that a result accounts for.
func accounted(result stopwatt.DriveResult) int64 {
	n := result.Requests
	for _, errors := range result.Errors {
		n += errors
	}
	return n
}

func TestCountsEqualTheServersAndTheReferences(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		request stopwatt.Request
		load    stopwatt.Load
	}{
		{"connections are kept", stopwatt.Request{Method: "GET", Path: "/a?b=c"}, stopwatt.Load{Users: 5, Requests: 400}},
		{"connections are closed", stopwatt.Request{Method: "GET", Path: "/"}, stopwatt.Load{Users: 5, Requests: 100, Close: true}},
		{"one user asks alone", stopwatt.Request{Method: "GET", Path: "/"}, stopwatt.Load{Users: 1, Requests: 100}},
		{"more users than requests", stopwatt.Request{Method: "GET", Path: "/"}, stopwatt.Load{Users: 100, Requests: 1}},
		{"bodies are posted", stopwatt.Request{Method: "POST", Path: "/", Body: []byte(strings.Repeat("x", 100_000))}, stopwatt.Load{Users: 3, Requests: 50}},
		{"bodies are large and connections closed", stopwatt.Request{Method: "PUT", Path: "/", Body: make([]byte, 1<<20)}, stopwatt.Load{Users: 2, Requests: 5, Close: true}},
		{"only heads are asked for", stopwatt.Request{Method: "HEAD", Path: "/"}, stopwatt.Load{Users: 2, Requests: 50}},
		{"answers are large", stopwatt.Request{Method: "GET", Path: "/large"}, stopwatt.Load{Users: 3, Requests: 20}},
		{"answers come in chunks", stopwatt.Request{Method: "GET", Path: "/chunked"}, stopwatt.Load{Users: 3, Requests: 50}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var asked, bodies atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n, _ := io.Copy(io.Discard, r.Body)
				asked.Add(1)
				bodies.Add(n)
				answerAsGo(w, r)
			}))
			defer server.Close()
			order := orderFor(server.Listener.Addr().String())
			order.Request = test.request
			order.Load = test.load
			order.Load.Timeout = 20 * time.Second
			want := int64(test.load.Users * test.load.Requests)
			for _, driver := range []Driver{Epoll{}, reference{}} {
				asked.Store(0)
				bodies.Store(0)
				got, err := driver.Drive(t.Context(), order, AnyLength)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Errors) > 0 {
					t.Errorf("%T: errors %v, first %v", driver, got.Errors, got.FirstErrors)
				}
				counts := []int64{got.Requests, got.Latency.Count(), asked.Load(), bodies.Load() / max(1, int64(len(test.request.Body)))}
				if test.request.Body == nil {
					counts[3] = want
				}
				if diff := cmp.Diff([]int64{want, want, want, want}, counts); diff != "" {
					t.Errorf("%T: requests, latencies, asked, bodies (-want +got):\n%s", driver, diff)
				}
				checkWindow(t, got)
			}
		})
	}
}

// answerAsGo answers in the ways that Go's server knows.
func answerAsGo(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/large":
		w.Header().Set("Content-Length", "1000000")
		w.Write(make([]byte, 1_000_000))
	case "/chunked":
		for i := range 3 {
			w.Write(make([]byte, 20_000*i+1))
			w.(http.Flusher).Flush()
		}
	default:
		io.WriteString(w, "hello")
	}
}

// checkWindow checks what must hold for the times of any result.
func checkWindow(t *testing.T, r stopwatt.DriveResult) {
	t.Helper()
	now := monotonic()
	if r.Window.Start <= 0 || r.Window.End <= r.Window.Start || r.Window.End > now {
		t.Errorf("window %v does not lie before now, %d", r.Window, now)
	}
	if r.Latency.Count() > 0 && (r.Latency.Min() <= 0 || r.Latency.Max() > r.Window.End-r.Window.Start) {
		t.Errorf("latencies %d to %d do not fit into a window of %v", r.Latency.Min(), r.Latency.Max(), r.Window.Duration())
	}
	if r.CPU <= 0 {
		t.Errorf("CPU time %v", r.CPU)
	}
}

func TestEveryByteIsCounted(t *testing.T) {
	t.Parallel()
	answers := map[string]string{
		"small":   okAnswer,
		"long":    "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("x", 300_000),
		"chunked": "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n" + strings.Repeat("x", 100_000) + "\r\n1\r\nx\r\n0\r\n\r\n",
	}
	for name, text := range answers {
		for _, closing := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s answers, close %v", name, closing), func(t *testing.T) {
				t.Parallel()
				server := startServer(t, always(text))
				order := orderFor(server.address())
				order.Load.Close = closing
				got := drive(t, order, AnyLength)
				if want := int64(6 * len(text)); got.BytesReceived != want {
					t.Errorf("received %d bytes, want %d", got.BytesReceived, want)
				}
				if want := int64(6 * len(compose(order, order.Request))); got.BytesSent != want {
					t.Errorf("sent %d bytes, want %d", got.BytesSent, want)
				}
			})
		}
	}
}

func TestALongBodyMayComeInPieces(t *testing.T) {
	t.Parallel()
	const pieces, size = 700, 999
	server := startServer(t, func(_ *testServer, c *testConn) {
		for c.question() != nil {
			c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", pieces*size))
			for range pieces {
				c.say(strings.Repeat("x", size))
			}
		}
	})
	got := drive(t, orderFor(server.address()), pieces*size)
	if got.Requests != 6 || server.connections.Load() != 2 {
		t.Errorf("%d requests over %d connections, errors %v", got.Requests, server.connections.Load(), got.FirstErrors)
	}
}

func TestTheShortEndOfALongBodyIsNotSleptThrough(t *testing.T) {
	t.Parallel()
	server := startServer(t, func(_ *testServer, c *testConn) {
		for c.question() != nil {
			// Each time the driver has dropped what came before, and waits.
			c.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n" + strings.Repeat("x", 30_000))
			time.Sleep(20 * time.Millisecond)
			c.say(strings.Repeat("x", 70_000))
			time.Sleep(20 * time.Millisecond)
			c.say("\r\n0\r\n\r\n")
		}
	})
	got := drive(t, orderFor(server.address()), 100_000)
	if got.Requests != 6 || got.Latency.Max() > int64(10*time.Second) {
		t.Errorf("%d requests of at most %dns, errors %v", got.Requests, got.Latency.Max(), got.FirstErrors)
	}
}

func TestAResultSaysHowManyThreadsDrove(t *testing.T) {
	t.Parallel()
	address := startServer(t, always(okAnswer)).address()
	for _, test := range []struct{ ordered, users, want int }{
		{ordered: 1, users: 4, want: 1},
		{ordered: 3, users: 4, want: 3},
		{ordered: 3, users: 2, want: 2},
		{ordered: 0, users: 2, want: 1},
	} {
		order := orderFor(address)
		order.Load.Users = test.users
		got, err := Epoll{Threads: test.ordered}.Drive(t.Context(), order, AnyLength)
		if err != nil || got.Threads != test.want {
			t.Errorf("%d ordered for %d users: %d drove, want %d (%v)", test.ordered, test.users, got.Threads, test.want, err)
		}
		if got.Busy() <= 0 {
			t.Errorf("%d ordered for %d users: busy for %v of the time", test.ordered, test.users, got.Busy())
		}
	}
}

func TestDrivingForATimeEndsThen(t *testing.T) {
	t.Parallel()
	server := startServer(t, always(okAnswer))
	order := orderFor(server.address())
	order.Load.Requests, order.Load.For = 0, 50*time.Millisecond
	got := drive(t, order, 5)
	if got.Window.Duration() < 50*time.Millisecond {
		t.Errorf("ended after %v", got.Window.Duration())
	}
	if got.Requests == 0 || got.Requests != server.requests.Load() || len(got.Errors) > 0 {
		t.Errorf("%d requests, server %d, errors %v", got.Requests, server.requests.Load(), got.FirstErrors)
	}
}

func TestAnswersInFlightAreAwaitedWhenTimeIsUp(t *testing.T) {
	t.Parallel()
	server := startServer(t, func(_ *testServer, c *testConn) {
		for c.question() != nil {
			time.Sleep(30 * time.Millisecond) // an answer that takes its time
			c.say(okAnswer)
		}
	})
	order := orderFor(server.address())
	order.Load.Requests, order.Load.For = 0, time.Millisecond
	got := drive(t, order, 5)
	if got.Requests != 2 || len(got.Errors) > 0 || got.Latency.Min() < int64(29*time.Millisecond) {
		t.Errorf("%d requests of at least %dns, errors %v; want 2 of 30ms", got.Requests, got.Latency.Min(), got.FirstErrors)
	}
}

func TestAnInterruptedDriveEndsAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := startServer(t, func(_ *testServer, c *testConn) {
		c.question()
		cancel()
		c.untilGone()
	})
	order := orderFor(server.address())
	order.Load.Timeout = time.Hour
	_, err := Epoll{}.Drive(ctx, order, AnyLength)
	if err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("got %v", err)
	}
}

func TestNothingIsAllocatedPerRequest(t *testing.T) {
	for _, closing := range []bool{false, true} {
		t.Run(fmt.Sprintf("close %v", closing), func(t *testing.T) {
			order := orderFor(startNullServer(t))
			order.Load = stopwatt.Load{Users: 4, Requests: 10, Close: closing, Timeout: 20 * time.Second}
			few, _ := allocations(t, order)
			order.Load.Requests = 2000
			many, seconds := allocations(t, order)
			// Afterwards, the result takes three for each second: on a busy machine
			// there are many. The runtime itself takes a few now and then.
			const eachSecond, runtimes = 3, 24
			if many > few+uint64(eachSecond*seconds)+runtimes {
				t.Errorf("%d allocations for %d requests in %d s, %d for 40", many, 4*2000, seconds, few)
			}
		})
	}
}

// allocations is how many a drive makes, and how many seconds its result has.
func allocations(t *testing.T, order stopwatt.DriveOrder) (made uint64, seconds int) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := drive(t, order, 0)
	runtime.ReadMemStats(&after)
	if got.Requests != int64(order.Load.Users*order.Load.Requests) {
		t.Fatalf("%d requests, errors %v", got.Requests, got.FirstErrors)
	}
	return after.Mallocs - before.Mallocs, len(got.Seconds)
}

func TestTheGarbageCollectorIsOffWhileDriving(t *testing.T) {
	var first, last debug.GCStats
	var heap [][]byte
	var serving sync.Mutex
	server := startServer(t, func(s *testServer, c *testConn) {
		for c.question() != nil {
			serving.Lock()
			if s.requests.Load() == 1 {
				debug.ReadGCStats(&first)
			}
			heap = append(heap, make([]byte, 1<<20)) // would start the collector again and again
			debug.ReadGCStats(&last)
			serving.Unlock()
			c.say(okAnswer)
		}
	})
	order := orderFor(server.address())
	order.Load.Users, order.Load.Requests = 1, 50
	drive(t, order, 5)
	serving.Lock()
	defer serving.Unlock()
	if ran := last.NumGC - first.NumGC; ran != 0 || len(heap) != 50 {
		t.Errorf("the garbage collector ran %d times during %d requests", ran, len(heap))
	}
}

func TestADriveLeavesNothingBehind(t *testing.T) {
	address := startNullServer(t)
	order := orderFor(address)
	drive(t, order, 0) // opens what Go keeps open
	files, processors, percent := openFiles(t), runtime.GOMAXPROCS(0), gcPercent()
	order.Load.Users, order.Load.Requests = 50, 3
	drive(t, order, 0)
	order.Load.Close = true
	drive(t, order, 0)
	if got := openFiles(t); got != files {
		t.Errorf("%d open files, %d before", got, files)
	}
	if runtime.GOMAXPROCS(0) != processors || gcPercent() != percent {
		t.Errorf("GOMAXPROCS %d, %d before; GC at %d%%, %d%% before", runtime.GOMAXPROCS(0), processors, gcPercent(), percent)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func gcPercent() int {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}

func TestTheClockIsTheKernels(t *testing.T) {
	t.Parallel()
	c := newClock()
	before := monotonic()
	now := c.now()
	after := monotonic()
	// The two readings that make a clock lie apart by as long as a system call
	// takes, or a preemption.
	const apart = int64(50 * time.Millisecond)
	if now < before-apart || now > after+apart {
		t.Errorf("clock says %d between %d and %d", now, before, after)
	}
}
