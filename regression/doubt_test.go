package regression

import (
	"math"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// timed is the result of a case with one metric, time.
func timed(implementation, workload string, n int, mean, sd, median float64) stopwatt.CaseResult {
	c := stopwatt.Case{Implementation: implementation, Workload: workload}
	return stopwatt.CaseResult{Case: c, Revision: stopwatt.Head, Valid: n, Summaries: []stopwatt.Summary{
		{Case: c, Revision: stopwatt.Head, Metric: "time", N: n, Mean: mean, SD: sd, Median: median},
	}}
}

// timedRatio is what Lay makes of a case beside its baseline.
func timedRatio(t *testing.T, base, other stopwatt.CaseResult) stopwatt.Ratio {
	t.Helper()
	results := stopwatt.Results{Run: stopwatt.Run{Baseline: base.Case.Implementation}, Cases: []stopwatt.CaseResult{base, other}}
	contrast, err := Lay(results, "", metric("time"), stopwatt.Arithmetic)
	if err != nil {
		t.Fatal(err)
	}
	cell := contrast.Workloads[0].Rows[1].Ratios[0]
	if mean := contrast.Means[0].Ratios[0]; mean != cell {
		t.Errorf("the mean of one workload is %+v, its ratio %+v", mean, cell)
	}
	if own := contrast.Workloads[0].Rows[0].Ratios[0]; own.Near || own.Error != 0 {
		t.Errorf("the baseline is in doubt about itself: %+v", own)
	}
	return cell
}

func TestLayDoubtsARatioWhoseTrialsShowNoDifference(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		base, other stopwatt.CaseResult
		near        bool
	}{
		{"far apart", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 4, 20, 1, 20), false},
		{"the spreads overlap", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 4, 11.5, 1, 11.5), true},
		{"the spreads touch", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 4, 12, 1, 12), true},
		{"the medians say the opposite", timed("a", "w", 4, 10, 1, 14), timed("b", "w", 4, 20, 1, 13), true},
		{"the medians say nothing", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 4, 20, 1, 10), false},
		{"a single trial", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 1, 20, 0, 20), true},
		{"a single trial of the baseline", timed("a", "w", 1, 10, 0, 10), timed("b", "w", 4, 20, 1, 20), true},
		{"equal with spread", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 4, 10, 1, 10), true},
		{"equal without", timed("a", "w", 4, 10, 0, 10), timed("b", "w", 4, 10, 0, 10), false},
		{"a single trial that is equal", timed("a", "w", 1, 10, 0, 10), timed("b", "w", 1, 10, 0, 10), false},
		{"different without any spread", timed("a", "w", 4, 10, 0, 10), timed("b", "w", 4, 10.1, 0, 10.1), false},
		{"no ratio, no doubt", timed("a", "w", 4, 0, 0, 0), timed("b", "w", 4, 1, 2, 1), false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := timedRatio(t, test.base, test.other); got.Near != test.near {
				t.Errorf("%+v, want near %t", got, test.near)
			}
		})
	}
}

func TestLayKnowsTheErrorOfARatio(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		base, other stopwatt.CaseResult
		want        float64
	}{
		// Relative errors of 5 % and 2.5 % of a ratio of 2: 2·√(0.05² + 0.025²).
		{"of both", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 4, 20, 1, 20), 2 * math.Hypot(0.05, 0.025)},
		{"of nothing against something", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 4, 0, 1, 0), 0.05},
		{"of a single trial, not known", timed("a", "w", 4, 10, 1, 10), timed("b", "w", 1, 20, 0, 20), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := timedRatio(t, test.base, test.other); math.Abs(got.Error-test.want) > 1e-12 {
				t.Errorf("%+v, want an error of %g", got, test.want)
			}
		})
	}
}

func TestLayDoubtsAMeanOfWorkloads(t *testing.T) {
	t.Parallel()
	base := []stopwatt.CaseResult{timed("a", "v", 4, 10, 1, 10), timed("a", "w", 4, 10, 1, 10)}
	tests := []struct {
		name  string
		other []stopwatt.CaseResult
		near  bool
	}{
		{"both workloads are far apart", []stopwatt.CaseResult{timed("b", "v", 4, 20, 1, 20), timed("b", "w", 4, 30, 1, 30)}, false},
		{"both show no difference", []stopwatt.CaseResult{timed("b", "v", 4, 11, 1, 11), timed("b", "w", 4, 9.5, 1, 9.5)}, true},
		{"one shows none, and the other a large one", []stopwatt.CaseResult{timed("b", "v", 4, 11, 1, 11), timed("b", "w", 4, 30, 1, 30)}, false},
		{"one shows none, and the other a small one", []stopwatt.CaseResult{timed("b", "v", 4, 11, 3, 11), timed("b", "w", 4, 12.5, 1, 12.5)}, true},
		{"what one gains the other loses", []stopwatt.CaseResult{timed("b", "v", 4, 5, 1, 5), timed("b", "w", 4, 15, 1, 15)}, true},
		{"one is of a single trial", []stopwatt.CaseResult{timed("b", "v", 4, 20, 1, 20), timed("b", "w", 1, 30, 0, 30)}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			results := stopwatt.Results{Run: stopwatt.Run{Baseline: "a"}, Cases: append(base[:2:2], test.other...)}
			for _, kind := range []stopwatt.MeanKind{stopwatt.Arithmetic, stopwatt.Geometric} {
				contrast, err := Lay(results, "", metric("time"), kind)
				if err != nil {
					t.Fatal(err)
				}
				if got := contrast.Means[0].Ratios[0]; got.Near != test.near {
					t.Errorf("%s: %+v, want near %t", kind, got, test.near)
				}
			}
		})
	}
}

func TestTheErrorOfAMeanShrinksWithWorkloads(t *testing.T) {
	t.Parallel()
	cells := []cell{{Ratio: stopwatt.Ratio{Value: 2, Error: 0.3}}, {Ratio: stopwatt.Ratio{Value: 2, Error: 0.4}}}
	for _, kind := range []stopwatt.MeanKind{stopwatt.Arithmetic, stopwatt.Geometric} {
		if got := errorOfMean(kind, 2, cells); math.Abs(got-0.25) > 1e-12 {
			t.Errorf("%s: errors of 0.3 and 0.4 give %g, want 0.25", kind, got)
		}
	}
}
