package storage

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// SaveIdle stores an idle window of a run, with its powers and samples, or
// nothing of it. One that began at the same moment and is stored already stays
// as it is. A power that is absent is stored without a number.
func (s *Store) SaveIdle(ctx context.Context, runID int64, idle stopwatt.IdleWindow) error {
	err := checkPowers(idle)
	if err == nil {
		err = s.atomically(ctx, func(tx pgx.Tx) error { return saveIdle(ctx, tx, runID, idle) })
	}
	if err != nil {
		return fmt.Errorf("save the idle window of run %d: %w", runID, err)
	}
	return nil
}

// checkPowers refuses what is no number, for the reason that checkFigures gives.
func checkPowers(idle stopwatt.IdleWindow) error {
	for _, p := range idle.Powers {
		watts, uncertain := p.Watts, p.Error
		if p.Absent == "" && (math.IsNaN(watts) || math.Abs(watts) > largest || math.IsNaN(uncertain) || uncertain < 0 || uncertain > largest) {
			return fmt.Errorf("idle power of %s is %g ± %g W, which is no figure", p.Meter, watts, uncertain)
		}
	}
	return nil
}

func saveIdle(ctx context.Context, tx pgx.Tx, runID int64, idle stopwatt.IdleWindow) error {
	var there bool
	if err := tx.QueryRow(ctx, "SELECT true FROM stopwatt_store.runs WHERE id = $1", runID).Scan(&there); err != nil {
		return notFound(err)
	}
	var id int64
	err := tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.idle_windows (run_id, place, started, window_start, window_end) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (run_id, started) DO NOTHING
		RETURNING id`, runID, idle.Place, idle.Started, idle.Window.Start, idle.Window.End).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // stored already
	}
	if err != nil {
		return err
	}
	for i, power := range idle.Powers {
		if err := savePower(ctx, tx, id, i, power); err != nil {
			return err
		}
	}
	return saveSamples(ctx, tx, ofIdle, id, idle.Window, idle.Samples)
}

func savePower(ctx context.Context, tx pgx.Tx, id int64, position int, p stopwatt.IdlePower) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO stopwatt_store.idle_powers (idle_id, position, meter, watts, error, over, absent, warnings)
		VALUES ($1, $2, $3, CASE WHEN $7::text = '' THEN $4::float8 END, CASE WHEN $7::text = '' THEN $5::float8 END, $6, $7, $8)`,
		id, position, plain(p.Meter), p.Watts, p.Error, p.Over, plain(p.Absent), allPlain(p.Warnings))
	return err
}

// readIdle reads the idle windows of a run: those before its trials, then those after,
// each as they came. The times at which they began are those of a clock that may have
// been set meanwhile.
func readIdle(ctx context.Context, tx pgx.Tx, runID int64) ([]stopwatt.IdleWindow, error) {
	var windows []stopwatt.IdleWindow
	var ids []int64
	var id int64
	var w stopwatt.IdleWindow
	err := forEach(ctx, tx, `
		SELECT id, place, started, window_start, window_end
		FROM stopwatt_store.idle_windows WHERE run_id = $1 ORDER BY place = 'after', id`, runID,
		[]any{&id, &w.Place, &w.Started, &w.Window.Start, &w.Window.End}, func() error {
			ids, windows = append(ids, id), append(windows, w)
			return nil
		})
	if err != nil {
		return nil, err
	}
	for i := range windows {
		if windows[i].Powers, err = readPowers(ctx, tx, ids[i]); err != nil {
			return nil, err
		}
		if windows[i].Samples, err = readSamples(ctx, tx, ofIdle, ids[i]); err != nil {
			return nil, err
		}
	}
	return windows, nil
}

func readPowers(ctx context.Context, tx pgx.Tx, id int64) ([]stopwatt.IdlePower, error) {
	rows, err := tx.Query(ctx, `
		SELECT meter, coalesce(watts, 0), coalesce(error, 0), over, absent, warnings
		FROM stopwatt_store.idle_powers WHERE idle_id = $1 ORDER BY position`, id)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.IdlePower, error) {
		var p stopwatt.IdlePower
		err := row.Scan(&p.Meter, &p.Watts, &p.Error, &p.Over, &p.Absent, &p.Warnings)
		return p, err
	})
}
