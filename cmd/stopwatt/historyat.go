package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// An asOf says up to where in history results are looked for.
type asOf struct {
	branch  branch // commits is nil outside a checkout
	upTo    int    // place in the first-parent history; 0: bounded by time alone
	moment  time.Time
	meaning string // what was asked for, in words
}

// asOf finds out what a person means: a commit, branch or tag, or else a time.
func (d *desk) asOf(ctx context.Context, text string) (asOf, error) {
	branch, err := d.openBranch(ctx)
	if err == nil {
		if commit, err := branch.repo.Resolve(ctx, text); err == nil {
			place, err := branch.placeOf(ctx, commit.SHA)
			return asOf{branch: branch, upTo: place, meaning: fmt.Sprintf("%s (%s)", text, commit.Short())}, err
		}
	}
	moment, timeErr := momentOf(text, time.Now())
	if timeErr != nil {
		return asOf{}, askedWrongly(fmt.Errorf("--at %s: no commit of this folder's checkout is called so, and it is no time; write one, as in v1.2, c3d18f0a, 2026-11-01 or 30d", quote(text)))
	}
	if bareDate.MatchString(text) { // as the day ended
		moment = moment.AddDate(0, 0, 1).Add(-time.Nanosecond)
	}
	return asOf{branch: branch, moment: moment, meaning: text}, nil
}

// place is where a run's commit stands, and whether it is not behind what is meant.
func (a asOf) place(run storage.MeasuredRun) (int64, bool) {
	if a.branch.commits == nil {
		return run.Committed.UnixNano(), !run.Committed.After(a.moment)
	}
	place := a.branch.places[run.SHA]
	return int64(place), place > 0 && (a.upTo == 0 || place <= a.upTo) && (a.moment.IsZero() || !run.Committed.After(a.moment))
}

// tellAt prints the results as they were: those of the nearest measured commit, and
// says which that is.
func (d *desk) tellAt(ctx context.Context, store *storage.Store, latest stopwatt.Run, v historyView) error {
	meant, err := d.asOf(ctx, v.at)
	if err != nil {
		return err
	}
	run, err := d.nearest(ctx, store, latest, v, meant)
	if err != nil {
		return err
	}
	results, err := store.Results(ctx, run.ID)
	if err != nil {
		return err
	}
	says := fmt.Sprintf("as of %s: commit %s of %s", meant.meaning, results.Run.Checkout.Commit.Short(), run.Committed.Format(time.DateOnly))
	if place, _ := meant.place(run); meant.upTo > 0 && int(place) < meant.upTo {
		says += fmt.Sprintf(", measured %s before it", plural(meant.upTo-int(place), "commit"))
	}
	out := d.stdout
	if v.format != "text" {
		out = d.stderr
	}
	fmt.Fprintf(out, "%s\n\n", report.Brief(says))
	shown := view{format: v.format, as: "value"}
	if v.metricGiven {
		shown.metrics = []string{v.metric}
	}
	return d.printResults(results, shown)
}

// nearest is the run of the nearest commit that is measured and not behind what is
// meant: of several, the latest of those that have most cases.
func (d *desk) nearest(ctx context.Context, store *storage.Store, latest stopwatt.Run, v historyView, meant asOf) (storage.MeasuredRun, error) {
	runs, err := store.Measured(ctx, storage.SeriesQuery{Project: latest.Project, Suite: latest.Suite, Profile: v.profile})
	if err != nil {
		return storage.MeasuredRun{}, err
	}
	names, err := store.MachineNames(ctx)
	if err != nil {
		return storage.MeasuredRun{}, err
	}
	var near []storage.MeasuredRun
	var ids []int64
	best := int64(0)
	for _, run := range runs {
		place, within := meant.place(run)
		on, err := matchesAny(names[run.Machine], v.machines)
		if err != nil {
			return storage.MeasuredRun{}, askedWrongly(err)
		}
		if !within || !on || place < best {
			continue
		}
		if place > best {
			best, near, ids = place, nil, nil
		}
		near, ids = append(near, run), append(ids, run.ID)
	}
	if len(near) == 0 {
		return storage.MeasuredRun{}, askedWrongly(fmt.Errorf("--at %s: nothing was measured of the default branch until then", quote(v.at)))
	}
	cases, err := store.MeasuredCases(ctx, ids)
	if err != nil {
		return storage.MeasuredRun{}, err
	}
	slices.Reverse(near) // the first of equals is taken
	return slices.MaxFunc(near, func(a, b storage.MeasuredRun) int { return len(cases[a.ID]) - len(cases[b.ID]) }), nil
}
