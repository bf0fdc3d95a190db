package trial_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// A parrot is an engine whose agents say what they were taught, whatever they are
// told: code under test may get hold of the other end of a conversation.
type parrot struct {
	*harbour
	says io.Reader
}

func (p parrot) Attach(ctx context.Context, _ string) (io.ReadWriteCloser, error) {
	return said{p.says}, p.call(ctx, "attach")
}

// said is a conversation that hears nothing.
type said struct{ io.Reader }

func (said) Write(p []byte) (int, error) { return len(p), nil }
func (said) Close() error                { return nil }

// taught is a trial whose agent says this, and nothing more.
func taught(t *testing.T, order trial.Order, says io.Reader) (stopwatt.Trial, error) {
	t.Helper()
	h := newHarbour(t, hello)
	bench := h.bench()
	bench.Containers = parrot{h, says}
	bench.Harness = func(_ stopwatt.Workload, results []byte) ([]stopwatt.Benchmark, error) { return nil, nil }
	return bench.Run(t.Context(), order)
}

// lines are values as an agent says them.
func lines(t testing.TB, values ...any) []byte {
	t.Helper()
	var text bytes.Buffer
	for _, value := range values {
		if err := json.NewEncoder(&text).Encode(value); err != nil {
			t.Fatal(err)
		}
	}
	return text.Bytes()
}

// fit says that a trial can be kept: each number is one, or a reason stands in its
// place.
func fit(t *testing.T, got stopwatt.Trial, err error) {
	t.Helper()
	if err != nil {
		return
	}
	if got.Status != stopwatt.Valid && got.Reason == "" {
		t.Error("it is invalid without a reason")
	}
	for _, m := range got.Measurements {
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			t.Errorf("%s is %v", m.Metric, m.Value)
		}
	}
	for _, a := range got.Absent {
		if a.Reason == "" {
			t.Errorf("%s is absent without a reason", a.Metric)
		}
	}
	if _, err := json.Marshal(got); err != nil {
		t.Errorf("it cannot be kept: %v", err)
	}
}

// FuzzDriveReport lets a driver say anything.
func FuzzDriveReport(f *testing.F) {
	ready := stopwatt.DriveReport{Ready: &stopwatt.Ready{At: 5, Attempts: 1, Status: 200}}
	var latency stopwatt.Histogram
	latency.Record(1e6)
	encoded, err := latency.MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	result := stopwatt.DriveResult{Window: stopwatt.Window{Start: 10, End: 5e9}, Requests: 120, Latency: &latency, Threads: 1, CPU: time.Second,
		Every: time.Second, Seconds: []stopwatt.Second{{Requests: 120, Latency: encoded}}}
	f.Add(lines(f, ready, stopwatt.DriveReport{Ended: true}, stopwatt.DriveReport{Result: &result}, ready))
	f.Add(lines(f, ready, stopwatt.DriveReport{Ended: true}, stopwatt.DriveReport{Failure: "no"}))
	f.Add([]byte(`{"Ready":{}}` + "\n" + `{"Ended":true}` + "\n" + `{"Result":{"Window":{"Start":9,"End":-9},"Requests":-1,"Every":-1,"Seconds":[{},{"Latency":"AA=="}]}}` + "\n" + `{"Ready":{}}` + "\n"))
	f.Add([]byte("null\n"))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		h := newHarbour(t, hello)
		got, err := taught(t, order(h), bytes.NewReader(text))
		fit(t, got, err)
	})
}

// FuzzTimeReport lets a timer say anything, of a command and of a harness.
func FuzzTimeReport(f *testing.F) {
	ready := stopwatt.TimeReport{Ready: &stopwatt.TimerReady{Empty: []int64{1000, 2000}}}
	result := stopwatt.TimeResult{Window: stopwatt.Window{Start: 10, End: 5e9}, Repetitions: []stopwatt.Repetition{{Wall: 1e9, User: 1e8}, {Wall: 2e9}}}
	for _, harness := range []bool{false, true} {
		f.Add(lines(f, ready, stopwatt.TimeReport{Ended: true}, stopwatt.TimeReport{Result: &result}), harness)
		f.Add(lines(f, stopwatt.TimeReport{Failure: "no such program"}), harness)
		f.Add([]byte(`{"Ready":{}}`+"\n"+`{"Ended":true}`+"\n"+`{"Result":{"Window":{"End":-9},"Repetitions":[{"Wall":-1,"User":9223372036854775807}]}}`+"\n"), harness)
	}
	f.Fuzz(func(t *testing.T, text []byte, harness bool) {
		asked := shell("true")
		if harness {
			asked = asHarness(asked)
		}
		got, err := taught(t, asked, bytes.NewReader(text))
		fit(t, got, err)
	})
}

// endless is a line without an end, which counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestALineThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	says := &endless{}
	got, err := taught(t, shell("true"), says)
	if told := got.Reason + errorText(err); !strings.Contains(told, "a line of more than 256 MiB") {
		t.Errorf("it ends with %q", told)
	}
	if most := 257 << 20; says.read > most {
		t.Errorf("%d bytes were read of a line that may have %d", says.read, most)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
