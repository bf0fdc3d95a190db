package main

import (
	"context"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// enterHistory searches the series of what a suite is judged by once more, now that
// a run has entered the history of the default branch, keeps what was found, and
// returns the changes that nobody was told of yet, and all that was found.
func (d *desk) enterHistory(ctx context.Context, store *storage.Store, run stopwatt.Run) (news, all []report.History, err error) {
	if !run.EntersHistory() {
		return nil, nil, nil
	}
	if err := d.placeStored(ctx, store, run.Project); err != nil {
		return nil, nil, err
	}
	for _, name := range judgedMetrics(run) {
		metric, known := stopwatt.MetricNamed(name)
		if !known {
			continue
		}
		series, err := store.Series(ctx, storage.SeriesQuery{Project: run.Project, Suite: run.Suite, Metric: name, Profile: run.Profile, Newest: regression.Searched})
		if err != nil {
			return nil, nil, err
		}
		cut := cutShort(series)
		if _, err := d.place(ctx, series); err != nil {
			return nil, nil, err
		}
		found, err := traced(series, run.Settings.Control, historyView{})
		if err != nil {
			return nil, nil, err
		}
		all = append(all, report.History{Suite: run.Suite, Metric: metric, Traced: found})
		told := report.History{Suite: run.Suite, Metric: metric}
		for _, one := range found {
			kept, fresh, err := keepChanges(ctx, store, run, one, cut)
			if err != nil {
				return nil, nil, err
			}
			told.Traced = append(told.Traced, fresh...)
			one.Searches = kept
			if err := d.followAlerts(ctx, store, run, metric, one); err != nil {
				return nil, nil, err
			}
		}
		if len(told.Traced) > 0 {
			news = append(news, told)
		}
	}
	return news, all, nil
}

// judgedMetrics are the metrics that some case of a run is judged by.
func judgedMetrics(run stopwatt.Run) []string {
	var names []string
	for _, workload := range run.Settings.Workloads {
		for _, threshold := range run.Thresholds(workload) {
			if name := threshold.Judged(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// cutShort tells of which machines only the newest commits were read.
func cutShort(all []stopwatt.Series) map[string]bool {
	commits := map[string]map[string]bool{}
	for _, s := range all {
		for _, p := range s.Points {
			if commits[p.Machine] == nil {
				commits[p.Machine] = map[string]bool{}
			}
			commits[p.Machine][p.SHA] = true
		}
	}
	cut := map[string]bool{}
	for machine, of := range commits {
		cut[machine] = len(of) >= regression.Searched
	}
	return cut
}

// keepChanges stores what was found in a series, with what is known of commits before
// those that were read. It returns that, and what was found if it has a change point,
// or a state of one, that was not stored before.
func keepChanges(ctx context.Context, store *storage.Store, run stopwatt.Run, one report.Traced, cut map[string]bool) (kept []stopwatt.ChangeSearch, news []report.Traced, err error) {
	before, err := store.Changes(ctx, run.Project, run.Suite, one.Series)
	if err != nil {
		return nil, nil, err
	}
	one.Searches = slices.Clone(one.Searches)
	for i, search := range one.Searches {
		at := slices.IndexFunc(before, func(s stopwatt.ChangeSearch) bool { return s.Machine == search.Machine })
		if at >= 0 && cut[search.Machine] {
			one.Searches[i] = regression.CarryOver(before[at].ChangePoints, search)
		}
	}
	if err := store.SaveChanges(ctx, run.Project, run.Suite, one.Series, one.Searches); err != nil {
		return nil, nil, err
	}
	known := map[string]bool{}
	for _, search := range before {
		for _, c := range search.ChangePoints {
			known[search.Machine+c.First.SHA+string(c.State)] = true
		}
	}
	fresh := one
	fresh.Searches = slices.Clone(one.Searches)
	count := 0
	for i, search := range fresh.Searches {
		fresh.Searches[i].ChangePoints = slices.DeleteFunc(slices.Clone(search.ChangePoints), func(c stopwatt.ChangePoint) bool {
			return known[search.Machine+c.First.SHA+string(c.State)]
		})
		count += len(fresh.Searches[i].ChangePoints)
	}
	if count == 0 {
		return one.Searches, nil, nil
	}
	return one.Searches, []report.Traced{fresh}, nil
}
