package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// A historyView says what of history is asked for.
type historyView struct {
	historyScope
	suite, metric, profile, against, format string
	changes                                 bool
	together                                bool   // implementations in one table or chart
	at                                      string // results as they were
	metricGiven                             bool
	labels                                  []string // KEY=VALUE
}

// historyVerb is `stopwatt history`.
func (d *desk) historyVerb() *cobra.Command {
	var v historyView
	verb := &cobra.Command{
		Use:   "history [A..B]",
		Short: "A metric over the commits of the default branch, and where it changed",
		Long: `Shows how a metric of each case went over the commits of the default branch, on
each machine, and where it changed. Commits stand in the order of the branch's
first-parent history when this is asked in its checkout, else in that of their
times. With --against, the ratio to another implementation of the same run, in
which a machine's drift cancels.

--changes tells of each change point how much it was, among which commits it lies,
and who wrote and merged them. A..B, --since and --until say which stretch is
shown; what is searched is all of history.

--implementations lays the implementations of each workload beside each other, in a
table or, with --format svg, in one chart. --at shows all results as they were at a
commit, a tag or a time: those of the nearest commit before it that was measured.`,
		Example: `  stopwatt history
  stopwatt history --changes
  stopwatt history --metric energy_board_gross --case 'go/*' --changes
  stopwatt history --against rust-tokio --changes
  stopwatt history v1.2..main --implementation 'rust-*' --changes
  stopwatt history --implementations --format svg > history.svg
  stopwatt history --at v1.2
  stopwatt history --since 30d --machine odroid-h3 --format csv`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v.commits, v.metricGiven = first(args), cmd.Flags().Changed("metric")
			if err := v.oneQuestion(); err != nil {
				return askedWrongly(err)
			}
			return d.tellHistory(cmd.Context(), v)
		},
	}
	v.historyScope.flags(verb)
	verb.Flags().StringVar(&v.suite, "suite", "", "of this suite (default: that of the latest run)")
	verb.Flags().StringVar(&v.metric, "metric", "time", "the metric, see docs/metrics.md")
	verb.Flags().StringVar(&v.profile, "profile", "", "of runs with this profile of the suite")
	labelFlag(verb, &v.labels, "of runs with this label: `KEY=VALUE`; may be repeated")
	verb.Flags().StringVar(&v.against, "against", "", "as ratios to this `IMPLEMENTATION`")
	verb.Flags().BoolVar(&v.changes, "changes", false, "the change points instead of the courses")
	verb.Flags().BoolVar(&v.together, "implementations", false, "the implementations of each workload beside each other")
	verb.Flags().StringVar(&v.at, "at", "", "all results as they were at this `TIME|TAG|COMMIT`")
	verb.Flags().StringVar(&v.format, "format", "text", "text, csv, json or svg")
	return verb
}

// oneQuestion refuses what would be answered in part alone.
func (v historyView) oneQuestion() error {
	switch {
	case v.changes && v.together:
		return errors.New("--changes tells the change points, --implementations the courses: ask for one of them")
	case v.changes && v.format == "svg":
		return errors.New("--changes --format svg: write text, csv or json; without --changes, the chart marks the change points, too")
	case v.at != "" && (v.changes || v.together):
		return errors.New("--at shows all results at one commit: it goes without --changes and --implementations")
	}
	return nil
}

// tellHistory prints what is asked of the past.
func (d *desk) tellHistory(ctx context.Context, v historyView) error {
	shown, err := d.stretch(ctx, v.historyScope)
	if err != nil {
		return err
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	id, err := d.findRun(ctx, store, "", v.suite, v.labels)
	if err != nil {
		return err
	}
	latest, err := store.Results(ctx, id)
	if err != nil {
		return err
	}
	if v.at != "" {
		return d.tellAt(ctx, store, latest.Run, v)
	}
	metric, known := latest.Metric(v.metric)
	if !known {
		return askedWrongly(fmt.Errorf("there is no metric %s; there are %s", quote(v.metric), metricNames(latest)))
	}
	labels, err := parseLabels(v.labels)
	if err != nil {
		return askedWrongly(err)
	}
	all, err := store.Series(ctx, storage.SeriesQuery{Project: latest.Run.Project, Suite: latest.Run.Suite, Metric: v.metric, Profile: v.profile, Labels: labels,
		Wanted: v.needs(latest.Run.Settings.Control)})
	if err != nil {
		return err
	}
	if err := v.known(all); err != nil {
		return askedWrongly(err)
	}
	machines, err := store.MachineNames(ctx)
	if err != nil {
		return err
	}
	if err := v.pick(all, machines); err != nil {
		return askedWrongly(err)
	}
	told := report.History{Suite: latest.Run.Suite, Metric: metric, Machines: machines, Stretch: shown.words}
	if told.Outside, err = d.place(ctx, all); err != nil {
		return err
	}
	if told.Traced, err = traced(all, latest.Run.Settings.Control, v); err != nil {
		return askedWrongly(err)
	}
	told.Traced = shown.crop(told.Traced)
	if told.Landings, err = d.landings(ctx, store, latest.Run.Project, told.Traced); err != nil {
		return err
	}
	return d.printHistory(told, v)
}

// known is an error when what is asked for by name occurs nowhere.
func (v historyView) known(all []stopwatt.Series) error {
	if v.profile != "" && len(all) == 0 && !v.narrowed() {
		return fmt.Errorf("no finished run of the default branch with the profile %s is stored", quote(v.profile))
	}
	var names []string
	for _, s := range all {
		if !slices.Contains(names, s.Case.Implementation) {
			names = append(names, s.Case.Implementation)
		}
	}
	if v.against != "" && len(names) > 0 && !slices.Contains(names, v.against) {
		return fmt.Errorf("--against %s: there is no such implementation; there are %s", quote(v.against), strings.Join(names, ", "))
	}
	return nil
}

// printHistory prints it in the form that is asked for.
func (d *desk) printHistory(told report.History, v historyView) error {
	switch {
	case v.format == "csv" && v.changes:
		return report.ChangesCSV(d.stdout, told)
	case v.format == "csv":
		return report.HistoryCSV(d.stdout, told)
	case v.format == "json":
		return report.HistoryJSON(d.stdout, told)
	case v.format == "svg":
		return report.HistorySVG(d.stdout, told, v.together)
	case v.format != "text":
		return askedWrongly(fmt.Errorf("--format %s: write text, csv, json or svg", quote(v.format)))
	case v.together:
		return report.HistoryTogether(d.stdout, told, terminalWidth(d.stdout))
	case v.changes:
		return report.ChangesText(d.stdout, told, terminalWidth(d.stdout))
	}
	return report.HistoryText(d.stdout, told, terminalWidth(d.stdout))
}

// place gives every point its place in the first-parent history of the default
// branch, and drops those that it does not hold, which it counts. Outside the
// checkout the commits stand in the order of their times.
func (d *desk) place(ctx context.Context, all []stopwatt.Series) (outside int, err error) {
	places, whole, err := d.firstParents(ctx)
	if err != nil {
		return 0, err
	}
	if !holdsAny(places, all) {
		placeByTime(all)
		return 0, nil
	}
	if !whole {
		beforeTheEdge(places, all)
	}
	dropped := map[string]bool{}
	for i := range all {
		all[i].Points = slices.DeleteFunc(all[i].Points, func(p stopwatt.SeriesPoint) bool {
			if places[p.SHA] == 0 {
				dropped[p.SHA] = true
			}
			return places[p.SHA] == 0
		})
		for j := range all[i].Points {
			all[i].Points[j].Position = places[all[i].Points[j].SHA]
		}
	}
	return len(dropped), nil
}

// beforeTheEdge places the commits that a shallow clone does not show, in front of those
// that it does, by their times. What is younger than its first commit and not shown is
// on another branch.
func beforeTheEdge(places map[string]int, all []stopwatt.Series) {
	older := map[string]time.Time{}
	edge := time.Time{} // of the first commit that is shown and was measured
	for _, s := range all {
		for _, p := range s.Points {
			switch {
			case places[p.SHA] == 0:
				older[p.SHA] = p.Time
			case edge.IsZero() || p.Time.Before(edge):
				edge = p.Time
			}
		}
	}
	shas := slices.DeleteFunc(slices.Collect(maps.Keys(older)), func(sha string) bool { return !older[sha].Before(edge) })
	slices.SortFunc(shas, func(a, b string) int { return cmp.Or(older[a].Compare(older[b]), strings.Compare(a, b)) })
	for sha := range places {
		places[sha] += len(shas)
	}
	for i, sha := range shas {
		places[sha] = i + 1
	}
}

// firstParents are the places of the default branch's commits, from 1; none outside a
// checkout. In a shallow clone they are not the whole branch's.
func (d *desk) firstParents(ctx context.Context) (places map[string]int, whole bool, err error) {
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return nil, false, nil // a question about the past may be asked anywhere
	}
	repo.Getenv = d.getenv
	branch := repo.DefaultBranch(ctx)
	if branch == "" {
		return nil, false, nil
	}
	commits, err := repo.FirstParents(ctx, branch)
	if err != nil {
		return nil, false, err
	}
	places = map[string]int{}
	for i, sha := range commits {
		places[sha] = i + 1
	}
	whole, err = repo.Whole(ctx)
	return places, whole, err
}

// holdsAny tells whether this checkout is the one that was measured.
func holdsAny(places map[string]int, all []stopwatt.Series) bool {
	return slices.ContainsFunc(all, func(s stopwatt.Series) bool {
		return slices.ContainsFunc(s.Points, func(p stopwatt.SeriesPoint) bool { return places[p.SHA] != 0 })
	})
}

// placeByTime places commits in the order of their times.
func placeByTime(all []stopwatt.Series) {
	var commits []stopwatt.SeriesPoint
	for _, s := range all {
		commits = append(commits, s.Points...)
	}
	slices.SortStableFunc(commits, func(a, b stopwatt.SeriesPoint) int { return a.Time.Compare(b.Time) })
	places := map[string]int{}
	for _, c := range commits {
		if places[c.SHA] == 0 {
			places[c.SHA] = len(places) + 1
		}
	}
	for i := range all {
		for j := range all[i].Points {
			all[i].Points[j].Position = places[all[i].Points[j].SHA]
		}
	}
}

// traced searches the series that are asked for, as many at once as there are cores.
func traced(all []stopwatt.Series, control string, v historyView) ([]report.Traced, error) {
	of := map[stopwatt.Case]stopwatt.Series{}
	for _, s := range all {
		of[s.Case] = s
	}
	var searched sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	defer searched.Wait()
	var found []*report.Traced
	for _, s := range all {
		wanted, err := v.wants(s.Case)
		if err != nil {
			return nil, err
		}
		if !wanted || s.Case.Implementation == v.against || len(s.Points) == 0 {
			continue
		}
		against := of[stopwatt.Case{Implementation: control, Workload: s.Case.Workload}]
		if v.against != "" {
			s, against = regression.Relate(s, of[stopwatt.Case{Implementation: v.against, Workload: s.Case.Workload}]), stopwatt.Series{}
		}
		one := &report.Traced{Series: s}
		found = append(found, one)
		free <- struct{}{}
		searched.Go(func() {
			one.Searches = regression.FollowChanges(s, against, stopwatt.ChangeRule{})
			<-free
		})
	}
	searched.Wait()
	return withOrders(found, v)
}

// withOrders are the series that were searched, with the changes of order of relations.
func withOrders(found []*report.Traced, v historyView) ([]report.Traced, error) {
	var all []report.Traced
	for _, one := range found {
		for _, search := range one.Searches {
			if v.against != "" {
				one.Orders = append(one.Orders, regression.OrderChanges(search)...)
			}
		}
		all = append(all, *one)
	}
	if len(all) == 0 && v.narrowed() {
		return nil, errors.New("no case of the stored history matches")
	}
	return all, nil
}
