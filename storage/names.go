package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

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

// machineID returns the key of the machine, which has been seen now.
func machineID(ctx context.Context, tx pgx.Tx, machine stopwatt.Machine, seen time.Time) (int64, error) {
	identity, err := document(machine.Identity)
	if err != nil {
		return 0, err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.machines (fingerprint, name, identity, first_seen, last_seen) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (fingerprint) DO UPDATE
			SET name = excluded.name, last_seen = greatest(machines.last_seen, excluded.last_seen)
		RETURNING id`, fingerprint(machine.Identity), plain(machine.Name), identity, seen).Scan(&id)
	return id, err
}

// fingerprint is the hash of all that makes a machine this one. The fields are
// named one by one, so that a new field does not make every machine a new one.
func fingerprint(m stopwatt.MachineIdentity) string {
	text := fmt.Sprintf("%q %q %d %d %d %t", m.ID, m.CPUModel, m.Cores, m.Threads, m.MemoryBytes, m.Virtual)
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
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
	sorted := slices.SortedFunc(slices.Values(cases), compareCases)
	implementations := make([]string, len(sorted))
	workloads := make([]string, len(sorted))
	for i, c := range sorted {
		implementations[i], workloads[i] = c.Implementation, c.Workload
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO stopwatt_store.cases (suite_id, implementation, workload)
		SELECT $1, * FROM unnest($2::text[], $3::text[])
		ON CONFLICT DO NOTHING`, suite, implementations, workloads)
	return err
}

func compareCases(a, b stopwatt.Case) int {
	return strings.Compare(a.String(), b.String())
}

// insertMetrics inserts those metrics that are new, in the order of
// stopwatt.Metrics, for the reason that insertCases gives.
func insertMetrics(ctx context.Context, tx pgx.Tx, names []string) error {
	var wanted, units, betters []string
	for _, metric := range stopwatt.Metrics {
		if slices.Contains(names, metric.Name) {
			wanted = append(wanted, metric.Name)
			units = append(units, metric.Unit)
			betters = append(betters, string(metric.Better))
		}
	}
	for _, name := range names {
		if !slices.Contains(wanted, name) {
			return fmt.Errorf("metric %q is not known", name)
		}
	}
	_, err := tx.Exec(ctx, `
		INSERT INTO stopwatt_store.metrics (name, unit, better)
		SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
		ON CONFLICT DO NOTHING`, wanted, units, betters)
	return err
}

// metricOrder is the place of a metric in the order in which they are shown.
func metricOrder(name string) int {
	return slices.IndexFunc(stopwatt.Metrics, func(m stopwatt.Metric) bool { return m.Name == name })
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
