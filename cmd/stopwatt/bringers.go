package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/gitlab"
	"gitlab.com/stopwatt/stopwatt/report"
)

// mostBringers is how many commits of a change point are looked up: with more, none of
// them is under suspicion enough to be written to.
const mostBringers = 5

// tellBringers writes, into the notes of the merge requests that may have brought what
// has changed on the default branch, what is seen there since.
func (j ciJob) tellBringers(ctx context.Context, planned plannedRun, o outcome) {
	if j.pipeline.Kind != stopwatt.DefaultBranch || j.flags.note == noteNone || !forTheWorse(o.news) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, postWithin)
	defer cancel()
	if err := j.writeToBringers(ctx, planned, o); err != nil {
		fmt.Fprintf(j.stderr, "note    merge requests that may have brought a change were not told: %v\n", harmless(err))
	}
}

// forTheWorse tells whether there is a change for the worse among the news.
func forTheWorse(news []report.History) bool {
	return slices.ContainsFunc(news, func(h report.History) bool { return len(worse(h)) > 0 })
}

// worse are the change points for the worse of a metric.
func worse(h report.History) []report.SeenChange {
	var all []report.SeenChange
	for _, traced := range h.Traced {
		for _, search := range traced.Searches {
			for _, change := range search.ChangePoints {
				more := change.After.Mean > change.Before.Mean
				if h.Metric.Better == stopwatt.Less && more || h.Metric.Better == stopwatt.More && !more {
					all = append(all, report.SeenChange{Case: traced.Series.Case, Metric: h.Metric, Against: traced.Series.Against, Machine: h.Machines[search.Machine], Change: change})
				}
			}
		}
	}
	return all
}

// A bringer is a merge request with what its commit may have changed.
type bringer struct {
	request stopwatt.MergeRequest
	commit  string
	seen    []report.SeenChange
}

func (j ciJob) writeToBringers(ctx context.Context, planned plannedRun, o outcome) error {
	client, err := j.client(j.pipeline)
	if err != nil {
		return err
	}
	history, err := planned.checkout.repo.FirstParents(ctx, j.pipeline.Commit)
	if err != nil {
		return err
	}
	concerned := map[string]bool{} // commits that the news are about
	for _, h := range o.news {
		for _, seen := range worse(h) {
			for _, sha := range mayHaveBrought(history, seen.Change) {
				concerned[sha] = true
			}
		}
	}
	for _, sha := range history {
		if !concerned[sha] {
			continue
		}
		request, err := client.MergeRequestOf(ctx, j.pipeline, sha)
		if errors.Is(err, gitlab.ErrNoMergeRequest) {
			continue // pushed without one
		}
		if err != nil {
			return err
		}
		if err := j.writeToBringer(ctx, client, o.results.Run.Suite, bringer{request, sha, allOf(o.history, history, sha)}); err != nil {
			return err
		}
	}
	return nil
}

// allOf are all changes for the worse that a commit may have brought.
func allOf(all []report.History, history []string, sha string) []report.SeenChange {
	var seen []report.SeenChange
	for _, h := range all {
		for _, one := range worse(h) {
			if slices.Contains(mayHaveBrought(history, one.Change), sha) {
				seen = append(seen, one)
			}
		}
	}
	return seen
}

// mayHaveBrought are the commits of the default branch, the oldest first, among which
// the one is that brought a change; none where they are too many.
func mayHaveBrought(history []string, change stopwatt.ChangePoint) []string {
	past, reached := slices.Index(history, change.Past.SHA), slices.Index(history, change.Reached.SHA)
	if past < 0 || reached <= past || reached-past > mostBringers {
		return nil
	}
	return history[past+1 : reached+1]
}

// writeToBringer puts what is seen on top of the note that the merge request has.
func (j ciJob) writeToBringer(ctx context.Context, client *gitlab.Client, suite string, b bringer) error {
	pipeline := j.pipeline
	pipeline.MergeRequest = b.request
	before, err := client.Standing(ctx, pipeline, suite)
	if err != nil {
		return err
	}
	section := report.AfterMerge(report.AfterMergeOf{
		Suite: suite, Branch: j.pipeline.DefaultBranch, Project: j.pipeline.ProjectURL, Commit: b.commit, Seen: b.seen,
	})
	posted, err := client.Post(ctx, pipeline, stopwatt.Note{Suite: suite, Body: report.OnTop(section, before), Created: time.Now(), Worse: true})
	if err != nil {
		return err
	}
	j.tellPosted(posted)
	return nil
}
