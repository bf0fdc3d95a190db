package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// giveUpAfter is how many trials of a case in a row may come to nothing before
// the rest of them is not tried: a server that never gets ready would cost its
// whole time limit in every round.
const giveUpAfter = 3

// carryOut works through the plan, leaving out what was done before.
func (o Orchestrator) carryOut(ctx context.Context, run stopwatt.Run, plan stopwatt.Plan, done []stopwatt.PlannedTrial) error {
	saved := map[stopwatt.PlannedTrial]bool{}
	for _, planned := range done {
		saved[planned] = true
	}
	bench := o.Bench(run)
	failures := map[stopwatt.Case]streak{}
	for i, planned := range plan.Trials {
		if saved[planned] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		position := i + 1
		o.Audience.Begins(planned, position)
		result, err := o.one(ctx, bench, run, planned, position, failures[planned.Case])
		if err != nil {
			return fmt.Errorf("%s, round %d: %w", planned.Case, planned.Round, err)
		}
		failures[planned.Case] = failures[planned.Case].after(result)
		if err := o.save(ctx, run, result); err != nil {
			return err
		}
		o.Audience.Ended(result)
	}
	return nil
}

// one carries out one trial, unless its case has been given up.
func (o Orchestrator) one(ctx context.Context, bench Trials, run stopwatt.Run, planned stopwatt.PlannedTrial, position int, failures streak) (stopwatt.Trial, error) {
	if failures.length >= giveUpAfter {
		return stopwatt.Trial{
			PlannedTrial: planned,
			Position:     position,
			Status:       stopwatt.Invalid,
			Reason:       failures.reason,
			Started:      time.Now(),
			Warnings:     []string{fmt.Sprintf("not tried: the %d trials before it failed", giveUpAfter)},
		}, nil
	}
	implementation, _ := run.Settings.Implementation(planned.Case.Implementation)
	workload, _ := run.Settings.Workload(planned.Case.Workload)
	return bench.Run(ctx, trial.Order{
		Planned:        planned,
		Position:       position,
		Implementation: implementation,
		Workload:       workload,
		Image:          run.Images[planned.Case.Implementation],
		Tool:           run.Images[stopwatt.ToolImage(workload.Name)],
		Warmup:         run.Settings.Plan.Warmup,
		Seed:           run.Seed + uint64(planned.Round),
		Idle:           idlePowers(run),
	})
}

// idlePowers are those of the latest idle window: what a trial's gross energy
// is freed from when it is stored.
func idlePowers(run stopwatt.Run) []stopwatt.IdlePower {
	if len(run.Idle) == 0 {
		return nil
	}
	return run.Idle[len(run.Idle)-1].Powers
}

// save keeps a finished trial, also when the run has just been interrupted.
func (o Orchestrator) save(ctx context.Context, run stopwatt.Run, result stopwatt.Trial) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveWithin)
	defer cancel()
	if err := o.Store.SaveTrial(ctx, run.ID, result); err != nil {
		return fmt.Errorf("save %s, round %d: %w", result.Case, result.Round, err)
	}
	return nil
}

// A streak is how many trials of a case in a row were invalid, and why the
// last of them was.
type streak struct {
	length int
	reason string
}

// after is the streak when one more trial has ended.
func (s streak) after(result stopwatt.Trial) streak {
	if result.Status == stopwatt.Valid {
		return streak{}
	}
	reason, _, _ := strings.Cut(result.Reason, "\n")
	return streak{length: s.length + 1, reason: reason}
}
