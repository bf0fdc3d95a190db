//go:build linux

package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// say gives an order and commands and returns the reports.
func say(t *testing.T, order stopwatt.DriveOrder, commands ...string) []stopwatt.DriveReport {
	t.Helper()
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	return sayLines(t, string(text)+"\n"+strings.Join(commands, "\n")+"\n")
}

func sayLines(t *testing.T, lines string) []stopwatt.DriveReport {
	t.Helper()
	var out bytes.Buffer
	if err := Converse(t.Context(), strings.NewReader(lines), &out); err != nil {
		t.Fatal(err)
	}
	var reports []stopwatt.DriveReport
	for line := range strings.Lines(out.String()) {
		var report stopwatt.DriveReport
		if err := json.Unmarshal([]byte(line), &report); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		reports = append(reports, report)
	}
	return reports
}

func TestAWholeConversation(t *testing.T) {
	t.Parallel()
	server := startServer(t, always(okAnswer))
	order := orderFor(server.address())
	order.Expect.BodySHA256 = helloSHA256
	order.Warmup = 10 * time.Millisecond
	reports := say(t, order, "ready", `"warm"`, "drive", "verify")
	if len(reports) != 5 {
		t.Fatalf("%d reports to 4 commands: %+v", len(reports), reports)
	}
	if reports[0].Ready == nil || reports[4].Ready == nil || reports[4].Ready.At <= reports[0].Ready.At {
		t.Errorf("ready %+v, verified %+v", reports[0], reports[4])
	}
	if diff := cmp.Diff(stopwatt.DriveReport{}, reports[1]); diff != "" {
		t.Errorf("warm (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stopwatt.DriveReport{Ended: true}, reports[2]); diff != "" {
		t.Errorf("the window's end (-want +got):\n%s", diff)
	}
	result := reports[3].Result
	if result == nil || result.Requests != 6 || result.Latency.Count() != 6 || len(result.Errors) != 0 {
		t.Fatalf("drive: %+v", reports[3])
	}
	if reports[0].Ready.At > result.Window.Start || result.Window.End > reports[4].Ready.At {
		t.Errorf("window %v does not lie between ready at %d and verify at %d", result.Window, reports[0].Ready.At, reports[4].Ready.At)
	}
	if asked := server.requests.Load(); asked < 6+3 {
		t.Errorf("the server was asked %d times; want more, for it was warmed", asked)
	}
}

func TestTheVerifiedLengthIsWatchedWhileDriving(t *testing.T) {
	t.Parallel()
	shrinking := func(s *testServer, c *testConn) {
		for c.question() != nil {
			if s.requests.Load() == 1 {
				c.say(okAnswer)
			} else {
				c.say("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell")
			}
		}
	}
	order := orderFor(startServer(t, shrinking).address())
	order.Expect.BodySHA256 = helloSHA256
	got := say(t, order, "ready", "drive")
	if got[2].Result == nil || got[2].Result.Errors[stopwatt.ErrorBody] != 6 {
		t.Errorf("drive: %+v; want 6 errors of the body", got[2])
	}
	order = orderFor(startServer(t, shrinking).address())
	got = say(t, order, "ready", "drive")
	if got[2].Result == nil || got[2].Result.Requests != 6 {
		t.Errorf("without a hash, drive: %+v; want 6 right", got[2])
	}
}

func TestFailuresAreToldInTheConversation(t *testing.T) {
	t.Parallel()
	refused := orderFor(closedPort(t))
	refused.ReadyWithin = 20 * time.Millisecond
	impossible := orderFor("127.0.0.1:1")
	impossible.Load.Users = 0
	nowhere := orderFor("127.0.0.1:http-no-such-service")
	order, err := json.Marshal(impossible)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		reports []stopwatt.DriveReport
		want    string
	}{
		{"not ready", say(t, refused, "ready"), "nothing listens on port"},
		{"not verified", say(t, refused, "verify"), "nothing listens on port"},
		{"unknown command", say(t, refused, "run"), `unknown command "run"; the commands are ready, warm, find, drive and verify`},
		{"impossible order", sayLines(t, string(order)+"\ndrive\n"), "the order cannot be carried out: 0 users"},
		{"unresolvable address", say(t, nowhere, "drive"), "resolve 127.0.0.1:http-no-such-service"},
		{"no order", sayLines(t, "ready\nready\n"), "the order is not understood"},
		{"order with an unknown setting", sayLines(t, `{"Address":"127.0.0.1:1","Rate":5}`+"\ndrive\n"), `unknown field "Rate"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if len(test.reports) != 1 {
				t.Fatalf("%d reports", len(test.reports))
			}
			got := test.reports[0]
			if !strings.Contains(got.Failure, test.want) || got.Ready != nil || got.Result != nil {
				t.Errorf("got %+v, want the failure %q alone", got, test.want)
			}
		})
	}
}

func TestEachCommandIsAnsweredBeforeTheNextIsGiven(t *testing.T) {
	t.Parallel()
	order, err := json.Marshal(orderFor(startServer(t, always(okAnswer)).address()))
	if err != nil {
		t.Fatal(err)
	}
	in, tell := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Converse(t.Context(), in, out) }()
	reader := bufio.NewReader(answers)
	io.WriteString(tell, string(order)+"\n")
	for range 3 {
		io.WriteString(tell, "verify\n")
		if line, err := reader.ReadString('\n'); err != nil || !strings.Contains(line, `"Ready"`) {
			t.Fatalf("answer %q, %v", line, err)
		}
	}
	tell.Close()
	if err := <-ended; err != nil {
		t.Errorf("the end of input ended in %v", err)
	}
}

func TestAConversationEndsWithItsContextOrItsListener(t *testing.T) {
	t.Parallel()
	in, tell := io.Pipe()
	defer tell.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Converse(ctx, in, io.Discard); err != context.Canceled {
		t.Errorf("context: %v", err)
	}
	answers, out := io.Pipe()
	answers.CloseWithError(errors.New("gone"))
	if err := Converse(t.Context(), strings.NewReader("{}\nready\n"), out); err == nil || !strings.Contains(err.Error(), "answer: gone") {
		t.Errorf("listener: %v", err)
	}
}
