package storagetest

import (
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// againstBase is a run of the head against a base.
func againstBase() stopwatt.Run {
	run := Run()
	run.Against = stopwatt.Checkout{
		Branch: "main", Default: true,
		Commit: stopwatt.Commit{SHA: "ba5e", Parents: []string{"aa11"}, Author: "Ada", Time: run.Started.Add(-2 * time.Hour), Subject: "Serve"},
	}
	run.BaseImages = map[string]stopwatt.Image{
		"go":   {ID: "sha256:11", Key: "k0", Bytes: 11_000_000, Bases: []stopwatt.BaseImage{{Written: "debian:bookworm-slim", Used: "debian:bookworm-slim", ID: "sha256:09"}}},
		"rust": run.Images["rust"],
	}
	return run
}

func againstABase(t *testing.T, s Store) {
	run := againstBase()
	stored, _ := begin(t, s, run, false)
	run.ID = stored.ID
	same(t, stored, run)
	same(t, results(t, s, stored.ID).Run, run)
}

func baseAndHead(t *testing.T, s Store) {
	run, _ := begin(t, s, againstBase(), false)
	head, base := harnessed(1, "go", "csv"), harnessed(1, "go", "csv")
	base.Revision, base.Position = stopwatt.Base, 2
	save(t, s, run.ID, head, base)
	summary := Summary("go", "csv", "time", 4)
	summary.Revision = stopwatt.Base
	if err := s.SaveSummaries(t.Context(), run.ID, []stopwatt.Summary{Summary("go", "csv", "time", 5), summary}); err != nil {
		t.Fatal(err)
	}
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, trials, []stopwatt.Trial{withoutSamples(head), withoutSamples(base)})
	got := results(t, s, run.ID).Cases[:2]
	if got[0].Revision != stopwatt.Base || got[0].Valid != 1 || got[0].Summaries[0].Mean != 4 || got[1].Valid != 1 || got[1].Summaries[0].Mean != 5 {
		t.Errorf("base and head are %+v", got)
	}
	_, done := begin(t, s, again(), false)
	same(t, done, []stopwatt.PlannedTrial{head.PlannedTrial, base.PlannedTrial})
}

// imported is a run whose figures somebody else has measured.
func imported() stopwatt.Run {
	run := Run()
	run.Checkout, run.Engine, run.Images, run.Meters = stopwatt.Checkout{}, stopwatt.Engine{}, nil, nil
	run.Machine = stopwatt.Machine{Name: "Ryzen 5 3600", Named: true}
	run.Imported, run.Source = true, "https://example.org/figures.csv"
	return run
}

func importedRun(t *testing.T, s Store) {
	run := imported()
	stored, _ := begin(t, s, run, false)
	run.ID = stored.ID
	same(t, stored, run)
	save(t, s, run.ID, Trial(1, "go", "csv"))
	finish(t, s, run.ID, stopwatt.Finished)
	again, done := begin(t, s, imported(), false)
	if again.ID != run.ID || again.Status != stopwatt.Finished || len(done) != 1 {
		t.Errorf("the same import again is run %d, %s, with %d trials", again.ID, again.Status, len(done))
	}
}

func namedMachine(t *testing.T, s Store) {
	machines := []stopwatt.Machine{{Name: "board-1", Named: true}, {Name: "board-2", Named: true}, {Name: "board-1"}, {Name: "board-1", Named: true}}
	var ids []int64
	for i, machine := range machines {
		run := imported()
		run.Key, run.Machine = string(rune('a'+i)), machine
		stored, _ := begin(t, s, run, false)
		same(t, stored.Machine, machine)
		ids = append(ids, stored.ID)
	}
	if ids[0] == ids[1] || ids[0] == ids[2] || ids[1] == ids[2] || ids[0] != ids[3] {
		t.Errorf("unfinished runs of one plan on %+v are %v", machines, ids)
	}
}

// OfMergeRequest is a run against a base in a pipeline of a merge request.
func OfMergeRequest() stopwatt.Run {
	run := againstBase()
	run.Checkout.Branch, run.Checkout.Default, run.Checkout.Dirty = "", false, false
	run.Choice = stopwatt.BaseChoice{Rule: "merge base", Behind: 3, Notes: []string{"the clone was shallow"}}
	run.Labels = map[string]string{"board": "rev B", "case": "über"}
	run.Pipeline = &stopwatt.Pipeline{
		Kind: stopwatt.MergedResult, Source: "merge_request_event", ID: 7_001, URL: "https://gitlab.example.org/team/servers/-/pipelines/7001",
		Job: stopwatt.Job{ID: 90_001, Name: "benchmark", URL: "https://gitlab.example.org/team/servers/-/jobs/90001", Started: run.Started, Timeout: time.Hour},
		API: "https://gitlab.example.org/api/v4", ProjectID: 12, Project: "team/servers", ProjectURL: "https://gitlab.example.org/team/servers",
		MergeRequest: stopwatt.MergeRequest{IID: 8, ProjectID: 12, TargetBranch: "main", SourceBranch: "faster"},
		Commit:       run.Checkout.Commit.SHA, SourceHead: "50ce", DefaultBranch: "main", Ref: "refs/merge-requests/8/merge",
		Bases: []stopwatt.BaseCandidate{{SHA: "ba5e", Rule: "target branch when the pipeline began"}, {Rule: "merge base"}},
	}
	return run
}

func ofPipeline(t *testing.T, s Store) {
	run := OfMergeRequest()
	stored, _ := begin(t, s, run, false)
	run.ID = stored.ID
	same(t, stored, run)
	same(t, results(t, s, stored.ID).Run, run)
}

func continuedInAPipeline(t *testing.T, s Store) {
	first := OfMergeRequest()
	first.Pipeline, first.Labels = nil, map[string]string{"board": "rev A", "case": "steel"}
	killed, _ := begin(t, s, first, false)
	second := OfMergeRequest()
	second.Key, second.Labels = "k-2", map[string]string{"board": "rev B"}
	stored, _ := begin(t, s, second, false)
	want := first
	want.ID, want.Pipeline, want.Labels = killed.ID, second.Pipeline, map[string]string{"board": "rev B", "case": "steel"}
	same(t, stored, want)
	outside := first
	outside.Key, outside.Labels = "k-3", nil
	stored, _ = begin(t, s, outside, false)
	same(t, stored, want)
}
