package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pruned is how much of what is large is meant, or was dropped.
type Pruned struct {
	Runs       int64
	Samples    int64 // rows: one for each trial or idle window, meter and quantity
	Histograms int64
	Bytes      int64 // of the values, as they are stored
}

// prunable are the runs r whose samples and histograms may go: those that have
// ended and began before a time.
const prunable = `r.started < $1 AND r.status <> 'running'`

// Prunable tells how much Prune would drop.
func (s *Store) Prunable(ctx context.Context, before time.Time) (Pruned, error) {
	var p Pruned
	err := s.reading(ctx, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
			WITH dropped AS (
				SELECT t.run_id, 1 AS samples, 0 AS histograms, pg_column_size(v.times) + pg_column_size(v.values) + pg_column_size(v.gaps) AS bytes
				FROM stopwatt_store.samples v JOIN stopwatt_store.trials t ON t.id = v.trial_id JOIN stopwatt_store.runs r ON r.id = t.run_id WHERE `+prunable+`
				UNION ALL
				SELECT w.run_id, 1, 0, pg_column_size(v.times) + pg_column_size(v.values) + pg_column_size(v.gaps)
				FROM stopwatt_store.idle_samples v JOIN stopwatt_store.idle_windows w ON w.id = v.idle_id JOIN stopwatt_store.runs r ON r.id = w.run_id WHERE `+prunable+`
				UNION ALL
				SELECT t.run_id, 0, 1, pg_column_size(h.encoded)
				FROM stopwatt_store.histograms h JOIN stopwatt_store.trials t ON t.id = h.trial_id JOIN stopwatt_store.runs r ON r.id = t.run_id WHERE `+prunable+`
			)
			SELECT count(DISTINCT run_id), coalesce(sum(samples), 0)::bigint, coalesce(sum(histograms), 0)::bigint, coalesce(sum(bytes), 0)::bigint FROM dropped`,
			before).Scan(&p.Runs, &p.Samples, &p.Histograms, &p.Bytes)
	})
	if err != nil {
		return Pruned{}, fmt.Errorf("look for what can be pruned: %w", err)
	}
	return p, nil
}

// Prune drops the samples and histograms of runs that have ended and began before a
// time, run by run, so that nobody waits for it and what was dropped stays dropped
// where it is interrupted. Measurements, repetitions, summaries and all that was said
// of a run stay.
func (s *Store) Prune(ctx context.Context, before time.Time) error {
	rows, err := s.pool.Query(ctx, "SELECT r.id FROM stopwatt_store.runs r WHERE "+prunable+" ORDER BY r.started, r.id", before)
	if err != nil {
		return fmt.Errorf("prune: %w", s.name(err))
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return fmt.Errorf("prune: %w", s.name(err))
	}
	for _, id := range ids {
		if err := s.atomically(ctx, func(tx pgx.Tx) error { return pruneRun(ctx, tx, id) }); err != nil {
			return fmt.Errorf("prune run %d: %w", id, err)
		}
	}
	return nil
}

func pruneRun(ctx context.Context, tx pgx.Tx, id int64) error {
	for _, statement := range []string{
		"DELETE FROM stopwatt_store.samples v USING stopwatt_store.trials t WHERE t.run_id = $1 AND v.trial_id = t.id",
		"DELETE FROM stopwatt_store.idle_samples v USING stopwatt_store.idle_windows w WHERE w.run_id = $1 AND v.idle_id = w.id",
		"DELETE FROM stopwatt_store.histograms h USING stopwatt_store.trials t WHERE t.run_id = $1 AND h.trial_id = t.id",
	} {
		if _, err := tx.Exec(ctx, statement, id); err != nil {
			return err
		}
	}
	return nil
}
