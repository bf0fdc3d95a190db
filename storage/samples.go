package storage

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// A sampled is what samples may be of: the table that keeps them, and its
// column that says of which one.
type sampled struct{ table, owner string }

var (
	ofTrial = sampled{"samples", "trial_id"}
	ofIdle  = sampled{"idle_samples", "idle_id"}
)

// saveSamples stores samples that were taken in a window.
func saveSamples(ctx context.Context, tx pgx.Tx, of sampled, id int64, window stopwatt.Window, samples []stopwatt.Samples) error {
	rows, err := sampleRows(id, window, samples)
	if err != nil || len(rows) == 0 {
		return err
	}
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"stopwatt_store", of.table},
		[]string{of.owner, "position", "meter", "quantity", "times", "values", "gaps", "coverage"}, pgx.CopyFromRows(rows))
	return err
}

// sampleRows are the rows of samples of one owner.
func sampleRows(id int64, window stopwatt.Window, samples []stopwatt.Samples) ([][]any, error) {
	var rows [][]any
	for i, s := range samples {
		if len(s.Times) != len(s.Values) {
			return nil, fmt.Errorf("samples of %s, %s: %d times and %d values", s.Meter, s.Quantity, len(s.Times), len(s.Values))
		}
		gaps, err := document(append([]stopwatt.Gap{}, s.Gaps...)) // [] and not null
		if err != nil {
			return nil, err
		}
		rows = append(rows, []any{id, i, plain(s.Meter), plain(string(s.Quantity)),
			append([]int64{}, s.Times...), append([]int64{}, s.Values...), gaps, s.Coverage(window)})
	}
	return rows, nil
}

// readSamples reads them, in the order in which they were handed in.
func readSamples(ctx context.Context, tx pgx.Tx, of sampled, id int64) ([]stopwatt.Samples, error) {
	rows, err := tx.Query(ctx, "SELECT meter, quantity, times, values, gaps FROM stopwatt_store."+of.table+" WHERE "+of.owner+" = $1 ORDER BY position", id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.Samples, error) {
		var s stopwatt.Samples
		var gaps []byte
		if err := row.Scan(&s.Meter, &s.Quantity, &s.Times, &s.Values, &gaps); err != nil {
			return stopwatt.Samples{}, err
		}
		return s, json.Unmarshal(gaps, &s.Gaps)
	})
}

// Samples returns what was read again and again while a trial of a run was
// driven, in the order in which SaveTrial was given it. A trial that is not
// stored makes an error that is ErrNotFound.
func (s *Store) Samples(ctx context.Context, runID int64, trial stopwatt.PlannedTrial) ([]stopwatt.Samples, error) {
	var samples []stopwatt.Samples
	err := s.reading(ctx, func(tx pgx.Tx) error {
		id, err := trialID(ctx, tx, runID, trial)
		if err != nil {
			return err
		}
		samples, err = readSamples(ctx, tx, ofTrial, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the samples of trial %s, round %d, of run %d: %w", trial.Case, trial.Round, runID, err)
	}
	return samples, nil
}
