package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// coveringNothing are the acceptances that none of the comparisons is meant by: of a
// name with a mistake in it, nobody would know why it changes nothing.
func coveringNothing(all []stopwatt.Acceptance, comparisons []stopwatt.Comparison) []stopwatt.Acceptance {
	return slices.DeleteFunc(slices.Clone(all), func(a stopwatt.Acceptance) bool {
		return slices.ContainsFunc(comparisons, func(c stopwatt.Comparison) bool { return a.Covers(c.Case, c.Metric.Name, a.At) })
	})
}

// accept reads what the commits between base and head accept, and stores it, and the
// judgement with it. What cannot be understood is told, and accepts nothing.
func (j ciJob) accept(ctx context.Context, store *storage.Store, planned plannedRun, run stopwatt.Run) ([]stopwatt.Acceptance, error) {
	if !planned.compares() {
		return nil, nil
	}
	messages, err := planned.checkout.repo.Messages(ctx, planned.against.Commit.SHA, j.pipeline.Commit)
	if err != nil {
		fmt.Fprintf(j.stderr, "accept  the commits' messages cannot be read, and accept nothing: %v\n", harmless(err))
		return nil, nil
	}
	var all []stopwatt.Acceptance
	for _, message := range messages {
		acceptances, faults := jobs.Acceptances(message.Text, message.SHA, message.Author, message.Time)
		for _, fault := range faults {
			fmt.Fprintf(j.stderr, "accept  %s: %s\n", stopwatt.Commit{SHA: message.SHA}.Short(), firstLine(fault.Message))
		}
		all = append(all, acceptances...)
	}
	if len(all) == 0 {
		return nil, nil
	}
	of := storage.AcceptanceQuery{Project: run.Project, Suite: run.Suite, MergeRequest: j.pipeline.MergeRequest}
	if err := store.SaveAcceptances(ctx, of, all); err != nil {
		return nil, err
	}
	judgement, err := store.Judgement(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	for _, a := range coveringNothing(all, judgement.Comparisons) {
		fmt.Fprintf(j.stderr, "accept  %s: %s is nothing that was compared, and accepts nothing; is it written as in the suite?\n",
			stopwatt.Commit{SHA: a.Commit}.Short(), report.Brief(strings.TrimSpace(a.Case+" "+a.Metric)))
	}
	accepted := regression.Accept(judgement, all, time.Now())
	return all, store.SaveJudgement(ctx, run.ID, accepted)
}
