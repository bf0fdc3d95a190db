package trial_test

import (
	"slices"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// marked tells whether a trial is marked for something of these words.
func marked(got stopwatt.Trial, words string) bool {
	return slices.ContainsFunc(got.Warnings, func(w string) bool { return strings.Contains(w, words) })
}

func TestAWindowThatLiesElsewhereThanTheTimeThatPassedCountsForNothing(t *testing.T) {
	for name, order := range map[string]trial.Order{"command": shell("true"), "harness": asHarness(shell("true"))} {
		bench := newHarbour(t, hello).bench()
		late := monotonic() + int64(1e15)
		bench.Monotonic = func() int64 { late++; return late } // the timer's marks are long before that
		got, err := bench.Run(t.Context(), order)
		if err != nil || got.Status != stopwatt.Invalid || !strings.Contains(got.Reason, "does not lie in the") {
			t.Errorf("%s: %v, %s, reason %q", name, err, got.Status, got.Reason)
		}
	}
}

// unused is the account of a container that uses nothing while it is looked at.
type unused struct{ account }

func (unused) Read() stopwatt.Usage { return stopwatt.Usage{CPU: 1e9, Absent: map[string]string{}} }

func TestCPUTimeThatNoProgramAccountsForMarksATrial(t *testing.T) {
	const words = "something else worked in it"
	bench := newHarbour(t, hello).bench() // whose containers use a second
	if got := valid(t, bench, shell("true")); !marked(got, "the container used 1s of CPU") || !marked(got, words) {
		t.Errorf("warnings %q", got.Warnings)
	}
	bench.Account = func(int) (trial.Account, error) { return &unused{}, nil }
	if got := valid(t, bench, shell("true")); marked(got, words) {
		t.Errorf("warnings %q", got.Warnings)
	}
}

func TestAHarnessThatTellsOfMoreTimeThanItRanIsMarked(t *testing.T) {
	byTime, _ := stopwatt.MetricNamed("time")
	for _, row := range []struct {
		figure stopwatt.Figure
		want   bool
	}{
		{stopwatt.Figure{Metric: byTime, Value: 3600}, true},
		{stopwatt.Figure{Metric: byTime, Value: 1e-9}, false},
		{stopwatt.Figure{Metric: byTime, Value: 1e-9, Values: []float64{1800, 1800}}, true},
		{stopwatt.Figure{Metric: stopwatt.Metric{Name: "ops", Unit: "op"}, Value: 3600}, false},
		{stopwatt.Figure{Metric: stopwatt.Metric{Name: "time_cpu", Unit: "s"}, Value: 0.9}, false}, // of several cores it may be more than the time that passed
		{stopwatt.Figure{Metric: stopwatt.Metric{Name: "time_cpu", Unit: "s"}, Value: 3600}, true},
	} {
		bench := newHarbour(t, hello).bench()
		bench.Harness = func(stopwatt.Workload, []byte) ([]stopwatt.Benchmark, error) {
			return []stopwatt.Benchmark{{Name: "a", Figures: []stopwatt.Figure{row.figure}}}, nil
		}
		got := valid(t, bench, asHarness(shell("true")))
		if marked(got, "the harness tells of 3600 s of "+row.figure.Metric.Name) != row.want || len(got.Warnings) > 2 {
			t.Errorf("%+v: warnings %q", row.figure, got.Warnings)
		}
	}
}
