package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// A session is a run that has a base, while it is carried out.
type session struct {
	Orchestrator
	Comparing
	run       *stopwatt.Run
	bench     Trials
	procedure stopwatt.Procedure
	trials    []stopwatt.Trial // all that are stored
	measured  int              // of them, those of this process
	began     time.Time
	pace      pace
	stopped   string // why no more rounds are begun; empty while they are
}

// compare carries out a run that has a base. It measures until the next look,
// measures once more what was void, judges, and goes on with what the judgement
// wants, until it wants nothing or the budget is spent.
func (o Orchestrator) compare(ctx context.Context, run *stopwatt.Run, comparing Comparing, deadline time.Time) error {
	trials, err := o.Store.Trials(ctx, run.ID)
	if err != nil {
		return fmt.Errorf("read the trials back: %w", err)
	}
	s := &session{
		Orchestrator: o, Comparing: comparing, run: run, trials: trials, bench: asAtBase{o.Bench(*run), comparing}, began: time.Now(), pace: pace{began: time.Now(), deadline: deadline},
		procedure: stopwatt.Adaptive(run.Settings.Plan.MinRounds, run.Settings.Plan.Rounds),
	}
	if comparing.Calibrating {
		return s.measure(ctx, everyRound(comparing.Pairs, run.Rounds))
	}
	if len(comparing.Pairs) == len(comparing.Differing) {
		if err := s.measureUnjudged(ctx); err != nil {
			return err
		}
	}
	for {
		judgement := s.judge()
		if added, err := s.measureBeside(ctx, judgement.Wanted); err != nil {
			return err
		} else if added {
			continue
		}
		if err := s.keep(ctx, judgement); err != nil {
			return err
		}
		if judgement.Over() {
			return nil
		}
		before := s.measured
		if err := s.measure(ctx, judgement.Wanted); err != nil {
			return err
		}
		if s.measured == before && s.stopped == "" {
			return fmt.Errorf("rounds %v are wanted and have all been measured", judgement.Wanted) // a fault of ours: better than for ever
		}
	}
}

// measureBeside measures what is shown beside the pairs and is missing in a round that was begun, because the run was
// interrupted in it: a judgement that has all its pairs does not ask for that round again. It tells whether something
// was.
func (s *session) measureBeside(ctx context.Context, wanted []stopwatt.Wanted) (bool, error) {
	before, begun := s.measured, 0
	for _, trial := range s.trials {
		begun = max(begun, trial.Round)
	}
	first, last := span(wanted)
	for round := 1; round <= begun; round++ {
		if first <= round && round <= last { // in its order
			continue
		}
		if err := s.carryOut(ctx, jobs.DrawRound(s.wantedIn(nil, round), s.alone(round), round, s.run.Seed)); err != nil {
			return false, err
		}
	}
	return s.measured > before, nil
}

// measureUnjudged measures what base has nothing like, or answers otherwise, where
// there is nothing else: no judgement would ask for it.
func (s *session) measureUnjudged(ctx context.Context) error {
	if s.nothing(s.run.Settings.Control) {
		return nil
	}
	for round := 1; round <= s.procedure.Looks[0].Rounds; round++ {
		if err := s.carryOut(ctx, jobs.DrawRound(s.wantedIn(nil, round), s.alone(round), round, s.run.Seed)); err != nil {
			return err
		}
	}
	return nil
}

// everyRound wants all rounds of these cases.
func everyRound(cases []stopwatt.Case, rounds int) []stopwatt.Wanted {
	var wanted []stopwatt.Wanted
	for _, c := range cases {
		wanted = append(wanted, stopwatt.Wanted{Case: c, First: 1, Last: rounds})
	}
	return wanted
}

// asAtBase runs trials of the base as base's own suite says, and checks its answers
// by that.
type asAtBase struct {
	Trials
	comparing Comparing
}

func (b asAtBase) Run(ctx context.Context, order trial.Order) (stopwatt.Trial, error) {
	if order.Planned.Revision == stopwatt.Base {
		if own, has := b.comparing.Base[order.Planned.Case.Implementation]; has {
			order.Implementation = own
		}
		if own, has := b.comparing.BaseWorkloads[order.Planned.Case.Workload]; has {
			order.Workload = own
		}
	}
	return b.Trials.Run(ctx, order)
}

// judge judges what there is, for good where the budget allows no more.
func (s *session) judge() stopwatt.Judgement {
	paired := s.Paired(*s.run, s.trials)
	judgement := regression.Judge(s.procedure, paired, false)
	if stopped := cmp.Or(s.stopped, s.unaffordable(judgement)); stopped != "" && !judgement.Over() {
		judgement = regression.Judge(s.procedure, paired, true)
		judgement.Stopped = stopped
	}
	judgement.Removed = s.Removed
	judgement.Notes = slices.Concat(s.Notes, failureNotes(s.Pairs, s.trials), absenceNotes(*s.run, s.trials))
	return judgement
}

// keep stores a judgement and tells it.
func (s *session) keep(ctx context.Context, judgement stopwatt.Judgement) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	if err := s.Store.SaveJudgement(ctx, s.run.ID, judgement); err != nil {
		return fmt.Errorf("save the judgement: %w", err)
	}
	s.Audience.Judged(judgement, s.pending(judgement.Wanted))
	return nil
}

// unaffordable says why what is wanted is not measured: the budget, or the job's
// time, would not last until the next look. Less than that decides nothing.
func (s *session) unaffordable(judgement stopwatt.Judgement) string {
	if s.measured == 0 || judgement.Over() {
		return ""
	}
	budget, spent := s.run.Settings.Plan.Budget, time.Since(s.began)
	needed := spent / time.Duration(s.measured) * time.Duration(s.pending(judgement.Wanted))
	left := time.Until(s.pace.deadline)
	switch {
	case budget > 0 && spent+needed > budget:
		return fmt.Sprintf("the budget of %s: %s are spent, and the next look would take about %s more",
			budget, spent.Round(time.Second), needed.Round(time.Second))
	case !s.pace.deadline.IsZero() && needed > left:
		return fmt.Sprintf("the job's time limit: the next look would take about %s more, and %s are left",
			needed.Round(time.Second), max(left, 0).Round(time.Second))
	}
	return ""
}

// measure carries out the rounds that are wanted, then once more what was void.
func (s *session) measure(ctx context.Context, wanted []stopwatt.Wanted) error {
	first, last := span(wanted)
	for round := first; round <= last; round++ {
		if s.stopped = s.pace.tooSlow(round); s.stopped != "" {
			return nil
		}
		if err := s.carryOut(ctx, jobs.DrawRound(s.wantedIn(wanted, round), s.alone(round), round, s.run.Seed)); err != nil {
			return err
		}
		s.pace.measured(round)
	}
	for range attemptsAgain {
		for _, w := range wanted {
			for _, again := range void(s.trials, w.Case, w.First, w.Last) {
				if err := s.carryOut(ctx, s.redrawn(again)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// redrawn are base and head of a pair that is measured once more, in an order
// that is drawn anew: that of a round which no plan has.
func (s *session) redrawn(again stopwatt.PlannedTrial) []stopwatt.PlannedTrial {
	const beyond = 1 << 20 // rounds of a plan
	trials := jobs.DrawRound([]stopwatt.Case{again.Case}, nil, again.Round+again.Attempt*beyond, s.run.Seed)
	for i := range trials {
		trials[i].Round, trials[i].Attempt = again.Round, again.Attempt
	}
	return trials
}

// carryOut measures those of these trials that are not stored yet.
func (s *session) carryOut(ctx context.Context, plan []stopwatt.PlannedTrial) error {
	for _, planned := range plan {
		if s.stored(planned) || s.gaveUp(planned) {
			continue
		}
		result, err := s.oneTrial(ctx, s.bench, *s.run, planned, len(s.trials)+1)
		if err != nil {
			return err
		}
		s.trials = append(s.trials, result)
		s.measured++
	}
	return nil
}

// stored tells whether a trial has been measured already.
func (s *session) stored(planned stopwatt.PlannedTrial) bool {
	return slices.ContainsFunc(s.trials, func(t stopwatt.Trial) bool { return t.PlannedTrial == planned })
}

// gaveUp tells whether a trial's case had been given up before its pair.
func (s *session) gaveUp(planned stopwatt.PlannedTrial) bool {
	var before []stopwatt.Trial
	for _, trial := range s.trials {
		if trial.Case == planned.Case && (trial.Round != planned.Round || trial.Attempt != planned.Attempt) {
			before = append(before, trial)
		}
	}
	return givenUp(before)
}

// pending counts the trials that are wanted and not stored.
func (s *session) pending(wanted []stopwatt.Wanted) int {
	first, last := span(wanted)
	n := 0
	for round := first; round <= last; round++ {
		for _, planned := range jobs.DrawRound(s.wantedIn(wanted, round), s.alone(round), round, s.run.Seed) {
			if !s.stored(planned) && !s.gaveUp(planned) {
				n++
			}
		}
	}
	return n
}

// wantedIn are the cases whose pairs are measured in a round: what a judgement wants,
// and until the first look what is shown without being judged. What it wants of a
// part is measured with the case that it is a part of.
func (s *session) wantedIn(wanted []stopwatt.Wanted, round int) []stopwatt.Case {
	var cases []stopwatt.Case
	for _, c := range s.Pairs {
		shown := slices.Contains(s.Differing, c) && round <= s.procedure.Looks[0].Rounds
		if shown || slices.ContainsFunc(wanted, func(w stopwatt.Wanted) bool {
			return w.First <= round && round <= w.Last && c.Holds(w.Case)
		}) {
			cases = append(cases, c)
		}
	}
	return cases
}

// alone are the cases that are measured at the head only: the control in every
// round, what is new in those of the first look.
func (s *session) alone(round int) []stopwatt.Case {
	var cases []stopwatt.Case
	for _, c := range s.Alone {
		if c.Implementation == s.run.Settings.Control || round <= s.procedure.Looks[0].Rounds {
			cases = append(cases, c)
		}
	}
	return cases
}

// span is the first and the last round that is wanted; none of nothing.
func span(wanted []stopwatt.Wanted) (first, last int) {
	if len(wanted) == 0 {
		return 1, 0
	}
	first = wanted[0].First
	for _, w := range wanted {
		first, last = min(first, w.First), max(last, w.Last)
	}
	return first, last
}
