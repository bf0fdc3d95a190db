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
	Metric         string            // needed
	Profile        string            // of the runs, also when it is empty: a short run is no long one
	Labels         map[string]string // of the runs
}

// entersHistory is stopwatt.Run.EntersHistory in SQL, of a run r.
const entersHistory = `r.status = 'finished' AND r.on_default AND NOT r.dirty AND NOT r.imported
		  AND coalesce(r.pipeline ->> 'Kind', 'default branch') = 'default branch'`

// Series returns the series of a metric, one for each case of a suite that has any:
// the means of finished runs of commits of the default branch, measured here from a
// clean checkout. Positions in history are not known here: they are 0, and the
// points are in the order of their commits' times, then of their runs.
func (s *Store) Series(ctx context.Context, query SeriesQuery) ([]stopwatt.Series, error) {
	var all []stopwatt.Series
	err := s.reading(ctx, func(tx pgx.Tx) error {
		var err error
		all, err = readSeries(ctx, tx, query)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the series of %s: %w", query.Metric, err)
	}
	return all, nil
}

func readSeries(ctx context.Context, tx pgx.Tx, query SeriesQuery) ([]stopwatt.Series, error) {
	rows, err := tx.Query(ctx, `
		SELECT k.implementation, k.workload, c.sha, c.committed_at, r.id, y.mean, y.n, m.fingerprint,
		       -- Other cores, and another way to the server, shift figures as another kernel does.
		       coalesce(e.key, '') || coalesce(r.settings->>'ServerCPUs', '') || coalesce(r.settings->'DriverHost'->>'Address', '')
		FROM stopwatt_store.summaries y
		JOIN stopwatt_store.metrics x ON x.id = y.metric_id
		JOIN stopwatt_store.cases k ON k.id = y.case_id
		JOIN stopwatt_store.suites s ON s.id = k.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		JOIN stopwatt_store.runs r ON r.id = y.run_id
		JOIN stopwatt_store.commits c ON c.id = r.commit_id
		JOIN stopwatt_store.machines m ON m.id = r.machine_id
		LEFT JOIN stopwatt_store.machine_epochs e ON e.id = r.epoch_id
		WHERE x.name = $1 AND ($2 = '' OR p.name = $2) AND ($3 = '' OR s.name = $3) AND r.profile = $4
		  AND y.revision = 'head' AND r.labels @> $5::jsonb AND `+entersHistory+`
		ORDER BY k.workload COLLATE "C", k.implementation COLLATE "C", c.committed_at, r.id`,
		query.Metric, query.Project, query.Suite, query.Profile, labelsOf(query.Labels))
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
