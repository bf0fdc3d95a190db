package storage

import (
	"context"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// suiteID returns the keys of the suite and of its project, both of which it
// inserts where they are new. An insert waits for another's of the same name,
// and the select after it then sees that one.
func suiteID(ctx context.Context, tx pgx.Tx, project, suite string) (suiteID, projectID int64, err error) {
	if _, err = tx.Exec(ctx, "INSERT INTO stopwatt_store.projects (name) VALUES ($1) ON CONFLICT DO NOTHING", project); err != nil {
		return 0, 0, err
	}
	err = tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.projects WHERE name = $1", project).Scan(&projectID)
	if err != nil {
		return 0, 0, err
	}
	_, err = tx.Exec(ctx, "INSERT INTO stopwatt_store.suites (project_id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING", projectID, suite)
	if err != nil {
		return 0, 0, err
	}
	err = tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.suites WHERE project_id = $1 AND name = $2", projectID, suite).Scan(&suiteID)
	return suiteID, projectID, err
}

// commitID returns the key of the commit, or nil outside git.
func commitID(ctx context.Context, tx pgx.Tx, project int64, commit stopwatt.Commit) (*int64, error) {
	if commit.SHA == "" {
		return nil, nil
	}
	parents := commit.Parents
	if parents == nil {
		parents = []string{}
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO stopwatt_store.commits (project_id, sha, parents, author, committed_at, subject)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`,
		project, commit.SHA, parents, plain(commit.Author), commit.Time, plain(commit.Subject))
	if err != nil {
		return nil, err
	}
	var id int64
	err = tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.commits WHERE project_id = $1 AND sha = $2", project, commit.SHA).Scan(&id)
	return &id, err
}

// insertCases inserts those of the suite's cases that are new, in an order
// that is the same for everybody: two that insert the same rows in different
// orders would wait for each other.
func insertCases(ctx context.Context, tx pgx.Tx, suite int64, cases []stopwatt.Case) error {
	implementations, workloads := columnsOf(slices.SortedFunc(slices.Values(cases), compareCases))
	_, err := tx.Exec(ctx, `
		INSERT INTO stopwatt_store.cases (suite_id, implementation, workload)
		SELECT $1, * FROM unnest($2::text[], $3::text[])
		ON CONFLICT DO NOTHING`, suite, implementations, workloads)
	return err
}

// caseIDs returns the keys of cases of a suite, which it inserts where they are
// new.
func caseIDs(ctx context.Context, tx pgx.Tx, suite int64, cases []stopwatt.Case) (map[stopwatt.Case]int64, error) {
	if err := insertCases(ctx, tx, suite, cases); err != nil {
		return nil, err
	}
	implementations, workloads := columnsOf(cases)
	rows, err := tx.Query(ctx, `
		SELECT implementation, workload, id FROM stopwatt_store.cases
		WHERE suite_id = $1 AND (implementation, workload) IN (SELECT * FROM unnest($2::text[], $3::text[]))`, suite, implementations, workloads)
	if err != nil {
		return nil, err
	}
	ids := map[stopwatt.Case]int64{}
	var id int64
	var c stopwatt.Case
	_, err = pgx.ForEachRow(rows, []any{&c.Implementation, &c.Workload, &id}, func() error {
		ids[c] = id
		return nil
	})
	return ids, err
}

// keys are those of cases and of metrics.
type keys struct {
	cases   map[stopwatt.Case]int64
	metrics map[string]int64
}

// keysOf returns the keys of cases of a suite and of metrics, which it inserts
// where they are new.
func keysOf(ctx context.Context, tx pgx.Tx, suite int64, cases []stopwatt.Case, metrics []stopwatt.Metric) (keys, error) {
	ids, err := caseIDs(ctx, tx, suite, cases)
	if err != nil {
		return keys{}, err
	}
	var names []string
	for _, metric := range metrics {
		names = append(names, metric.Name)
	}
	if err := insertMetrics(ctx, tx, names, metrics); err != nil {
		return keys{}, err
	}
	all := keys{ids, nil}
	all.metrics, err = metricIDs(ctx, tx, names)
	return all, err
}

// metricIDs are the keys of those of the named metrics that are stored.
func metricIDs(ctx context.Context, tx pgx.Tx, names []string) (map[string]int64, error) {
	rows, err := tx.Query(ctx, "SELECT name, id FROM stopwatt_store.metrics WHERE name = ANY($1::text[])", names)
	if err != nil {
		return nil, err
	}
	ids := map[string]int64{}
	var name string
	var id int64
	_, err = pgx.ForEachRow(rows, []any{&name, &id}, func() error {
		ids[name] = id
		return nil
	})
	return ids, err
}

// columnsOf lays cases out in columns.
func columnsOf(cases []stopwatt.Case) (implementations, workloads []string) {
	for _, c := range cases {
		implementations, workloads = append(implementations, c.Implementation), append(workloads, c.Workload)
	}
	return implementations, workloads
}

func compareCases(a, b stopwatt.Case) int {
	return strings.Compare(a.String(), b.String())
}

// plain makes foreign text what a text column can hold: UTF-8 without NUL.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

func allPlain(texts []string) []string {
	plained := make([]string, len(texts))
	for i, text := range texts {
		plained[i] = plain(text)
	}
	return plained
}
