package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// pageRuns is how many runs a list on a page has.
const pageRuns = 12

// readRunLines reads runs as they stand in a list, in the order of their keys.
func readRunLines(ctx context.Context, tx pgx.Tx, ids []int64) ([]stopwatt.RunLine, error) {
	rows, err := tx.Query(ctx, `
		SELECT r.id, p.name, s.name, r.profile,
		       coalesce(c.sha, ''), coalesce(c.parents, '{}'), coalesce(c.author, ''), coalesce(c.committed_at, '0001-01-01Z'), coalesce(c.subject, ''),
		       r.branch, r.on_default, r.dirty, r.imported, coalesce(b.sha, ''), m.fingerprint, m.name, r.status, r.started, r.ended, r.planned,
		       t.valid, t.marked, t.invalid, coalesce(j.regressed, 0), coalesce(j.improved, 0),
		       coalesce((r.pipeline -> 'MergeRequest' ->> 'IID')::int, 0), coalesce(r.pipeline ->> 'ProjectURL', '')
		FROM unnest($1::bigint[]) WITH ORDINALITY w (id, place)
		JOIN stopwatt_store.runs r ON r.id = w.id
		JOIN stopwatt_store.suites s ON s.id = r.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		JOIN stopwatt_store.machines m ON m.id = r.machine_id
		LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
		LEFT JOIN stopwatt_store.commits b ON b.id = r.base_commit_id
		CROSS JOIN LATERAL (
			SELECT count(*) FILTER (WHERE status = 'valid') AS valid,
			       count(*) FILTER (WHERE status = 'valid' AND cardinality(warnings) > 0) AS marked,
			       count(*) FILTER (WHERE status = 'invalid') AS invalid
			FROM stopwatt_store.trials WHERE run_id = r.id AND part_of IS NULL
		) t
		LEFT JOIN LATERAL (
			SELECT count(*) FILTER (WHERE v.verdict = 'regressed') AS regressed, count(*) FILTER (WHERE v.verdict = 'improved') AS improved
			FROM (SELECT id FROM stopwatt_store.judgements WHERE run_id = r.id ORDER BY id DESC LIMIT 1) l
			JOIN stopwatt_store.comparisons v ON v.judgement_id = l.id
		) j ON true
		ORDER BY w.place`, ids)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.RunLine, error) {
		var line stopwatt.RunLine
		var ended *time.Time
		err := row.Scan(&line.ID, &line.Suite.Project, &line.Suite.Suite, &line.Profile,
			&line.Commit.SHA, &line.Commit.Parents, &line.Commit.Author, &line.Commit.Time, &line.Commit.Subject,
			&line.Branch, &line.Default, &line.Dirty, &line.Imported, &line.Against, &line.Machine, &line.MachineName,
			&line.Status, &line.Started, &ended, &line.Planned, &line.Valid, &line.Marked, &line.Invalid, &line.Regressed, &line.Improved,
			&line.MergeRequest, &line.ProjectURL)
		if ended != nil {
			line.Ended = *ended
		}
		return line, err
	})
}

// Line returns a run as it stands in a list, or ErrNotFound.
func (a *Archive) Line(ctx context.Context, run int64) (stopwatt.RunLine, error) {
	var line stopwatt.RunLine
	err := a.reading(ctx, func(tx pgx.Tx) error {
		lines, err := readRunLines(ctx, tx, []int64{run})
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			return ErrNotFound
		}
		line = lines[0]
		return nil
	})
	if err != nil {
		return stopwatt.RunLine{}, fmt.Errorf("read run %d: %w", run, err)
	}
	return line, nil
}

// readIDs reads the keys that a question answers with.
func readIDs(ctx context.Context, tx pgx.Tx, sql string, args ...any) ([]int64, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}
