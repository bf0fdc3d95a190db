package trial_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// shell is a small trial of a line of a shell, which the fake runs on this
// machine.
func shell(line string) trial.Order {
	return trial.Order{
		Planned:        stopwatt.PlannedTrial{Round: 1, Case: stopwatt.Case{Implementation: "sh", Workload: "line"}, Revision: stopwatt.Head},
		Implementation: stopwatt.Implementation{Name: "sh", Exec: []string{"/bin/sh", "-c"}, Env: map[string]string{"A": "1"}, CPUs: "0", Writable: true},
		Workload: stopwatt.Workload{Name: "line", Command: &stopwatt.Command{
			Program: stopwatt.Program{Run: []string{line}, OKExit: []int{0}, Timeout: 20 * time.Second},
			Repeat:  stopwatt.Repeat{Least: 3, Most: 3},
		}},
		Image: stopwatt.Image{ID: "sha256:1", Bytes: 4096},
	}
}

// asHarness makes a harness of a command's trial.
func asHarness(order trial.Order) trial.Order {
	order.Workload.Harness = &stopwatt.Harness{Program: order.Workload.Command.Program}
	order.Workload.Command = nil
	return order
}

// valid runs a trial that has figures.
func valid(t *testing.T, bench trial.Bench, order trial.Order) stopwatt.Trial {
	t.Helper()
	got, err := bench.Run(t.Context(), order)
	if err != nil || got.Status != stopwatt.Valid {
		t.Fatalf("%v %s", err, got.Reason)
	}
	return got
}

func TestACommandHasANumberOrAReasonForEachOfItsMetrics(t *testing.T) {
	h := newHarbour(t, hello)
	got := valid(t, h.bench(), shell("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); done"))
	said := map[string]int{}
	for _, m := range got.Measurements {
		said[m.Metric]++
	}
	for _, a := range got.Absent {
		said[a.Metric]++
	}
	for _, metric := range stopwatt.Metrics {
		of := metric.Name == "time" || metric.Name == "image_size" || metric.Name == "time_empty" || strings.HasPrefix(metric.Name, "machine_") ||
			metric.Window == "repeated" && metric.Name != "time_run" || isOf(stopwatt.RoleProgram, metric)
		if want := map[bool]int{true: 1}[of]; said[metric.Name] != want {
			t.Errorf("%s is told %d times, want %d", metric.Name, said[metric.Name], want)
		}
	}
	if n, _ := got.Value("repetitions"); n != 3 {
		t.Errorf("%v repetitions, want 3", n)
	}
	if cpu, _ := got.Value("cpu_program"); cpu != 1 { // one reading in front, one behind: see account
		t.Errorf("the container used %v s of CPU, want 1", cpu)
	}
}

func TestTheFiguresOfACommandAreThoseOfItsRepetitions(t *testing.T) {
	h := newHarbour(t, hello)
	got := valid(t, h.bench(), shell("true"))
	i := slices.IndexFunc(got.Repetitions, func(r stopwatt.Repetitions) bool { return r.Metric == "time" })
	if i < 0 || len(got.Repetitions[i].Values) != 3 {
		t.Fatalf("repetitions %+v, want three of time", got.Repetitions)
	}
	walls := got.Repetitions[i].Values
	mean, _ := got.Value("time")
	if want := (walls[0] + walls[1] + walls[2]) / 3; mean < want*0.999 || mean > want*1.001 {
		t.Errorf("time is %v, the mean of %v is %v", mean, walls, want)
	}
	least, _ := got.Value("time_min")
	if least != slices.Min(walls) {
		t.Errorf("time_min is %v of %v", least, walls)
	}
	if window := got.Window.Duration().Seconds(); window < mean*3*0.999 {
		t.Errorf("the window of %v s is shorter than its repetitions", window)
	}
}

func TestTheEmptyProgramIsSubtractedWhenThatIsAsked(t *testing.T) {
	h := newHarbour(t, hello)
	order := shell("true")
	order.Workload.Command.SubtractEmpty = true
	got := valid(t, h.bench(), order)
	mean, _ := got.Value("time")
	empty, _ := got.Value("time_empty")
	whole := got.Window.Duration().Seconds() / 3
	if empty <= 0 || mean > whole-empty {
		t.Errorf("time is %v, a third of the window %v, an empty program %v: it was not subtracted", mean, whole, empty)
	}
}

func TestAProgramRunsInAContainerOfItsImage(t *testing.T) {
	h := newHarbour(t, hello)
	valid(t, h.bench(), shell("true"))
	want := stopwatt.ContainerOrder{
		Image: "sha256:1", Entrypoint: []string{stopwatt.AgentPath}, Command: []string{"time"}, VolumesFrom: "volume", Stdin: true,
		Env: map[string]string{"A": "1"}, CPUs: "0", Writable: true,
		Labels: map[string]string{stopwatt.LabelRun: "run", stopwatt.LabelRole: "program"},
	}
	if diff := cmp.Diff(want, h.orders["program-0"]); diff != "" {
		t.Errorf("the container's order differs (-want +got):\n%s", diff)
	}
}

func TestAProgramThatFailsMakesATrialInvalid(t *testing.T) {
	h := newHarbour(t, hello)
	for line, want := range map[string]string{
		"echo oh >&2; exit 4": "repetition 1 exited with 4; its last lines:\noh",
		"kill -9 $$":          "repetition 1 was ended by signal 9 (killed) (most likely out of memory: its limit is 64 MiB)",
	} {
		order := shell(line)
		order.Implementation.Memory = 64 << 20
		got, err := h.bench().Run(t.Context(), order)
		if err != nil || got.Status != stopwatt.Invalid || got.Reason != want {
			t.Errorf("%s: error %v, status %s, reason %q; want %q", line, err, got.Status, got.Reason, want)
		}
	}
}

func TestAHarnessIsReadAsPartsOfItsTrial(t *testing.T) {
	h := newHarbour(t, hello)
	bench := h.bench()
	ops := stopwatt.Metric{Name: "ops", Unit: "op", Better: stopwatt.More}
	byTime, _ := stopwatt.MetricNamed("time")
	bench.Harness = func(_ stopwatt.Workload, results []byte) ([]stopwatt.Benchmark, error) {
		if string(results) != "two\n" {
			return nil, fmt.Errorf("results %q", results)
		}
		return []stopwatt.Benchmark{
			{Name: "add", Params: []stopwatt.Param{{Name: "n", Value: "1"}, {Name: "m", Value: "2"}}, Figures: []stopwatt.Figure{
				{Metric: byTime, Value: 2, Values: []float64{1, 3}}, {Metric: ops, Value: 7},
			}},
			{Name: "sort", Figures: []stopwatt.Figure{{Metric: byTime, Absent: "NaN"}}, Notes: []string{"a doubt"}},
		}, nil
	}
	got := valid(t, bench, asHarness(shell("echo two")))
	want := []stopwatt.Part{
		{
			Case:         stopwatt.Case{Implementation: "sh", Workload: "line/add/n=1,m=2"},
			Measurements: []stopwatt.Measurement{{Metric: "time", Value: 2}, {Metric: "ops", Value: 7}},
			Repetitions:  []stopwatt.Repetitions{{Metric: "time", Values: []float64{1, 3}}},
		},
		{Case: stopwatt.Case{Implementation: "sh", Workload: "line/sort"}, Absent: []stopwatt.Absence{{Metric: "time", Reason: "NaN"}}},
	}
	if diff := cmp.Diff(want, got.Parts); diff != "" {
		t.Errorf("parts differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]stopwatt.Metric{ops}, got.Defines); diff != "" {
		t.Errorf("its own metrics differ (-want +got):\n%s", diff)
	}
	if whole, ok := got.Value("time_run"); !ok || whole <= 0 {
		t.Errorf("the whole run took %v s", whole)
	}
	if !slices.Contains(got.Warnings, "sort: a doubt") {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func TestWhatAHarnessTellsMayBeWrong(t *testing.T) {
	byTime, _ := stopwatt.MetricNamed("time")
	figures := []stopwatt.Figure{{Metric: byTime, Value: 1}}
	ops := func(unit string) stopwatt.Figure {
		return stopwatt.Figure{Metric: stopwatt.Metric{Name: "ops", Unit: unit}, Value: 1}
	}
	tests := []struct {
		name       string
		benchmarks []stopwatt.Benchmark
		fault      error
		want       string // a part of the reason; empty: the trial is valid
	}{
		{"results that cannot be read", nil, errors.New("line 3: what is this?"), "results: line 3: what is this?"},
		{"nothing", nil, nil, "told of no benchmark"},
		{"two of one name", []stopwatt.Benchmark{{Name: "a", Figures: figures}, {Name: "a", Figures: figures}}, nil, "two benchmarks line/a"},
		{"several, one without a name", []stopwatt.Benchmark{{Name: "a", Figures: figures}, {Figures: figures}}, nil, "one has no name"},
		{"one name in two units", []stopwatt.Benchmark{{Name: "a", Figures: []stopwatt.Figure{ops("op")}}, {Name: "b", Figures: []stopwatt.Figure{ops("B")}}}, nil,
			`line/b: the harness tells ops in "op" and in "B"`},
		{"our name in another unit", []stopwatt.Benchmark{{Name: "a", Figures: []stopwatt.Figure{{Metric: stopwatt.Metric{Name: "time", Unit: "B"}}}}}, nil,
			`tells time in "B", which is a metric in s`},
		{"a single number is the trial's own", []stopwatt.Benchmark{{Figures: figures}}, nil, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bench := newHarbour(t, hello).bench()
			bench.Harness = func(stopwatt.Workload, []byte) ([]stopwatt.Benchmark, error) { return test.benchmarks, test.fault }
			got, err := bench.Run(t.Context(), asHarness(shell("true")))
			if err != nil || (got.Status == stopwatt.Valid) != (test.want == "") || !strings.Contains(got.Reason, test.want) {
				t.Errorf("error %v, status %s, reason %q; want %q in it", err, got.Status, got.Reason, test.want)
			}
			if _, ok := got.Value("time"); test.want == "" && !ok {
				t.Error("the trial has no time")
			}
		})
	}
}

func TestEveryCallOfAProgramMayFailAndNoContainerStays(t *testing.T) {
	whole := newHarbour(t, hello)
	valid(t, whole.bench(), shell("true"))
	for n := 1; n <= len(whole.calls); n++ {
		t.Run(fmt.Sprintf("call %d, %s", n, whole.calls[n-1]), func(t *testing.T) {
			h := newHarbour(t, hello)
			h.failAt = n
			got, err := h.bench().Run(t.Context(), shell("true"))
			if err != nil || got.Status != stopwatt.Invalid || !strings.Contains(got.Reason, errHarbour.Error()) {
				t.Errorf("error %v, status %s, reason %q", err, got.Status, got.Reason)
			}
			if len(h.ended) > 0 || h.removed != len(h.orders) {
				t.Errorf("%d containers stay", len(h.ended))
			}
		})
	}
}

func TestAProgramWhoseContainerDiesIsExplained(t *testing.T) {
	h := newHarbour(t, hello)
	bench := h.bench()
	volume := bench.AgentVolume
	bench.AgentVolume = func(ctx context.Context) (string, error) { h.dies = true; return volume(ctx) }
	got, err := bench.Run(t.Context(), shell("true"))
	if err != nil || got.Status != stopwatt.Invalid || got.Reason != "the program exited with 137 (out of memory)" {
		t.Errorf("error %v, status %s, reason %q", err, got.Status, got.Reason)
	}
}
