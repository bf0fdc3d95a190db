package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// A RunQuery says which run is meant, or which runs are. Fields that are empty
// narrow nothing.
type RunQuery struct {
	ID int64 // 0: the latest finished one, or else the latest
	// Project and Suite narrow the choice where they are not empty.
	Project, Suite string
	// Machine, where it is not empty, is the Fingerprint of the machine that the
	// run was carried out on.
	Machine string
	// Commit and Against are SHAs of the head and of what it was measured against.
	Commit, Against string
	// Labels are those that the run must have, with their values.
	Labels map[string]string
	// Pipeline is the ID of the pipeline that the run was measured in.
	Pipeline int64
	// MergeProject and MergeRequest are the project's ID and the IID of the merge
	// request that the run was measured for. A pipeline's ID and an IID are those of
	// one GitLab: API is its Pipeline.API.
	MergeProject, MergeRequest int64
	API                        string
}

// runsMatching joins and narrows the runs r to those that a query means; its
// parameters are those of RunQuery.parameters, the first eleven.
const runsMatching = `
		FROM stopwatt_store.runs r
		JOIN stopwatt_store.suites s ON s.id = r.suite_id
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		JOIN stopwatt_store.machines m ON m.id = r.machine_id
		LEFT JOIN stopwatt_store.commits c ON c.id = r.commit_id
		LEFT JOIN stopwatt_store.commits b ON b.id = r.base_commit_id
		WHERE ($1 = 0 OR r.id = $1) AND ($2 = '' OR p.name = $2) AND ($3 = '' OR s.name = $3) AND ($4 = '' OR m.fingerprint = $4)
		  AND ($5 = '' OR c.sha = $5) AND ($6 = '' OR b.sha = $6) AND r.labels @> $7::jsonb
		  AND ($8 = 0 OR r.pipeline IS NOT NULL AND (r.pipeline ->> 'ID')::bigint = $8)
		  AND ($9 = 0 OR r.pipeline IS NOT NULL AND (r.pipeline -> 'MergeRequest' ->> 'ProjectID')::bigint = $9)
		  AND ($10 = 0 OR r.pipeline IS NOT NULL AND (r.pipeline -> 'MergeRequest' ->> 'IID')::bigint = $10)
		  AND ($11 = '' OR r.pipeline ->> 'API' = $11)`

// parameters are those of runsMatching.
func (q RunQuery) parameters() []any {
	return []any{q.ID, q.Project, q.Suite, q.Machine, q.Commit, q.Against, labelsOf(q.Labels), q.Pipeline, q.MergeProject, q.MergeRequest, q.API}
}

// labelsOf are labels as an object that the column labels may contain.
func labelsOf(labels map[string]string) []byte {
	if len(labels) == 0 {
		return []byte("{}")
	}
	text, _ := json.Marshal(labels) // a map of texts has a form in JSON
	return replaceNUL(text)
}

// FindRun returns the ID of the run that is meant, or ErrNotFound.
func (s *Store) FindRun(ctx context.Context, query RunQuery) (int64, error) {
	var id int64
	err := s.pool.QueryRow(ctx, "SELECT r.id"+runsMatching+`
		ORDER BY r.status = 'finished' DESC, r.started DESC, r.id DESC
		LIMIT 1`, query.parameters()...).Scan(&id)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, fmt.Errorf("run: %w", ErrNotFound)
	}
	if err != nil {
		return 0, fmt.Errorf("find run: %w", s.name(err))
	}
	return id, nil
}

// LatestOfEachMachine returns, for every machine, the ID of the latest finished
// run of the suite that FindRun finds, in the order in which the runs began.
// Where there is none, the error is ErrNotFound.
func (s *Store) LatestOfEachMachine(ctx context.Context, query RunQuery) ([]int64, error) {
	latest, err := s.FindRun(ctx, query)
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, `
		SELECT id FROM (
			SELECT DISTINCT ON (machine_id) id, started
			FROM stopwatt_store.runs
			WHERE suite_id = (SELECT suite_id FROM stopwatt_store.runs WHERE id = $1) AND status = 'finished'
			ORDER BY machine_id, started DESC, id DESC
		) r
		ORDER BY started, id`, latest)
	if err != nil {
		return nil, fmt.Errorf("find the runs of each machine: %w", s.name(err))
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err == nil && ids == nil {
		err = ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("find the runs of each machine: %w", s.name(err))
	}
	return ids, nil
}

// mostRuns is how many runs one question returns at most, the latest: a pipeline
// has one for each suite and machine, a merge request one for each push of these.
const mostRuns = 200

// RunsOf returns what came of the runs that are meant, of every status, in the
// order in which they began; of very many the latest two hundred. Those that were
// judged have their last judgement.
func (s *Store) RunsOf(ctx context.Context, query RunQuery) ([]stopwatt.Results, error) {
	all, err := s.resultsOf(ctx, "SELECT r.id"+runsMatching, query.parameters()...)
	if err != nil {
		return nil, fmt.Errorf("read the runs of a query: %w", err)
	}
	return all, nil
}

// EarlierAttempts returns what came of the finished runs before this one, that
// measured the same on the same machine for the same merge request: the same head
// of its source branch against the same base, by the same suite and profile. They
// stand in the order in which they began. Of a run without a merge request there
// are none.
func (s *Store) EarlierAttempts(ctx context.Context, run stopwatt.Run) ([]stopwatt.Results, error) {
	if run.Pipeline == nil || !run.Pipeline.Kind.OfMergeRequest() {
		return nil, nil
	}
	query := RunQuery{
		Project: run.Project, Suite: run.Suite, Machine: fingerprintOf(run.Machine), Against: run.Against.Commit.SHA,
		MergeProject: run.Pipeline.MergeRequest.ProjectID, MergeRequest: int64(run.Pipeline.MergeRequest.IID), API: run.Pipeline.API,
	}
	all, err := s.resultsOf(ctx, "SELECT r.id"+runsMatching+`
		  AND r.status = 'finished' AND r.id <> $12 AND (r.started, r.id) < ($13, $12) AND r.profile = $14
		  -- A merged result is another commit each time; the head of its source branch is not.
		  AND (c.sha = $15 OR r.pipeline ->> 'SourceHead' = nullif($16, ''))`,
		append(query.parameters(), run.ID, run.Started, run.Profile, run.Checkout.Commit.SHA, run.Pipeline.SourceHead)...)
	if err != nil {
		return nil, fmt.Errorf("read the earlier attempts of run %d: %w", run.ID, err)
	}
	return all, nil
}

// resultsOf returns what came of the runs whose IDs are selected from runs r, the
// latest of very many, in the order in which they began.
func (s *Store) resultsOf(ctx context.Context, selected string, parameters ...any) ([]stopwatt.Results, error) {
	var all []stopwatt.Results
	err := s.reading(ctx, func(tx pgx.Tx) error {
		all = nil
		rows, err := tx.Query(ctx, fmt.Sprintf(`
			SELECT id FROM (%s ORDER BY r.started DESC, r.id DESC LIMIT %d) l JOIN stopwatt_store.runs USING (id) ORDER BY started, id`, selected, mostRuns), parameters...)
		if err != nil {
			return err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		if err != nil {
			return err
		}
		for _, id := range ids {
			results, err := readJudged(ctx, tx, id)
			if err != nil {
				return err
			}
			all = append(all, results)
		}
		return nil
	})
	return all, err
}

// readJudged reads what came of a run, with its judgement where it has one.
func readJudged(ctx context.Context, tx pgx.Tx, id int64) (stopwatt.Results, error) {
	results, err := readResults(ctx, tx, id)
	if err != nil {
		return stopwatt.Results{}, err
	}
	judgement, err := readJudgement(ctx, tx, id)
	if errors.Is(err, ErrNotFound) {
		return results, nil
	}
	results.Judgement = &judgement
	return results, err
}

// LatestOfImage returns the latest finished run on a machine in which a case was
// measured with the very image of this ID, as head or as base, and of its results
// those of that case and side alone. Where there is none, the error is
// ErrNotFound.
func (s *Store) LatestOfImage(ctx context.Context, project, suite, fingerprint string, of stopwatt.Case, imageID string) (stopwatt.Results, error) {
	var results stopwatt.Results
	err := s.reading(ctx, func(tx pgx.Tx) error {
		var id int64
		var revision stopwatt.Revision
		err := tx.QueryRow(ctx, `
			SELECT r.id, y.revision
			FROM stopwatt_store.cases k
			JOIN stopwatt_store.suites s ON s.id = k.suite_id
			JOIN stopwatt_store.projects p ON p.id = s.project_id
			JOIN stopwatt_store.runs r ON r.suite_id = s.id AND r.status = 'finished'
			JOIN stopwatt_store.machines m ON m.id = r.machine_id
			CROSS JOIN LATERAL (
				SELECT 'head' AS revision FROM stopwatt_store.run_images WHERE run_id = r.id AND implementation = k.implementation AND image_id = $6
				UNION ALL
				SELECT 'base' FROM stopwatt_store.run_base_images WHERE run_id = r.id AND implementation = k.implementation AND image_id = $6
			) y
			WHERE p.name = $1 AND s.name = $2 AND m.fingerprint = $3 AND k.implementation = $4 AND k.workload = $5
			  AND EXISTS (SELECT FROM stopwatt_store.summaries v WHERE v.run_id = r.id AND v.case_id = k.id AND v.revision = y.revision)
			ORDER BY r.started DESC, r.id DESC, y.revision DESC
			LIMIT 1`, project, suite, fingerprint, of.Implementation, of.Workload, imageID).Scan(&id, &revision)
		if err != nil {
			return notFound(err)
		}
		all, err := readResults(ctx, tx, id)
		results = onlyOf(all, of, revision)
		return err
	})
	if err != nil {
		return stopwatt.Results{}, fmt.Errorf("read the latest results of %s with image %s: %w", of, imageID, err)
	}
	return results, nil
}

// onlyOf keeps the results of one side of a case.
func onlyOf(results stopwatt.Results, of stopwatt.Case, revision stopwatt.Revision) stopwatt.Results {
	var kept []stopwatt.CaseResult
	for _, result := range results.Cases {
		if result.Case == of && result.Revision == revision {
			kept = append(kept, result)
		}
	}
	results.Cases = kept
	return results
}
