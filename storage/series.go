package storage

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// A SeriesQuery says which series are wanted. Fields that are empty narrow nothing.
type SeriesQuery struct {
	Project, Suite string
	Metric         string                   // needed
	Profile        string                   // of the runs, also when it is empty: a short run is no long one
	Labels         map[string]string        // of the runs
	Wanted         func(stopwatt.Case) bool // nil: every case
	Newest         int                      // so many commits of each machine, by their times; 0: all
}

// Series returns the series of a metric, one for each case of a suite that has any:
// the means of the runs that stand in history, as stopwatt.Run.EntersHistory says.
// Positions in history are not known here: they are 0, and the points are in the
// order of their commits' times, then of their runs.
func (s *Store) Series(ctx context.Context, query SeriesQuery) ([]stopwatt.Series, error) {
	var all []stopwatt.Series
	err := s.reading(ctx, func(tx pgx.Tx) error {
		cases, err := wantedCases(ctx, tx, query)
		if err == nil {
			all, err = readSeries(ctx, tx, query, cases)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the series of %s: %w", query.Metric, err)
	}
	return all, nil
}

// wantedCases are the keys of the cases that a query is of.
func wantedCases(ctx context.Context, tx pgx.Tx, query SeriesQuery) ([]int64, error) {
	rows, err := tx.Query(ctx, `
		SELECT k.id, k.implementation, k.workload
		FROM stopwatt_store.cases k
		JOIN stopwatt_store.suites s ON s.id = k.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		WHERE ($1 = '' OR p.name = $1) AND ($2 = '' OR s.name = $2)`, query.Project, query.Suite)
	if err != nil {
		return nil, err
	}
	var ids []int64
	var id int64
	var c stopwatt.Case
	_, err = pgx.ForEachRow(rows, []any{&id, &c.Implementation, &c.Workload}, func() error {
		if query.Wanted == nil || query.Wanted(c) {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

func readSeries(ctx context.Context, tx pgx.Tx, query SeriesQuery, cases []int64) ([]stopwatt.Series, error) {
	rows, err := tx.Query(ctx, `
		SELECT k.implementation, k.workload, c.sha, h.committed_at, h.run_id, y.mean, y.n, m.fingerprint, h.epoch
		FROM stopwatt_store.tracks t
		JOIN stopwatt_store.machines m ON m.id = t.machine_id
		CROSS JOIN LATERAL (
			SELECT min(committed_at) AS first
			FROM (SELECT DISTINCT committed_at FROM stopwatt_store.history WHERE track_id = t.id ORDER BY committed_at DESC LIMIT nullif($5, 0)) n
		) newest
		JOIN stopwatt_store.history h ON h.track_id = t.id AND h.committed_at >= newest.first
		JOIN stopwatt_store.commits c ON c.id = h.commit_id
		JOIN stopwatt_store.summaries y ON y.run_id = h.run_id AND y.revision = 'head' AND y.case_id = ANY($1::bigint[])
		JOIN stopwatt_store.metrics x ON x.id = y.metric_id AND x.name = $2
		JOIN stopwatt_store.cases k ON k.id = y.case_id
		WHERE t.suite_id IN (SELECT suite_id FROM stopwatt_store.cases WHERE id = ANY($1::bigint[])) AND t.profile = $3
		  AND ($4::jsonb = '{}' OR EXISTS (SELECT FROM stopwatt_store.runs r WHERE r.id = h.run_id AND r.labels @> $4::jsonb))
		ORDER BY k.workload COLLATE "C", k.implementation COLLATE "C", h.committed_at, h.run_id`,
		cases, query.Metric, query.Profile, labelsOf(query.Labels), query.Newest)
	if err != nil {
		return nil, err
	}
	var all []stopwatt.Series
	var c stopwatt.Case
	var p stopwatt.SeriesPoint
	into := []any{&c.Implementation, &c.Workload, &p.SHA, &p.Time, &p.Run, &p.Value, &p.N, &p.Machine, &p.Epoch}
	_, err = pgx.ForEachRow(rows, into, func() error {
		if n := len(all); n == 0 || all[n-1].Case != c {
			all = append(all, stopwatt.Series{Case: c, Metric: query.Metric, Profile: query.Profile})
		}
		last := &all[len(all)-1]
		last.Points = append(last.Points, p)
		return nil
	})
	return all, err
}

// MachineNames are the latest names of all machines, by fingerprint.
func (s *Store) MachineNames(ctx context.Context) (map[string]string, error) {
	names := map[string]string{}
	err := s.reading(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "SELECT fingerprint, name FROM stopwatt_store.machines")
		if err != nil {
			return err
		}
		var fingerprint, name string
		_, err = pgx.ForEachRow(rows, []any{&fingerprint, &name}, func() error {
			names[fingerprint] = name
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the machines' names: %w", err)
	}
	return names, nil
}
