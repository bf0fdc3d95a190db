package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// servers is the suite of storagetest.Run.
var servers = stopwatt.SuiteName{Project: "team/servers", Suite: "web-servers"}

func openArchive(t *testing.T, dsn string) *storage.Archive {
	t.Helper()
	a, err := storage.OpenReader(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.Close)
	return a
}

// commitRun is a run of the n-th commit of a history: a commit an hour.
func commitRun(n int) stopwatt.Run {
	run := storagetest.Run()
	run.Key, run.PlanKey = fmt.Sprintf("k-%d", n), fmt.Sprintf("plan-%d", n)
	run.Started = run.Started.Add(time.Duration(n) * time.Hour)
	run.Checkout.Dirty = false
	run.Checkout.Commit.SHA = fmt.Sprintf("%08x", 0xc0ffee00+n)
	run.Checkout.Commit.Time = run.Checkout.Commit.Time.Add(time.Duration(n) * time.Hour)
	return run
}

// fingerprint is that of the machine of commitRun.
func fingerprint() string { return storage.Fingerprint(storagetest.Run().Machine.Identity) }

// goTime asks for the time of go/csv, as so many points at most.
func goTime(most int) stopwatt.CourseQuery {
	return stopwatt.CourseQuery{
		Suite: servers, Profile: "short", Metric: "time", Machine: fingerprint(), Most: most,
		Cases: []stopwatt.Case{{Implementation: "go", Workload: "csv"}},
	}
}

// storedCommits stores runs of so many commits, in which go/csv takes as many
// seconds as the commit's number and rust/csv twice as many.
func storedCommits(t *testing.T, s *storage.Store, commits int) (ids []int64) {
	t.Helper()
	for n := 1; n <= commits; n++ {
		seconds := float64(n)
		ids = append(ids, endRun(t, s, commitRun(n), stopwatt.Finished, nil, []stopwatt.Summary{
			storagetest.Summary("go", "csv", "time", seconds), storagetest.Summary("rust", "csv", "time", 2*seconds),
		}))
	}
	return ids
}

func TestACourseIsReadInCommitsAndInSpans(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	ids := storedCommits(t, s, 30) // from 5 o'clock on: 19 of the first day, 11 of the second
	outside := commitRun(31)
	outside.Checkout.Default = false
	endRun(t, s, outside, stopwatt.Finished, nil, []stopwatt.Summary{storagetest.Summary("go", "csv", "time", 1000)})
	a := openArchive(t, dsn)
	for _, row := range []struct {
		name            string
		most            int
		against         string
		points          int
		firstValue      float64
		firstLow, first float64 // the smallest and the largest value of the first point
		firstRun        int64
		commits         int // of the first point
	}{
		{"every commit", 30, "", 30, 1, 1, 1, ids[0], 1},
		{"two commits a point", 15, "", 15, 1.5, 1, 2, ids[1], 2},
		{"days", 3, "", 2, 10, 1, 19, ids[18], 19},
		{"ratios of commits", 30, "rust", 30, 0.5, 0.5, 0.5, ids[0], 1},
		{"ratios of days", 3, "rust", 2, 0.5, 0.5, 0.5, ids[18], 19},
	} {
		query := goTime(row.most)
		query.Against = row.against
		courses, err := a.Courses(t.Context(), query)
		if err != nil || len(courses) != 1 || len(courses[0].Points) != row.points || courses[0].Commits != 30 {
			t.Errorf("%s: %+v, error %v", row.name, courses, err)
			continue
		}
		got := courses[0].Points[0]
		commit := commitRun(row.commits).Checkout.Commit // the last one of the point
		want := stopwatt.CoursePoint{
			SHA: commit.SHA, Time: commit.Time, Subject: commit.Subject, Author: commit.Author, Run: row.firstRun,
			Value: row.firstValue, N: 3 * row.commits, Commits: row.commits, Low: row.firstLow, High: row.first,
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(want, "Epoch", "SD")); diff != "" || got.Epoch == "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}

func TestACourseFollowsTheFirstParentHistory(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	storedCommits(t, s, 3)
	sha := func(n int) string { return commitRun(n).Checkout.Commit.SHA }
	a := openArchive(t, dsn)
	landed := func(shas []string) []stopwatt.Landing {
		var landings []stopwatt.Landing
		for _, sha := range shas {
			landings = append(landings, stopwatt.Landing{Commit: stopwatt.Commit{SHA: sha}, Merger: "Ada", MergeRequest: "!42"})
		}
		return landings
	}
	for _, row := range []struct {
		name    string
		history []string
		want    []float64
	}{
		{"no place is known: by time", nil, []float64{1, 2, 3}},
		{"the second commit's clock was wrong", []string{sha(2), "other", sha(1), sha(3)}, []float64{2, 1, 3}},
		{"the third has no place: behind the one before it", []string{sha(2), sha(1)}, []float64{2, 1, 3}},
		{"the second was rewritten: behind the one before it", []string{sha(1), sha(3)}, []float64{1, 2, 3}},
	} {
		if err := s.PlaceCommits(t.Context(), servers.Project, landed(row.history)); err != nil {
			t.Fatal(err)
		}
		courses, err := a.Courses(t.Context(), goTime(100))
		if err != nil {
			t.Fatal(err)
		}
		var values []float64
		for _, point := range courses[0].Points {
			values = append(values, point.Value)
			if landed := slices.Contains(row.history, point.SHA); landed != (point.MergeRequest == 42) {
				t.Errorf("%s: merge request %d of %s", row.name, point.MergeRequest, point.SHA)
			}
		}
		if diff := cmp.Diff(row.want, values); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}

// A backfill measures the commits of one push in an order of its own: the page showed
// the one that was measured last for the newest.
func TestTheLatestOfCommitsOfOneTimeIsTheLastOfTheBranch(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	ids := storedCommits(t, s, 3)
	execute(t, dsn, "UPDATE stopwatt_store.commits SET committed_at = '2026-03-04Z'")
	execute(t, dsn, "UPDATE stopwatt_store.history SET committed_at = '2026-03-04Z'")
	var landings []stopwatt.Landing
	for _, n := range []int{3, 2, 1} {
		landings = append(landings, stopwatt.Landing{Commit: stopwatt.Commit{SHA: commitRun(n).Checkout.Commit.SHA}})
	}
	if err := s.PlaceCommits(t.Context(), servers.Project, landings); err != nil {
		t.Fatal(err)
	}
	if id, err := openArchive(t, dsn).RunAt(t.Context(), stopwatt.RunPlace{Suite: servers, Profile: "short"}); err != nil || id != ids[0] {
		t.Errorf("run %d, want %d, error %v", id, ids[0], err)
	}
}

func TestAnArchiveOfNothingIsEmpty(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	open(t, dsn)
	a := openArchive(t, dsn)
	if o, err := a.Overview(t.Context()); err != nil || !cmp.Equal(o, stopwatt.Overview{}, cmpopts.EquateEmpty()) {
		t.Errorf("%+v, error %v", o, err)
	}
	if courses, err := a.Courses(t.Context(), goTime(10)); err != nil || len(courses) != 0 {
		t.Errorf("%+v, error %v", courses, err)
	}
	_, contents := a.Contents(t.Context(), servers)
	_, at := a.RunAt(t.Context(), stopwatt.RunPlace{Suite: servers})
	_, line := a.Line(t.Context(), 1)
	_, results := a.Results(t.Context(), 1)
	_, list := a.TrialList(t.Context(), 1)
	_, trial := a.Trial(t.Context(), 1, 1)
	_, machine := a.MachineHistory(t.Context(), "none")
	for i, err := range []error{contents, at, line, results, list, trial, machine} {
		if !errors.Is(err, stopwatt.ErrNotFound) {
			t.Errorf("question %d: %v", i, err)
		}
	}
}

func TestAnArchiveDoesNotReadAnOlderSchema(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	if _, err := storage.OpenReader(t.Context(), dsn); !errors.Is(err, storage.ErrOlderSchema) {
		t.Errorf("of nothing: %v", err)
	}
	open(t, dsn)
	execute(t, dsn, "DELETE FROM stopwatt_store.schema_version WHERE version_id = (SELECT max(version_id) FROM stopwatt_store.schema_version)")
	if _, err := storage.OpenReader(t.Context(), dsn); !errors.Is(err, storage.ErrOlderSchema) {
		t.Errorf("of the last version but one: %v", err)
	}
}

func TestAnArchiveAnswersWhatPagesAsk(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	s := open(t, dsn)
	ids := storedCommits(t, s, 2)
	if err := s.SaveTrial(t.Context(), ids[1], storagetest.Trial(1, "go", "csv")); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveIdle(t.Context(), ids[1], storagetest.Idle(stopwatt.IdleBefore)); err != nil {
		t.Fatal(err)
	}
	search := storagetest.Search(fingerprint())
	if err := s.SaveChanges(t.Context(), servers.Project, servers.Suite, storagetest.Sought(), []stopwatt.ChangeSearch{search}); err != nil {
		t.Fatal(err)
	}
	a := openArchive(t, dsn)
	o, err := a.Overview(t.Context())
	if err != nil || len(o.Runs) != 2 || o.Runs[0].ID != ids[1] || o.Runs[0].Valid != 1 || o.Runs[0].Marked != 1 ||
		len(o.Suites) != 1 || o.Suites[0].Implementations != 2 || o.Suites[0].Workloads != 2 || o.Suites[0].Latest.ID != ids[1] ||
		len(o.Machines) != 1 || o.Machines[0].CPUModel != "A76" || len(o.Machines[0].Idle) != 2 ||
		len(o.Worse) != 1 || o.Worse[0].Change.First.SHA != search.ChangePoints[0].First.SHA {
		t.Errorf("overview %+v, error %v", o, err)
	}
	contents, err := a.Contents(t.Context(), servers)
	want := stopwatt.SuiteContents{
		Suite: servers, Profiles: []string{"short"}, Machines: o.Machines, Baseline: "go", Judged: []string{"time", "energy_board_gross"},
		Cases: storagetest.Run().Settings.Cases(),
	}
	if diff := cmp.Diff(want, contents, cmpopts.IgnoreFields(want, "Metrics")); err != nil || diff != "" || len(contents.Metrics) != 1 {
		t.Error(err, diff, contents.Metrics)
	}
	if unnamed, err := a.Contents(t.Context(), stopwatt.SuiteName{Suite: servers.Suite}); err != nil || !cmp.Equal(contents, unnamed) {
		t.Errorf("of the suite without a project: %s, error %v", cmp.Diff(contents, unnamed), err)
	}
	for _, row := range []struct {
		name  string
		place stopwatt.RunPlace
		want  int64
	}{
		{"the latest", stopwatt.RunPlace{Suite: servers, Profile: "short"}, ids[1]},
		{"on this machine", stopwatt.RunPlace{Suite: servers, Profile: "short", Machine: fingerprint()}, ids[1]},
		{"of the first commit", stopwatt.RunPlace{Suite: servers, Profile: "short", Commit: "c0ffee01"}, ids[0]},
		{"of a commit that was not measured", stopwatt.RunPlace{Suite: servers, Profile: "short", Commit: "c0ffee7"}, 0},
		{"of whole runs", stopwatt.RunPlace{Suite: servers}, 0},
	} {
		if id, err := a.RunAt(t.Context(), row.place); id != row.want || row.want == 0 != errors.Is(err, stopwatt.ErrNotFound) {
			t.Errorf("%s: run %d, want %d, error %v", row.name, id, row.want, err)
		}
	}
	trials, err := a.TrialList(t.Context(), ids[1])
	if err != nil || len(trials) != 1 || len(trials[0].Measurements) != 3 || trials[0].Latency != nil {
		t.Errorf("%+v, error %v", trials, err)
	}
	trial, err := a.Trial(t.Context(), ids[1], 1)
	if diff := cmp.Diff(storagetest.Trial(1, "go", "csv").Samples, trial.Samples, cmpopts.EquateEmpty()); err != nil || diff != "" || trial.Latency.Count() != 1 {
		t.Error(err, diff)
	}
	machine, err := a.MachineHistory(t.Context(), fingerprint())
	if err != nil || len(machine.Epochs) != 1 || len(machine.Idle) != 2 || len(machine.Runs) != 2 || machine.Machine.Identity.CPUInfo == "" {
		t.Errorf("%+v, error %v", machine, err)
	}
}
