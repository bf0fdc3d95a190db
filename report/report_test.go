package report

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// score is a metric that a harness has defined.
var score = stopwatt.Metric{Name: "score", Unit: "points", Better: stopwatt.More}

// harnessed is a run of a server under load and of a harness that measured two
// benchmarks by itself.
func harnessed() stopwatt.Results {
	of := func(workload string, part bool, figures ...stopwatt.Measurement) stopwatt.CaseResult {
		result := stopwatt.CaseResult{Case: stopwatt.Case{Implementation: "go", Workload: workload}, Revision: stopwatt.Head, Part: part, Valid: 2}
		for _, m := range figures {
			result.Summaries = append(result.Summaries, summaryOf(result.Case, m.Metric, []float64{m.Value, m.Value}))
		}
		return result
	}
	run := stopwatt.Run{
		Suite: "types", Baseline: "go", Rounds: 2, Status: stopwatt.Finished,
		Settings: stopwatt.Suite{
			Implementations: []stopwatt.Implementation{{Name: "go"}},
			Workloads:       []stopwatt.Workload{{Name: "load"}, {Name: "types"}, {Name: "types/sort"}, {Name: "types/add"}},
		},
	}
	return stopwatt.Results{Run: run, Metrics: []stopwatt.Metric{score}, Cases: []stopwatt.CaseResult{
		of("load", false, stopwatt.Measurement{Metric: "time", Value: 2}, stopwatt.Measurement{Metric: "throughput", Value: 50}),
		of("types", false, stopwatt.Measurement{Metric: "time", Value: 9}, stopwatt.Measurement{Metric: "time_user", Value: 8}),
		of("types/sort", true, stopwatt.Measurement{Metric: "score", Value: 7}),
		of("types/add", true, stopwatt.Measurement{Metric: "latency_max", Value: 0.5}),
	}}
}

func TestDefaultMetricsAreThoseThatCasesHave(t *testing.T) {
	t.Parallel()
	if got := namesOf(DefaultMetrics(harnessed())); got != "time throughput time_user score latency_max" {
		t.Error(got)
	}
}

func TestAWorkloadShowsTheMetricsThatItHas(t *testing.T) {
	t.Parallel()
	results := harnessed()
	c := contrastOf(results, DefaultMetrics(results))
	for i, want := range []string{"time throughput", "time time_user", "score", "latency_max"} {
		if got := namesOf(narrowed(c, i).Metrics); got != want {
			t.Errorf("%s shows %s, want %s", c.Workloads[i].Workload, got, want)
		}
	}
	var out bytes.Buffer
	if err := Terminal(&out, results.Run, c, Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"4 of 4 trials valid", "score, points", "7.000 ± 0.000"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "not measured") {
		t.Errorf("it misses what belongs to another workload:\n%s", out.String())
	}
}

func TestAMetricThatNoWorkloadHasIsSaidToBeMissing(t *testing.T) {
	t.Parallel()
	memory, _ := stopwatt.MetricNamed("memory_peak")
	results := harnessed()
	results.Cases, results.Run.Settings.Workloads = results.Cases[:1], results.Run.Settings.Workloads[:1]
	var out bytes.Buffer
	if err := Terminal(&out, results.Run, contrastOf(results, []stopwatt.Metric{memory}), Options{}); err != nil || !strings.Contains(out.String(), "not measured") {
		t.Errorf("error %v\n%s", err, out.String())
	}
}

func TestFilesHoldPartsWithTheirUnits(t *testing.T) {
	t.Parallel()
	trial := stopwatt.Trial{
		PlannedTrial: stopwatt.PlannedTrial{Round: 1, Case: stopwatt.Case{Implementation: "go", Workload: "types"}, Revision: stopwatt.Head},
		Position:     4, Status: stopwatt.Valid, Measurements: []stopwatt.Measurement{{Metric: "time", Value: 9}}, Defines: []stopwatt.Metric{score},
		Parts: []stopwatt.Part{{
			Case: stopwatt.Case{Implementation: "go", Workload: "types/sort"}, Measurements: []stopwatt.Measurement{{Metric: "score", Value: 7}},
			Repetitions: []stopwatt.Repetitions{{Metric: "score", Values: []float64{6, 8}}},
		}},
	}
	var lines, summaries, document bytes.Buffer
	if err := TrialsCSV(&lines, stopwatt.Run{ID: 3}, []stopwatt.Trial{trial}); err != nil {
		t.Fatal(err)
	}
	if want := "3,4,1,types/sort,go,head,,0,valid,,,score,points,7,\n"; !strings.Contains(lines.String(), want) {
		t.Errorf("%q is missing in\n%s", want, lines.String())
	}
	if err := CSV(&summaries, harnessed()); err != nil {
		t.Fatal(err)
	}
	if want := "types/sort,go,head,score,points,2,7,"; !strings.Contains(summaries.String(), want) {
		t.Errorf("%q is missing in\n%s", want, summaries.String())
	}
	if err := JSON(&document, harnessed(), []stopwatt.Trial{trial}); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Cases  []struct{ Part bool }
		Trials []struct {
			Parts []struct {
				Workload    string
				Values      map[string]float64
				Repetitions map[string][]float64
			}
		}
	}
	if err := json.Unmarshal(document.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	part := read.Trials[0].Parts[0]
	if !read.Cases[2].Part || part.Workload != "types/sort" || part.Values["score"] != 7 || len(part.Repetitions["score"]) != 2 {
		t.Errorf("read %+v", read)
	}
}
