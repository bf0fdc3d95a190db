package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// SaveCalibration stores what a run of the same against the same says about its
// machine. One that was taken at the same time and is stored already stays as it
// is.
func (s *Store) SaveCalibration(ctx context.Context, runID int64, calibration stopwatt.Calibration) error {
	err := s.atomically(ctx, func(tx pgx.Tx) error { return saveCalibration(ctx, tx, runID, calibration) })
	if err != nil {
		return fmt.Errorf("save the calibration of run %d: %w", runID, err)
	}
	return nil
}

func saveCalibration(ctx context.Context, tx pgx.Tx, runID int64, calibration stopwatt.Calibration) error {
	var suite, machine int64
	err := tx.QueryRow(ctx, "SELECT suite_id, machine_id FROM stopwatt_store.runs WHERE id = $1", runID).Scan(&suite, &machine)
	if err != nil {
		return notFound(err)
	}
	var cases []stopwatt.Case
	var metrics []stopwatt.Metric
	for _, c := range calibration.Cases {
		cases, metrics = append(cases, c.Case), append(metrics, c.Metric)
	}
	keys, err := keysOf(ctx, tx, suite, cases, metrics)
	if err != nil {
		return err
	}
	rest := calibration
	rest.Cases = nil
	text, err := document(rest)
	if err != nil {
		return err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.calibrations (machine_id, suite_id, run_id, taken, document) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (machine_id, suite_id, taken) DO NOTHING
		RETURNING id`, machine, suite, runID, calibration.Taken, text).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // stored already
	}
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i, c := range calibration.Cases {
		text, err := document(c)
		if err != nil {
			return err
		}
		batch.Queue(`
			INSERT INTO stopwatt_store.calibration_cases (calibration_id, position, case_id, metric_id, n, pair_sd, smallest, alarms, alarms_of, document)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
			id, i, keys.cases[c.Case], keys.metrics[c.Metric.Name], c.N, c.PairSD, where(c.Smallest > 0, c.Smallest), c.Alarms.Count, c.Alarms.Of, text)
	}
	return tx.SendBatch(ctx, batch).Close()
}

// Calibration returns what was found last about a machine with a suite. Where
// that was never calibrated, the error is ErrNotFound.
func (s *Store) Calibration(ctx context.Context, project, suite string, machine stopwatt.Machine) (stopwatt.Calibration, error) {
	var calibration stopwatt.Calibration
	err := s.reading(ctx, func(tx pgx.Tx) error {
		var err error
		calibration, err = readCalibration(ctx, tx, project, suite, machine)
		return err
	})
	if err != nil {
		return stopwatt.Calibration{}, fmt.Errorf("read the calibration of suite %s on %s: %w", suite, machine.Name, err)
	}
	return calibration, nil
}

func readCalibration(ctx context.Context, tx pgx.Tx, project, suite string, machine stopwatt.Machine) (stopwatt.Calibration, error) {
	var id int64
	var calibration stopwatt.Calibration
	err := tx.QueryRow(ctx, `
		SELECT l.id, l.document
		FROM stopwatt_store.calibrations l
		JOIN stopwatt_store.machines m ON m.id = l.machine_id
		JOIN stopwatt_store.suites s ON s.id = l.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		WHERE p.name = $1 AND s.name = $2 AND m.fingerprint = $3
		ORDER BY l.taken DESC LIMIT 1`, project, suite, fingerprintOf(machine)).Scan(&id, &calibration)
	if err != nil {
		return stopwatt.Calibration{}, notFound(err)
	}
	calibration.Cases, err = readDocuments[stopwatt.CaseCalibration](ctx, tx,
		"SELECT document FROM stopwatt_store.calibration_cases WHERE calibration_id = $1 ORDER BY position", id)
	return calibration, err
}
