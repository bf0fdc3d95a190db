package storagetest

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// part is a part of a trial of Run.
func part(implementation, workload string, figures ...stopwatt.Measurement) stopwatt.Part {
	return stopwatt.Part{Case: stopwatt.Case{Implementation: implementation, Workload: workload}, Measurements: figures}
}

// score is a metric that stopwatt does not know.
var score = stopwatt.Metric{Name: "score", Unit: "points", Better: stopwatt.More}

// harnessed is a trial of a harness that measured two benchmarks by itself.
func harnessed(round int, implementation, workload string) stopwatt.Trial {
	trial := Trial(round, implementation, workload)
	trial.Repetitions = []stopwatt.Repetitions{{Metric: "time", Values: []float64{0.1 + 0.2, 5, -1}}}
	sorting := part(implementation, workload+"/sort", stopwatt.Measurement{Metric: "time", Value: 0.25}, stopwatt.Measurement{Metric: "score", Value: 7})
	sorting.Repetitions = []stopwatt.Repetitions{{Metric: "time", Values: []float64{0.125, 0.375}}, {Metric: "score"}}
	adding := part(implementation, workload+"/add/n=1", stopwatt.Measurement{Metric: "time", Value: 0})
	adding.Absent = []stopwatt.Absence{{Metric: "score", Reason: "the harness says NaN"}}
	trial.Parts, trial.Defines = []stopwatt.Part{sorting, adding}, []stopwatt.Metric{score}
	return trial
}

func partsComeBack(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	second, first, without := harnessed(2, "go", "csv"), harnessed(1, "rust", "csv"), Trial(3, "go", "csv")
	first.Status, first.Reason = stopwatt.Invalid, "exited with 3"
	slices.Reverse(first.Parts)
	save(t, s, run.ID, second, first, without, second)
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, trials, []stopwatt.Trial{withoutSamples(first), withoutSamples(second), withoutSamples(without)})
}

func partsAreCases(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	other := harnessed(2, "rust", "csv")
	other.Parts = append([]stopwatt.Part{part("rust", "csv/new", stopwatt.Measurement{Metric: "time", Value: 3})}, other.Parts[1:]...)
	other.Status, other.Reason = stopwatt.Invalid, "exited with 3"
	save(t, s, run.ID, harnessed(1, "go", "csv"), other, Trial(3, "go", "static"))
	if err := s.SaveSummaries(t.Context(), run.ID, []stopwatt.Summary{Summary("go", "csv/sort", "score", 7)}); err != nil {
		t.Fatal(err)
	}
	got := results(t, s, run.ID)
	type row struct {
		name           string
		valid, invalid int
		part           bool
	}
	var rows []row
	for _, c := range got.Cases {
		rows = append(rows, row{c.Case.String(), c.Valid, c.Invalid, c.Part})
		if c.Part && (c.Marked > 0 || len(c.Warnings) > 0) {
			t.Errorf("%s carries the warnings of its trial", c.Case)
		}
	}
	want := []row{
		{"go/static", 1, 0, false},
		{"go/csv", 1, 0, false}, {"rust/csv", 0, 1, false},
		{"go/csv/sort", 1, 0, true},
		{"go/csv/add/n=1", 1, 0, true}, {"rust/csv/add/n=1", 0, 1, true},
		{"rust/csv/new", 0, 1, true},
	}
	if !slices.Equal(rows, want) {
		t.Errorf("got  %+v\nwant %+v", rows, want)
	}
	same(t, got.Cases[4].Absent, []stopwatt.AbsenceCount{{Metric: "score", Reason: "the harness says NaN", Count: 1}})
	memory, _ := stopwatt.MetricNamed("memory_peak")
	same(t, got.Metrics, []stopwatt.Metric{memory, score})
	_, done := begin(t, s, again(), false)
	same(t, done, []stopwatt.PlannedTrial{harnessed(1, "go", "csv").PlannedTrial, other.PlannedTrial, Trial(3, "go", "static").PlannedTrial})
}

func badParts(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	for name, bad := range map[string]stopwatt.Part{
		"of NaN":                part("go", "csv/b", stopwatt.Measurement{Metric: "time", Value: math.NaN()}),
		"of an unknown metric":  part("go", "csv/b", stopwatt.Measurement{Metric: "swiftness", Value: 1}),
		"of one metric twice":   part("go", "csv/b", stopwatt.Measurement{Metric: "time", Value: 1}, stopwatt.Measurement{Metric: "time", Value: 1}),
		"of another's name":     part("go", "csv/sort"),
		"that is its own trial": part("go", "csv"),
	} {
		trial := harnessed(1, "go", "csv")
		trial.Parts = append(trial.Parts, bad)
		if err := s.SaveTrial(t.Context(), run.ID, trial); err == nil {
			t.Errorf("a part %s was stored", name)
		}
	}
	if trials, err := s.Trials(t.Context(), run.ID); err != nil || len(trials) != 0 {
		t.Errorf("%d trials are stored, error %v", len(trials), err)
	}
	same(t, len(results(t, s, run.ID).Cases), 0)
}

func badRepetitions(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		trial := harnessed(1, "go", "csv")
		trial.Parts[0].Repetitions[0].Values[1] = value
		if err := s.SaveTrial(t.Context(), run.ID, trial); err == nil {
			t.Errorf("%g was stored", value)
		}
	}
}

func definedMetric(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	later := harnessed(2, "go", "csv")
	later.Defines = nil
	if err := s.SaveTrial(t.Context(), run.ID, later); err == nil {
		t.Error("a metric was stored before it was defined")
	}
	save(t, s, run.ID, harnessed(1, "go", "csv"), later)
	if err := s.SaveSummaries(t.Context(), run.ID, []stopwatt.Summary{Summary("go", "csv", "swiftness", 1)}); err == nil {
		t.Error("a summary of a metric that nobody has defined was stored")
	}
	if err := s.SaveSummaries(t.Context(), run.ID, []stopwatt.Summary{Summary("go", "csv", "score", 1)}); err != nil {
		t.Error(err)
	}
	if metric, known := results(t, s, run.ID).Metric("score"); metric != score || !known {
		t.Errorf("the results know %+v", metric)
	}
}

func metricOfTwoUnits(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	save(t, s, run.ID, harnessed(1, "go", "csv"))
	for name, metric := range map[string]stopwatt.Metric{
		"in another unit":      {Name: "score", Unit: "goals", Better: stopwatt.More},
		"in another direction": {Name: "score", Unit: "points", Better: stopwatt.Less},
		"of stopwatt's name":   {Name: "time", Unit: "goals", Better: stopwatt.Less},
	} {
		trial := harnessed(2, "go", "csv")
		trial.Defines = append(trial.Defines[:0], score, metric)
		if metric.Name == score.Name {
			trial.Defines = []stopwatt.Metric{metric}
		}
		err := s.SaveTrial(t.Context(), run.ID, trial)
		if err == nil || !strings.Contains(err.Error(), metric.Unit) || !strings.Contains(err.Error(), string(metric.Better)) {
			t.Errorf("a metric %s: %v", name, err)
		}
	}
	trial := harnessed(2, "go", "csv")
	trial.Defines = []stopwatt.Metric{score, {Name: "time", Unit: "s", Better: stopwatt.Less}}
	save(t, s, run.ID, trial)
}
