// Package orchestrator carries out one run: the images first, then the rounds
// of trials, each saved before the next begins, the summaries at the end.
//
// It imports no adapter: Docker, the database and the person who watches are
// handed in. It prints nothing and gives no verdict.
package orchestrator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// Store keeps runs and trials. One that keeps them for a database that is away takes
// what it can keep, and answers with ErrWaits what it cannot.
type Store interface {
	// Begin inserts the run, or returns the unfinished one of the same plan
	// key with the trials that it holds already.
	Begin(ctx context.Context, run stopwatt.Run, fresh bool) (stopwatt.Run, []stopwatt.PlannedTrial, error)
	// SaveTrial keeps one trial, once.
	SaveTrial(ctx context.Context, runID int64, trial stopwatt.Trial) error
	// Trials returns every trial of a run, in the order of its plan.
	Trials(ctx context.Context, runID int64) ([]stopwatt.Trial, error)
	// SaveIdle keeps an idle window of a run.
	SaveIdle(ctx context.Context, runID int64, idle stopwatt.IdleWindow) error
	// SaveDriverShare keeps what the driver takes by itself under a workload.
	SaveDriverShare(ctx context.Context, runID int64, share stopwatt.DriverShare) error
	// SaveNet corrects the net energy of a stored trial.
	SaveNet(ctx context.Context, runID int64, trial stopwatt.PlannedTrial, figures []stopwatt.Measurement) error
	// SaveJudgement keeps what a run was judged, beside what it was judged before.
	SaveJudgement(ctx context.Context, runID int64, judgement stopwatt.Judgement) error
	// SaveSummaries replaces the run's summaries.
	SaveSummaries(ctx context.Context, runID int64, summaries []stopwatt.Summary) error
	// Finish says how the run ended.
	Finish(ctx context.Context, runID int64, status stopwatt.RunStatus, ended time.Time) error
}

// Trials carries out single trials.
type Trials interface {
	Run(ctx context.Context, order trial.Order) (stopwatt.Trial, error)
}

// Audience is told how the run goes on. It may draw a bar or print lines.
type Audience interface {
	// Planned comes once, before the first trial: how many are done already.
	Planned(run stopwatt.Run, done int)
	// Idle comes when an idle window has been measured.
	Idle(window stopwatt.IdleWindow)
	// DriverShare comes when the driver has been measured by itself.
	DriverShare(share stopwatt.DriverShare)
	// Begins comes before each trial.
	Begins(planned stopwatt.PlannedTrial, position int)
	// Ended comes when a trial has been saved.
	Ended(trial stopwatt.Trial)
	// Stopped comes when no more rounds are begun, with why.
	Stopped(why string)
	// Judged comes before the first trial of a run that has a base and after each
	// look, with the number of trials until the next; 0 when it is over.
	Judged(judgement stopwatt.Judgement, ahead int)
}

// Orchestrator carries out runs.
type Orchestrator struct {
	Store Store
	// Bench makes the place where the trials of this run are carried out.
	Bench    func(run stopwatt.Run) Trials
	Audience Audience
	// Idle measures the machine while nothing runs on it. nil: nobody can, the
	// engine runs on another machine.
	Idle func(ctx context.Context, place stopwatt.IdlePlace) (stopwatt.IdleWindow, error)
	// Cool waits, at most so long, until the machine is as cool as it was before the
	// first trial. nil: nobody can tell.
	Cool func(ctx context.Context, atMost time.Duration) error
	// Recover waits until an engine that has failed can be used again, and clears away
	// what is left of the trial in which it did. nil: it does not come back.
	Recover func(ctx context.Context, run stopwatt.Run) error

	engine *engineTrouble // of the run that is carried out
}

// Order says which run is wanted. Its images are there.
type Order struct {
	Run   stopwatt.Run // without ID, Key, PlanKey, Status and times
	Cases []stopwatt.Case
	// Comparing says how base and head are measured; nil when there is no base.
	Comparing *Comparing
	// SeedGiven says that the person chose the seed; else an unfinished run is
	// continued with the one it was begun with.
	SeedGiven bool
	Fresh     bool // begin anew even where an unfinished run could be continued
	// Deadline is when all must be over, a job's time limit: no round is begun that
	// would not end before it, and no look aimed at that would not be reached. Zero:
	// there is none.
	Deadline time.Time
}

// saveWithin bounds what must be written when a run is interrupted.
const saveWithin = 10 * time.Second

// Run carries out the order, or goes on with an unfinished run of the same
// plan. The run is returned also with an error: what was finished is kept.
func (o Orchestrator) Run(ctx context.Context, order Order) (stopwatt.Run, error) {
	key, err := planKey(order)
	if err != nil {
		return stopwatt.Run{}, err
	}
	order.Run.PlanKey, order.Run.Key = key, rand.Text()
	order.Run.Started, order.Run.Status = time.Now(), stopwatt.Running
	order.Run.Planned = order.planned()
	o.engine = &engineTrouble{}
	run, done, err := o.Store.Begin(ctx, order.Run, order.Fresh)
	if err != nil {
		return stopwatt.Run{}, fmt.Errorf("begin the run: %w", err)
	}
	o.Audience.Planned(run, len(done))

	err = o.measure(ctx, &run, order, done)
	return run, errors.Join(err, o.end(ctx, &run, err))
}

// planned is how many trials the order takes; with a base, until the first look.
func (o Order) planned() int {
	if o.Comparing == nil {
		return len(o.Cases) * o.Run.Rounds
	}
	rounds := o.Run.Settings.Plan.MinRounds
	if o.Comparing.Calibrating {
		rounds = o.Run.Rounds
	}
	if o.Comparing.nothing(o.Run.Settings.Control) {
		return 0
	}
	return (2*len(o.Comparing.Pairs) + len(o.Comparing.Alone)) * rounds
}

// measure carries out the plan between two idle windows. What the driver takes by
// itself comes before the plan.
func (o Orchestrator) measure(ctx context.Context, run *stopwatt.Run, order Order, done []stopwatt.PlannedTrial) error {
	if run.Planned == 0 { // base and head are the same
		return o.rounds(ctx, run, order, done)
	}
	if len(done) < run.Planned {
		if err := o.idle(ctx, run, stopwatt.IdleBefore); err != nil {
			return err
		}
		if err := o.driverShares(ctx, run, order); err != nil {
			return err
		}
	}
	if err := o.rounds(ctx, run, order, done); err != nil {
		return err
	}
	return o.idle(ctx, run, stopwatt.IdleAfter)
}

// rounds carries out the trials.
func (o Orchestrator) rounds(ctx context.Context, run *stopwatt.Run, order Order, done []stopwatt.PlannedTrial) error {
	if order.Comparing != nil {
		return o.compare(ctx, run, *order.Comparing, order.Deadline)
	}
	return o.carryOut(ctx, *run, jobs.Draw(order.Cases, run.Rounds, run.Seed), done, order.Deadline)
}

// idle measures and keeps one idle window.
func (o Orchestrator) idle(ctx context.Context, run *stopwatt.Run, place stopwatt.IdlePlace) error {
	if o.Idle == nil {
		return nil
	}
	window, err := o.Idle(ctx, place)
	if err != nil {
		return fmt.Errorf("measure the idle machine: %w", err)
	}
	if err := o.Store.SaveIdle(ctx, run.ID, window); err != nil {
		return fmt.Errorf("save the idle window: %w", err)
	}
	run.Idle = append(run.Idle, window)
	o.Audience.Idle(window)
	return nil
}

// end writes the summaries of what there is and how the run ended.
func (o Orchestrator) end(ctx context.Context, run *stopwatt.Run, failure error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	run.Status, run.Ended = stopwatt.Finished, time.Now()
	if failure != nil {
		run.Status = stopwatt.Aborted
	}
	err := Conclude(ctx, o.Store, *run)
	if !errors.Is(err, stopwatt.ErrWaits) {
		return err
	}
	// What the run amounts to is worked out when its trials have arrived.
	if err := o.Store.Finish(ctx, run.ID, run.Status, run.Ended); err != nil {
		return fmt.Errorf("finish the run: %w", err)
	}
	return nil
}

// Conclude writes what the stored trials of a run amount to, and how it ended. It
// may be done again.
func Conclude(ctx context.Context, store Store, run stopwatt.Run) error {
	trials, err := store.Trials(ctx, run.ID)
	if err != nil {
		return fmt.Errorf("read the trials back: %w", err)
	}
	if err := correctNet(ctx, store, run, trials); err != nil {
		return err
	}
	if err := store.SaveSummaries(ctx, run.ID, regression.Summarize(trials)); err != nil {
		return fmt.Errorf("save the summaries: %w", err)
	}
	if err := store.Finish(ctx, run.ID, run.Status, run.Ended); err != nil {
		return fmt.Errorf("finish the run: %w", err)
	}
	return nil
}
