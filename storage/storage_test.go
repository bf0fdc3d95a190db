package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

func TestPostgresPassesTheExercise(t *testing.T) {
	t.Parallel()
	storagetest.Exercise(t, func(t *testing.T) storagetest.Store { return open(t, embeddedtest.ForTest(t)) })
}

func open(t *testing.T, dsn string) *storage.Store {
	t.Helper()
	s, err := storage.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// contextFor lasts through the test's clean-up, unlike the test's own.
func contextFor(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
}

func begin(t *testing.T, s *storage.Store, key string) (stopwatt.Run, []stopwatt.PlannedTrial) {
	t.Helper()
	run := storagetest.Run()
	run.Key = key
	stored, done, err := s.Begin(t.Context(), run, false)
	if err != nil {
		t.Fatal(err)
	}
	return stored, done
}

func TestARunThatIsBeingCarriedOutIsNotContinuedByAnother(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	first, second := open(t, dsn), open(t, dsn)
	mine, _ := begin(t, first, "k-1")
	if err := first.SaveTrial(t.Context(), mine.ID, storagetest.Trial(1, "go", "csv")); err != nil {
		t.Fatal(err)
	}
	if theirs, _ := begin(t, second, "k-2"); theirs.ID == mine.ID {
		t.Error("two carry out one run")
	}
	first.Close() // as the kernel does when the process is killed
	third, done := begin(t, open(t, dsn), "k-3")
	if third.ID != mine.ID || third.Key != "k-1" || len(done) != 1 {
		t.Errorf("began run %d (%s) with %d trials, want %d", third.ID, third.Key, len(done), mine.ID)
	}
}

func TestAKeyThatIsBeingCarriedOutIsRefused(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	begin(t, open(t, dsn), "k-1")
	_, _, err := open(t, dsn).Begin(t.Context(), storagetest.Run(), false)
	if err == nil || !strings.Contains(err.Error(), "being carried out by another process") {
		t.Errorf("got %v", err)
	}
}

func TestFreshLeavesWhatAnotherCarriesOutAlone(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	first, second := open(t, dsn), open(t, dsn)
	mine, _ := begin(t, first, "k-1")
	run := storagetest.Run()
	run.Key = "k-2"
	if _, _, err := second.Begin(t.Context(), run, true); err != nil {
		t.Fatal(err)
	}
	if results, err := first.Results(t.Context(), mine.ID); err != nil || results.Run.Status != stopwatt.Running {
		t.Errorf("the other's run is %s, error %v", results.Run.Status, err)
	}
}

func TestEightBeginRunsAtOnce(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	open(t, dsn)
	errs := make(chan error)
	for i := range 8 {
		go func() {
			s, err := storage.Open(t.Context(), dsn)
			if err != nil {
				errs <- err
				return
			}
			defer s.Close()
			run := storagetest.Run()
			run.Key = string(rune('a' + i))
			stored, _, err := s.Begin(t.Context(), run, false)
			if err == nil {
				err = s.SaveTrial(t.Context(), stored.ID, storagetest.Trial(i+1, "go", "csv"))
			}
			errs <- err
		}()
	}
	for range 8 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestOneTrialSavedByTwoAtOnceIsThereOnce(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	first, second := open(t, dsn), open(t, dsn)
	run, _ := begin(t, first, "k-1")
	errs := make(chan error)
	for _, s := range []*storage.Store{first, second} {
		go func() { errs <- s.SaveTrial(t.Context(), run.ID, storagetest.Trial(1, "go", "csv")) }()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	answer, err := first.Query(t.Context(), "select count(*), count(distinct trial) from measurements", 0)
	if diff := cmp.Diff([][]any{{int64(3), int64(1)}}, answer.Rows); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestMetricsAreThoseThatTrialsHave(t *testing.T) {
	t.Parallel()
	store := open(t, embeddedtest.ForTest(t))
	run, _ := begin(t, store, "k-1")
	trial := storagetest.Trial(1, "go", "csv")
	score := stopwatt.Metric{Name: "score", Unit: "points", Better: stopwatt.More}
	trial.Defines = []stopwatt.Metric{score}
	trial.Measurements = []stopwatt.Measurement{{Metric: "time", Value: 1}, {Metric: "score", Value: 2}}
	trial.Absent = nil
	if err := store.SaveTrial(t.Context(), run.ID, trial); err != nil {
		t.Fatal(err)
	}
	metrics, err := store.Metrics(t.Context())
	want := []stopwatt.Metric{score, {Name: "time", Unit: "s", Better: stopwatt.Less}}
	if diff := cmp.Diff(want, metrics); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestTheSchemaRefusesWhatIsNoFigure(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	run, _ := begin(t, s, "k-1")
	trial := storagetest.Trial(1, "go", "csv")
	trial.Repetitions = []stopwatt.Repetitions{{Metric: "time", Values: []float64{1}}}
	if err := s.SaveTrial(t.Context(), run.ID, trial); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveSummaries(t.Context(), run.ID, []stopwatt.Summary{storagetest.Summary("go", "csv", "time", 1)}); err != nil {
		t.Fatal(err)
	}
	for _, values := range []string{"{1,NaN}", "{Infinity}", "{-Infinity,1}", "{1,NULL}"} {
		err := tryExecute(t, dsn, "UPDATE stopwatt_store.repetitions SET values = '"+values+"'")
		if err == nil || !strings.Contains(err.Error(), "check constraint") {
			t.Errorf("repetitions %s: %v", values, err)
		}
	}
	for _, column := range []string{"measurements SET value", "summaries SET mean", "summaries SET sd", "summaries SET median", "summaries SET min", "summaries SET max"} {
		for _, value := range []string{"NaN", "Infinity", "-Infinity"} {
			err := tryExecute(t, dsn, "UPDATE stopwatt_store."+column+" = '"+value+"'")
			if err == nil || !strings.Contains(err.Error(), "check constraint") {
				t.Errorf("%s = %s: %v", column, value, err)
			}
		}
	}
}

func TestARunTakesEverythingOfItsOwnAlong(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	against := storagetest.Run()
	against.BaseImages = against.Images
	run, _, err := s.Begin(t.Context(), against, false)
	if err != nil {
		t.Fatal(err)
	}
	trial := storagetest.Trial(1, "go", "csv")
	trial.Repetitions = []stopwatt.Repetitions{{Metric: "time", Values: []float64{1, 2}}}
	trial.Parts = []stopwatt.Part{{Case: stopwatt.Case{Implementation: "go", Workload: "csv/part"}, Measurements: trial.Measurements}}
	if err := s.SaveTrial(t.Context(), run.ID, trial); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveSummaries(t.Context(), run.ID, []stopwatt.Summary{storagetest.Summary("go", "csv", "time", 1)}); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveIdle(t.Context(), run.ID, storagetest.Idle(stopwatt.IdleAfter)); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveJudgement(t.Context(), run.ID, storagetest.Judgement()); err != nil {
		t.Fatal(err)
	}
	execute(t, dsn, "DELETE FROM stopwatt_store.runs")
	for _, table := range []string{"run_images", "trials", "measurements", "absences", "histograms", "summaries", "judgements", "comparisons", "repetitions", "run_base_images", "samples", "idle_windows", "idle_powers", "idle_samples"} {
		answer, err := s.Query(t.Context(), "select count(*) from stopwatt_store."+table, 0)
		if err != nil || answer.Rows[0][0] != int64(0) {
			t.Errorf("%s: %v, error %v", table, answer.Rows, err)
		}
	}
}

func TestFindRun(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	if _, err := s.FindRun(t.Context(), storage.RunQuery{}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("an empty database: %v", err)
	}
	ids := map[string]int64{}
	for i, row := range []struct {
		name, project, suite string
		status               stopwatt.RunStatus
	}{
		{"finished first", "p", "a", stopwatt.Finished},
		{"finished last", "p", "a", stopwatt.Finished},
		{"aborted after it", "p", "a", stopwatt.Aborted},
		{"aborted alone", "p", "b", stopwatt.Aborted},
		{"of another project", "q", "a", stopwatt.Finished},
	} {
		run := storagetest.Run()
		run.Key, run.PlanKey, run.Project, run.Suite = row.name, row.name, row.project, row.suite
		run.Started = run.Started.Add(time.Duration(i) * time.Hour)
		stored, _, err := s.Begin(t.Context(), run, false)
		if err == nil {
			err = s.Finish(t.Context(), stored.ID, row.status, run.Started)
		}
		if err != nil {
			t.Fatal(err)
		}
		ids[row.name] = stored.ID
	}
	for _, row := range []struct {
		query storage.RunQuery
		want  string
	}{
		{storage.RunQuery{}, "of another project"},
		{storage.RunQuery{Project: "p"}, "finished last"},
		{storage.RunQuery{Project: "p", Suite: "b"}, "aborted alone"},
		{storage.RunQuery{Suite: "a"}, "of another project"},
		{storage.RunQuery{ID: ids["finished first"]}, "finished first"},
		{storage.RunQuery{ID: ids["finished first"], Project: "p"}, "finished first"},
		{storage.RunQuery{Machine: storage.Fingerprint(storagetest.Run().Machine.Identity)}, "of another project"},
	} {
		if id, err := s.FindRun(t.Context(), row.query); err != nil || id != ids[row.want] {
			t.Errorf("%+v: run %d, want %d (%s), error %v", row.query, id, ids[row.want], row.want, err)
		}
	}
	for _, query := range []storage.RunQuery{{ID: 4711}, {ID: ids["finished first"], Project: "q"}, {Suite: "c"}, {Machine: "another"}} {
		if _, err := s.FindRun(t.Context(), query); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%+v: %v", query, err)
		}
	}
}

func TestLatestOfEachMachine(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	if _, err := s.LatestOfEachMachine(t.Context(), storage.RunQuery{}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("an empty database: %v", err)
	}
	named := func(name string) stopwatt.Machine { return stopwatt.Machine{Name: name, Named: true} }
	ids := map[string]int64{}
	for i, row := range []struct {
		key, suite string
		machine    stopwatt.Machine
		status     stopwatt.RunStatus
	}{
		{"first of a", "a", named("m-1"), stopwatt.Finished},
		{"last of b", "b", named("m-1"), stopwatt.Finished},
		{"other of a", "a", named("m-2"), stopwatt.Finished},
		{"last of a", "a", named("m-1"), stopwatt.Finished},
		{"aborted of a", "a", named("m-2"), stopwatt.Aborted},
	} {
		run := storagetest.Run()
		run.Key, run.PlanKey, run.Suite, run.Machine = row.key, row.key, row.suite, row.machine
		run.Started = run.Started.Add(time.Duration(i) * time.Hour)
		ids[row.key] = endRun(t, s, run, row.status, nil, nil)
	}
	for suite, want := range map[string][]int64{"a": {ids["other of a"], ids["last of a"]}, "b": {ids["last of b"]}} {
		got, err := s.LatestOfEachMachine(t.Context(), storage.RunQuery{Suite: suite})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("suite %s: error %v %s", suite, err, diff)
		}
	}
}
