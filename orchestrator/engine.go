package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// engineGivenUpAfter is how many trials in a row the engine may fail before the run ends:
// one that is restarted takes one with it, and whatever made it fail three times makes
// it fail again.
const engineGivenUpAfter = 3

// engineTrouble counts the trials in a row that came to nothing because of the engine.
type engineTrouble struct{ inARow int }

// after counts one more trial, and says when they were too many.
func (e *engineTrouble) after(err error) error {
	if !stopwatt.EngineFailed(err) {
		e.inARow = 0
		return err
	}
	if e.inARow++; e.inARow >= engineGivenUpAfter {
		return tooOften{fmt.Errorf("the engine failed %d trials in a row: %w", e.inARow, err)}
	}
	return err
}

// tooOften is an engine's failure after which nothing more is tried.
type tooOften struct{ error }

func (t tooOften) Unwrap() error { return t.error }

// attempt carries out one trial. Where the engine fails in it, the trial is invalid, once
// the engine can be used again. Else nothing is kept of it, and the same command measures
// it when it goes on with the run.
func (o Orchestrator) attempt(ctx context.Context, bench Trials, run stopwatt.Run, order trial.Order) (stopwatt.Trial, error) {
	began := time.Now()
	result, err := bench.Run(ctx, order)
	err = o.engine.after(err)
	switch {
	case !stopwatt.EngineFailed(err) || ctx.Err() != nil:
		return result, err
	case errors.As(err, &tooOften{}) || o.Recover == nil:
		return stopwatt.Trial{}, err
	}
	if backErr := o.Recover(ctx, run); backErr != nil {
		return stopwatt.Trial{}, errors.Join(err, backErr)
	}
	return stopwatt.Trial{PlannedTrial: order.Planned, Position: order.Position, Started: began, Status: stopwatt.Invalid, Reason: err.Error()}, nil
}
