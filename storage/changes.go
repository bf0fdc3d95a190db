package storage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// SaveChanges stores what searches for change points say about a series of a
// suite, one search for each machine, without their points. What was said before
// stays; a search that says the same as the last one is not stored again.
func (s *Store) SaveChanges(ctx context.Context, project, suite string, series stopwatt.Series, searches []stopwatt.ChangeSearch) error {
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		id, _, err := suiteID(ctx, tx, project, suite)
		if err != nil {
			return err
		}
		of, err := seriesOf(ctx, tx, id, series)
		if err != nil {
			return err
		}
		for _, search := range searches {
			if err := saveSearch(ctx, tx, of, search); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save the changes of %s, %s: %w", series.Case, series.Metric, err)
	}
	return nil
}

// A seriesKey says which series is meant.
type seriesKey struct {
	caseID, metricID int64
	against, profile string
}

// seriesOf returns the key of a series, whose case and metric it inserts where
// they are new.
func seriesOf(ctx context.Context, tx pgx.Tx, suite int64, series stopwatt.Series) (seriesKey, error) {
	cases, err := caseIDs(ctx, tx, suite, []stopwatt.Case{series.Case})
	if err != nil {
		return seriesKey{}, err
	}
	if err := insertMetrics(ctx, tx, []string{series.Metric}, nil); err != nil {
		return seriesKey{}, err
	}
	key := seriesKey{caseID: cases[series.Case], against: series.Against, profile: series.Profile}
	err = tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.metrics WHERE name = $1", series.Metric).Scan(&key.metricID)
	return key, err
}

func saveSearch(ctx context.Context, tx pgx.Tx, of seriesKey, search stopwatt.ChangeSearch) error {
	search.Points = nil
	text, err := document(search)
	if err != nil {
		return err
	}
	if said, err := foundAlready(ctx, tx, of, search.Machine, text); err != nil || said {
		return err
	}
	rest := search
	rest.ChangePoints = nil
	if text, err = document(rest); err != nil {
		return err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.change_searches (case_id, metric_id, against, profile, fingerprint, document) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`,
		of.caseID, of.metricID, of.against, of.profile, search.Machine, text).Scan(&id)
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for i, point := range search.ChangePoints {
		text, err := document(point)
		if err != nil {
			return err
		}
		batch.Queue(`
			INSERT INTO stopwatt_store.change_points (search_id, position, state, withheld, first_sha, past_sha, reached_sha,
				before, after, ratio, low, high, p, document)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
			id, i, point.State, point.Withheld, point.First.SHA, point.Past.SHA, point.Reached.SHA, point.Before.Mean, point.After.Mean,
			where(point.Ratio.Known, point.Ratio.Value), where(point.Ratio.Bounded, point.Ratio.Low), where(point.Ratio.Bounded, point.Ratio.High),
			point.P, text)
	}
	return tx.SendBatch(ctx, batch).Close()
}

// foundAlready tells whether the last search of the series on this machine says
// the same.
func foundAlready(ctx context.Context, tx pgx.Tx, of seriesKey, machine string, text []byte) (bool, error) {
	last, err := readSearches(ctx, tx, of)
	if err != nil {
		return false, err
	}
	// Through JSON and back, so that empty and missing lists are alike.
	var again stopwatt.ChangeSearch
	if err := json.Unmarshal(text, &again); err != nil {
		return false, err
	}
	if text, err = document(again); err != nil {
		return false, err
	}
	for _, search := range last {
		if search.Machine != machine {
			continue
		}
		stored, err := document(search)
		return bytes.Equal(stored, text), err
	}
	return false, nil
}

// Changes returns what the last searches for change points said about a series of
// a suite, one for each machine in the order of their fingerprints. They have no
// points. A series that was never searched has none.
func (s *Store) Changes(ctx context.Context, project, suite string, series stopwatt.Series) ([]stopwatt.ChangeSearch, error) {
	var searches []stopwatt.ChangeSearch
	err := s.reading(ctx, func(tx pgx.Tx) error {
		of := seriesKey{against: series.Against, profile: series.Profile}
		err := tx.QueryRow(ctx, `
			SELECT k.id, x.id
			FROM stopwatt_store.cases k
			JOIN stopwatt_store.suites s ON s.id = k.suite_id
			JOIN stopwatt_store.projects p ON p.id = s.project_id
			CROSS JOIN stopwatt_store.metrics x
			WHERE p.name = $1 AND s.name = $2 AND k.implementation = $3 AND k.workload = $4 AND x.name = $5`,
			project, suite, series.Case.Implementation, series.Case.Workload, series.Metric).Scan(&of.caseID, &of.metricID)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		searches, err = readSearches(ctx, tx, of)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the changes of %s, %s: %w", series.Case, series.Metric, err)
	}
	return searches, nil
}

func readSearches(ctx context.Context, tx pgx.Tx, of seriesKey) ([]stopwatt.ChangeSearch, error) {
	rows, err := tx.Query(ctx, `
		SELECT q.id, q.document
		FROM stopwatt_store.latest_searches l
		JOIN stopwatt_store.change_searches q ON q.id = l.search_id
		WHERE l.case_id = $1 AND l.metric_id = $2 AND l.against = $3 AND l.profile = $4
		ORDER BY l.fingerprint`, of.caseID, of.metricID, of.against, of.profile)
	if err != nil {
		return nil, err
	}
	var ids []int64
	var searches []stopwatt.ChangeSearch
	var id int64
	var text []byte
	_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
		var search stopwatt.ChangeSearch
		ids = append(ids, id)
		err := json.Unmarshal(text, &search)
		searches = append(searches, search)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, id := range ids {
		searches[i].ChangePoints, err = readDocuments[stopwatt.ChangePoint](ctx, tx,
			"SELECT document FROM stopwatt_store.change_points WHERE search_id = $1 ORDER BY position", id)
		if err != nil {
			return nil, err
		}
	}
	return searches, nil
}
