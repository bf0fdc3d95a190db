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
func (o Orchestrator) carryOut(ctx context.Context, run stopwatt.Run, plan stopwatt.Plan, done []stopwatt.PlannedTrial, deadline time.Time) error {
	saved := map[stopwatt.PlannedTrial]bool{}
	for _, planned := range done {
		saved[planned] = true
	}
	bench := o.Bench(run)
	failures := map[stopwatt.Case]streak{}
	pace := pace{began: time.Now(), deadline: deadline}
	for i, planned := range plan.Trials {
		if saved[planned] {
			continue
		}
		if i > 0 && planned.Round > plan.Trials[i-1].Round {
			if why := pace.tooSlow(planned.Round); why != "" {
				o.Audience.Stopped(why)
				return nil
			}
		}
		place := bench
		if failures[planned.Case].length >= giveUpAfter {
			place = untried{failures[planned.Case].reason}
		}
		result, err := o.oneTrial(ctx, place, run, planned, i+1)
		if err != nil {
			return err
		}
		failures[planned.Case] = failures[planned.Case].after(result)
		pace.measured(planned.Round)
	}
	return nil
}

// A pace tells from the rounds that were measured how long the next will take.
type pace struct {
	began    time.Time
	deadline time.Time
	rounds   int // of which something was measured
	last     int // of these
}

func (p *pace) measured(round int) {
	if round != p.last {
		p.rounds, p.last = p.rounds+1, round
	}
}

// tooSlow says why a round is not begun: it would not end before the deadline.
func (p *pace) tooSlow(round int) string {
	if p.deadline.IsZero() || p.rounds == 0 {
		return ""
	}
	each := time.Since(p.began) / time.Duration(p.rounds)
	left := time.Until(p.deadline)
	if each <= left {
		return ""
	}
	return fmt.Sprintf("round %d would take about %s, and the job has %s left", round, each.Round(time.Second), max(left, 0).Round(time.Second))
}

// oneTrial carries out one trial and keeps it.
func (o Orchestrator) oneTrial(ctx context.Context, bench Trials, run stopwatt.Run, planned stopwatt.PlannedTrial, position int) (stopwatt.Trial, error) {
	if err := o.rest(ctx, run); err != nil {
		return stopwatt.Trial{}, err
	}
	o.Audience.Begins(planned, position)
	result, err := o.attempt(ctx, bench, run, trialOrder(run, planned, position))
	if err != nil {
		return stopwatt.Trial{}, fmt.Errorf("%s, round %d: %w", planned.Case, planned.Round, err)
	}
	if err := o.save(ctx, run, result); err != nil {
		return stopwatt.Trial{}, err
	}
	o.Audience.Ended(result)
	return result, nil
}

// rest waits, when the suite says so, until the machine has cooled down.
func (o Orchestrator) rest(ctx context.Context, run stopwatt.Run) error {
	if ctx.Err() != nil || o.Cool == nil || run.Settings.Plan.Cooldown == 0 {
		return ctx.Err()
	}
	return o.Cool(ctx, run.Settings.Plan.Cooldown)
}

// trialOrder says which trial is wanted.
func trialOrder(run stopwatt.Run, planned stopwatt.PlannedTrial, position int) trial.Order {
	implementation, _ := run.Settings.Implementation(planned.Case.Implementation)
	workload, _ := run.Settings.Workload(planned.Case.Workload)
	images := run.Images
	if planned.Revision == stopwatt.Base {
		images = run.BaseImages
	}
	return trial.Order{
		Planned:        planned,
		Position:       position,
		Implementation: implementation,
		Workload:       workload,
		Image:          images[planned.Case.Implementation],
		Tool:           run.Images[stopwatt.ToolImage(workload.Name)],
		Warmup:         run.Settings.Plan.Warmup,
		Seed:           run.Seed + uint64(planned.Round),
		Idle:           idlePowers(run),
	}
}

// untried is the place for trials of a case that has been given up.
type untried struct{ reason string }

func (u untried) Run(_ context.Context, order trial.Order) (stopwatt.Trial, error) {
	return stopwatt.Trial{
		PlannedTrial: order.Planned,
		Position:     order.Position,
		Status:       stopwatt.Invalid,
		Reason:       u.reason,
		Started:      time.Now(),
		Warnings:     []string{fmt.Sprintf("not tried: the %d trials before it failed", giveUpAfter)},
	}, nil
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
