package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// An outcome is what came of a finished run.
type outcome struct {
	results  stopwatt.Results // with the judgement, where it has a base
	trials   []stopwatt.Trial // the first of them with samples
	contrast stopwatt.Contrast
	news     []report.History // what it has changed in the history of the default branch
	history  []report.History // all of that, where the run belongs to it
	// acceptances are what the commits of a merge request accept.
	acceptances []stopwatt.Acceptance
}

// outcome reads a finished run back, and has it enter history where it belongs.
func (d *desk) outcome(ctx context.Context, store *storage.Store, run stopwatt.Run) (outcome, error) {
	results, err := store.Results(ctx, run.ID)
	if err != nil {
		return outcome{}, err
	}
	o := outcome{results: results}
	if o.trials, err = trialsWithSamples(ctx, store, run.ID); err != nil {
		return outcome{}, err
	}
	if o.contrast, err = lay(results, view{}); err != nil {
		return outcome{}, err
	}
	if run.Against.Commit.SHA != "" {
		judgement, err := store.Judgement(ctx, run.ID)
		if err != nil {
			return outcome{}, err
		}
		o.results.Judgement = &judgement
	}
	o.news, o.history, err = d.enterHistory(ctx, store, results.Run)
	return o, err
}

// tell prints an outcome and writes the report folder.
func (d *desk) tell(o outcome, out string) error {
	width := terminalWidth(d.stdout)
	fmt.Fprintln(d.stdout)
	if judgement := o.results.Judgement; judgement != nil {
		if err := report.Judgement(d.stdout, o.results.Run, *judgement, report.JudgementOptions{Width: width}); err != nil {
			return err
		}
		fmt.Fprintln(d.stdout)
	}
	if measuredAny(o.results) {
		if err := write(d.stdout, o.results, o.contrast, "text", report.Options{Width: width}); err != nil {
			return err
		}
	}
	for _, one := range o.news {
		fmt.Fprintln(d.stdout)
		if err := report.ChangesText(d.stdout, one, width); err != nil {
			return err
		}
	}
	page, err := d.writeReport(o.results, o.contrast, o.trials, out)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.stdout, "\nreport  %s\nnext    %s\n", page, whatNext(o.results.Run))
	return nil
}

// verdict is an error when something got worse, or else when not all that was asked
// could be measured.
func (o outcome) verdict() error {
	if o.results.Judgement == nil {
		return missing(o.results)
	}
	return cmp.Or(verdictOf(o.results.Run.Settings.Judge, *o.results.Judgement), missing(o.results))
}

// verdictOf is an error when verdicts that nobody accepted are of those that a rule
// fails on.
func verdictOf(rule stopwatt.Judge, judgement stopwatt.Judgement) error {
	regressed, undecided := 0, judgement.Count(stopwatt.Undecided)
	for _, c := range judgement.Comparisons {
		if c.Verdict == stopwatt.Regressed && c.Accepted == nil {
			regressed++
		}
	}
	switch {
	case regressed > 0 && rule.Fails(stopwatt.Regressed):
		return failure{exitRegressed, fmt.Errorf("%s regressed", plural(regressed, "comparison"))}
	case undecided > 0 && rule.Fails(stopwatt.Undecided):
		return failure{exitUndecided, fmt.Errorf("%s undecided", plural(undecided, "comparison"))}
	}
	return nil
}

// measuredAny tells whether there was a trial: of base and head that are the same
// there is none, and no table.
func measuredAny(results stopwatt.Results) bool {
	return slices.ContainsFunc(results.Cases, func(c stopwatt.CaseResult) bool { return c.Valid+c.Invalid > 0 })
}

// whatNext is what to type next.
func whatNext(run stopwatt.Run) string {
	if run.Against.Commit.SHA != "" {
		return fmt.Sprintf("stopwatt compare %d --explain · stopwatt compare %d --implementations", run.ID, run.ID)
	}
	return fmt.Sprintf("stopwatt show %d · stopwatt compare --implementations", run.ID)
}

// mostSampled is how many trials of a run are drawn over time in its report:
// the samples of more make a page that no browser likes.
const mostSampled = 60

// trialsWithSamples reads a run's trials, the first of them with their samples.
func trialsWithSamples(ctx context.Context, store *storage.Store, run int64) ([]stopwatt.Trial, error) {
	trials, err := store.Trials(ctx, run)
	if err != nil {
		return nil, err
	}
	for i := range trials[:min(len(trials), mostSampled)] {
		if trials[i].Samples, err = store.Samples(ctx, run, trials[i].PlannedTrial); err != nil {
			return nil, err
		}
	}
	return trials, nil
}

// missing is an error when some trials have no figures.
func missing(results stopwatt.Results) error {
	invalid, all := 0, 0
	for _, result := range results.Cases {
		if result.Part {
			continue
		}
		invalid += result.Invalid
		all += result.Invalid + result.Valid
	}
	if invalid == 0 {
		return nil
	}
	return incomplete(fmt.Errorf("%d of %d trials are invalid; their reasons stand above", invalid, all))
}
