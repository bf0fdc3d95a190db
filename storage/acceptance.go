package storage

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// An AcceptanceQuery says which acceptances are meant: those of a suite that were
// said for a merge request, or, with a zero one, of the default branch and by hand.
type AcceptanceQuery struct {
	Project, Suite string
	MergeRequest   stopwatt.MergeRequest
}

// SaveAcceptances adds what somebody said to changes for the worse of a suite, with
// the merge request that it was said for. What was said before stays, and what is
// said again is stored once.
func (s *Store) SaveAcceptances(ctx context.Context, of AcceptanceQuery, acceptances []stopwatt.Acceptance) error {
	if len(acceptances) == 0 {
		return nil
	}
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		suite, _, err := suiteID(ctx, tx, of.Project, of.Suite)
		if err != nil {
			return err
		}
		batch := &pgx.Batch{}
		for _, a := range acceptances {
			batch.Queue(`
				INSERT INTO stopwatt_store.acceptances (suite_id, pattern, metric, reason, said_by, commit, said_at, until, merge_project, merge_request)
				VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
				ON CONFLICT DO NOTHING`,
				suite, plain(a.Case), plain(a.Metric), plain(a.Reason), plain(a.By), plain(a.Commit), a.At, unlessZero(a.Until),
				of.MergeRequest.ProjectID, of.MergeRequest.IID)
		}
		return tx.SendBatch(ctx, batch).Close()
	})
	if err != nil {
		return fmt.Errorf("save what was accepted of suite %s: %w", of.Suite, err)
	}
	return nil
}

// unlessZero is a time, or null for none.
func unlessZero(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// Acceptances returns what SaveAcceptances stored, in the order in which it was
// said. Those that have ended are among them.
func (s *Store) Acceptances(ctx context.Context, of AcceptanceQuery) ([]stopwatt.Acceptance, error) {
	var acceptances []stopwatt.Acceptance
	err := s.reading(ctx, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, `
			SELECT a.pattern, a.metric, a.reason, a.said_by, a.commit, a.said_at, coalesce(a.until, '0001-01-01Z')
			FROM stopwatt_store.acceptances a
			JOIN stopwatt_store.suites s ON s.id = a.suite_id
			JOIN stopwatt_store.projects p ON p.id = s.project_id
			WHERE p.name = $1 AND s.name = $2 AND a.merge_project = $3 AND a.merge_request = $4
			ORDER BY a.said_at, a.id`, of.Project, of.Suite, of.MergeRequest.ProjectID, of.MergeRequest.IID)
		if err != nil {
			return err
		}
		acceptances, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.Acceptance, error) {
			var a stopwatt.Acceptance
			err := row.Scan(&a.Case, &a.Metric, &a.Reason, &a.By, &a.Commit, &a.At, &a.Until)
			return a, err
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what was accepted of suite %s: %w", of.Suite, err)
	}
	return acceptances, nil
}
