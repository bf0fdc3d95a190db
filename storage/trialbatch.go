package storage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// SaveTrials stores trials of a run as SaveTrial stores each, all of them or none,
// and many times as fast. Trials of a run that goes on are stored one by one, when
// each is finished: this is for those that were measured already.
func (s *Store) SaveTrials(ctx context.Context, runID int64, trials []stopwatt.Trial) error {
	err := s.atomically(ctx, func(tx pgx.Tx) error { return saveTrials(ctx, tx, runID, trials) })
	if err != nil {
		return fmt.Errorf("save %d trials of run %d: %w", len(trials), runID, err)
	}
	return nil
}

// A trialBatch is the rows of trials, table by table, in the order of their columns.
type trialBatch struct {
	run                                                    int64
	keys                                                   keys
	trials, measured, absent, repeated, latencies, samples [][]any
}

// batchTables are the tables of a trialBatch with the columns of its rows.
func (b *trialBatch) tables() []struct {
	name    string
	columns []string
	rows    [][]any
} {
	return []struct {
		name    string
		columns []string
		rows    [][]any
	}{
		{"trials", []string{"id", "run_id", "case_id", "revision", "round", "attempt", "position", "status", "reason", "warnings",
			"started", "window_start", "window_end", "part_of"}, b.trials},
		{"measurements", []string{"trial_id", "metric_id", "value"}, b.measured},
		{"absences", []string{"trial_id", "metric_id", "reason"}, b.absent},
		{"repetitions", []string{"trial_id", "metric_id", "values"}, b.repeated},
		{"histograms", []string{"trial_id", "kind", "encoded"}, b.latencies},
		{"samples", []string{"trial_id", "position", "meter", "quantity", "times", "values", "gaps", "coverage"}, b.samples},
	}
}

func saveTrials(ctx context.Context, tx pgx.Tx, runID int64, trials []stopwatt.Trial) error {
	trials, err := unstored(ctx, tx, runID, trials)
	if err != nil || len(trials) == 0 {
		return err
	}
	b := trialBatch{run: runID}
	if b.keys, err = keysOfTrials(ctx, tx, runID, trials); err != nil {
		return err
	}
	ids, err := reserveTrials(ctx, tx, trials)
	if err != nil {
		return err
	}
	for _, trial := range trials {
		if err := b.add(trial, ids); err != nil {
			return fmt.Errorf("%s, round %d: %w", trial.Case, trial.Round, err)
		}
		ids = ids[len(casesOf(trial)):]
	}
	for _, table := range b.tables() {
		if len(table.rows) == 0 {
			continue
		}
		if _, err := tx.CopyFrom(ctx, pgx.Identifier{"stopwatt_store", table.name}, table.columns, pgx.CopyFromRows(table.rows)); err != nil {
			return err
		}
	}
	return nil
}

// unstored are those of the trials that are not stored yet, checked and with plain
// names. The lock lets one of two that store the same ones wait for the other.
func unstored(ctx context.Context, tx pgx.Tx, runID int64, trials []stopwatt.Trial) ([]stopwatt.Trial, error) {
	if err := tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.runs WHERE id = $1 FOR UPDATE", runID).Scan(&runID); err != nil {
		return nil, notFound(err)
	}
	done, err := readDone(ctx, tx, runID)
	if err != nil {
		return nil, err
	}
	stored := map[stopwatt.PlannedTrial]bool{}
	for _, planned := range done {
		stored[planned] = true
	}
	var missing []stopwatt.Trial
	for _, trial := range trials {
		if stored[trial.PlannedTrial] {
			continue
		}
		stored[trial.PlannedTrial] = true
		trial = plainNames(trial)
		if err := checkTrial(trial); err != nil {
			return nil, fmt.Errorf("%s, round %d: %w", trial.Case, trial.Round, err)
		}
		missing = append(missing, trial)
	}
	return missing, nil
}

// keysOfTrials are the keys of the cases and metrics of trials and their parts.
func keysOfTrials(ctx context.Context, tx pgx.Tx, runID int64, trials []stopwatt.Trial) (keys, error) {
	var suite int64
	if err := tx.QueryRow(ctx, "SELECT suite_id FROM stopwatt_store.runs WHERE id = $1", runID).Scan(&suite); err != nil {
		return keys{}, err
	}
	var cases []stopwatt.Case
	var names []string
	var defined []stopwatt.Metric
	for _, trial := range trials {
		cases, names, defined = append(cases, casesOf(trial)...), append(names, metricsOf(trial)...), append(defined, trial.Defines...)
	}
	ids, err := caseIDs(ctx, tx, suite, distinct(cases))
	if err != nil {
		return keys{}, err
	}
	names = distinct(names)
	if err := insertMetrics(ctx, tx, names, distinct(defined)); err != nil {
		return keys{}, err
	}
	all := keys{ids, nil}
	all.metrics, err = metricIDs(ctx, tx, names)
	return all, err
}

// distinct are the values, each once, in their order.
func distinct[T comparable](values []T) []T {
	seen := map[T]bool{}
	var once []T
	for _, value := range values {
		if !seen[value] {
			seen[value] = true
			once = append(once, value)
		}
	}
	return once
}

// reserveTrials takes as many keys as the trials and their parts need, in order: a
// trial's parts stand behind it.
func reserveTrials(ctx context.Context, tx pgx.Tx, trials []stopwatt.Trial) ([]int64, error) {
	count := 0
	for _, trial := range trials {
		count += len(casesOf(trial))
	}
	return readIDs(ctx, tx, "SELECT nextval(pg_get_serial_sequence('stopwatt_store.trials', 'id')) FROM generate_series(1, $1)", count)
}

// add adds the rows of a trial and its parts, to which it gives the first keys.
func (b *trialBatch) add(trial stopwatt.Trial, ids []int64) error {
	id := ids[0]
	b.addRow(id, trial, trial.Case, allPlain(trial.Warnings), nil)
	b.addFigures(id, trial.Measurements, trial.Absent, trial.Repetitions)
	for i, part := range trial.Parts {
		b.addRow(ids[i+1], trial, part.Case, []string{}, &id)
		b.addFigures(ids[i+1], part.Measurements, part.Absent, part.Repetitions)
	}
	if trial.Latency != nil {
		encoded, err := trial.Latency.MarshalBinary()
		if err != nil {
			return err
		}
		b.latencies = append(b.latencies, []any{id, histogramLatency, encoded})
	}
	rows, err := sampleRows(id, trial.Window, trial.Samples)
	b.samples = append(b.samples, rows...)
	return err
}

func (b *trialBatch) addRow(id int64, trial stopwatt.Trial, of stopwatt.Case, warnings []string, partOf *int64) {
	b.trials = append(b.trials, []any{id, b.run, b.keys.cases[of], string(trial.Revision), trial.Round, trial.Attempt, trial.Position,
		string(trial.Status), plain(trial.Reason), warnings, trial.Started, trial.Window.Start, trial.Window.End, partOf})
}

func (b *trialBatch) addFigures(id int64, figures []stopwatt.Measurement, absent []stopwatt.Absence, repeated []stopwatt.Repetitions) {
	for _, m := range figures {
		b.measured = append(b.measured, []any{id, b.keys.metrics[m.Metric], m.Value})
	}
	for _, a := range absent {
		b.absent = append(b.absent, []any{id, b.keys.metrics[a.Metric], plain(a.Reason)})
	}
	for _, r := range repeated {
		b.repeated = append(b.repeated, []any{id, b.keys.metrics[r.Metric], append([]float64{}, r.Values...)})
	}
}
