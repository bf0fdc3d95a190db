package storage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	// pageWorse, pageSuites and pageMachines are how many of each an overview lists.
	pageWorse    = 200
	pageSuites   = 200
	pageMachines = 200
)

// Overview returns what stands at the beginning of history's pages.
func (a *Archive) Overview(ctx context.Context) (stopwatt.Overview, error) {
	var o stopwatt.Overview
	err := a.reading(ctx, func(tx pgx.Tx) error {
		var err error
		if o.Worse, err = readWorse(ctx, tx); err != nil {
			return err
		}
		if o.Suites, err = readSuiteLines(ctx, tx); err != nil {
			return err
		}
		ids, err := readIDs(ctx, tx, "SELECT id FROM stopwatt_store.runs ORDER BY started DESC, id DESC LIMIT $1", pageRuns)
		if err != nil {
			return err
		}
		if o.Runs, err = readRunLines(ctx, tx, ids); err != nil {
			return err
		}
		ids, err = readIDs(ctx, tx, "SELECT id FROM stopwatt_store.machines ORDER BY last_seen DESC, id DESC LIMIT $1", pageMachines)
		if err != nil {
			return err
		}
		o.Machines, err = readMachineLines(ctx, tx, ids)
		return err
	})
	if err != nil {
		return stopwatt.Overview{}, fmt.Errorf("read the overview: %w", err)
	}
	return o, nil
}

// readWorse reads the changes for the worse that stand: of each series on its newest
// machine the last change point, if that is one.
func readWorse(ctx context.Context, tx pgx.Tx) ([]stopwatt.SeriesChange, error) {
	rows, err := tx.Query(ctx, changeColumns+`
		FROM (
			SELECT DISTINCT ON (l.case_id, l.metric_id, l.profile) l.case_id, l.metric_id, l.profile, l.fingerprint, l.search_id
			FROM stopwatt_store.latest_searches l
			JOIN stopwatt_store.machines m ON m.fingerprint = l.fingerprint
			WHERE l.against = ''
			ORDER BY l.case_id, l.metric_id, l.profile, m.last_seen DESC, l.search_id DESC
		) q
		CROSS JOIN LATERAL (
			SELECT * FROM stopwatt_store.change_points
			WHERE search_id = q.search_id AND state <> 'withdrawn'
			ORDER BY position DESC LIMIT 1
		) v`+changeNames+`
		WHERE x.better = 'less' AND v.after > v.before OR x.better = 'more' AND v.after < v.before
		ORDER BY c.committed_at DESC NULLS LAST, v.search_id
		LIMIT $1`, pageWorse)
	if err != nil {
		return nil, err
	}
	return readChanges(rows)
}

// changeColumns and changeNames are what is asked of change points v of series q.
const (
	changeColumns = `
		SELECT p.name, s.name, q.profile, k.implementation, k.workload, x.name, x.unit, x.better, q.fingerprint, v.document,
		       v.first_sha, coalesce(c.parents, '{}'), coalesce(c.author, ''), coalesce(c.committed_at, '0001-01-01Z'), coalesce(c.subject, ''),
		       coalesce(c.merger, ''), coalesce(c.merge_request, 0)`
	changeNames = `
		JOIN stopwatt_store.metrics x ON x.id = q.metric_id
		JOIN stopwatt_store.cases k ON k.id = q.case_id
		JOIN stopwatt_store.suites s ON s.id = k.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		LEFT JOIN stopwatt_store.commits c ON c.project_id = p.id AND c.sha = v.first_sha`
)

func readChanges(rows pgx.Rows) ([]stopwatt.SeriesChange, error) {
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.SeriesChange, error) {
		var one stopwatt.SeriesChange
		var stored stopwatt.Metric
		err := row.Scan(&one.Suite.Project, &one.Suite.Suite, &one.Profile, &one.Case.Implementation, &one.Case.Workload,
			&stored.Name, &stored.Unit, &stored.Better, &one.Machine, &one.Change,
			&one.Commit.SHA, &one.Commit.Parents, &one.Commit.Author, &one.Commit.Time, &one.Commit.Subject,
			&one.Merger, &one.MergeRequest)
		one.Metric = described(stored)
		return one, err
	})
}

// described is a stored metric as stopwatt knows it, if it does.
func described(stored stopwatt.Metric) stopwatt.Metric {
	if metric, known := stopwatt.MetricNamed(stored.Name); known {
		return metric
	}
	return stored
}

// Changes returns the change points of courses, as the last searches said, in the
// order of cases and then of history. Withdrawn ones are not among them.
func (a *Archive) Changes(ctx context.Context, query stopwatt.CourseQuery) ([]stopwatt.SeriesChange, error) {
	var changes []stopwatt.SeriesChange
	err := a.reading(ctx, func(tx pgx.Tx) error {
		r, found, err := newCourseReader(ctx, tx, query)
		if err != nil || !found {
			return err
		}
		rows, err := tx.Query(ctx, changeColumns+`
			FROM unnest($1::bigint[]) WITH ORDINALITY w (case_id, place)
			JOIN stopwatt_store.latest_searches q ON q.case_id = w.case_id AND q.metric_id = $2 AND q.against = $3 AND q.fingerprint = $4 AND q.profile = $8
			JOIN stopwatt_store.change_points v ON v.search_id = q.search_id AND v.state <> 'withdrawn'`+changeNames+`
			WHERE coalesce(c.committed_at, $5) BETWEEN $5 AND $6
			ORDER BY w.place, v.position
			LIMIT $7`, r.ids, r.metric, query.Against, query.Machine, r.from, r.to, mostPoints, query.Profile)
		if err != nil {
			return err
		}
		changes, err = readChanges(rows)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the changes of %s of %s: %w", query.Metric, query.Suite.Suite, err)
	}
	return changes, nil
}

// readSuiteLines reads the suites that have a run, the latest measured first.
func readSuiteLines(ctx context.Context, tx pgx.Tx) ([]stopwatt.SuiteLine, error) {
	var lines []stopwatt.SuiteLine
	var ids []int64
	rows, err := tx.Query(ctx, `
		SELECT r.id, jsonb_array_length(coalesce(nullif(r.settings -> 'Implementations', 'null'), '[]')),
		       jsonb_array_length(coalesce(nullif(r.settings -> 'Workloads', 'null'), '[]'))
		FROM stopwatt_store.suites s
		CROSS JOIN LATERAL (SELECT id, started, settings FROM stopwatt_store.runs WHERE suite_id = s.id ORDER BY started DESC, id DESC LIMIT 1) r
		ORDER BY r.started DESC, r.id DESC
		LIMIT $1`, pageSuites)
	if err != nil {
		return nil, err
	}
	var id int64
	var line stopwatt.SuiteLine
	_, err = pgx.ForEachRow(rows, []any{&id, &line.Implementations, &line.Workloads}, func() error {
		ids, lines = append(ids, id), append(lines, line)
		return nil
	})
	if err != nil {
		return nil, err
	}
	latest, err := readRunLines(ctx, tx, ids)
	for i := range latest {
		lines[i].Suite, lines[i].Latest = latest[i].Suite, latest[i]
	}
	return lines, err
}
