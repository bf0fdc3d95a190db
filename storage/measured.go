package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// A MeasuredRun is a finished run of a commit of the default branch, measured here
// from a clean checkout: one that stands in history.
type MeasuredRun struct {
	ID             int64
	SHA            string
	Committed      time.Time
	Machine        string // its fingerprint
	Against        string // SHA of what it was measured against; empty: nothing
	Started, Ended time.Time
}

// Measured returns the runs of a suite that stand in history, the oldest first. The
// metric of the query is not looked at.
func (s *Store) Measured(ctx context.Context, query SeriesQuery) ([]MeasuredRun, error) {
	var runs []MeasuredRun
	err := s.reading(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT r.id, c.sha, c.committed_at, m.fingerprint, coalesce(b.sha, ''), r.started, r.ended
			FROM stopwatt_store.runs r
			JOIN stopwatt_store.suites s ON s.id = r.suite_id
			JOIN stopwatt_store.projects p ON p.id = s.project_id
			JOIN stopwatt_store.commits c ON c.id = r.commit_id
			JOIN stopwatt_store.machines m ON m.id = r.machine_id
			LEFT JOIN stopwatt_store.commits b ON b.id = r.base_commit_id
			WHERE ($1 = '' OR p.name = $1) AND ($2 = '' OR s.name = $2) AND r.profile = $3
			  AND r.status = 'finished' AND r.on_default AND NOT r.dirty AND NOT r.imported
			ORDER BY r.started, r.id`, query.Project, query.Suite, query.Profile)
		if err != nil {
			return err
		}
		runs, err = pgx.CollectRows(rows, pgx.RowToStructByPos[MeasuredRun])
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the measured commits: %w", err)
	}
	return runs, nil
}

// MeasuredCases returns the cases that these runs have trials of, of their heads, by run.
// Parts are not among them.
func (s *Store) MeasuredCases(ctx context.Context, runs []int64) (map[int64][]stopwatt.Case, error) {
	cases := map[int64][]stopwatt.Case{}
	err := s.reading(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT DISTINCT t.run_id, k.implementation, k.workload
			FROM stopwatt_store.trials t JOIN stopwatt_store.cases k ON k.id = t.case_id
			WHERE t.run_id = ANY($1) AND t.revision = 'head' AND t.part_of IS NULL`, runs)
		if err != nil {
			return err
		}
		var id int64
		var c stopwatt.Case
		_, err = pgx.ForEachRow(rows, []any{&id, &c.Implementation, &c.Workload}, func() error {
			cases[id] = append(cases[id], c)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the measured cases: %w", err)
	}
	return cases, nil
}

// Commit returns what is known of a commit of a project that was measured; the error
// is ErrNotFound where none has this SHA.
func (s *Store) Commit(ctx context.Context, project, sha string) (stopwatt.Commit, error) {
	commit := stopwatt.Commit{SHA: sha}
	err := s.pool.QueryRow(ctx, `
		SELECT c.parents, c.author, c.committed_at, c.subject
		FROM stopwatt_store.commits c JOIN stopwatt_store.projects p ON p.id = c.project_id
		WHERE ($1 = '' OR p.name = $1) AND c.sha = $2`, project, sha).Scan(&commit.Parents, &commit.Author, &commit.Time, &commit.Subject)
	if errors.Is(err, pgx.ErrNoRows) {
		return stopwatt.Commit{}, fmt.Errorf("commit %.8s: %w", sha, ErrNotFound)
	}
	if err != nil {
		return stopwatt.Commit{}, fmt.Errorf("read commit %.8s: %w", sha, s.name(err))
	}
	return commit, nil
}

// RunsAgainst returns the finished runs of a commit that were measured against another
// one, the newest first. The ID of the query is not looked at.
func (s *Store) RunsAgainst(ctx context.Context, query RunQuery) ([]int64, error) {
	rows, err := s.pool.Query(ctx, `
		SELECT r.id
		FROM stopwatt_store.runs r
		JOIN stopwatt_store.suites s ON s.id = r.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		JOIN stopwatt_store.machines m ON m.id = r.machine_id
		JOIN stopwatt_store.commits c ON c.id = r.commit_id
		JOIN stopwatt_store.commits b ON b.id = r.base_commit_id
		WHERE ($1 = '' OR p.name = $1) AND ($2 = '' OR s.name = $2) AND ($3 = '' OR m.fingerprint = $3)
		  AND c.sha = $4 AND b.sha = $5 AND r.status = 'finished' AND NOT r.dirty AND NOT r.imported
		ORDER BY r.id DESC`, query.Project, query.Suite, query.Machine, query.Commit, query.Against)
	if err != nil {
		return nil, fmt.Errorf("find runs: %w", s.name(err))
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("find runs: %w", s.name(err))
	}
	return ids, nil
}

// MachinesNamed returns all that is known of the machines of this name, or of the one
// whose fingerprint begins so; two machines may bear one name. Where there is none, the
// error is ErrNotFound.
func (s *Store) MachinesNamed(ctx context.Context, name string) ([]stopwatt.MachineHistory, error) {
	var machines []stopwatt.MachineHistory
	err := s.reading(ctx, func(tx pgx.Tx) error {
		ids, err := readIDs(ctx, tx, "SELECT id FROM stopwatt_store.machines WHERE name = $1 OR starts_with(fingerprint, $1) AND length($1) >= 7 ORDER BY last_seen DESC, id", name)
		if err != nil {
			return err
		}
		for _, id := range ids {
			machine, err := readMachineHistory(ctx, tx, id)
			if err != nil {
				return err
			}
			machines = append(machines, machine)
		}
		return nil
	})
	if err == nil && machines == nil {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read machine %s: %w", name, err)
	}
	return machines, nil
}
