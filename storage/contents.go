package storage

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// Contents returns what a suite's history can be asked about, or ErrNotFound where
// no run of it is finished. Without a project, it is that of the project whose run
// is the latest. Its metrics are those of the latest run of each machine
// and profile.
func (a *Archive) Contents(ctx context.Context, suite stopwatt.SuiteName) (stopwatt.SuiteContents, error) {
	contents := stopwatt.SuiteContents{Suite: suite}
	err := a.reading(ctx, func(tx pgx.Tx) error { return readContents(ctx, tx, &contents) })
	if err != nil {
		return stopwatt.SuiteContents{}, fmt.Errorf("read what is stored of suite %s: %w", suite.Suite, err)
	}
	return contents, nil
}

func readContents(ctx context.Context, tx pgx.Tx, contents *stopwatt.SuiteContents) error {
	var id, latest int64
	err := tx.QueryRow(ctx, `
		SELECT s.id, p.name, r.id
		FROM stopwatt_store.suites s
		JOIN stopwatt_store.projects p ON p.id = s.project_id
		CROSS JOIN LATERAL (
			SELECT id, started FROM stopwatt_store.runs WHERE suite_id = s.id AND status = 'finished' ORDER BY started DESC, id DESC LIMIT 1
		) r
		WHERE s.name = $2 AND (p.name = $1 OR $1 = '')
		ORDER BY p.name = $1 DESC, r.started DESC, r.id DESC
		LIMIT 1`, contents.Suite.Project, contents.Suite.Suite).Scan(&id, &contents.Suite.Project, &latest)
	if err != nil {
		return notFound(err)
	}
	run, err := readRunRow(ctx, tx, latest)
	if err != nil {
		return err
	}
	cases, err := readCaseIDs(ctx, tx, id)
	if err != nil {
		return err
	}
	contents.Cases, contents.Baseline, contents.Judged = inOrder(cases, run.Settings), run.Baseline, judged(run)
	runs, machines, err := readTracks(ctx, tx, id, run.Profile, contents)
	if err != nil {
		return err
	}
	if contents.Machines, err = readMachineLines(ctx, tx, machines); err != nil {
		return err
	}
	if contents.Metrics, err = readRunMetrics(ctx, tx, append(runs, latest)); err != nil {
		return err
	}
	contents.ProjectURL, err = readProjectURL(ctx, tx, id)
	return err
}

// readProjectURL is that of the latest run which a pipeline has measured, of the
// suite's latest ones.
func readProjectURL(ctx context.Context, tx pgx.Tx, suite int64) (string, error) {
	url := ""
	err := tx.QueryRow(ctx, `
		SELECT coalesce((
			SELECT pipeline ->> 'ProjectURL'
			FROM (SELECT pipeline, started, id FROM stopwatt_store.runs WHERE suite_id = $1 ORDER BY started DESC, id DESC LIMIT $2) r
			WHERE pipeline ->> 'ProjectURL' <> ''
			ORDER BY started DESC, id DESC LIMIT 1
		), '')`, suite, projectAmong).Scan(&url)
	return url, err
}

// projectAmong is among how many of its latest runs the URL of a suite's project is
// looked for.
const projectAmong = 200

// judged are the metrics that some workload of a run is judged by.
func judged(run stopwatt.Run) []string {
	var names []string
	for _, workload := range run.Settings.Workloads {
		for _, threshold := range run.Thresholds(workload) {
			if name := threshold.Judged(); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// readTracks lists the profiles and machines of a suite's history, the latest run of
// each pair first, and returns these runs. Where nothing has entered history the
// machines are those of the suite's latest runs.
func readTracks(ctx context.Context, tx pgx.Tx, suite int64, profile string, contents *stopwatt.SuiteContents) (runs, machines []int64, err error) {
	rows, err := tx.Query(ctx, `
		SELECT t.profile, t.machine_id, h.run_id
		FROM stopwatt_store.tracks t
		CROSS JOIN LATERAL (SELECT run_id FROM stopwatt_store.history WHERE track_id = t.id ORDER BY committed_at DESC, run_id DESC LIMIT 1) h
		WHERE t.suite_id = $1
		UNION ALL
		SELECT profile, machine_id, id
		FROM (SELECT * FROM stopwatt_store.runs WHERE suite_id = $1 AND status = 'finished' ORDER BY started DESC, id DESC LIMIT $2) r
		ORDER BY run_id DESC`, suite, pageRuns)
	if err != nil {
		return nil, nil, err
	}
	contents.Profiles = []string{profile}
	var machine, run int64
	_, err = pgx.ForEachRow(rows, []any{&profile, &machine, &run}, func() error {
		runs = append(runs, run)
		if !slices.Contains(machines, machine) {
			machines = append(machines, machine)
		}
		if !slices.Contains(contents.Profiles, profile) {
			contents.Profiles = append(contents.Profiles, profile)
		}
		return nil
	})
	slices.Sort(contents.Profiles)
	return runs, machines, err
}

// readRunMetrics are the metrics of summaries of runs, in the order in which they
// are shown.
func readRunMetrics(ctx context.Context, tx pgx.Tx, runs []int64) ([]stopwatt.Metric, error) {
	rows, err := tx.Query(ctx, `
		SELECT name, unit, better FROM stopwatt_store.metrics
		WHERE id IN (SELECT metric_id FROM stopwatt_store.summaries WHERE run_id = ANY($1))`, runs)
	if err != nil {
		return nil, err
	}
	metrics, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (stopwatt.Metric, error) {
		var stored stopwatt.Metric
		err := row.Scan(&stored.Name, &stored.Unit, &stored.Better)
		return described(stored), err
	})
	slices.SortFunc(metrics, func(a, b stopwatt.Metric) int { return stopwatt.CompareMetrics(a.Name, b.Name) })
	return metrics, err
}

// RunAt returns the run of a suite that is meant, or ErrNotFound.
func (a *Archive) RunAt(ctx context.Context, place stopwatt.RunPlace) (int64, error) {
	var id int64
	err := a.reading(ctx, func(tx pgx.Tx) error {
		var err error
		id, err = readRunAt(ctx, tx, place)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find the run of suite %s: %w", place.Suite.Suite, err)
	}
	return id, nil
}

func readRunAt(ctx context.Context, tx pgx.Tx, place stopwatt.RunPlace) (int64, error) {
	questions := []string{latestInHistory, latestFinished}
	if place.Commit != "" {
		questions = []string{latestOfCommit}
	}
	for _, question := range questions {
		args := []any{place.Suite.Project, place.Suite.Suite, place.Profile, place.Machine}
		if place.Commit != "" {
			args = append(args, place.Commit, place.Commit+"~") // behind every digit
		}
		ids, err := readIDs(ctx, tx, question, args...)
		if err != nil || len(ids) > 0 {
			return first(ids), err
		}
	}
	return 0, ErrNotFound
}

func first(ids []int64) int64 {
	if len(ids) == 0 {
		return 0
	}
	return ids[0]
}

const (
	// latestInHistory is the latest run of the latest commit: a commit of the past may
	// have been measured since.
	latestInHistory = `
		SELECT h.run_id
		FROM stopwatt_store.projects p
		JOIN stopwatt_store.suites s ON s.project_id = p.id
		JOIN stopwatt_store.tracks t ON t.suite_id = s.id
		JOIN stopwatt_store.machines m ON m.id = t.machine_id
		CROSS JOIN LATERAL (
			-- Of the commits of one time, as a push may land them, the last of the branch.
			SELECT n.run_id, n.committed_at
			FROM stopwatt_store.history n
			JOIN stopwatt_store.commits c ON c.id = n.commit_id
			WHERE n.track_id = t.id AND n.committed_at = (SELECT max(committed_at) FROM stopwatt_store.history WHERE track_id = t.id)
			ORDER BY c.position DESC NULLS LAST, n.run_id DESC
			LIMIT 1
		) h
		WHERE p.name = $1 AND s.name = $2 AND t.profile = $3 AND ($4 = '' OR m.fingerprint = $4)
		ORDER BY h.committed_at DESC, h.run_id DESC
		LIMIT 1`
	latestFinished = `
		SELECT r.id
		FROM stopwatt_store.projects p
		JOIN stopwatt_store.suites s ON s.project_id = p.id
		JOIN stopwatt_store.runs r ON r.suite_id = s.id
		WHERE p.name = $1 AND s.name = $2 AND r.status = 'finished' AND r.profile = $3
		  AND ($4 = '' OR r.machine_id = (SELECT id FROM stopwatt_store.machines WHERE fingerprint = $4))
		ORDER BY r.started DESC, r.id DESC
		LIMIT 1`
	// latestOfCommit finds commits by the index of the beginnings of SHAs.
	latestOfCommit = `
		SELECT r.id
		FROM stopwatt_store.projects p
		JOIN stopwatt_store.suites s ON s.project_id = p.id
		JOIN stopwatt_store.commits c ON c.project_id = p.id AND c.sha ~>=~ $5 AND c.sha ~<~ $6
		JOIN stopwatt_store.runs r ON r.commit_id = c.id AND r.suite_id = s.id
		JOIN stopwatt_store.machines m ON m.id = r.machine_id
		WHERE p.name = $1 AND s.name = $2 AND r.profile = $3 AND ($4 = '' OR m.fingerprint = $4) AND r.status = 'finished'
		ORDER BY r.on_default AND NOT r.dirty DESC, r.started DESC, r.id DESC
		LIMIT 1`
)

// Results returns a run with what came of its cases and how it was judged, where it
// was; see Store.Results.
func (a *Archive) Results(ctx context.Context, run int64) (stopwatt.Results, error) {
	var results stopwatt.Results
	err := a.reading(ctx, func(tx pgx.Tx) error {
		var err error
		if results, err = readResults(ctx, tx, run); err != nil {
			return err
		}
		judgement, err := readJudgement(ctx, tx, run)
		if err == nil {
			results.Judgement = &judgement
		}
		return unless(err, ErrNotFound)
	})
	if err != nil {
		return stopwatt.Results{}, fmt.Errorf("read the results of run %d: %w", run, err)
	}
	return results, nil
}
