package storagetest

import (
	"errors"
	"math"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

func countsAndReasons(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	whole, marked := Trial(1, "go", "csv"), Trial(2, "go", "csv")
	whole.Warnings, marked.Warnings = nil, []string{"others used the CPU"}
	whole.Absent = []stopwatt.Absence{{Metric: "memory_peak", Reason: "too old a kernel"}}
	marked.Absent = []stopwatt.Absence{{Metric: "memory_peak", Reason: "too old a kernel"}, {Metric: "cpu_server", Reason: "masked"}}
	save(t, s, run.ID, whole, marked)
	for i, reason := range []string{"b", "c", "a", "c"} {
		trial := Trial(3+i, "go", "csv")
		trial.Status, trial.Reason = stopwatt.Invalid, reason
		save(t, s, run.ID, trial)
	}
	same(t, results(t, s, run.ID).Cases, []stopwatt.CaseResult{{
		Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Revision: stopwatt.Head, Valid: 2, Invalid: 4, Marked: 1,
		Absent: []stopwatt.AbsenceCount{
			{Metric: "cpu_server", Reason: "masked", Count: 1},
			{Metric: "memory_peak", Reason: "too old a kernel", Count: 2},
		},
		Warnings: []stopwatt.WarningCount{{Warning: "others used the CPU", Count: 1}},
		Reasons:  []stopwatt.ReasonCount{{Reason: "c", Count: 2}, {Reason: "a", Count: 1}, {Reason: "b", Count: 1}},
	}})
}

func suiteOrder(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	save(t, s, run.ID, Trial(1, "rust", "csv"), Trial(1, "rust", "static"), Trial(1, "go", "csv"), Trial(1, "go", "static"))
	var order []string
	for _, c := range results(t, s, run.ID).Cases {
		order = append(order, c.Case.String())
	}
	same(t, order, []string{"go/static", "rust/static", "go/csv", "rust/csv"})
}

func replacedSummaries(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	single := Summary("go", "csv", "time", 3)
	single.N, single.SD = 1, 0
	last := []stopwatt.Summary{Summary("go", "csv", "errors", 0), single}
	for _, summaries := range [][]stopwatt.Summary{{Summary("go", "csv", "time", 1), Summary("rust", "csv", "time", 2)}, last} {
		if err := s.SaveSummaries(t.Context(), run.ID, summaries); err != nil {
			t.Fatal(err)
		}
	}
	same(t, results(t, s, run.ID).Cases, []stopwatt.CaseResult{{
		Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Revision: stopwatt.Head, Summaries: []stopwatt.Summary{last[1], last[0]},
	}})
}

func countsWarnings(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	for i, warnings := range [][]string{{"throttled", "busy"}, {"hot", "hot"}, {"throttled"}, nil, {"throttled"}} {
		trial := Trial(1+i, "go", "csv")
		trial.Warnings = warnings
		save(t, s, run.ID, trial)
	}
	invalid := Trial(6, "go", "csv")
	invalid.Status, invalid.Warnings = stopwatt.Invalid, []string{"busy"}
	save(t, s, run.ID, invalid)
	same(t, results(t, s, run.ID).Cases[0].Warnings, []stopwatt.WarningCount{
		{Warning: "throttled", Count: 3}, {Warning: "busy", Count: 1}, {Warning: "hot", Count: 1},
	})
}

func netReplaces(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	first, other := Trial(1, "go", "csv"), Trial(2, "go", "csv")
	first.Measurements = append(first.Measurements, stopwatt.Measurement{Metric: "energy_board", Value: 7})
	first.Absent = append(first.Absent, stopwatt.Absence{Metric: "energy_cpu", Reason: "no idle power"})
	save(t, s, run.ID, first, other)
	for range 2 { // the second time changes nothing
		figures := []stopwatt.Measurement{{Metric: "energy_cpu", Value: 2}, {Metric: "energy_board", Value: -1}, {Metric: "power_board", Value: 3}}
		if err := s.SaveNet(t.Context(), run.ID, first.PlannedTrial, figures); err != nil {
			t.Fatal(err)
		}
	}
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	first.Measurements = []stopwatt.Measurement{
		{Metric: "time", Value: 5.000000004}, {Metric: "throughput", Value: 0.1 + 0.2}, {Metric: "errors", Value: 0},
		{Metric: "energy_board", Value: -1}, {Metric: "power_board", Value: 3}, {Metric: "energy_cpu", Value: 2},
	}
	first.Absent = Trial(1, "go", "csv").Absent
	same(t, trials, []stopwatt.Trial{withoutSamples(first), withoutSamples(other)})
}

func netRefused(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	trial := Trial(1, "go", "csv")
	save(t, s, run.ID, trial)
	for name, figures := range map[string][]stopwatt.Measurement{
		"NaN":               {{Metric: "energy_board", Value: 1}, {Metric: "time", Value: math.NaN()}},
		"infinite":          {{Metric: "time", Value: math.Inf(-1)}},
		"of unknown metric": {{Metric: "energy_board", Value: 1}, {Metric: "swiftness", Value: 1}},
		"twice":             {{Metric: "time", Value: 1}, {Metric: "time", Value: 2}},
	} {
		if err := s.SaveNet(t.Context(), run.ID, trial.PlannedTrial, figures); err == nil {
			t.Errorf("a figure %s was stored", name)
		}
	}
	if err := s.SaveNet(t.Context(), run.ID, Trial(2, "go", "csv").PlannedTrial, nil); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("of a trial that is not there: %v", err)
	}
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, trials, []stopwatt.Trial{withoutSamples(trial)})
}
