package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// histogramLatency is the kind of histogram that holds latencies.
const histogramLatency = "latency"

// SaveTrial stores a trial with all its figures, parts and samples, or nothing of
// it. A trial that is stored already stays as it is. A metric that the trial
// defines, and that is known in another unit or direction, makes an error that
// names both.
func (s *Store) SaveTrial(ctx context.Context, runID int64, trial stopwatt.Trial) error {
	trial = plainNames(trial)
	err := checkTrial(trial)
	if err == nil {
		err = s.atomically(ctx, func(tx pgx.Tx) error { return saveTrial(ctx, tx, runID, trial) })
	}
	if err != nil {
		return fmt.Errorf("save trial %s, round %d, of run %d: %w", trial.Case, trial.Round, runID, err)
	}
	return nil
}

func saveTrial(ctx context.Context, tx pgx.Tx, runID int64, trial stopwatt.Trial) error {
	var suite int64
	err := tx.QueryRow(ctx, "SELECT suite_id FROM stopwatt_store.runs WHERE id = $1", runID).Scan(&suite)
	if err != nil {
		return notFound(err)
	}
	cases, err := caseIDs(ctx, tx, suite, casesOf(trial))
	if err != nil {
		return err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.trials (run_id, case_id, revision, round, attempt, position, status, reason, warnings, started, window_start, window_end)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
		ON CONFLICT (run_id, case_id, revision, round, attempt) DO NOTHING
		RETURNING id`,
		runID, cases[trial.Case], trial.Revision, trial.Round, trial.Attempt, trial.Position, trial.Status, plain(trial.Reason), allPlain(trial.Warnings),
		trial.Started, trial.Window.Start, trial.Window.End).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // stored already
	}
	if err != nil {
		return err
	}
	figures := figureRows{}
	figures.add(id, trial.Measurements, trial.Absent, trial.Repetitions)
	if err := insertParts(ctx, tx, id, trial.Parts, cases, &figures); err != nil {
		return err
	}
	if err := figures.save(ctx, tx, trial.Defines); err != nil {
		return err
	}
	if err := saveHistogram(ctx, tx, id, trial.Latency); err != nil {
		return err
	}
	return saveSamples(ctx, tx, ofTrial, id, trial.Window, trial.Samples)
}

// SaveNet stores figures of a trial that is stored, in place of those that it
// has of the same metrics, or of what it says of their absence: net energy is
// known for good when the idle power after the last round is. Its other figures
// stay as they are. A trial that is not stored makes an error that is
// ErrNotFound.
func (s *Store) SaveNet(ctx context.Context, runID int64, trial stopwatt.PlannedTrial, figures []stopwatt.Measurement) error {
	err := checkFigures(figures, nil)
	if err == nil {
		err = s.atomically(ctx, func(tx pgx.Tx) error { return saveNet(ctx, tx, runID, trial, figures) })
	}
	if err != nil {
		return fmt.Errorf("save net figures of trial %s, round %d, of run %d: %w", trial.Case, trial.Round, runID, err)
	}
	return nil
}

func saveNet(ctx context.Context, tx pgx.Tx, runID int64, trial stopwatt.PlannedTrial, figures []stopwatt.Measurement) error {
	id, err := trialID(ctx, tx, runID, trial)
	if err != nil {
		return err
	}
	names, values := namesAndValues(figures)
	if err := insertMetrics(ctx, tx, names, nil); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO stopwatt_store.measurements (trial_id, metric_id, value)
		SELECT $1, m.id, v.value FROM unnest($2::text[], $3::float8[]) v (name, value) JOIN stopwatt_store.metrics m USING (name)
		ON CONFLICT (trial_id, metric_id) DO UPDATE SET value = excluded.value`, id, names, values)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		DELETE FROM stopwatt_store.absences a USING stopwatt_store.metrics m
		WHERE a.trial_id = $1 AND m.id = a.metric_id AND m.name = ANY($2::text[])`, id, names)
	return err
}

// trialID returns the key of a trial that is stored.
func trialID(ctx context.Context, tx pgx.Tx, runID int64, trial stopwatt.PlannedTrial) (int64, error) {
	var id int64
	err := tx.QueryRow(ctx, `
		SELECT t.id FROM stopwatt_store.trials t JOIN stopwatt_store.cases c ON c.id = t.case_id
		WHERE t.run_id = $1 AND c.implementation = $2 AND c.workload = $3 AND t.revision = $4 AND t.round = $5 AND t.attempt = $6`,
		runID, trial.Case.Implementation, trial.Case.Workload, trial.Revision, trial.Round, trial.Attempt).Scan(&id)
	return id, notFound(err)
}

func saveHistogram(ctx context.Context, tx pgx.Tx, trial int64, latency *stopwatt.Histogram) error {
	if latency == nil {
		return nil
	}
	encoded, err := latency.MarshalBinary()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "INSERT INTO stopwatt_store.histograms (trial_id, kind, encoded) VALUES ($1, $2, $3)", trial, histogramLatency, encoded)
	return err
}

// readDone lists the trials of a run that are stored, without their parts.
func readDone(ctx context.Context, tx pgx.Tx, runID int64) ([]stopwatt.PlannedTrial, error) {
	rows, err := tx.Query(ctx, `
		SELECT t.round, c.implementation, c.workload, t.revision, t.attempt
		FROM stopwatt_store.trials t JOIN stopwatt_store.cases c ON c.id = t.case_id
		WHERE t.run_id = $1 AND t.part_of IS NULL ORDER BY t.position, t.id`, runID)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.PlannedTrial, error) {
		var t stopwatt.PlannedTrial
		err := row.Scan(&t.Round, &t.Case.Implementation, &t.Case.Workload, &t.Revision, &t.Attempt)
		return t, err
	})
}

// Trials returns the trials of a run, with all their figures and in the order
// in which they were carried out. Their samples are left out, which are a
// thousand times as large: Samples reads those of one trial.
func (s *Store) Trials(ctx context.Context, runID int64) ([]stopwatt.Trial, error) {
	var trials []stopwatt.Trial
	err := s.reading(ctx, func(tx pgx.Tx) error {
		if _, err := readRun(ctx, tx, runID); err != nil {
			return err
		}
		var err error
		trials, err = readTrials(ctx, tx, runID, everyTrial)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the trials of run %d: %w", runID, err)
	}
	return trials, nil
}

// everyTrial is a condition on trials t of a run that all of them meet.
const everyTrial = "true"

// readTrials reads those trials of a run that meet a condition, with all their
// figures.
func readTrials(ctx context.Context, tx pgx.Tx, runID int64, which string) ([]stopwatt.Trial, error) {
	trials, at, err := readTrialRows(ctx, tx, runID, which)
	if err != nil {
		return nil, err
	}
	if err := readFigures(ctx, tx, runID, which, trials, at); err != nil {
		return nil, err
	}
	return trials, readHistograms(ctx, tx, runID, which, trials, at)
}

// readTrialRows reads trials without their figures, and where each row stands.
func readTrialRows(ctx context.Context, tx pgx.Tx, runID int64, which string) ([]stopwatt.Trial, map[int64]place, error) {
	rows, err := tx.Query(ctx, `
		SELECT t.id, t.part_of, t.round, c.implementation, c.workload, t.revision, t.attempt, t.position, t.status, t.reason, t.warnings,
			t.started, t.window_start, t.window_end
		FROM stopwatt_store.trials t JOIN stopwatt_store.cases c ON c.id = t.case_id
		WHERE t.run_id = $1 AND `+which+` ORDER BY t.position, t.id`, runID)
	if err != nil {
		return nil, nil, err
	}
	var trials []stopwatt.Trial
	at := map[int64]place{}
	var id int64
	var partOf *int64
	var t stopwatt.Trial
	into := []any{&id, &partOf, &t.Round, &t.Case.Implementation, &t.Case.Workload, &t.Revision, &t.Attempt, &t.Position, &t.Status, &t.Reason, &t.Warnings,
		&t.Started, &t.Window.Start, &t.Window.End}
	_, err = pgx.ForEachRow(rows, into, func() error {
		if partOf != nil { // whose trial was inserted before it, at the same position
			whole := &trials[at[*partOf].trial]
			at[id] = place{at[*partOf].trial, len(whole.Parts)}
			whole.Parts = append(whole.Parts, stopwatt.Part{Case: t.Case})
		} else {
			at[id] = place{len(trials), itself}
			trials = append(trials, t)
		}
		t.Warnings = nil
		return nil
	})
	return trials, at, err
}

func readHistograms(ctx context.Context, tx pgx.Tx, runID int64, which string, trials []stopwatt.Trial, at map[int64]place) error {
	var id int64
	var kind string
	var encoded []byte
	return forEach(ctx, tx, `
		SELECT h.trial_id, h.kind, h.encoded
		FROM stopwatt_store.histograms h JOIN stopwatt_store.trials t ON t.id = h.trial_id
		WHERE t.run_id = $1 AND `+which, runID, []any{&id, &kind, &encoded}, func() error {
		if kind != histogramLatency {
			return nil
		}
		trial := &trials[at[id].trial]
		trial.Latency = &stopwatt.Histogram{}
		return trial.Latency.UnmarshalBinary(encoded)
	})
}

// forEach scans the rows about one run, one after the other.
func forEach(ctx context.Context, tx pgx.Tx, sql string, runID int64, into []any, do func() error) error {
	rows, err := tx.Query(ctx, sql, runID)
	if err != nil {
		return err
	}
	_, err = pgx.ForEachRow(rows, into, do)
	return err
}

// notFound is ErrNotFound where a run's row is missing.
func notFound(err error) error {
	if errors.Is(err, pgx.ErrNoRows) {
		return ErrNotFound
	}
	return err
}
