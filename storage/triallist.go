package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// unless is err, or nil where it is the one that is expected.
func unless(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// TrialList returns the trials of a run with their figures, in the order in which
// they were carried out, without what is large: latencies and samples.
func (a *Archive) TrialList(ctx context.Context, run int64) ([]stopwatt.Trial, error) {
	var trials []stopwatt.Trial
	err := a.reading(ctx, func(tx pgx.Tx) error {
		if _, err := readRunRow(ctx, tx, run); err != nil {
			return err
		}
		listed, at, err := readTrialRows(ctx, tx, run, everyTrial)
		if err != nil {
			return err
		}
		trials = listed
		return readFigures(ctx, tx, run, everyTrial, trials, at)
	})
	if err != nil {
		return nil, fmt.Errorf("read the trials of run %d: %w", run, err)
	}
	return trials, nil
}

// Trial returns the trial at a place in the order of a run, from 1, with all that
// it holds, or ErrNotFound.
func (a *Archive) Trial(ctx context.Context, run int64, position int) (stopwatt.Trial, error) {
	var trial stopwatt.Trial
	err := a.reading(ctx, func(tx pgx.Tx) error {
		trials, err := readTrials(ctx, tx, run, fmt.Sprintf("t.position = %d", position))
		if err != nil {
			return err
		}
		if len(trials) == 0 {
			return ErrNotFound
		}
		trial = trials[0]
		id, err := trialID(ctx, tx, run, trial.PlannedTrial)
		if err != nil {
			return err
		}
		trial.Samples, err = readSamples(ctx, tx, ofTrial, id)
		return err
	})
	if err != nil {
		return stopwatt.Trial{}, fmt.Errorf("read trial %d of run %d: %w", position, run, err)
	}
	return trial, nil
}
