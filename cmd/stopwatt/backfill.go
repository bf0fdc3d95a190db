package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/campaign"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// backfillFlags are what `stopwatt backfill` can be told.
type backfillFlags struct {
	campaignFlags
	order  campaign.Order
	budget time.Duration
}

// backfillVerb is `stopwatt backfill`.
func (d *desk) backfillVerb() *cobra.Command {
	var flags backfillFlags
	verb := &cobra.Command{
		Use:   "backfill A..B [SUITE]",
		Short: "Measure commits of the past that were not measured",
		Long: `Measures the commits of the default branch's first-parent history after A, up to B,
that were not measured on this machine: each as a run of its own, which enters
history at its place. Commits are built from git's archives; the work tree is not
touched. What does not build is noted, and the rest goes on. The same command
goes on where an interrupted one ended.

Each commit is asked the same, by the suite file of the commit that is checked out,
so that figures can be laid beside each other; how implementations are built and
run is read from the commit's own. --suite-at commit takes all from there.`,
		Example: `  stopwatt backfill v1.0..main --gaps --budget 4h
  stopwatt backfill v1.0.. suites/web-servers --every 10 --profile short
  stopwatt backfill HEAD~20..HEAD --case 'go/*'`,
		Args: between(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.roundsGiven = cmd.Flags().Changed("rounds")
			switch {
			case flags.order.Gaps && cmd.Flags().Changed("every"):
				return askedWrongly(errors.New("--gaps and --every are two orders: write one"))
			case flags.order.Every < 1:
				return askedWrongly(fmt.Errorf("--every %d: write 1 or more", flags.order.Every))
			}
			return d.backfill(cmd.Context(), args[0], first(args[1:]), flags)
		},
	}
	d.campaignFlags(verb, &flags.campaignFlags)
	verb.Flags().IntVar(&flags.order.Every, "every", 1, "each `N`th commit, counted from A, the newest first")
	verb.Flags().BoolVar(&flags.order.Gaps, "gaps", false, "the ends first, then the middle of the widest gap, again and again")
	verb.Flags().DurationVar(&flags.budget, "budget", 0, "begin no run that would not end within this `TIME`, as in 4h")
	return verb
}

// backfill measures what a stretch of history lacks.
func (d *desk) backfill(ctx context.Context, commits, named string, flags backfillFlags) error {
	machine, err := d.openTimeMachine(ctx, named, flags.campaignFlags)
	if err != nil {
		return err
	}
	stretch, err := machine.stretch(ctx, commits)
	if err != nil {
		return err
	}
	place, err := d.openWorkplace(ctx, plannedRun{file: machine.head}, flags.runFlags)
	if err != nil {
		return err
	}
	defer place.close()
	f := &filler{timeMachine: machine, place: place, of: map[string][]stopwatt.Case{}}
	took, err := f.readMeasured(ctx)
	if err != nil {
		return err
	}
	order := campaign.Backfill{Filler: f, Commits: stretch, Order: flags.order, Budget: flags.budget, Took: took, Now: time.Now}
	wanted, err := machine.wanted()
	if err != nil {
		return err
	}
	for _, commit := range stretch {
		order.Measured = append(order.Measured, f.has(commit, wanted))
	}
	filling, err := order.Run(ctx)
	if ctx.Err() == nil {
		err = errors.Join(err, f.enter(ctx))
	}
	f.tell(filling, flags.budget)
	if err == nil && len(filling.Failed) > 0 {
		err = incomplete(fmt.Errorf("%s could not be measured; the reasons stand above", plural(len(filling.Failed), "commit")))
	}
	return err
}

// stretch are the commits of A..B, the oldest first.
func (m timeMachine) stretch(ctx context.Context, commits string) ([]stopwatt.Commit, error) {
	after, upTo, err := m.between(ctx, commits)
	if err != nil {
		return nil, err
	}
	past := ""
	if after > 0 {
		past = m.branch.commits[after-1]
	}
	landings, err := m.branch.repo.Landings(ctx, past, m.branch.commits[upTo-1])
	var stretch []stopwatt.Commit
	for _, landing := range landings {
		stretch = append(stretch, landing.Commit)
	}
	return stretch, err
}

// A filler measures the commits that a backfill chooses.
type filler struct {
	timeMachine
	place *workplace
	of    map[string][]stopwatt.Case // what was measured of each commit on this machine
	last  stopwatt.Run               // of those measured now
	began time.Time
}

// wanted are the cases that every commit is to have, as the suite of head names them.
func (m timeMachine) wanted() ([]stopwatt.Case, error) {
	cases, err := casesOf(m.head.suite, m.flags.cases)
	if err != nil {
		return nil, askedWrongly(err)
	}
	return cases, nil
}

// readMeasured reads what is measured already, and how long whole runs took.
func (f *filler) readMeasured(ctx context.Context) ([]time.Duration, error) {
	runs, err := f.place.store.Measured(ctx, storage.SeriesQuery{Project: f.project, Suite: f.head.suite.Name, Profile: f.head.suite.Profile})
	if err != nil {
		return nil, err
	}
	here := f.machine(f.place)
	runs = slices.DeleteFunc(runs, func(r storage.MeasuredRun) bool { return r.Machine != here })
	var ids []int64
	for _, run := range runs {
		ids = append(ids, run.ID)
	}
	cases, err := f.place.store.MeasuredCases(ctx, ids)
	if err != nil {
		return nil, err
	}
	wanted, err := f.wanted()
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	for _, run := range runs {
		f.of[run.SHA] = append(f.of[run.SHA], cases[run.ID]...)
		if run.Against == "" && len(cases[run.ID]) == len(wanted) {
			took = append(took, run.Ended.Sub(run.Started))
		}
	}
	return took, nil
}

// has tells whether all of these cases of a commit are measured.
func (f *filler) has(commit stopwatt.Commit, cases []stopwatt.Case) bool {
	return !slices.ContainsFunc(cases, func(c stopwatt.Case) bool { return !slices.Contains(f.of[commit.SHA], c) })
}

// Fill measures a commit, unless it has been measured of all that it has.
func (f *filler) Fill(ctx context.Context, commit stopwatt.Commit) error {
	f.began = time.Now()
	planned, err := f.plan(ctx, commit)
	if err != nil {
		return err
	}
	if f.has(commit, planned.cases) {
		return campaign.ErrMeasured
	}
	planned.repeated = backfillOf(os.Args, commit.SHA)
	fmt.Fprintf(f.stderr, "commit  %s %s\n", commit.Short(), report.Brief(commit.Subject))
	measured, err := f.measureAt(ctx, f.place, planned)
	if err == nil {
		f.last = measured.run
	}
	return err
}

// backfillOf is a backfill's command for one of its commits alone: what HEAD and the
// names of branches mean changes, and so does which commits are wanted.
func backfillOf(args []string, sha string) []string {
	if len(args) < 2 || args[1] != "backfill" {
		return nil
	}
	words := slices.Clone(args[:2])
	named := false
	for i := 2; i < len(args); i++ {
		name, _, joined := strings.Cut(args[i], "=")
		switch {
		case name == "--gaps":
		case name == "--every" || name == "--budget":
			if !joined {
				i++
			}
		case !named && !strings.HasPrefix(name, "-") && strings.Contains(name, ".."):
			words, named = append(words, sha+"~1.."+sha), true
		default:
			words = append(words, args[i])
		}
	}
	return words
}

// typed are the words that measure it again.
func (p plannedRun) typed() []string {
	if p.repeated != nil {
		return p.repeated
	}
	return os.Args
}

// Filled prints a line for a commit that has been dealt with.
func (f *filler) Filled(commit stopwatt.Commit, why string) {
	said := fmt.Sprintf("run %d, %s", f.last.ID, report.Seconds(time.Since(f.began).Seconds()))
	if why != "" {
		said = "not measured: " + report.Brief(why)
	}
	fmt.Fprintf(f.stdout, "%s  %s  %s\n", commit.Short(), commit.Time.Format(time.DateOnly), said)
}

// enter searches history once more, when all is measured, and tells what it says now.
func (f *filler) enter(ctx context.Context) error {
	if f.last.ID == 0 {
		return nil
	}
	results, err := f.place.store.Results(ctx, f.last.ID)
	if err != nil {
		return err
	}
	news, _, err := f.enterHistory(ctx, f.place.store, results.Run)
	if err != nil {
		return err
	}
	for _, one := range news {
		fmt.Fprintln(f.stdout)
		if err := report.ChangesText(f.stdout, one, terminalWidth(f.stdout)); err != nil {
			return err
		}
	}
	return nil
}

// tell sums a backfill up.
func (f *filler) tell(filling campaign.Filling, budget time.Duration) {
	text := fmt.Sprintf("%s measured", plural(len(filling.Measured), "commit"))
	if len(filling.Failed) > 0 {
		text += fmt.Sprintf(", %d could not be", len(filling.Failed))
	}
	if filling.Left > 0 {
		text += fmt.Sprintf(", %d left", filling.Left)
	}
	if filling.Spent {
		text += fmt.Sprintf(": the next run would not end within %s", report.Seconds(budget.Seconds()))
	}
	fmt.Fprintf(f.stdout, "\n%s\n", text)
	if filling.Left > 0 {
		fmt.Fprintln(f.stdout, "next    the same command goes on")
		return
	}
	fmt.Fprintf(f.stdout, "next    stopwatt history --suite %s --changes\n", shellWord(f.head.suite.Name))
}
