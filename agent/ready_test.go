//go:build linux

package agent

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
)

const helloSHA256 = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

func TestReadyTellsOfTheFirstRightAnswer(t *testing.T) {
	t.Parallel()
	starting := func(text string) func(*testServer, *testConn) {
		return func(s *testServer, c *testConn) {
			for c.question() != nil {
				if s.requests.Load() < 4 {
					c.say(text)
					return
				}
				c.say(okAnswer)
			}
		}
	}
	tests := []struct {
		name     string
		serve    func(*testServer, *testConn)
		attempts int
	}{
		{"right at once", always(okAnswer), 1},
		{"unavailable at first", starting("HTTP/1.1 503 Starting\r\nContent-Length: 0\r\n\r\n"), 4},
		{"wrong at first", starting("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), 4},
		{"another body at first", starting("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nwait"), 4},
		{"closing at first", starting(""), 4},
		{"no HTTP at first", starting("starting\n"), 4},
		{"chunked", always("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"), 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			order := orderFor(startServer(t, test.serve).address())
			order.Expect.BodySHA256 = helloSHA256
			before := monotonic()
			got, err := ready(t.Context(), order)
			if err != nil {
				t.Fatal(err)
			}
			if got.At <= before || got.At > monotonic() {
				t.Errorf("answered at %d, which does not lie between %d and now", got.At, before)
			}
			want := stopwatt.Ready{Attempts: test.attempts, Status: 200, BodySHA256: helloSHA256, BodyBytes: 5}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "At")); diff != "" {
				t.Errorf("ready (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadyWaitsForTheListener(t *testing.T) {
	t.Parallel()
	address := closedPort(t)
	order := orderFor(address)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() { served <- Serve(ctx, address, nil) })
	got, err := ready(t.Context(), order)
	if err != nil || got.Attempts < 2 {
		t.Errorf("after %d attempts: %v", got.Attempts, err)
	}
	cancel()
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// Every row is asked until the bound, or until the answer is steadily wrong.
func TestReadyGivesUpAndSaysWhy(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 300)
	tests := []struct {
		name  string
		serve func(*testServer, *testConn) // nil: nobody listens
		want  string                       // PORT stands for the port
	}{
		{"nobody listens", nil, "nothing listens on port PORT after 250ms"},
		{"never answers", func(_ *testServer, c *testConn) { c.untilGone() }, "port PORT accepts connections but does not answer; still so after 250ms"},
		{"closes", func(*testServer, *testConn) {}, "port PORT accepts connections and closes them without an answer; still so after 250ms"},
		{"resets", func(_ *testServer, c *testConn) { c.reset() }, "port PORT accepts connections and closes them without an answer; still so after 250ms"},
		{"answers half", once("HTTP/1.1 200 OK\r\n"), `the answer on port PORT was cut short: the connection ended before the answer did; it begins "HTTP/1.1 200 OK\r\n"; still so after 250ms`},
		{"does not end its answer", func(_ *testServer, c *testConn) { c.say("HTTP/1.1 2"); c.untilGone() }, `the answer on port PORT does not end; it begins "HTTP/1.1 2"; still so after 250ms`},
		{"is unavailable", once("HTTP/1.1 503 Wait\r\n\r\nstarting"), `expected status 200, found 503; the body begins "starting"; still so after 250ms`},
		{"speaks no HTTP", once("SSH-2.0-x\r\n"), `port PORT: the answer is no HTTP/1.1; the answer begins "SSH-2.0-x\r\n"; still so after 250ms`},
		{"finds nothing", always("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"), "expected status 200, found 404; the body is empty; still so after 250ms"},
		{"answers with another body", once("HTTP/1.1 200 OK\r\n\r\n" + long), fmt.Sprintf("expected a body of SHA-256 %s, found %x of 300 bytes; the body begins %q; still so after 250ms", helloSHA256, sha256.Sum256([]byte(long)), long[:200])},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			address := closedPort(t)
			if test.serve != nil {
				address = startServer(t, test.serve).address()
			}
			order := orderFor(address)
			order.ReadyWithin = 250 * time.Millisecond
			order.Expect.BodySHA256 = helloSHA256
			_, err := ready(t.Context(), order)
			_, port, _ := net.SplitHostPort(address)
			want := strings.ReplaceAll(test.want, "PORT", port)
			if err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
}

// A timeout may be shorter than a good answer takes: then it is named.
func TestAnAnswerThatTheTimeoutCutOffNamesTheTimeout(t *testing.T) {
	t.Parallel()
	silent := func(_ *testServer, c *testConn) { c.untilGone() }
	halting := func(_ *testServer, c *testConn) { c.say("HTTP/1.1 2"); c.untilGone() }
	tests := []struct {
		name  string
		serve func(*testServer, *testConn)
		want  string // PORT stands for the port
	}{
		{"before it began", silent, "port PORT: no whole answer within load.timeout of 200ms; nothing was read of an answer"},
		{"before it ended", halting, `port PORT: no whole answer within load.timeout of 200ms; the answer begins "HTTP/1.1 2"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, test.serve)
			order := orderFor(server.address())
			order.ReadyWithin, order.Load.Timeout = 700*time.Millisecond, 200*time.Millisecond
			_, port, _ := net.SplitHostPort(server.address())
			want := strings.ReplaceAll(test.want, "PORT", port)
			if _, err := ready(t.Context(), order); err == nil || err.Error() != want+"; still so after 700ms" {
				t.Errorf("ready: got  %v\nwant %s; still so after 700ms", err, want)
			}
			if connections := server.connections.Load(); connections < 2 {
				t.Errorf("asked %d times, want again after each timeout", connections)
			}
			if _, _, err := verify(t.Context(), order); err == nil || err.Error() != want {
				t.Errorf("verify: got  %v\nwant %s", err, want)
			}
		})
	}
}

func TestAListenerThatSaysNothingIsNotTakenForNobody(t *testing.T) {
	t.Parallel()
	for _, timeout := range []time.Duration{20 * time.Millisecond, time.Hour} {
		t.Run(fmt.Sprint("timeout ", timeout), func(t *testing.T) {
			t.Parallel()
			address := closedPort(t)
			order := orderFor(address)
			order.ReadyWithin, order.Load.Timeout = time.Second, timeout
			listening := make(chan net.Listener, 1)
			time.AfterFunc(20*time.Millisecond, func() {
				listener, err := net.Listen("tcp", address) // the kernel accepts for it
				if err != nil {
					t.Error(err)
				}
				listening <- listener
			})
			_, err := ready(t.Context(), order)
			if listener := <-listening; listener != nil {
				listener.Close()
			}
			if err == nil || strings.Contains(err.Error(), "nothing listens") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestASteadilyWrongAnswerIsNotAskedForUntilTheBound(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	var s steadiness
	for _, step := range []struct {
		what string
		same string
		at   float64
		want float64
	}{
		{"the first wrong answer", "status 404", 1, 0},
		{"the same again", "status 404", 2, 1},
		{"another wrong answer", "status 500", 2.5, 0},
		{"that again", "status 500", 4.5, 2},
		{"none", "", 5, 0},
		{"still none", "", 9, 0},
		{"wrong again", "status 500", 10, 0},
	} {
		if got := s.lasts(problem{same: step.same}, at(step.at)).Seconds(); got != step.want {
			t.Errorf("%s: lasts %v s, want %v", step.what, got, step.want)
		}
	}
}

func TestReadyGivesUpEarlyOnAWrongPath(t *testing.T) {
	t.Parallel()
	order := orderFor(startServer(t, always("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope")).address())
	order.ReadyWithin = time.Hour
	_, err := ready(t.Context(), order)
	want := `expected status 200, found 404; the body begins "nope"; still so after 2s`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestVerifyAsksOnce(t *testing.T) {
	t.Parallel()
	server := startServer(t, always("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnope"))
	_, _, err := verify(t.Context(), orderFor(server.address()))
	want := `expected status 200, found 404; the body begins "nope"`
	if err == nil || err.Error() != want || server.requests.Load() != 1 {
		t.Errorf("asked %d times, got %v; want once and %s", server.requests.Load(), err, want)
	}
}

func TestABodyWithoutEndIsNotReadForEver(t *testing.T) {
	t.Parallel()
	order := orderFor(startServer(t, endless("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat("x", 1<<20))).address())
	_, _, err := verify(t.Context(), order)
	if err == nil || !strings.Contains(err.Error(), "the body is longer than 64 MiB") {
		t.Errorf("got %v", err)
	}
}

func TestAnInterruptedWaitEndsAtOnce(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := startServer(t, func(_ *testServer, c *testConn) {
		c.question()
		cancel()
		c.untilGone()
	})
	order := orderFor(server.address())
	order.ReadyWithin, order.Load.Timeout = time.Hour, time.Hour
	if _, err := ready(ctx, order); err != context.Canceled {
		t.Errorf("ready: %v", err)
	}
}
