package regression

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
)

func TestRatioOf(t *testing.T) {
	t.Parallel()
	missing, infinite := math.NaN(), math.Inf(1)
	tests := []struct {
		name            string
		value, baseline float64
		want            stopwatt.Ratio
	}{
		{"twice is 2", 4, 2, stopwatt.Ratio{Value: 2, Known: true}},
		{"half is 0.5", 1, 2, stopwatt.Ratio{Value: 0.5, Known: true}},
		{"equal is 1", 0.1, 0.1, stopwatt.Ratio{Value: 1, Known: true}},
		{"nothing against nothing is 1", 0, 0, stopwatt.Ratio{Value: 1, Known: true}},
		{"a negative zero is nothing too", math.Copysign(0, -1), 0, stopwatt.Ratio{Value: 1, Known: true}},
		{"nothing against something is 0", 0, 3, stopwatt.Ratio{Value: 0, Known: true}},
		{"something against nothing is unknown", 600e-9, 0, stopwatt.Ratio{}},
		{"a missing value is unknown", missing, 1, stopwatt.Ratio{}},
		{"a missing baseline is unknown", 1, missing, stopwatt.Ratio{}},
		{"two missing ones are not equal", missing, missing, stopwatt.Ratio{}},
		{"infinite against infinite is unknown", infinite, infinite, stopwatt.Ratio{}},
		{"something against infinite is unknown", 1, infinite, stopwatt.Ratio{}},
		{"a quotient beyond all numbers is unknown", 1e300, 1e-300, stopwatt.Ratio{}},
		{"a negative value is unknown", -1, 2, stopwatt.Ratio{}},
		{"a negative baseline is unknown", 1, -2, stopwatt.Ratio{}},
		{"two negative ones are unknown", -1, -2, stopwatt.Ratio{}},
		{"equal negative ones are 1", -2, -2, stopwatt.Ratio{Value: 1, Known: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := RatioOf(test.value, test.baseline); got != test.want {
				t.Errorf("RatioOf(%g, %g) = %+v, want %+v", test.value, test.baseline, got, test.want)
			}
		})
	}
}

// table makes results of one metric, time, from rows of workloads and columns
// of implementations, in seconds. NaN: every trial was invalid.
func table(implementations []string, workloads []string, seconds [][]float64) stopwatt.Results {
	results := stopwatt.Results{Run: stopwatt.Run{Baseline: implementations[0]}}
	for w, workload := range workloads {
		for i, implementation := range implementations {
			result := stopwatt.CaseResult{
				Case:     stopwatt.Case{Implementation: implementation, Workload: workload},
				Revision: stopwatt.Head,
			}
			if value := seconds[w][i]; math.IsNaN(value) {
				result.Invalid = 10
			} else {
				result.Valid = 10
				result.Summaries = []stopwatt.Summary{{Case: result.Case, Revision: stopwatt.Head, Metric: "time", N: 10, Mean: value}}
			}
			results.Cases = append(results.Cases, result)
		}
	}
	return results
}

func metric(name string) []stopwatt.Metric {
	m, _ := stopwatt.MetricNamed(name)
	return []stopwatt.Metric{m}
}

func TestLayFindsThePublishedRatios(t *testing.T) {
	t.Parallel()
	// Nanoseconds and ratios as published for six implementations of one type
	// system, JMH, 2023. Published ratios come from unrounded nanoseconds.
	rows := []struct {
		workload  string
		nanos     []float64
		published []float64
	}{
		{"nestedAdd", []float64{30, 801, 795, 555, 505, 2462}, []float64{1, 26.64, 26.44, 18.47, 16.79, 81.89}},
		{"nestedCreation", []float64{132, 7762, 1234, 256, 266, 1653}, []float64{1, 58.80, 9.34, 1.94, 2.02, 12.52}},
		{"nestedSerialization", []float64{1329, 24687, 29840, 24060, 24249, 495804}, []float64{1, 18.58, 22.46, 18.11, 18.25, 373.11}},
		{"nestedSort", []float64{0, 0, 0, 0, 0, 600}, []float64{1, 1, 1, 1, 1, math.NaN()}},
		{"parProcSerializedSize", []float64{11316, 171095, 159688, 155002, 132452, 5671441}, []float64{1, 15.12, 14.11, 13.70, 11.70, 501.17}},
		{"manyAppends", []float64{15029, 281207, 49189, 29093, 26935, 56772}, []float64{1, 18.71, 3.27, 1.94, 1.79, 3.78}},
	}
	names := []string{"imperative", "eval", "hash-refactoring", "lazy-params", "hash-sort-fix", "old-proto"}
	var workloads []string
	var seconds [][]float64
	for _, row := range rows {
		workloads = append(workloads, row.workload)
		var values []float64
		for _, ns := range row.nanos {
			values = append(values, ns*1e-9)
		}
		seconds = append(seconds, values)
	}
	contrast, err := Lay(table(names, workloads, seconds), "", metric("time"), stopwatt.Geometric)
	if err != nil {
		t.Fatal(err)
	}
	for w, row := range rows {
		for i, want := range row.published {
			got := contrast.Workloads[w].Rows[i].Ratios[0]
			if math.IsNaN(want) {
				if got.Known {
					t.Errorf("%s of %s: %g, published as unknown", row.workload, names[i], got.Value)
				}
				continue
			}
			rounding := 0.005 + 0.5*want/row.nanos[0] + 0.5*want/row.nanos[i]
			if row.nanos[0] == 0 {
				rounding = 0
			}
			if !got.Known || math.Abs(got.Value-want) > rounding {
				t.Errorf("%s of %s: %+v, published as %g (±%.3f for rounding)", row.workload, names[i], got, want, rounding)
			}
		}
	}
	for _, row := range contrast.Means {
		if row.Counts[0] != 5 {
			t.Errorf("mean of %s: %d workloads went in, want the 5 whose baseline is not 0", row.Implementation, row.Counts[0])
		}
	}
}

func TestLayMeans(t *testing.T) {
	t.Parallel()
	// Seconds of cwa and pahi in the ten published rows (five programs, two
	// machines); the article multiplies 135 times for the first.
	cwa := []float64{2.392, 7.652, 0.257, 0.9355, 0.2117, 0.6741, 0.0136, 0.041, 0.3587, 1.351}
	pahi := []float64{0.0177, 0.0537, 0.0204, 0.1014, 0.0085, 0.0308, 0.0027, 0.0072, 0.005, 0.0117}
	var workloads []string
	var seconds [][]float64
	for i := range cwa {
		workloads = append(workloads, string(rune('a'+i)))
		seconds = append(seconds, []float64{pahi[i], cwa[i]})
	}
	results := table([]string{"pahi", "cwa"}, workloads, seconds)
	for kind, want := range map[stopwatt.MeanKind]float64{stopwatt.Arithmetic: 54.4, stopwatt.Geometric: 27.9} {
		contrast, err := Lay(results, "pahi", metric("time"), kind)
		if err != nil {
			t.Fatal(err)
		}
		got := contrast.Means[0]
		if got.Counts[0] != 10 || math.Abs(got.Ratios[0].Value-want) > 0.05 {
			t.Errorf("%s mean: %+v, want %g of 10", kind, got, want)
		}
	}
	contrast, err := Lay(results, "pahi", metric("time"), stopwatt.Geometric)
	if err != nil {
		t.Fatal(err)
	}
	turned, err := Lay(results, "cwa", metric("time"), stopwatt.Geometric)
	if err != nil {
		t.Fatal(err)
	}
	if product := contrast.Means[0].Ratios[0].Value * turned.Means[0].Ratios[0].Value; math.Abs(product-1) > 1e-12 {
		t.Errorf("the geometric means of both directions multiply to %g, want 1", product)
	}
}

func TestLayLeavesOutOfTheMeanWhatHasNoRatio(t *testing.T) {
	t.Parallel()
	failed := math.NaN()
	tests := []struct {
		name      string
		seconds   [][]float64 // baseline, other
		want      stopwatt.Ratio
		wantCount int
	}{
		{"all known", [][]float64{{1, 2}, {1, 4}}, stopwatt.Ratio{Value: 3, Known: true}, 2},
		{"the other failed once", [][]float64{{1, 2}, {1, failed}}, stopwatt.Ratio{Value: 2, Known: true}, 1},
		{"the baseline failed once", [][]float64{{failed, 2}, {1, 4}}, stopwatt.Ratio{Value: 4, Known: true}, 1},
		{"both are 0 once", [][]float64{{0, 0}, {1, 4}}, stopwatt.Ratio{Value: 4, Known: true}, 1},
		{"something against 0 once", [][]float64{{0, 1}, {1, 4}}, stopwatt.Ratio{Value: 4, Known: true}, 1},
		{"nothing against something counts", [][]float64{{1, 0}, {1, 4}}, stopwatt.Ratio{Value: 2, Known: true}, 2},
		{"nothing known", [][]float64{{0, 1}, {failed, 4}}, stopwatt.Ratio{}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			contrast, err := Lay(table([]string{"a", "b"}, []string{"v", "w"}, test.seconds), "a", metric("time"), stopwatt.Arithmetic)
			if err != nil {
				t.Fatal(err)
			}
			got := contrast.Means[0]
			if got.Ratios[0] != test.want || got.Counts[0] != test.wantCount {
				t.Errorf("mean row %+v, want %+v of %d", got, test.want, test.wantCount)
			}
		})
	}
}

func TestLayKeepsARowForWhatWasNotTried(t *testing.T) {
	t.Parallel()
	results := table([]string{"a", "b", "c"}, []string{"v", "w"}, [][]float64{{1, 2, 3}, {4, 5, 6}})
	results.Cases[1] = stopwatt.CaseResult{Case: results.Cases[1].Case, Revision: stopwatt.Head} // b/v: nothing yet
	results.Cases[5].Revision = "base"                                                           // c/w at another revision
	contrast, err := Lay(results, "c", metric("time"), stopwatt.Arithmetic)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, block := range contrast.Workloads {
		for _, row := range block.Rows {
			mark := ""
			if row.Result.Valid > 0 {
				mark = " measured"
			}
			got = append(got, block.Workload+" "+row.Implementation+mark)
		}
	}
	want := []string{"v c measured", "v a measured", "v b", "w c", "w a measured", "w b measured"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]stopwatt.MeanRow{
		{Implementation: "a", Ratios: []stopwatt.Ratio{{Value: 1.0 / 3, Known: true}}, Times: []stopwatt.Ratio{{Value: 1.0 / 3, Known: true}}, Counts: []int{1}},
		{Implementation: "b", Ratios: []stopwatt.Ratio{{}}, Times: []stopwatt.Ratio{{}}, Counts: []int{0}},
	}, contrast.Means, cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("means (-want +got):\n%s", diff)
	}
}

func TestLayRefuses(t *testing.T) {
	t.Parallel()
	results := table([]string{"rust", "go"}, []string{"hello"}, [][]float64{{1, 2}})
	results.Run.Settings.Implementations = []stopwatt.Implementation{{Name: "rust"}, {Name: "rust-arena"}}
	tests := []struct {
		name     string
		baseline string
		mean     stopwatt.MeanKind
		want     string
	}{
		{"a baseline that is not there, naming those that are", "zig", stopwatt.Arithmetic, `baseline "zig" is no implementation of this run; it has rust, rust-arena, go`},
		{"a mean that is none", "rust", "harmonic", `mean "harmonic" is unknown; there are arithmetic and geometric`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Lay(results, test.baseline, metric("time"), test.mean)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
	if _, err := Lay(results, "rust-arena", metric("time"), stopwatt.Arithmetic); err != nil {
		t.Errorf("a baseline of the suite that was not tried: %v", err)
	}
}
