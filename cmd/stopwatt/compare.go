package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// A compareView says what is compared, and how that is looked at.
type compareView struct {
	view
	implementations bool
	explain, all    bool
}

// compareVerb is `stopwatt compare`.
func (d *desk) compareVerb() *cobra.Command {
	var v compareView
	verb := &cobra.Command{
		Use:   "compare [RUN | A B]",
		Short: "Two commits or runs, or the implementations of one run",
		Long: `Compares what is stored.

With A and B, two revisions of the checkout or the numbers of two runs: what got
worse or better from A to B. Where B was measured against A (stopwatt run
--against), its verdicts; else numbers without a verdict, for a machine is not the
same at two times.

With a run, or none for the latest: its verdicts if it was measured against
something, else its implementations beside their baseline. --implementations asks
for the latter in any case; with two names, those two alone. With --by machine they
are those of the latest run on each machine; the last column holds the second of
the two names, or the last implementation, against the first, or the baseline.`,
		Example: `  stopwatt compare                        the latest run
  stopwatt compare main HEAD              two commits
  stopwatt compare 411 412 --explain      every step that led to the verdicts
  stopwatt compare --implementations --as times --mean geometric
  stopwatt compare --implementations rust-tokio go
  stopwatt compare --implementations --suite types --as value --unit ns
  stopwatt compare --implementations cwa pahi --suite wasm --by machine
  stopwatt compare --meters`,
		Args: atMost(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			if v.by != "" && !cmd.Flags().Changed("as") {
				v.as = "times" // which is what people ask of machines
			}
			return d.compare(cmd.Context(), args, v)
		},
	}
	v.flags(verb)
	verb.Flags().Lookup("as").DefValue = "ratio"
	verb.Flags().Lookup("format").Usage = "text, markdown, csv or json; of implementations html too"
	v.as, v.grids = "ratio", true
	verb.Flags().BoolVar(&v.turned, "transpose", false, "implementations below each other, workloads side by side")
	verb.Flags().StringVar(&v.by, "by", "", "machine: the latest run of the suite on each machine, side by side")
	verb.Flags().BoolVar(&v.meters, "meters", false, "all energy meters side by side, and whether they order the implementations alike")
	verb.Flags().BoolVar(&v.implementations, "implementations", false, "the implementations of one run beside their baseline: [RUN] [A B]")
	verb.Flags().BoolVar(&v.explain, "explain", false, "the steps that led to each verdict")
	verb.Flags().BoolVar(&v.all, "all", false, "what is unchanged or identical too, each on its own")
	return verb
}

// compare answers what its arguments ask.
func (d *desk) compare(ctx context.Context, args []string, v compareView) error {
	switch {
	case v.by != "":
		return d.compareMachines(ctx, args, v.view)
	case v.meters || v.implementations:
		return d.compareImplementations(ctx, args, v.view)
	case len(args) > 2:
		return askedWrongly(errors.New("compare two things at a time, as in: stopwatt compare main HEAD"))
	case v.explain && v.format != "text":
		return askedWrongly(fmt.Errorf("--explain writes text: leave out --format %s", v.format))
	}
	store, release, err := d.openStore(ctx)
	if err != nil {
		return err
	}
	defer release()
	if len(args) == 2 {
		return d.compareTwo(ctx, store, args[0], args[1], v)
	}
	named := first(args)
	if _, err := strconv.ParseInt(named, 10, 64); named != "" && err != nil {
		return askedWrongly(fmt.Errorf("%s is no number of a run, and a revision takes a second to be compared with, as in: stopwatt compare main HEAD", quote(named)))
	}
	id, err := d.findRun(ctx, store, named, v.suite, v.labels)
	if err != nil {
		return err
	}
	results, err := store.Results(ctx, id)
	if err != nil {
		return err
	}
	if results.Run.Against.Commit.SHA != "" {
		return d.printStoredJudgement(ctx, store, results.Run, v)
	}
	if v.explain || v.all {
		return askedWrongly(fmt.Errorf("run %d was measured against nothing, so there are no verdicts: name a run of stopwatt run --against, or two runs", id))
	}
	return d.printResults(results, v.view)
}

// compareImplementations lays the implementations of one run beside each other.
func (d *desk) compareImplementations(ctx context.Context, args []string, v view) error {
	run := ""
	if len(args)%2 == 1 {
		run, args = args[0], args[1:]
	}
	if len(args) == 2 {
		v.baseline, v.only = args[0], args
	}
	return d.show(ctx, run, v)
}

// printStoredJudgement prints what a run was judged last.
func (d *desk) printStoredJudgement(ctx context.Context, store *storage.Store, run stopwatt.Run, v compareView) error {
	judgement, err := store.Judgement(ctx, run.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return askedWrongly(fmt.Errorf("run %d was not judged yet: the command that began it goes on with it", run.ID))
	}
	if err != nil {
		return err
	}
	return d.printJudgement(run, judgement, v)
}

// printJudgement prints a judgement in the form that is asked for.
func (d *desk) printJudgement(run stopwatt.Run, judgement stopwatt.Judgement, v compareView) error {
	options := report.JudgementOptions{Width: terminalWidth(d.stdout), All: v.all}
	if v.explain {
		return report.Explain(d.stdout, run, judgement, options)
	}
	write := map[string]func(io.Writer) error{
		"text":     func(w io.Writer) error { return report.Judgement(w, run, judgement, options) },
		"markdown": func(w io.Writer) error { return report.JudgementMarkdown(w, run, judgement, options) },
		"csv":      func(w io.Writer) error { return report.JudgementCSV(w, run, judgement) },
		"json":     func(w io.Writer) error { return report.JudgementJSON(w, run, judgement) },
	}[v.format]
	if write == nil {
		return askedWrongly(fmt.Errorf("--format %s: write text, markdown, csv or json", quote(v.format)))
	}
	return write(d.stdout)
}

// A side is one of two things that are compared: a run, or the commit of one.
type side struct {
	run    int64  // 0: the latest of the commit
	commit string // empty: whatever the run measured
}

// side finds out what an argument names.
func (d *desk) side(ctx context.Context, named string) (side, error) {
	if id, err := strconv.ParseInt(named, 10, 64); err == nil && id > 0 && len(named) < 7 {
		return side{run: id}, nil
	}
	repo, err := git.Open(ctx, ".")
	if err != nil {
		return side{}, askedWrongly(fmt.Errorf("%s is no number of a run, and this folder lies in no git checkout that could know it as a revision", quote(named)))
	}
	commit, err := repo.Resolve(ctx, named)
	if err != nil {
		return side{}, askedWrongly(err)
	}
	return side{commit: commit.SHA}, nil
}

// compareTwo compares two commits or runs.
func (d *desk) compareTwo(ctx context.Context, store *storage.Store, a, b string, v compareView) error {
	base, err := d.side(ctx, a)
	if err != nil {
		return err
	}
	head, err := d.side(ctx, b)
	if err != nil {
		return err
	}
	if base == head {
		return askedWrongly(fmt.Errorf("%s and %s are the same; name two", quote(a), quote(b)))
	}
	if base.commit != "" {
		id, err := store.FindRun(ctx, storage.RunQuery{ID: head.run, Suite: v.suite, Commit: head.commit, Against: base.commit})
		if err == nil {
			results, err := store.Results(ctx, id)
			if err != nil {
				return err
			}
			return d.printStoredJudgement(ctx, store, results.Run, v)
		}
		if !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}
	return d.compareUnpaired(ctx, store, base, head, v)
}

// compareUnpaired lays two runs of two times beside each other: numbers only.
func (d *desk) compareUnpaired(ctx context.Context, store *storage.Store, base, head side, v compareView) error {
	later, headTrials, err := d.read(ctx, store, head, v.suite)
	if err != nil {
		return err
	}
	earlier, baseTrials, err := d.read(ctx, store, base, later.Suite)
	if err != nil {
		return err
	}
	later.Against = earlier.Checkout
	notes := otherwise(earlier, later)
	if len(notes) > 0 {
		later.Settings.Control = "" // it cancels a machine's other day, and no more
	}
	judgement := unpaired(later, baseTrials, headTrials)
	judgement.Notes = append(judgement.Notes, notes...)
	v.all = true
	return d.printJudgement(later, judgement, v)
}

// otherwise says what two runs differ in beside their commits: figures then stand
// beside each other for reading.
func otherwise(earlier, later stopwatt.Run) []string {
	var notes []string
	a, b := earlier.Machine, later.Machine
	apart := storage.Fingerprint(a.Identity) != storage.Fingerprint(b.Identity)
	if a.Named || b.Named {
		apart = a.Named != b.Named || a.Name != b.Name
	}
	if apart {
		notes = append(notes, fmt.Sprintf("Two machines, %s and %s: their figures stand beside each other for reading", a.Name, b.Name))
	}
	if from, to := earlier.Settings.Path(), later.Settings.Path(); from != to {
		notes = append(notes, fmt.Sprintf("Two ways from driver to server (%s; %s): their figures stand beside each other for reading", from, to))
	}
	var differing []string
	for _, workload := range later.Settings.Workloads {
		before, both := earlier.Settings.Workload(workload.Name)
		if both && !reflect.DeepEqual(before, workload) {
			differing = append(differing, workload.Name)
		}
	}
	if len(differing) > 0 {
		notes = append(notes, fmt.Sprintf("The two runs ask other things (%s): a profile or the suite differs, and figures like time are of other work", someOf(differing)))
	}
	return notes
}

// read reads the run that a side means.
func (d *desk) read(ctx context.Context, store *storage.Store, of side, suite string) (stopwatt.Run, []stopwatt.Trial, error) {
	id, err := store.FindRun(ctx, storage.RunQuery{ID: of.run, Suite: suite, Commit: of.commit})
	if errors.Is(err, storage.ErrNotFound) && of.commit != "" {
		return stopwatt.Run{}, nil, askedWrongly(fmt.Errorf("no run of commit %.8s is stored; stopwatt run --against %.8s measures both", of.commit, of.commit))
	}
	if errors.Is(err, storage.ErrNotFound) {
		return stopwatt.Run{}, nil, askedWrongly(d.noRun(ctx, store, storage.RunQuery{ID: of.run, Suite: suite}))
	}
	if err != nil {
		return stopwatt.Run{}, nil, err
	}
	results, err := store.Results(ctx, id)
	if err != nil {
		return stopwatt.Run{}, nil, err
	}
	trials, err := store.Trials(ctx, id)
	return results.Run, trials, err
}

// unpaired compares the heads of two runs, case by case, by what the later one is
// judged by.
func unpaired(later stopwatt.Run, baseTrials, headTrials []stopwatt.Trial) stopwatt.Judgement {
	var all []stopwatt.UnpairedTrials
	for _, c := range later.Settings.Cases() {
		workload, _ := later.Settings.Workload(c.Workload)
		control := stopwatt.Case{Implementation: later.Settings.Control, Workload: c.Workload}
		for _, threshold := range later.Thresholds(workload) {
			name := threshold.Judged()
			metric, known := stopwatt.MetricNamed(name)
			of := stopwatt.UnpairedTrials{
				Case: c, Metric: metric, Threshold: threshold.Relative,
				Base: roundsWith(baseTrials, c, name), Head: roundsWith(headTrials, c, name),
				BaseControl: roundsWith(baseTrials, control, name), HeadControl: roundsWith(headTrials, control, name),
			}
			if known && c != control && len(of.Base)+len(of.Head) > 0 {
				all = append(all, of)
			}
		}
	}
	return stopwatt.Judgement{Comparisons: regression.Unpaired(all), Family: len(all)}
}

// roundsWith are a case's values of a metric at the head, of valid trials.
func roundsWith(trials []stopwatt.Trial, c stopwatt.Case, metric string) []stopwatt.RoundValue {
	var values []stopwatt.RoundValue
	for _, trial := range trials {
		if trial.Case != c || trial.Revision != stopwatt.Head || trial.Status != stopwatt.Valid {
			continue
		}
		if value, has := trial.Value(metric); has {
			values = append(values, stopwatt.RoundValue{Round: trial.Round, Value: value})
		}
	}
	return values
}

// findRun finds the run that an argument names; none names the latest.
func (d *desk) findRun(ctx context.Context, store *storage.Store, named, suite string, labels []string) (int64, error) {
	query := storage.RunQuery{Suite: suite}
	var err error
	if query.Labels, err = parseLabels(labels); err != nil {
		return 0, askedWrongly(err)
	}
	if named != "" {
		id, err := strconv.ParseInt(named, 10, 64)
		if err != nil || id < 1 {
			return 0, askedWrongly(fmt.Errorf("run %s is no number; stopwatt sql 'select run, suite, started from runs' lists them", quote(named)))
		}
		query.ID = id
	}
	id, err := store.FindRun(ctx, query)
	if errors.Is(err, storage.ErrNotFound) {
		return 0, askedWrongly(d.noRun(ctx, store, query))
	}
	return id, err
}

// onlyImplementations keeps the cases of those implementations; all when none is
// named.
func onlyImplementations(results stopwatt.Results, names []string) (stopwatt.Results, error) {
	if len(names) == 0 {
		return results, nil
	}
	for _, name := range names {
		if _, known := results.Run.Settings.Implementation(name); !known {
			return results, fmt.Errorf("run %d has no implementation %s", results.Run.ID, quote(name))
		}
	}
	results.Cases = slices.DeleteFunc(slices.Clone(results.Cases), func(c stopwatt.CaseResult) bool {
		return !slices.Contains(names, c.Case.Implementation)
	})
	return results, nil
}
