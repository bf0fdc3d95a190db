package storage

import (
	"context"

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
