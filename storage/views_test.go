package storage_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// history is a database of one finished run, whose figures can be reckoned by
// hand, and an older one that was aborted, dirty and outside git.
func history(t *testing.T) *storage.Store {
	t.Helper()
	s := open(t, embeddedtest.ForTest(t))
	old := storagetest.Run()
	old.Key, old.PlanKey, old.Started = "k-0", "plan-0", old.Started.Add(-time.Hour)
	old.Checkout = stopwatt.Checkout{Dirty: true}
	endRun(t, s, old, stopwatt.Aborted, nil, nil)

	run := storagetest.Run()
	run.Checkout.Dirty = false
	endRun(t, s, run, stopwatt.Finished, trials(), summaries())
	return s
}

func endRun(t *testing.T, s *storage.Store, run stopwatt.Run, status stopwatt.RunStatus, trials []stopwatt.Trial, summaries []stopwatt.Summary) {
	t.Helper()
	stored, _, err := s.Begin(t.Context(), run, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		if err := s.SaveTrial(t.Context(), stored.ID, trial); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveSummaries(t.Context(), stored.ID, summaries); err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), stored.ID, status, run.Started.Add(90*time.Second)); err != nil {
		t.Fatal(err)
	}
}

// trials are two rounds; in the second, rust/csv answered wrongly.
func trials() []stopwatt.Trial {
	var all []stopwatt.Trial
	for i, row := range []struct {
		round                    int
		implementation, workload string
		seconds, errors          float64
		reason                   string
	}{
		{1, "go", "static", 2, 0, ""},
		{1, "rust", "static", 1, 0, ""},
		{1, "rust", "csv", 3, 0, ""},
		{1, "go", "csv", 4, 0, ""},
		{2, "go", "csv", 6, 0, ""},
		{2, "rust", "csv", 1, 5000, "5000 of 20000 answers were wrong"},
		{2, "go", "static", 2, 0, ""},
		{2, "rust", "static", 1, 4, ""},
	} {
		trial := storagetest.Trial(row.round, row.implementation, row.workload)
		trial.Position = i + 1
		trial.Started = trial.Started.Add(time.Duration(i) * 10 * time.Second)
		trial.Window.End = trial.Window.Start + int64(row.seconds*1e9)
		trial.Warnings = nil
		trial.Measurements = []stopwatt.Measurement{{Metric: "time", Value: row.seconds}, {Metric: "errors", Value: row.errors}}
		if row.reason != "" {
			trial.Status, trial.Reason = stopwatt.Invalid, row.reason
		}
		all = append(all, trial)
	}
	return all
}

// summaries are those of the valid ones among trials.
func summaries() []stopwatt.Summary {
	summary := func(implementation, workload, metric string, n int, mean, sd, low, high float64) stopwatt.Summary {
		return stopwatt.Summary{
			Case: stopwatt.Case{Implementation: implementation, Workload: workload}, Revision: stopwatt.Head, Metric: metric,
			N: n, Mean: mean, SD: sd, Median: mean, Min: low, Max: high,
		}
	}
	return []stopwatt.Summary{
		summary("go", "static", "time", 2, 2, 0, 2, 2),
		summary("go", "static", "errors", 2, 0, 0, 0, 0),
		summary("rust", "static", "time", 2, 1, 0, 1, 1),
		summary("rust", "static", "errors", 2, 2, math.Sqrt(8), 0, 4),
		summary("go", "csv", "time", 2, 5, math.Sqrt2, 4, 6),
		summary("go", "csv", "errors", 2, 0, 0, 0, 0),
		summary("rust", "csv", "time", 1, 3, 0, 3, 3),
		summary("rust", "csv", "errors", 1, 0, 0, 0, 0),
		summary("rust", "csv", "cpu_server", 1, 0, 0, 0, 0),
	}
}

func query(t *testing.T, s *storage.Store, sql string) [][]any {
	t.Helper()
	answer, err := s.Query(t.Context(), sql, 0)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Rows
}

func TestResultsAgreeWithFiguresReckonedByHand(t *testing.T) {
	t.Parallel()
	s := history(t)
	want := [][]any{
		{"go", "csv", "errors", int64(2), 0.0, 0.0, 1.0},
		{"go", "csv", "time", int64(2), 5.0, math.Sqrt2, 1.0},
		{"go", "static", "errors", int64(2), 0.0, 0.0, 1.0},
		{"go", "static", "time", int64(2), 2.0, 0.0, 1.0},
		{"rust", "csv", "cpu_server", int64(1), 0.0, nil, nil}, // no baseline; n = 1 has no deviation
		{"rust", "csv", "errors", int64(1), 0.0, nil, 1.0},     // 0 and 0
		{"rust", "csv", "time", int64(1), 3.0, nil, 0.6},
		{"rust", "static", "errors", int64(2), 2.0, math.Sqrt(8), nil}, // something against nothing
		{"rust", "static", "time", int64(2), 1.0, 0.0, 0.5},
	}
	got := query(t, s, "select implementation, workload, metric, n, mean, sd, ratio from results order by 1, 2, 3")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestResultsKeepNothingAgainstSomethingAtZero(t *testing.T) {
	t.Parallel()
	s := history(t)
	run := storagetest.Run()
	run.Key, run.PlanKey, run.Baseline = "k-2", "plan-2", "rust"
	endRun(t, s, run, stopwatt.Finished, nil, summaries())
	got := query(t, s, "select ratio from results where baseline = 'rust' and workload = 'static' and metric = 'errors' and implementation = 'go'")
	if diff := cmp.Diff([][]any{{0.0}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestResultsOfExtremeFiguresStillAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	var extreme []stopwatt.Summary
	for _, metric := range []string{"time", "throughput"} {
		huge, tiny := storagetest.Summary("rust", "csv", metric, 1e100), storagetest.Summary("go", "csv", metric, math.SmallestNonzeroFloat64)
		huge.Min, huge.Max = 0, 1e100
		if metric == "throughput" {
			huge.Case, tiny.Case = tiny.Case, huge.Case
		}
		extreme = append(extreme, huge, tiny)
	}
	endRun(t, s, storagetest.Run(), stopwatt.Finished, nil, extreme)
	got := query(t, s, "select metric, ratio from results where implementation = 'rust' order by metric")
	if diff := cmp.Diff([][]any{{"throughput", 0.0}, {"time", nil}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMeasurementsHaveARowForEachTrialAndMetric(t *testing.T) {
	t.Parallel()
	s := history(t)
	got := query(t, s, `select round, status, metric, unit, better, value, suite, commit, branch, on_default, dirty, machine
		from measurements where implementation = 'rust' and workload = 'csv' order by trial, metric`)
	rest := []any{"web-servers", "5f0c1e", "main", true, false, "board-1"}
	want := [][]any{
		append([]any{int64(1), "valid", "errors", "1", "less", 0.0}, rest...),
		append([]any{int64(1), "valid", "time", "s", "less", 3.0}, rest...),
		append([]any{int64(2), "invalid", "errors", "1", "less", 5000.0}, rest...),
		append([]any{int64(2), "invalid", "time", "s", "less", 1.0}, rest...),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTrialsTellReasonAndWindow(t *testing.T) {
	t.Parallel()
	s := history(t)
	got := query(t, s, "select position, round, status, reason, warnings, window_seconds from trials where implementation = 'rust' and workload = 'csv' order by position")
	want := [][]any{
		{int64(3), int64(1), "valid", nil, "{}", 3.0},
		{int64(6), int64(2), "invalid", "5000 of 20000 answers were wrong", "{}", 1.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunsTellTheirProvenance(t *testing.T) {
	t.Parallel()
	s := history(t)
	got := query(t, s, `select key, project, suite, status, commit, branch, on_default, dirty, machine, baseline, profile,
		rounds, planned, valid, invalid, seed, ended - started, engine, kernel from runs order by started`)
	rest := []any{"board-1", "go", "short", int64(3), int64(12)}
	seed := json.Number(fmt.Sprint(uint64(math.MaxUint64)))
	want := [][]any{
		append(append([]any{"k-0", "team/servers", "web-servers", "aborted", nil, nil, false, true}, rest...), int64(0), int64(0), seed, "00:01:30", "20.10.24", "6.1.0"),
		append(append([]any{"k-1", "team/servers", "web-servers", "finished", "5f0c1e", "main", true, false}, rest...), int64(7), int64(1), seed, "00:01:30", "20.10.24", "6.1.0"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
