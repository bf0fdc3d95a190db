//go:build linux

package agent

import (
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// openOrder is an open load of one stage.
func openOrder(address string, rate float64, lasting time.Duration) stopwatt.DriveOrder {
	order := orderFor(address)
	order.Load = stopwatt.Load{Users: 64, For: lasting, Timeout: 20 * time.Second, Stages: []stopwatt.Stage{{From: rate, To: rate, For: lasting}}}
	return order
}

func TestEveryRequestOfARateIsMade(t *testing.T) {
	t.Parallel()
	for _, poisson := range []bool{false, true} {
		for _, closing := range []bool{false, true} {
			t.Run(fmt.Sprintf("poisson %v, close %v", poisson, closing), func(t *testing.T) {
				t.Parallel()
				server := startServer(t, always(okAnswer))
				order := openOrder(server.address(), 2000, 200*time.Millisecond)
				order.Load.Poisson, order.Load.Close, order.Seed = poisson, closing, 11
				want := int64(len(dueTimes(order.Load, 11, 1)))
				got, err := Epoll{Threads: 1}.Drive(t.Context(), order, 5)
				if err != nil {
					t.Fatal(err)
				}
				if got.Due != want || got.Requests != want || server.requests.Load() != want || got.Unsent != 0 {
					t.Errorf("%d due, %d right, %d asked, %d unsent, errors %v; want %d", got.Due, got.Requests, server.requests.Load(), got.Unsent, got.FirstErrors, want)
				}
				if got.Service.Count() != want || got.Lag.Count() != want || got.Latency.Count() != want {
					t.Errorf("%d service times, %d lags, %d latencies, want %d", got.Service.Count(), got.Lag.Count(), got.Latency.Count(), want)
				}
				if connections := got.Connect.Count(); connections != server.connections.Load() || closing && connections != want {
					t.Errorf("%d connections, the server counted %d", connections, server.connections.Load())
				}
			})
		}
	}
}

// A frozen server answers nothing for a while, as one that is stopped does, and
// keeps a log of when it answered, and when each answer had surely been read.
type frozen struct {
	after, lasting time.Duration
	mu             sync.Mutex
	begun          time.Time
	thawed         bool
	answered       []int64
	read           []int64 // when the next question came on the same connection; never, where none did
}

// serve answers; the first request that comes after the given time freezes all.
func (f *frozen) serve(_ *testServer, c *testConn) {
	for last := -1; c.question() != nil; {
		last = f.answer(c, last)
	}
}

// answer answers a connection, whose last answer was this, and numbers the answer.
func (f *frozen) answer(c *testConn, last int) int {
	asked := monotonic()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.begun.IsZero() {
		f.begun = time.Now()
	}
	if !f.thawed && time.Since(f.begun) >= f.after {
		time.Sleep(f.lasting)
		f.thawed = true
	}
	if last >= 0 {
		f.read[last] = asked
	}
	f.answered, f.read = append(f.answered, monotonic()), append(f.read, math.MaxInt64)
	c.say(okAnswer)
	return len(f.answered) - 1
}

// truth is between which times the latencies at a quantile lie, of a load that
// comes due every millisecond: each answer was read after it was said and before
// the next question on its connection. Requests are answered as they come due.
func (f *frozen) truth(start int64, q float64) (least, most float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := func(times []int64) float64 {
		latencies := slices.Clone(times)
		for n := range latencies {
			latencies[n] -= start + int64(n)*1e6
		}
		slices.Sort(latencies)
		return float64(latencies[int(math.Ceil(q*float64(len(latencies))))-1])
	}
	return at(f.answered), at(f.read)
}

// The example of coordinated omission that wrk2's author gave: a server answers
// at once for as long as it then answers nothing. A closed load sees one slow
// answer; callers who do not wait for each other see every second one slow, the
// slowest as slow as the freeze was long, and half of those half as slow.
func TestAFreezeIsSeenByAnOpenLoadAndNotByAClosedOne(t *testing.T) {
	t.Parallel()
	const freeze = time.Second
	open := &frozen{after: freeze, lasting: freeze}
	order := openOrder(startServer(t, open.serve).address(), 1000, 2*freeze)
	order.Load.Users = 16
	got, err := Epoll{Threads: 1}.Drive(t.Context(), order, 5)
	if err != nil || got.Requests != 2000 {
		t.Fatalf("%d right answers, errors %v, %v", got.Requests, got.FirstErrors, err)
	}
	for _, q := range []float64{0.75, 0.9, 0.99} {
		least, most := open.truth(got.Window.Start, q)
		if found := float64(got.Latency.Quantile(q)); found < 0.98*least || found > 1.02*most {
			t.Errorf("p%v is %v, the truth %v to %v", 100*q, time.Duration(found), time.Duration(least), time.Duration(most))
		}
	}
	if p75, p99 := got.Latency.Quantile(0.75), got.Latency.Quantile(0.99); p75 < int64(freeze)*4/10 || p99 < int64(freeze)*9/10 {
		t.Errorf("the freeze is hidden: p75 %v, p99 %v", time.Duration(p75), time.Duration(p99))
	}
	// Sixteen were asked when it froze. The service of all others was quick.
	if service := got.Service.Quantile(0.98); service > int64(freeze)/4 {
		t.Errorf("p98 of service times is %v", time.Duration(service))
	}

	closed := &frozen{after: freeze / 2, lasting: freeze}
	order = orderFor(startServer(t, closed.serve).address())
	order.Load = stopwatt.Load{Users: 1, For: 2 * freeze, Timeout: 20 * time.Second}
	got = drive(t, order, 5)
	if p99 := got.Latency.Quantile(0.99); p99 > int64(freeze)/2 || got.Latency.Max() < int64(freeze) {
		t.Errorf("a closed load: p99 %v, slowest %v", time.Duration(p99), time.Duration(got.Latency.Max()))
	}
}

func TestARateThatCannotBeHeldIsTold(t *testing.T) {
	t.Parallel()
	server := startServer(t, func(_ *testServer, c *testConn) {
		for c.question() != nil {
			time.Sleep(20 * time.Millisecond) // no more than 50/s and connection
			c.say(okAnswer)
		}
	})
	order := openOrder(server.address(), 5000, 200*time.Millisecond)
	order.Load.Users, order.Load.Timeout = 2, 300*time.Millisecond
	got := drive(t, order, 5)
	if got.Due != 1000 || got.Unsent == 0 || got.Requests+got.Unsent != got.Due || len(got.Errors) > 0 {
		t.Errorf("%d due, %d right, %d unsent, errors %v", got.Due, got.Requests, got.Unsent, got.FirstErrors)
	}
	if got.Latency.Max() < 10*got.Service.Quantile(0.5) {
		t.Errorf("latencies up to %v do not have the waiting in them", time.Duration(got.Latency.Max()))
	}
}

func TestAnOpenLoadAtAServerThatNeverAnswersEnds(t *testing.T) {
	t.Parallel()
	server := startServer(t, func(_ *testServer, c *testConn) { c.untilGone() })
	order := openOrder(server.address(), 1000, 300*time.Millisecond)
	order.Load.Users, order.Load.Timeout = 4, 10*time.Millisecond
	got := drive(t, order, 5)
	if got.Due != 300 || got.Requests != 0 || accounted(got)+got.Unsent != 300 || got.Errors[stopwatt.ErrorTimeout] == 0 {
		t.Errorf("%d due, %d right, %d unsent, errors %v", got.Due, got.Requests, got.Unsent, got.Errors)
	}
}

func TestAConnectionThatIsClosedWhileItRestsIsNoError(t *testing.T) {
	t.Parallel()
	server := startServer(t, func(_ *testServer, c *testConn) {
		if c.question() != nil {
			c.say(okAnswer) // and closes, without having said so
		}
	})
	for _, order := range []stopwatt.DriveOrder{openOrder(server.address(), 50, 200*time.Millisecond), thinkingOrder(server.address())} {
		got := drive(t, order, 5)
		if got.Requests != 10 || len(got.Errors) > 0 || got.Connect.Count() != 10 {
			t.Errorf("%d right over %d connections, errors %v", got.Requests, got.Connect.Count(), got.FirstErrors)
		}
	}
}

// thinkingOrder is a load of two users who think.
func thinkingOrder(address string) stopwatt.DriveOrder {
	order := orderFor(address)
	order.Load = stopwatt.Load{Users: 2, Requests: 5, Think: 10 * time.Millisecond, Timeout: 20 * time.Second}
	return order
}

func TestUsersThink(t *testing.T) {
	t.Parallel()
	server := startServer(t, always(okAnswer))
	order := thinkingOrder(server.address())
	got := drive(t, order, 5)
	if got.Requests != 10 || got.Window.Duration() < 4*order.Load.Think || server.connections.Load() != 2 {
		t.Errorf("%d right in %v over %d connections", got.Requests, got.Window.Duration(), server.connections.Load())
	}
	order.Load.Requests, order.Load.For, order.Load.Think = 0, 20*time.Millisecond, time.Hour
	if got = drive(t, order, 5); got.Requests != 2 || got.Window.Duration() > time.Minute {
		t.Errorf("with a time: %d right in %v", got.Requests, got.Window.Duration())
	}
}

func TestSecondsAddUpToTheWhole(t *testing.T) {
	t.Parallel()
	server := startServer(t, func(s *testServer, c *testConn) {
		for c.question() != nil {
			if s.requests.Load()%7 == 0 {
				c.say("HTTP/1.1 500 No\r\nContent-Length: 5\r\n\r\nhello")
				continue
			}
			c.say(okAnswer)
		}
	})
	order := orderFor(server.address())
	order.Load.Requests, order.Load.For = 0, 2200*time.Millisecond
	order.Load.Think = time.Millisecond
	got := drive(t, order, AnyLength)
	if len(got.Seconds) < 3 || got.Every != time.Second {
		t.Fatalf("%d seconds of %v", len(got.Seconds), got.Every)
	}
	var sum stopwatt.Second
	var latency stopwatt.Histogram
	for _, second := range got.Seconds {
		var part stopwatt.Histogram
		if err := part.UnmarshalBinary(second.Latency); err != nil && second.Requests > 0 {
			t.Fatal(err)
		}
		if part.Count() != second.Requests {
			t.Errorf("%d latencies of %d requests", part.Count(), second.Requests)
		}
		latency.Merge(&part)
		sum.Requests += second.Requests
		sum.Errors += second.Errors
		sum.BytesSent += second.BytesSent
		sum.BytesReceived += second.BytesReceived
	}
	want := stopwatt.Second{Requests: got.Requests, Errors: got.Errors[stopwatt.ErrorStatus], BytesSent: got.BytesSent, BytesReceived: got.BytesReceived}
	if diff := cmp.Diff(want, sum); diff != "" || sum.Errors == 0 {
		t.Errorf("-want +got:\n%s", diff)
	}
	if latency.Quantile(0.5) != got.Latency.Quantile(0.5) {
		t.Errorf("the seconds' median is %d, the whole's %d", latency.Quantile(0.5), got.Latency.Quantile(0.5))
	}
}

func TestALongLoadIsKeptInLongerParts(t *testing.T) {
	t.Parallel()
	if c := newCourse(stopwatt.Load{For: time.Hour}); c.every != int64(7*time.Second) {
		t.Errorf("an hour is kept in parts of %v", time.Duration(c.every))
	}
	c, all := newCourse(stopwatt.Load{Requests: 1}), stopwatt.Histogram{}
	c.begin(0)
	c.latency.Record(1000)
	c.turn(int64(2*time.Hour), counts{requests: 1}, &all)
	c.latency.Record(1000)
	c.keep(counts{requests: 2}, &all)
	if len(c.seconds) != longestCourse || all.Count() != 2 {
		t.Errorf("%d seconds, %d latencies", len(c.seconds), all.Count())
	}
}

func TestSeveralRequestsWithValuesAreAllAsked(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen[fmt.Sprintf("%s %s %s %s", r.Method, r.RequestURI, r.Header.Get("X-Name"), body)]++
		mu.Unlock()
		if r.Method == "POST" {
			w.WriteHeader(http.StatusCreated)
		}
		io.WriteString(w, "hello")
	}))
	defer server.Close()
	order := orderFor(server.Listener.Addr().String())
	order.Request.Path = "/a"
	order.Others = []stopwatt.Ask{{
		Request: stopwatt.Request{Method: "POST", Path: "/b/{name}?id={id}", Headers: map[string]string{"X-Name": "{name}"}, Body: []byte("{id}:{name}:{other}")},
		Expect:  stopwatt.Expect{Status: 201},
	}}
	order.InOrder = true
	order.Data = &stopwatt.Data{Columns: []string{"id", "name"}, Rows: [][]string{{"1", "a b/ü"}, {"22", "c"}}}
	order.Load.Users, order.Load.Requests = 1, 8
	got := drive(t, order)
	mu.Lock()
	defer mu.Unlock()
	want := map[string]int{"GET /a  ": 4, "POST /b/a%20b%2F%C3%BC?id=1 a b/ü 1:a b/ü:{other}": 2, "POST /b/c?id=22 c 22:c:{other}": 2}
	if diff := cmp.Diff(want, seen); diff != "" || got.Requests != 8 {
		t.Errorf("%d right, errors %v; asked (-want +got):\n%s", got.Requests, got.FirstErrors, diff)
	}
}

func TestBodiesAreCheckedOneInSoMany(t *testing.T) {
	t.Parallel()
	serve := func(s *testServer, c *testConn) {
		for c.question() != nil {
			if s.requests.Load() > 20 {
				c.say(strings.Replace(okAnswer, "hello", "hallo", 1)) // as long, but wrong
				continue
			}
			c.say(okAnswer)
		}
	}
	for oneIn, want := range map[int]int64{0: 0, 1: 20, 10: 2, 1000: 0} {
		order := orderFor(startServer(t, serve).address())
		order.Expect.BodySHA256, order.Expect.CheckOneIn = helloSHA256, oneIn
		order.Load = stopwatt.Load{Users: 1, Requests: 40, Timeout: 20 * time.Second}
		got := drive(t, order, 5)
		if got.Errors[stopwatt.ErrorBody] != want || accounted(got) != 40 {
			t.Errorf("one in %d: %d wrong bodies, want %d", oneIn, got.Errors[stopwatt.ErrorBody], want)
		}
		if checked := map[int]int64{0: 0, 1: 40, 10: 4, 1000: 1}[oneIn]; got.Checked != checked {
			t.Errorf("one in %d: %d were checked, want %d", oneIn, got.Checked, checked)
		}
		if first := got.FirstErrors[stopwatt.ErrorBody]; want > 0 && !strings.Contains(first, "expected "+helloSHA256) {
			t.Errorf("first error %q", first)
		}
	}
}

func TestUnixSocketsAreAsked(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := http.Server{Handler: http.HandlerFunc(answerAsGo)}
	go server.Serve(listener)
	defer server.Close()
	for _, what := range []string{"/", "/large", "/chunked"} {
		for _, closing := range []bool{false, true} {
			order := orderFor("unix:" + path)
			order.Request.Path, order.Load.Close = what, closing
			if _, err := ready(t.Context(), order); err != nil {
				t.Fatal(err)
			}
			if got := drive(t, order); got.Requests != 6 || len(got.Errors) > 0 {
				t.Errorf("%s, close %v: %d right, errors %v", what, closing, got.Requests, got.FirstErrors)
			}
		}
	}
}
