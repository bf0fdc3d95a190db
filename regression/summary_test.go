package regression

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
)

// trialOf makes a valid trial of go/hello with one time, in seconds.
func trialOf(seconds float64) stopwatt.Trial {
	return stopwatt.Trial{
		PlannedTrial: stopwatt.PlannedTrial{
			Round:    1,
			Case:     stopwatt.Case{Implementation: "go", Workload: "hello"},
			Revision: stopwatt.Head,
		},
		Status:       stopwatt.Valid,
		Measurements: []stopwatt.Measurement{{Metric: "time", Value: seconds}},
	}
}

func trialsOf(seconds ...float64) []stopwatt.Trial {
	var trials []stopwatt.Trial
	for _, s := range seconds {
		trials = append(trials, trialOf(s))
	}
	return trials
}

// alternating is the shape of NIST's NumAcc data sets: a first value, then low
// and high 500 times each.
func alternating(first, low, high float64) []float64 {
	values := []float64{first}
	for range 500 {
		values = append(values, low, high)
	}
	return values
}

func TestSummarizeFigures(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		values []float64
		want   stopwatt.Summary
	}{
		{"one trial has no spread", []float64{2.5}, stopwatt.Summary{N: 1, Mean: 2.5, Median: 2.5, Min: 2.5, Max: 2.5}},
		{"two trials divide by one", []float64{1, 3}, stopwatt.Summary{N: 2, Mean: 2, SD: math.Sqrt2, Median: 2, Min: 1, Max: 3}},
		{"the median of four lies between the middle two", []float64{9, 1, 2, 4}, stopwatt.Summary{N: 4, Mean: 4, SD: math.Sqrt(38.0 / 3), Median: 3, Min: 1, Max: 9}},
		{"equal values have no spread", []float64{0.1, 0.1, 0.1}, stopwatt.Summary{N: 3, Mean: 0.1, Median: 0.1, Min: 0.1, Max: 0.1}},
		{"all zero is zero", []float64{0, 0}, stopwatt.Summary{N: 2}},
		{"net energy may be negative", []float64{-1, 1, -3}, stopwatt.Summary{N: 3, Mean: -1, SD: 2, Median: -1, Min: -3, Max: 1}},
		// The certified values of NIST's Statistical Reference Datasets
		// NumAcc1, NumAcc3 and NumAcc4, which one-pass formulas get wrong.
		{"NumAcc1", []float64{10000001, 10000003, 10000002}, stopwatt.Summary{N: 3, Mean: 10000002, SD: 1, Median: 10000002, Min: 10000001, Max: 10000003}},
		{"NumAcc3", alternating(1000000.2, 1000000.1, 1000000.3), stopwatt.Summary{N: 1001, Mean: 1000000.2, SD: 0.1, Median: 1000000.2, Min: 1000000.1, Max: 1000000.3}},
		{"NumAcc4", alternating(10000000.2, 10000000.1, 10000000.3), stopwatt.Summary{N: 1001, Mean: 10000000.2, SD: 0.1, Median: 10000000.2, Min: 10000000.1, Max: 10000000.3}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.want.Case = stopwatt.Case{Implementation: "go", Workload: "hello"}
			test.want.Revision, test.want.Metric = stopwatt.Head, "time"
			got := Summarize(trialsOf(test.values...))
			if diff := cmp.Diff([]stopwatt.Summary{test.want}, got, cmpopts.EquateApprox(1e-8, 0)); diff != "" {
				t.Errorf("summary (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSummarizeCountsOnlyFiniteNumbersOfValidTrials(t *testing.T) {
	t.Parallel()
	trials := trialsOf(1, 3, math.NaN(), math.Inf(1), 100)
	trials[4].Status = stopwatt.Invalid
	trials = append(trials, stopwatt.Trial{Status: stopwatt.Valid}) // measured nothing
	got := Summarize(trials)
	if len(got) != 1 || got[0].N != 2 || got[0].Mean != 2 {
		t.Errorf("summaries of 1 s and 3 s, NaN, Inf, an invalid and an empty trial: %+v", got)
	}
}

func TestSummarizeOrder(t *testing.T) {
	t.Parallel()
	measured := func(implementation, workload string, revision stopwatt.Revision, metrics ...string) stopwatt.Trial {
		trial := trialOf(1)
		trial.Case, trial.Revision, trial.Measurements = stopwatt.Case{Implementation: implementation, Workload: workload}, revision, nil
		for _, metric := range metrics {
			trial.Measurements = append(trial.Measurements, stopwatt.Measurement{Metric: metric, Value: 1})
		}
		return trial
	}
	got := Summarize([]stopwatt.Trial{
		measured("rust", "b", stopwatt.Head, "zeal", "memory_peak", "anger", "time"),
		measured("go", "b", stopwatt.Head, "time"),
		measured("rust", "a", stopwatt.Head, "time"),
		measured("rust", "a", "base", "time"),
	})
	var order []string
	for _, s := range got {
		order = append(order, s.Case.String()+" "+string(s.Revision)+" "+s.Metric)
	}
	want := []string{
		"rust/a base time", "rust/a head time", "go/b head time",
		"rust/b head time", "rust/b head memory_peak", "rust/b head anger", "rust/b head zeal",
	}
	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}

func TestSummarizeDoesNotDependOnTheOrderOfTrials(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	var trials []stopwatt.Trial
	for range 40 {
		trials = append(trials, trialOf(random.Float64()*1e-3))
	}
	want := Summarize(trials)
	for range 20 {
		random.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
		if got := Summarize(trials); !cmp.Equal(want, got) {
			t.Fatalf("shuffled trials changed the summary:\n%s", cmp.Diff(want, got))
		}
	}
}

func TestPartsAreSummedUpAsCasesOfTheirOwn(t *testing.T) {
	t.Parallel()
	sorting := stopwatt.Case{Implementation: "go", Workload: "hello/sort"}
	trials := trialsOf(1, 3, 100)
	for i, seconds := range []float64{0.25, 0.75, 50} {
		trials[i].Parts = []stopwatt.Part{{Case: sorting, Measurements: []stopwatt.Measurement{{Metric: "time", Value: seconds}, {Metric: "score", Value: 2}}}}
	}
	trials[2].Status = stopwatt.Invalid
	want := []stopwatt.Summary{
		{Case: trials[0].Case, Revision: stopwatt.Head, Metric: "time", N: 2, Mean: 2, SD: math.Sqrt2, Median: 2, Min: 1, Max: 3},
		{Case: sorting, Revision: stopwatt.Head, Metric: "time", N: 2, Mean: 0.5, SD: math.Sqrt(0.125), Median: 0.5, Min: 0.25, Max: 0.75},
		{Case: sorting, Revision: stopwatt.Head, Metric: "score", N: 2, Mean: 2, Median: 2, Min: 2, Max: 2},
	}
	if diff := cmp.Diff(want, Summarize(trials)); diff != "" {
		t.Error(diff)
	}
}
