package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// SaveJudgement stores what is said about a run now, whole or not at all. What
// was said before stays; a judgement that says the same as the last one is not
// stored again. An imported run gets none.
func (s *Store) SaveJudgement(ctx context.Context, runID int64, judgement stopwatt.Judgement) error {
	err := s.atomically(ctx, func(tx pgx.Tx) error { return saveJudgement(ctx, tx, runID, judgement) })
	if err != nil {
		return fmt.Errorf("save the judgement of run %d: %w", runID, err)
	}
	return nil
}

func saveJudgement(ctx context.Context, tx pgx.Tx, runID int64, judgement stopwatt.Judgement) error {
	var suite int64
	var imported bool
	// The lock lets one of two that judge the same run wait for the other.
	err := tx.QueryRow(ctx, "SELECT suite_id, imported FROM stopwatt_store.runs WHERE id = $1 FOR UPDATE", runID).Scan(&suite, &imported)
	if err != nil {
		return notFound(err)
	}
	if imported {
		return errors.New("it is imported, and gets no verdict")
	}
	said, err := saidAlready(ctx, tx, runID, judgement)
	if err != nil || said {
		return err
	}
	var cases []stopwatt.Case
	var metrics []stopwatt.Metric
	for _, c := range judgement.Comparisons {
		cases, metrics = append(cases, c.Case), append(metrics, c.Metric)
	}
	keys, err := keysOf(ctx, tx, suite, cases, metrics)
	if err != nil {
		return err
	}
	rest := judgement
	rest.Comparisons = nil
	text, err := document(rest)
	if err != nil {
		return err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.judgements (run_id, look, family, document) VALUES ($1, $2, $3, $4) RETURNING id`,
		runID, judgement.Look, judgement.Family, text).Scan(&id)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i, c := range judgement.Comparisons {
		if err := queueComparison(batch, id, i, keys, c); err != nil {
			return err
		}
	}
	return tx.SendBatch(ctx, batch).Close()
}

// saidAlready tells whether the last judgement of the run is the same.
func saidAlready(ctx context.Context, tx pgx.Tx, runID int64, judgement stopwatt.Judgement) (bool, error) {
	last, err := readJudgement(ctx, tx, runID)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	stored, err := document(last)
	if err != nil {
		return false, err
	}
	text, err := document(judgement)
	if err != nil {
		return false, err
	}
	// Through JSON and back, so that empty and missing lists are alike.
	var again stopwatt.Judgement
	if err := json.Unmarshal(text, &again); err != nil {
		return false, err
	}
	text, err = document(again)
	return bytes.Equal(stored, text), err
}

// queueComparison puts one comparison into a batch. What is not known is null.
func queueComparison(batch *pgx.Batch, judgement int64, position int, keys keys, c stopwatt.Comparison) error {
	text, err := document(c)
	if err != nil {
		return err
	}
	estimate := c.Estimate
	batch.Queue(`
		INSERT INTO stopwatt_store.comparisons (judgement_id, position, case_id, metric_id, verdict, look, n,
			base, head, ratio, low, high, p_worse, p_better, threshold, smallest, document)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
		judgement, position, keys.cases[c.Case], keys.metrics[c.Metric.Name], c.Verdict, c.Look, estimate.N,
		where(estimate.N > 0, estimate.Base), where(estimate.N > 0, estimate.Head), where(estimate.Ratio.Known, estimate.Ratio.Value),
		where(estimate.Ratio.Bounded, estimate.Ratio.Low), where(estimate.Ratio.Bounded, estimate.Ratio.High),
		estimate.Worse, estimate.Better, c.Threshold, where(estimate.Smallest > 0, estimate.Smallest), text)
	return nil
}

// where is the value where it is known, and null elsewhere.
func where(known bool, value float64) *float64 {
	if !known {
		return nil
	}
	return &value
}

// Judgement returns what was said last about a run. One of which nothing was
// said makes an error that is ErrNotFound.
func (s *Store) Judgement(ctx context.Context, runID int64) (stopwatt.Judgement, error) {
	var judgement stopwatt.Judgement
	err := s.reading(ctx, func(tx pgx.Tx) error {
		var err error
		judgement, err = readJudgement(ctx, tx, runID)
		return err
	})
	if err != nil {
		return stopwatt.Judgement{}, fmt.Errorf("read the judgement of run %d: %w", runID, err)
	}
	return judgement, nil
}

func readJudgement(ctx context.Context, tx pgx.Tx, runID int64) (stopwatt.Judgement, error) {
	var id int64
	err := tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.judgements WHERE run_id = $1 ORDER BY id DESC LIMIT 1", runID).Scan(&id)
	if err != nil {
		return stopwatt.Judgement{}, notFound(err)
	}
	return judgementOf(ctx, tx, id)
}

// judgementOf reads a judgement by its key.
func judgementOf(ctx context.Context, tx pgx.Tx, id int64) (stopwatt.Judgement, error) {
	var judgement stopwatt.Judgement
	err := tx.QueryRow(ctx, "SELECT document FROM stopwatt_store.judgements WHERE id = $1", id).Scan(&judgement)
	if err != nil {
		return stopwatt.Judgement{}, notFound(err)
	}
	judgement.Comparisons, err = readDocuments[stopwatt.Comparison](ctx, tx,
		"SELECT document FROM stopwatt_store.comparisons WHERE judgement_id = $1 ORDER BY position", id)
	return judgement, err
}

// readDocuments reads the documents that belong to one row.
func readDocuments[T any](ctx context.Context, tx pgx.Tx, sql string, id int64) ([]T, error) {
	rows, err := tx.Query(ctx, sql, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (T, error) {
		var one T
		err := row.Scan(&one)
		return one, err
	})
}
