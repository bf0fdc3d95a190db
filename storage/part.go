package storage

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// itself stands for a trial where a part's index would.
const itself = -1

// A place is where the trial of a row stands, and which of its parts the row
// is.
type place struct{ trial, part int }

// casesOf are the cases of a trial and of its parts.
func casesOf(trial stopwatt.Trial) []stopwatt.Case {
	cases := []stopwatt.Case{trial.Case}
	for _, part := range trial.Parts {
		cases = append(cases, part.Case)
	}
	return cases
}

// insertParts stores the parts of a trial that has just been stored, which are
// like it in all but case and figures, and adds their figures to those that are
// to be saved.
func insertParts(ctx context.Context, tx pgx.Tx, trial int64, parts []stopwatt.Part, cases map[stopwatt.Case]int64, figures *figureRows) error {
	if len(parts) == 0 {
		return nil
	}
	var of []int64
	for _, part := range parts {
		of = append(of, cases[part.Case])
	}
	rows, err := tx.Query(ctx, `
		INSERT INTO stopwatt_store.trials (run_id, case_id, revision, round, attempt, position, status, reason, warnings, started, window_start, window_end, part_of)
		SELECT t.run_id, c.id, t.revision, t.round, t.attempt, t.position, t.status, t.reason, '{}', t.started, t.window_start, t.window_end, t.id
		FROM stopwatt_store.trials t CROSS JOIN unnest($2::bigint[]) WITH ORDINALITY c (id, place)
		WHERE t.id = $1
		ORDER BY c.place
		RETURNING id, case_id`, trial, of)
	if err != nil {
		return err
	}
	ids := map[int64]int64{} // by case
	var id, caseID int64
	_, err = pgx.ForEachRow(rows, []any{&id, &caseID}, func() error {
		ids[caseID] = id
		return nil
	})
	for i, part := range parts {
		figures.add(ids[of[i]], part.Measurements, part.Absent, part.Repetitions)
	}
	return err
}

// plainNames makes text of the names that a harness gave: of its parts and of
// the metrics that it defines.
func plainNames(trial stopwatt.Trial) stopwatt.Trial {
	trial.Defines = slices.Clone(trial.Defines)
	for i := range trial.Defines {
		trial.Defines[i].Name, trial.Defines[i].Unit = plain(trial.Defines[i].Name), plain(trial.Defines[i].Unit)
	}
	trial.Measurements, trial.Absent, trial.Repetitions = plainFigures(trial.Measurements, trial.Absent, trial.Repetitions)
	trial.Parts = slices.Clone(trial.Parts)
	for i := range trial.Parts {
		part := &trial.Parts[i]
		part.Case.Workload = plain(part.Case.Workload)
		part.Measurements, part.Absent, part.Repetitions = plainFigures(part.Measurements, part.Absent, part.Repetitions)
	}
	return trial
}

func plainFigures(figures []stopwatt.Measurement, absent []stopwatt.Absence, repeated []stopwatt.Repetitions) ([]stopwatt.Measurement, []stopwatt.Absence, []stopwatt.Repetitions) {
	figures, absent, repeated = slices.Clone(figures), slices.Clone(absent), slices.Clone(repeated)
	for i := range figures {
		figures[i].Metric = plain(figures[i].Metric)
	}
	for i := range absent {
		absent[i].Metric = plain(absent[i].Metric)
	}
	for i := range repeated {
		repeated[i].Metric = plain(repeated[i].Metric)
	}
	return figures, absent, repeated
}
