package storage_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// A change makes a run another one.
type change func(run *stopwatt.Run)

func onMachine(id string) change { return func(r *stopwatt.Run) { r.Machine.Identity.ID = id } }
func ofSuite(name string) change { return func(r *stopwatt.Run) { r.Suite = name } }
func inPipeline(id int64) change { return func(r *stopwatt.Run) { r.Pipeline.ID = id } }
func ofMerge(iid int) change     { return func(r *stopwatt.Run) { r.Pipeline.MergeRequest.IID = iid } }
func ofHead(sha, of string) change {
	return func(r *stopwatt.Run) { r.Checkout.Commit.SHA, r.Pipeline.SourceHead = sha, of }
}
func ofBase(sha string) change   { return func(r *stopwatt.Run) { r.Against.Commit.SHA = sha } }
func ofGitLab(api string) change { return func(r *stopwatt.Run) { r.Pipeline.API = api } }
func labelled(key, value string) change {
	return func(r *stopwatt.Run) { r.Labels = map[string]string{key: value} }
}

// ran stores a run of a merge request that came after those before it.
func ran(t *testing.T, s *storage.Store, number int, status stopwatt.RunStatus, changes ...change) stopwatt.Run {
	t.Helper()
	run := storagetest.OfMergeRequest()
	run.Key, run.PlanKey = fmt.Sprint("k-", number), fmt.Sprint("p-", number)
	run.Started = run.Started.Add(time.Duration(number) * time.Hour)
	for _, change := range changes {
		change(&run)
	}
	id := endRun(t, s, run, status, nil, []stopwatt.Summary{storagetest.Summary("go", "csv", "time", float64(number))})
	run.ID = id
	return run
}

func numbers(all []stopwatt.Results) string {
	text := ""
	for _, results := range all {
		text += results.Run.Key[1:]
	}
	return text
}

func TestRunsAreFoundByWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	ran(t, s, 1, stopwatt.Finished)
	judged := ran(t, s, 2, stopwatt.Aborted, onMachine("2"))
	ran(t, s, 3, stopwatt.Finished, inPipeline(7002))
	ran(t, s, 4, stopwatt.Finished, ofMerge(9))
	ran(t, s, 5, stopwatt.Finished, labelled("board", "rev C"))
	ran(t, s, 6, stopwatt.Finished, ofGitLab("https://other.example.org/api/v4"))
	ran(t, s, 7, stopwatt.Finished, ofSuite("other"))
	ran(t, s, 8, stopwatt.Finished, func(r *stopwatt.Run) { r.Pipeline = nil })
	if err := s.SaveJudgement(t.Context(), judged.ID, storagetest.Judgement()); err != nil {
		t.Fatal(err)
	}
	const api = "https://gitlab.example.org/api/v4"
	for _, row := range []struct {
		of    string
		query storage.RunQuery
		want  string
	}{
		{"all", storage.RunQuery{}, "-1-2-3-4-5-6-7-8"},
		{"a pipeline, on every machine", storage.RunQuery{Pipeline: 7001, API: api, Suite: "web-servers"}, "-1-2-4-5"},
		{"a pipeline of any GitLab", storage.RunQuery{Pipeline: 7001, Suite: "web-servers"}, "-1-2-4-5-6"},
		{"a merge request", storage.RunQuery{MergeProject: 12, MergeRequest: 9}, "-4"},
		{"a merge request of another project", storage.RunQuery{MergeProject: 13, MergeRequest: 9}, ""},
		{"a label", storage.RunQuery{Labels: map[string]string{"board": "rev C"}}, "-5"},
		{"a label of another value", storage.RunQuery{Labels: map[string]string{"board": "rev"}}, ""},
		{"two labels", storage.RunQuery{Labels: map[string]string{"board": "rev B", "case": "über"}, Pipeline: 7002}, "-3"},
	} {
		all, err := s.RunsOf(t.Context(), row.query)
		if got := numbers(all); got != row.want || err != nil {
			t.Errorf("runs of %s: %s, want %s, error %v", row.of, got, row.want, err)
		}
		for _, results := range all {
			if (results.Judgement != nil) != (results.Run.ID == judged.ID) || len(results.Cases) != 1 {
				t.Errorf("run %s has %d cases, judged: %t", results.Run.Key, len(results.Cases), results.Judgement != nil)
			}
		}
	}
	if id, err := s.FindRun(t.Context(), storage.RunQuery{Labels: map[string]string{"board": "rev C"}}); id != 5 || err != nil {
		t.Errorf("found run %d by its label, error %v", id, err)
	}
}

func TestEarlierAttemptsMeasuredTheSame(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	ran(t, s, 1, stopwatt.Finished)
	ran(t, s, 2, stopwatt.Aborted)
	ran(t, s, 3, stopwatt.Finished, inPipeline(7002), ofHead("another merge commit", "50ce"))
	ran(t, s, 4, stopwatt.Finished, onMachine("2"))
	ran(t, s, 5, stopwatt.Finished, ofSuite("other"))
	ran(t, s, 6, stopwatt.Finished, ofMerge(9))
	ran(t, s, 7, stopwatt.Finished, ofHead("later", "1a7e"))
	ran(t, s, 8, stopwatt.Finished, ofBase("newer"))
	ran(t, s, 9, stopwatt.Finished, func(r *stopwatt.Run) { r.Profile = "" })
	last := ran(t, s, 10, stopwatt.Finished, inPipeline(7003))
	ran(t, s, 11, stopwatt.Finished)
	all, err := s.EarlierAttempts(t.Context(), last)
	if got := numbers(all); got != "-1-3" || err != nil {
		t.Errorf("earlier attempts are %s, error %v", got, err)
	}
	last.Pipeline = nil
	if all, err = s.EarlierAttempts(t.Context(), last); len(all) != 0 || err != nil {
		t.Errorf("%d earlier attempts of a run outside a pipeline, error %v", len(all), err)
	}
}

func TestTheLatestResultsOfAnImage(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	csv := stopwatt.Case{Implementation: "go", Workload: "csv"}
	ran(t, s, 1, stopwatt.Finished)
	ran(t, s, 2, stopwatt.Finished)
	ran(t, s, 3, stopwatt.Aborted)
	ran(t, s, 4, stopwatt.Finished, onMachine("2"))
	other := ran(t, s, 5, stopwatt.Finished, func(r *stopwatt.Run) {
		r.Images = map[string]stopwatt.Image{"go": {ID: "sha256:44"}}
	})
	machine := storage.Fingerprint(storagetest.Run().Machine.Identity)
	for _, row := range []struct {
		image, fingerprint string
		of                 stopwatt.Case
		want               string
	}{
		{"sha256:01", machine, csv, "-2"},
		{"sha256:44", machine, csv, "-5"},
		{"sha256:45", machine, csv, ""},
		{"sha256:01", "no machine", csv, ""},
		{"sha256:01", machine, stopwatt.Case{Implementation: "go", Workload: "static"}, ""},
		{"sha256:11", machine, csv, ""}, // a base that has no figures
	} {
		results, err := s.LatestOfImage(t.Context(), other.Project, other.Suite, row.fingerprint, row.of, row.image)
		if row.want == "" {
			if !errors.Is(err, storage.ErrNotFound) {
				t.Errorf("image %s of %s: run %s, error %v", row.image, row.of, results.Run.Key, err)
			}
			continue
		}
		if got := numbers([]stopwatt.Results{results}); err != nil || got != row.want || len(results.Cases) != 1 || len(results.Cases[0].Summaries) != 1 {
			t.Errorf("image %s of %s: run %s, error %v, %+v", row.image, row.of, got, err, results.Cases)
		}
	}
}

func TestWhatAMergeRequestWouldBecomeEntersNoSeries(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	onDefault := func(r *stopwatt.Run) { r.Checkout.Branch, r.Checkout.Default = "main", true }
	ofKind := func(kind stopwatt.PipelineKind) change { return func(r *stopwatt.Run) { r.Pipeline.Kind = kind } }
	var enter []stopwatt.Run
	for i, changes := range [][]change{
		{onDefault}, // a merged result whose checkout believes that it is on main
		{onDefault, ofKind(stopwatt.DefaultBranch)},
		{ofKind(stopwatt.DefaultBranch)},
		{onDefault, ofKind(stopwatt.TagPipeline)},
		{onDefault, func(r *stopwatt.Run) { r.Pipeline = nil }},
		{onDefault, ofKind(stopwatt.DefaultBranch), func(r *stopwatt.Run) { r.Checkout.Dirty = true }},
	} {
		run := ran(t, s, i+1, stopwatt.Finished, changes...)
		run.Status = stopwatt.Finished
		if run.EntersHistory() {
			enter = append(enter, run)
		}
	}
	all, err := s.Series(t.Context(), storage.SeriesQuery{Metric: "time", Profile: "short"})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d series, error %v", len(all), err)
	}
	var got, want []int64
	for _, point := range all[0].Points {
		got = append(got, point.Run)
	}
	for _, run := range enter {
		want = append(want, run.ID)
	}
	if diff := cmp.Diff([]int64{2, 5}, got); diff != "" || !cmp.Equal(want, got) {
		t.Errorf("the series has the runs %v, %v enter history", got, want)
	}
}
