package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/campaign"
	"gitlab.com/stopwatt/stopwatt/report"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// bisectFlags are what `stopwatt bisect` can be told.
type bisectFlags struct {
	campaignFlags
	metric, change string
	budget         time.Duration
}

// bisectVerb is `stopwatt bisect`.
func (d *desk) bisectVerb() *cobra.Command {
	var flags bisectFlags
	verb := &cobra.Command{
		Use:   "bisect GOOD BAD [SUITE]",
		Short: "Find the commit that brought a change",
		Long: `Looks in the first-parent history from GOOD to BAD for the commit that brought a
change of one case. The ends are compared first; then the middle of what is left is
measured against GOOD, interleaved, and judged by half of what the ends differ in.
What is undecided is measured again with twice the rounds; what does not build is
passed over. Each step is a stored run: the same command goes on where an
interrupted one ended.

With --change COMMIT in the place of GOOD and BAD, it looks among the commits of the
change point of history that begins there.`,
		Example: `  stopwatt bisect v1.2 main --case rust-arena/csv-svg-path
  stopwatt bisect HEAD~40 HEAD --case go/send-static-file --metric energy_board --budget 3h
  stopwatt bisect --change c3d18f0a --case rust-arena/csv-svg-path suites/web-servers`,
		Args: atMost(3),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.roundsGiven = cmd.Flags().Changed("rounds")
			ends := 2
			if flags.change != "" {
				ends = 0
			}
			if len(args) < ends || len(args) > ends+1 {
				return askedWrongly(errors.New("bisect between two commits, or at a change: stopwatt bisect GOOD BAD, or stopwatt bisect --change COMMIT"))
			}
			return d.bisect(cmd.Context(), args[:ends], first(args[ends:]), flags)
		},
	}
	d.campaignFlags(verb, &flags.campaignFlags)
	verb.Flags().Lookup("case").Usage = "the case that changed: `IMPLEMENTATION/WORKLOAD`"
	verb.Flags().StringVar(&flags.metric, "metric", "time", "the metric that changed, see docs/metrics.md")
	verb.Flags().StringVar(&flags.change, "change", "", "the change point of history that begins with this `COMMIT`")
	verb.Flags().DurationVar(&flags.budget, "budget", 0, "begin no run that would not end within this `TIME`, as in 3h")
	return verb
}

// bisect looks for the commit.
func (d *desk) bisect(ctx context.Context, ends []string, named string, flags bisectFlags) error {
	machine, err := d.openTimeMachine(ctx, named, flags.campaignFlags)
	if err != nil {
		return err
	}
	p := &prober{timeMachine: machine, metric: stopwatt.Threshold{Metric: flags.metric}}
	if err := p.choose(); err != nil {
		return askedWrongly(err)
	}
	ratio := 0.0
	if flags.change != "" {
		if ends, ratio, err = p.endsOf(ctx, flags.change); err != nil {
			return err
		}
	}
	landings, err := p.landingsBetween(ctx, ends[0], ends[1])
	if err != nil {
		return err
	}
	if p.place, err = d.openWorkplace(ctx, plannedRun{file: machine.head}, flags.runFlags); err != nil {
		return err
	}
	defer p.place.close()
	order := campaign.Bisect{Prober: p, Change: ratio, Attempts: mostAttempts, Budget: flags.budget, Now: time.Now}
	for _, landing := range landings {
		order.Commits = append(order.Commits, landing.Commit)
	}
	found, err := order.Run(ctx)
	found.Case, found.Metric, found.Good = p.of, p.judged, p.good
	return p.tell(ctx, found, landings, err)
}

// mostAttempts is how often an undecided commit is measured: with the suite's rounds,
// with twice and with four times as many. What is undecided then differs by hardly
// more than the machine's noise.
const mostAttempts = 3

// A prober measures the commits that a bisection chooses against the good end.
type prober struct {
	timeMachine
	place  *workplace
	of     stopwatt.Case
	metric stopwatt.Threshold // the suite's
	judged stopwatt.Metric
	good   stopwatt.Commit
}

// choose finds the case and the metric.
func (p *prober) choose() error {
	if len(p.flags.cases) != 1 || strings.ContainsAny(p.flags.cases[0], "*?[") {
		return errors.New("name the case that changed: --case IMPLEMENTATION/WORKLOAD")
	}
	at := slices.IndexFunc(p.head.suite.Cases(), func(c stopwatt.Case) bool { return c.String() == p.flags.cases[0] })
	if at < 0 {
		return fmt.Errorf("the suite has no case %s", quote(p.flags.cases[0]))
	}
	p.of = p.head.suite.Cases()[at]
	metric, known := stopwatt.MetricNamed(p.metric.Judged())
	if !known || metric.Better == "" {
		return fmt.Errorf("--metric %s cannot be judged; see docs/metrics.md", quote(p.metric.Metric))
	}
	p.judged, p.metric.Relative = metric, stopwatt.DefaultThreshold
	for _, threshold := range p.head.suite.Judge.Metrics {
		if threshold.Metric == p.metric.Metric {
			p.metric.Relative = threshold.Relative
		}
	}
	return reachable(p.asked(p.head.suite, campaign.ProbeOrder{}), 1)
}

// asked is the suite as it is asked in a probe: judged by the one metric.
func (p *prober) asked(suite stopwatt.Suite, order campaign.ProbeOrder) stopwatt.Suite {
	threshold := p.metric
	if order.Threshold > 0 {
		threshold.Relative = order.Threshold
	}
	suite.Judge.Metrics, suite.Judge.Differing = []stopwatt.Threshold{threshold}, true
	suite.Plan.MinRounds <<= order.Attempt
	suite.Plan.Rounds <<= order.Attempt
	return suite
}

// endsOf are the ends of a change point of history, and its ratio.
func (p *prober) endsOf(ctx context.Context, commit string) ([]string, float64, error) {
	store, release, err := p.openStore(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer release()
	resolved, err := p.branch.repo.Resolve(ctx, commit)
	if err != nil {
		return nil, 0, askedWrongly(fmt.Errorf("--change: %w", err))
	}
	v := historyView{historyScope: historyScope{cases: []string{p.of.String()}}}
	all, err := store.Series(ctx, storage.SeriesQuery{Project: p.project, Suite: p.head.suite.Name, Metric: p.judged.Name, Profile: p.head.suite.Profile,
		Wanted: v.needs(p.head.suite.Control)})
	if err != nil {
		return nil, 0, err
	}
	if _, err := p.desk.place(ctx, all); err != nil {
		return nil, 0, err
	}
	found, err := traced(all, p.head.suite.Control, v)
	if err != nil {
		return nil, 0, askedWrongly(err)
	}
	for _, change := range changesOf(found) {
		if change.Brings(p.branch.places[resolved.SHA]) && change.Past.SHA != "" {
			ratio := 0.0
			if change.Ratio.Known {
				ratio = change.Ratio.Value
			}
			return []string{change.Past.SHA, change.Reached.SHA}, ratio, nil
		}
	}
	return nil, 0, askedWrongly(fmt.Errorf("--change %s: history has no change of %s, %s there; stopwatt history --changes --metric %s tells all", commit, p.of, p.judged.Name, p.judged.Name))
}

// landingsBetween are the commits of the first-parent history of the bad end that come
// after the good one.
func (p *prober) landingsBetween(ctx context.Context, good, bad string) ([]stopwatt.Landing, error) {
	var err error
	if p.good, err = p.branch.repo.Resolve(ctx, good); err != nil {
		return nil, askedWrongly(err)
	}
	end, err := p.branch.repo.Resolve(ctx, bad)
	if err != nil {
		return nil, askedWrongly(err)
	}
	landings, err := p.branch.repo.Landings(ctx, p.good.SHA, end.SHA)
	if err != nil {
		return nil, err
	}
	if len(landings) == 0 || len(landings[0].Commit.Parents) == 0 || landings[0].Commit.Parents[0] != p.good.SHA {
		return nil, askedWrongly(fmt.Errorf("%s is not in the first-parent history of %s; git log --first-parent %s lists that", quote(good), quote(bad), bad))
	}
	return landings, nil
}

// Probe measures a commit against the good end, or reads the run that did.
func (p *prober) Probe(ctx context.Context, order campaign.ProbeOrder) (stopwatt.BisectionRun, error) {
	planned, err := p.plan(ctx, order.Commit)
	if err != nil {
		return stopwatt.BisectionRun{}, err
	}
	planned.file.suite = p.asked(planned.file.suite, order)
	planned.rounds = planned.file.suite.Plan.Rounds
	planned.against, planned.choice = stopwatt.Checkout{Commit: p.good}, stopwatt.BaseChoice{Rule: "as asked", Behind: -1}
	if planned.past, err = p.pastSuite(ctx, planned, p.flags.runFlags); err != nil {
		return stopwatt.BisectionRun{}, err
	}
	planned.past.removed = nil
	if run, known, err := p.before(ctx, planned); known || err != nil {
		return run, err
	}
	fmt.Fprintf(p.stderr, "commit  %s %s\n", order.Commit.Short(), report.Brief(order.Commit.Subject))
	measured, err := p.measureAt(ctx, p.place, planned)
	if err != nil {
		return stopwatt.BisectionRun{}, err
	}
	return p.read(ctx, measured.run, false)
}

// before is what a stored run of the same says, if there is one.
func (p *prober) before(ctx context.Context, planned plannedRun) (stopwatt.BisectionRun, bool, error) {
	ids, err := p.place.store.RunsAgainst(ctx, storage.RunQuery{
		Project: p.project, Suite: planned.file.suite.Name, Machine: p.machine(p.place), Commit: planned.checkout.state.Commit.SHA, Against: p.good.SHA,
	})
	if err != nil {
		return stopwatt.BisectionRun{}, false, err
	}
	for _, id := range ids {
		results, err := p.place.store.Results(ctx, id)
		if err != nil {
			return stopwatt.BisectionRun{}, false, err
		}
		if !sameProbe(results.Run.Settings, planned.file.suite) {
			continue
		}
		run, err := p.read(ctx, results.Run, true)
		var lacks campaign.CannotMeasure
		if errors.As(err, &lacks) {
			continue // it was of another case
		}
		return run, err == nil, err
	}
	return stopwatt.BisectionRun{}, false, nil
}

// sameProbe tells whether a run was judged, and had rounds, as one that is asked for.
func sameProbe(was, asked stopwatt.Suite) bool {
	return was.Profile == asked.Profile && was.Plan.MinRounds == asked.Plan.MinRounds && was.Plan.Rounds == asked.Plan.Rounds &&
		slices.EqualFunc(was.Judge.Metrics, asked.Judge.Metrics, func(a, b stopwatt.Threshold) bool {
			return a.Metric == b.Metric && math.Abs(a.Relative-b.Relative) < 1e-9
		})
}

// read reads the verdict of a finished run.
func (p *prober) read(ctx context.Context, run stopwatt.Run, reused bool) (stopwatt.BisectionRun, error) {
	judgement, err := p.place.store.Judgement(ctx, run.ID)
	if err != nil {
		return stopwatt.BisectionRun{}, err
	}
	for _, comparison := range judgement.Comparisons {
		if comparison.Case == p.of && comparison.Metric.Name == p.judged.Name {
			return stopwatt.BisectionRun{Run: run.ID, Comparison: comparison, Procedure: judgement.Procedure, Reused: reused}, nil
		}
	}
	return stopwatt.BisectionRun{}, campaign.CannotMeasure{Why: fmt.Sprintf("%s of %s was not judged", p.judged.Name, p.of)}
}

// Probed prints the line of a step.
func (p *prober) Probed(step stopwatt.BisectionStep) {
	_ = report.BisectionStep(p.stdout, p.judged, step, terminalWidth(p.stdout)) // a reader who has gone away ends nothing
}

// tell prints what was found, and says by the error whether that is all that was asked.
func (p *prober) tell(ctx context.Context, found stopwatt.Bisection, landings []stopwatt.Landing, err error) error {
	var merge *stopwatt.Landing
	for i := range landings {
		suspected := slices.ContainsFunc(found.Suspects, func(c stopwatt.Commit) bool { return c.SHA == landings[i].Commit.SHA })
		if !suspected || ctx.Err() != nil || len(found.Suspects) > mostBrought {
			continue
		}
		brought, broughtErr := p.branch.repo.Brought(ctx, landings[i].Commit)
		if broughtErr != nil {
			return broughtErr
		}
		if landings[i].Brought = brought; len(brought) > 1 {
			merge = &landings[i]
		}
	}
	fmt.Fprintln(p.stdout)
	if writeErr := report.Bisection(p.stdout, found, landings, terminalWidth(p.stdout)); writeErr != nil {
		return writeErr
	}
	switch {
	case err != nil:
		return err
	case found.Ending == stopwatt.BisectionNamed && merge != nil:
		return p.tellNext(ctx, merge.Commit)
	case found.Ending != stopwatt.BisectionNamed && found.Ending != stopwatt.BisectionNoChange:
		return incomplete(fmt.Errorf("no single commit could be named: %s", found.Ending))
	}
	return nil
}

// tellNext says how to look among the commits that a merge brought: from where its
// branch began.
func (p *prober) tellNext(ctx context.Context, merge stopwatt.Commit) error {
	place, err := p.branch.placeOf(ctx, merge.Parents[1])
	if err != nil {
		return nil // it never was on the branch
	}
	fmt.Fprintf(p.stdout, "next    within the merge: stopwatt bisect %.8s %.8s --case %s --metric %s\n",
		p.branch.commits[place-1], merge.Parents[1], shellWord(p.of.String()), p.metric.Metric)
	return nil
}
