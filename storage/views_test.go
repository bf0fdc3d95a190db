package storage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// history is a database of one finished run, whose figures can be reckoned by
// hand, and an older one that was aborted, dirty, outside git and under another
// kernel.
func history(t *testing.T) *storage.Store {
	t.Helper()
	s := open(t, embeddedtest.ForTest(t))
	old := storagetest.Run()
	old.Key, old.PlanKey, old.Started = "k-0", "plan-0", old.Started.Add(-time.Hour)
	old.Checkout = stopwatt.Checkout{Dirty: true}
	old.Machine.Epoch.Kernel = "5.10.0"
	endRun(t, s, old, stopwatt.Aborted, nil, nil)

	run := storagetest.Run()
	run.Checkout.Dirty = false
	run.Against.Commit = stopwatt.Commit{SHA: "ba5e0000", Time: run.Started.Add(-2 * time.Hour)}
	id := endRun(t, s, run, stopwatt.Finished, trials(), summaries())
	for _, place := range []stopwatt.IdlePlace{stopwatt.IdleBefore, stopwatt.IdleAfter} {
		idle := storagetest.Idle(place)
		idle.Powers = slices.Clone(idlePowers)
		if place == stopwatt.IdleAfter {
			idle.Powers[0].Watts = 3.25
		}
		if err := s.SaveIdle(t.Context(), id, idle); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveDriverShare(t.Context(), id, storagetest.DriverShare("csv")); err != nil {
		t.Fatal(err)
	}
	judged := storagetest.Judgement()
	judged.Comparisons = judged.Comparisons[:2]
	calibrated := storagetest.Calibration()
	calibrated.Cases = calibrated.Cases[:1]
	searches := []stopwatt.ChangeSearch{storagetest.Search(storage.Fingerprint(run.Machine.Identity))}
	if err := errors.Join(s.SaveJudgement(t.Context(), id, judged), s.SaveCalibration(t.Context(), id, calibrated),
		s.SaveChanges(t.Context(), run.Project, run.Suite, storagetest.Sought(), searches),
		s.SaveAlerts(t.Context(), []stopwatt.Alert{alert("3f2a9010", run.Suite)})); err != nil {
		t.Fatal(err)
	}
	meant := stopwatt.Acceptance{Reason: "validates every line now", By: "Ada", At: run.Started}
	if _, err := s.Acknowledge(t.Context(), "3f2a9010", meant); err != nil {
		t.Fatal(err)
	}
	return s
}

// idlePowers are what the machine of history draws while it does nothing.
var idlePowers = []stopwatt.IdlePower{
	{Meter: "board", Watts: 3, Error: 0.5, Over: 30 * time.Second, Warnings: []string{"readings cover 98.0 % of the window"}},
	{Meter: "cpu", Watts: 1, Error: 0.25, Over: 30 * time.Second},
	{Meter: "plug", Over: 30 * time.Second, Absent: "it gave no reading"},
}

func endRun(t *testing.T, s *storage.Store, run stopwatt.Run, status stopwatt.RunStatus, trials []stopwatt.Trial, summaries []stopwatt.Summary) int64 {
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
	return stored.ID
}

// trials are two rounds; in the second, rust/csv answered wrongly. Each draws,
// idle power included, 5 W from the board and 2 W from the CPU, those of rust 8 W
// and 2.5 W.
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
		trial.Measurements = []stopwatt.Measurement{{Metric: "time", Value: row.seconds}, {Metric: "errors", Value: row.errors}, {Metric: "requests", Value: 1000}}
		trial.Absent, trial.Samples = nil, nil
		board, cpu := 5.0, 2.0
		if row.implementation == "rust" {
			board, cpu = 8, 2.5
		}
		meter(&trial, stopwatt.Energy{Meter: "board", Gross: int64(board * row.seconds * 1e6)}, idlePowers[0])
		meter(&trial, stopwatt.Energy{Meter: "cpu", Gross: int64(cpu * row.seconds * 1e6)}, idlePowers[1])
		meter(&trial, stopwatt.Energy{Meter: "plug", Absent: "it gave no reading"}, idlePowers[2])
		if row.implementation == "go" && row.workload == "static" {
			trial.Repetitions = []stopwatt.Repetitions{{Metric: "time", Values: []float64{3, 1.5, 1.25, 2.25}}}
		}
		if row.reason != "" {
			trial.Status, trial.Reason = stopwatt.Invalid, row.reason
		}
		all = append(all, trial)
	}
	return all
}

// meter adds the figures of a meter to a trial, and samples that leave a tenth
// of its window uncovered.
func meter(trial *stopwatt.Trial, energy stopwatt.Energy, idle stopwatt.IdlePower) {
	figures, absent := energy.Figures(idle, trial.Window, stopwatt.Work{Per: stopwatt.RightAnswer, Count: 1000})
	trial.Measurements = append(trial.Measurements, figures...)
	trial.Absent = append(trial.Absent, absent...)
	if energy.Absent == "" {
		start, end := trial.Window.Start, trial.Window.End
		trial.Samples = append(trial.Samples, stopwatt.Samples{
			Meter: energy.Meter, Quantity: stopwatt.PowerDrawn, Times: []int64{start, end}, Values: []int64{1, 1},
			Gaps: []stopwatt.Gap{{From: start, To: start + (end-start)/10, Reason: "it was not read"}},
		})
	}
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
		from measurements where implementation = 'rust' and workload = 'csv' and metric in ('errors', 'time') order by trial, metric`)
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
		append(append([]any{"k-0", "team/servers", "web-servers", "aborted", nil, nil, false, true}, rest...), int64(0), int64(0), seed, "00:01:30", "20.10.24", "5.10.0"),
		append(append([]any{"k-1", "team/servers", "web-servers", "finished", "5f0c1e", "main", true, false}, rest...), int64(7), int64(1), seed, "00:01:30", "20.10.24", "6.1.0"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEnergyHasARowForEachTrialAndMeter(t *testing.T) {
	t.Parallel()
	s := history(t)
	got := query(t, s, `select implementation, round, meter, gross, net, uncertainty, power, per_request, requests, seconds, coverage, reason, status
		from energy where workload = 'csv' order by implementation, round, meter`)
	none := func(implementation string, round int64, seconds float64, status string) []any {
		return []any{implementation, round, "plug", nil, nil, nil, nil, nil, 1000.0, seconds, nil, "it gave no reading", status}
	}
	want := [][]any{
		{"go", int64(1), "board", 20.0, 8.0, 2.0, 5.0, 0.008, 1000.0, 4.0, 0.9, nil, "valid"},
		{"go", int64(1), "cpu", 8.0, 4.0, 1.0, 2.0, 0.004, 1000.0, 4.0, 0.9, nil, "valid"},
		none("go", 1, 4, "valid"),
		{"go", int64(2), "board", 30.0, 12.0, 3.0, 5.0, 0.012, 1000.0, 6.0, 0.9, nil, "valid"},
		{"go", int64(2), "cpu", 12.0, 6.0, 1.5, 2.0, 0.006, 1000.0, 6.0, 0.9, nil, "valid"},
		none("go", 2, 6, "valid"),
		{"rust", int64(1), "board", 24.0, 15.0, 1.5, 8.0, 0.015, 1000.0, 3.0, 0.9, nil, "valid"},
		{"rust", int64(1), "cpu", 7.5, 4.5, 0.75, 2.5, 0.0045, 1000.0, 3.0, 0.9, nil, "valid"},
		none("rust", 1, 3, "valid"),
		{"rust", int64(2), "board", 8.0, 5.0, 0.5, 8.0, 0.005, 1000.0, 1.0, 0.9, nil, "invalid"},
		{"rust", int64(2), "cpu", 2.5, 1.5, 0.25, 2.5, 0.0015, 1000.0, 1.0, 0.9, nil, "invalid"},
		none("rust", 2, 1, "invalid"),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEnergyKeepsGrossWhereNetIsAbsent(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	noIdle, noAnswer, plain := storagetest.Trial(1, "go", "csv"), storagetest.Trial(2, "go", "csv"), storagetest.Trial(3, "go", "csv")
	energy := stopwatt.Energy{Meter: "board", Gross: 10e6}
	figures, absent := energy.Figures(stopwatt.IdlePower{Absent: "masked"}, noIdle.Window, stopwatt.Work{Per: stopwatt.RightAnswer, Count: 7})
	noIdle.Measurements, noIdle.Absent, noIdle.Samples = append(noIdle.Measurements, figures...), absent, nil
	figures, absent = energy.Figures(stopwatt.IdlePower{Watts: 3}, noAnswer.Window, stopwatt.Work{Per: stopwatt.RightAnswer})
	noAnswer.Measurements, noAnswer.Absent, noAnswer.Samples = figures, absent, nil
	endRun(t, s, storagetest.Run(), stopwatt.Finished, []stopwatt.Trial{noIdle, noAnswer, plain}, nil)
	got := query(t, s, "select round, gross, net < -5 as negative, per_request, requests, coverage, reason from energy order by round")
	want := [][]any{
		{int64(1), 10.0, nil, nil, nil, nil, "no idle power: masked"},
		{int64(2), 10.0, true, nil, nil, nil, "no request got a right answer"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEnergyOfACommandIsTakenPerRepetition(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	trial := storagetest.Trial(1, "go", "csv")
	trial.Measurements = []stopwatt.Measurement{{Metric: "repetitions", Value: 8}}
	figures, absent := stopwatt.Energy{Meter: "board", Gross: 20e6}.Figures(stopwatt.IdlePower{}, trial.Window, stopwatt.Work{Per: stopwatt.OneRun, Count: 8})
	trial.Measurements, trial.Absent = append(trial.Measurements, figures...), absent
	endRun(t, s, storagetest.Run(), stopwatt.Finished, []stopwatt.Trial{trial}, nil)
	got := query(t, s, "select net, per_request, requests, per_repetition, repetitions, reason from energy")
	if diff := cmp.Diff([][]any{{20.0, nil, nil, 2.5, 8.0, nil}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestIdleTellsThePowersBeforeAndAfter(t *testing.T) {
	t.Parallel()
	s := history(t)
	got := query(t, s, "select place, meter, watts, error, seconds, reason, warnings from idle order by place, meter")
	var want [][]any
	for _, row := range []struct {
		place string
		watts float64
	}{{"after", 3.25}, {"before", 3}} {
		want = append(want,
			[]any{row.place, "board", row.watts, 0.5, 30.0, nil, `{"readings cover 98.0 % of the window"}`},
			[]any{row.place, "cpu", 1.0, 0.25, 30.0, nil, "{}"},
			[]any{row.place, "plug", nil, nil, 30.0, "it gave no reading", "{}"})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLongTextsOfAMachineStandOnceForAnEpoch(t *testing.T) {
	t.Parallel()
	s := history(t)
	again := storagetest.Run()
	again.Key, again.PlanKey, again.Started = "k-9", "plan-9", again.Started.Add(time.Hour)
	again.Machine.Identity.CPUInfo += "cpu MHz\t: 1234.5\n" // which some kernel may call otherwise
	endRun(t, s, again, stopwatt.Finished, nil, nil)
	got := query(t, s, `select m.kernel, m.command_line, m.cpuinfo, count(*), max(r.started) = m.last_seen, min(r.started) = m.first_seen
		from machines m join runs r using (epoch) group by m.kernel, m.command_line, m.cpuinfo, m.first_seen, m.last_seen order by m.first_seen`)
	text := storagetest.Run().Machine.Identity.CPUInfo
	want := [][]any{{"5.10.0", "ro quiet", text, int64(1), true, true}, {"6.1.0", "ro quiet", text, int64(2), true, true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	places := query(t, s, `select 'runs' from stopwatt_store.runs r where r::text like '%flags%'
		union all select 'machines' from stopwatt_store.machines m where m::text like '%flags%'
		union all select 'epochs' from stopwatt_store.machine_epochs e where e::text like '%flags%'`)
	if diff := cmp.Diff([][]any{{"epochs"}, {"epochs"}}, places); diff != "" {
		t.Error(diff)
	}
}

func TestPartsAreTrialsOfTheirOwnThatCountAsNone(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	trial := storagetest.Trial(1, "go", "csv")
	trial.Repetitions = []stopwatt.Repetitions{{Metric: "time", Values: []float64{4, 6}}}
	trial.Defines = []stopwatt.Metric{{Name: "score", Unit: "points", Better: stopwatt.More}}
	for _, name := range []string{"csv/sort", "csv/add"} {
		part := stopwatt.Part{Case: stopwatt.Case{Implementation: "go", Workload: name}}
		part.Measurements = []stopwatt.Measurement{{Metric: "score", Value: 7}}
		part.Repetitions = []stopwatt.Repetitions{{Metric: "score", Values: []float64{6, 8}}}
		trial.Parts = append(trial.Parts, part)
	}
	endRun(t, s, storagetest.Run(), stopwatt.Finished, []stopwatt.Trial{trial}, nil)
	got := query(t, s, "select p.workload, p.status, p.position, p.window_seconds = w.window_seconds, w.workload, w.part_of from trials p join trials w on p.part_of = w.trial order by p.trial")
	want := [][]any{
		{"csv/sort", "valid", int64(1), true, "csv", nil},
		{"csv/add", "valid", int64(1), true, "csv", nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]any{{int64(1), int64(0)}}, query(t, s, "select valid, invalid from runs")); diff != "" {
		t.Error(diff)
	}
	got = query(t, s, "select workload, metric, unit, better, value from measurements where metric = 'score' order by trial")
	want = [][]any{{"csv/sort", "score", "points", "more", 7.0}, {"csv/add", "score", "points", "more", 7.0}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = query(t, s, "select workload, metric, repetition, value from repetitions where workload <> 'csv/add' order by trial, metric, repetition")
	want = [][]any{
		{"csv", "time", int64(1), 4.0}, {"csv", "time", int64(2), 6.0},
		{"csv/sort", "score", int64(1), 6.0}, {"csv/sort", "score", int64(2), 8.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRunsTellTheirBaseAndWhereImportedFiguresComeFrom(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	against, imported := storagetest.Run(), storagetest.Run()
	against.Against.Commit = stopwatt.Commit{SHA: "ba5e", Time: against.Started}
	endRun(t, s, against, stopwatt.Finished, nil, summaries())
	imported.Key, imported.PlanKey, imported.Started = "k-2", "plan-2", imported.Started.Add(time.Hour)
	imported.Machine, imported.Imported, imported.Source = stopwatt.Machine{Name: "board-1", Named: true}, true, "figures.csv"
	endRun(t, s, imported, stopwatt.Finished, nil, summaries())
	got := query(t, s, "select commit, base_commit, machine, fingerprint is null, epoch is null, imported, source from runs order by run")
	want := [][]any{
		{"5f0c1e", "ba5e", "board-1", false, false, false, nil},
		{"5f0c1e", nil, "board-1", true, true, true, "figures.csv"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]any{{"k-1", false}, {"k-2", true}}, query(t, s, "select distinct key, r.imported from results r join runs using (run) order by key")); diff != "" {
		t.Error(diff)
	}
}

func TestVerdictsAreThoseOfTheLastJudgement(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	run, _ := begin(t, s, "k-1")
	first, last := storagetest.Judgement(), storagetest.Judgement()
	last.Comparisons = last.Comparisons[:2]
	for _, judgement := range []stopwatt.Judgement{first, last, last} {
		if err := s.SaveJudgement(t.Context(), run.ID, judgement); err != nil {
			t.Fatal(err)
		}
	}
	got := query(t, s, `select implementation, workload, metric, verdict, ratio, low, high, n, base, head, p_worse, p_better,
		threshold, smallest, family, look, details -> 'Found' -> 'Ratio' ->> 'Value' from verdicts order by implementation desc`)
	want := [][]any{
		{"rust", "csv", "time", "regressed", 1.05, 1.04, 1.06, int64(12), 5.0, 5.25, 0.000244140625, 1.0, 0.03, 0.01, int64(3), int64(1), "1.07"},
		{"go", "csv", "time", "missing", nil, nil, nil, int64(0), nil, nil, 1.0, 1.0, 0.03, nil, int64(3), nil, nil},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]any{{int64(2)}}, query(t, s, "select count(*) from stopwatt_store.judgements")); diff != "" {
		t.Errorf("judgements that are kept: %s", diff)
	}
}

func TestACalibrationOutlivesItsRun(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	run, _ := begin(t, s, "k-1")
	if err := s.SaveCalibration(t.Context(), run.ID, storagetest.Calibration()); err != nil {
		t.Fatal(err)
	}
	execute(t, dsn, "DELETE FROM stopwatt_store.runs")
	got := query(t, s, "select machine, run, implementation, metric, unit, n, pair_sd, smallest, false_alarms, stretches from calibrations order by n desc")
	want := [][]any{
		{"board-1", nil, "rust", "time", "s", int64(200), 0.02, 0.015, int64(1), int64(20)},
		{"board-1", nil, "go", "score", "points", int64(0), 0.0, nil, int64(0), int64(0)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	calibration, err := s.Calibration(t.Context(), run.Project, run.Suite, run.Machine)
	if diff := cmp.Diff(storagetest.Calibration(), calibration); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestChangesAreThoseOfTheLastSearch(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	run, _ := begin(t, s, "k-1")
	fingerprint := storage.Fingerprint(run.Machine.Identity)
	early, late := storagetest.Search(fingerprint), storagetest.Search(fingerprint)
	early.ChangePoints = append(early.ChangePoints, early.ChangePoints[0])
	for _, search := range []stopwatt.ChangeSearch{early, late, late, storagetest.Search("gone")} {
		if err := s.SaveChanges(t.Context(), run.Project, run.Suite, storagetest.Sought(), []stopwatt.ChangeSearch{search}); err != nil {
			t.Fatal(err)
		}
	}
	got := query(t, s, `select suite, implementation, workload, metric, unit, against, machine, state, withheld,
		first_commit, after_commit, up_to_commit, before, after, ratio, low, high, p, details ->> 'Shift' from changes order by machine`)
	row := func(machine any) []any {
		return []any{"web-servers", "rust", "csv", "time", "s", nil, machine, "suspected", nil, "c12", "c10", "c13", 5.0, 5.25, 1.05, 1.04, 1.06, 0.003, "0.25"}
	}
	if diff := cmp.Diff([][]any{row("board-1"), row(nil)}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][]any{{int64(3)}}, query(t, s, "select count(*) from stopwatt_store.change_searches")); diff != "" {
		t.Errorf("searches that are kept: %s", diff)
	}
}
