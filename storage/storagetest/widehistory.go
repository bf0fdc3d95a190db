package storagetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// The size of a wide history, which the figures of scale are about: 20 commits a
// day, of each of which 60 cases were measured, in 12 metrics. Five years of it are
// 36,500 commits and 26 million summaries.
const (
	WideImplementations = 6
	WideWorkloads       = 10
	WideMetrics         = 12
	WideCommits         = 36_500
	commitsADay         = 20
	// trialRuns are how many of the latest runs have their trials: those of all would
	// be a hundred times as large as the rest, and no page reads them.
	trialRuns   = 20
	trialRounds = 30
	// searches are how many searches for change points each series has behind it.
	searches = 5
)

var wideMetrics = [WideMetrics]string{
	"time", "throughput", "latency_p50", "latency_p90", "latency_p99", "cpu_server",
	"memory_peak", "memory_rest", "energy_board_gross", "energy_board", "energy_cpu_gross", "energy_cpu",
}

// WideSuite is the suite of a wide history, and WideMachine the machine.
var (
	WideSuite   = stopwatt.SuiteName{Project: "team/wide", Suite: "wide"}
	WideMachine = stopwatt.Machine{
		Name:     "board-1",
		Identity: stopwatt.MachineIdentity{ID: "1d", CPUModel: "A76", Cores: 4, Threads: 4, MemoryBytes: 8 << 30},
		Epoch:    stopwatt.MachineEpoch{Kernel: "6.1.0", EngineVersion: "20.10.24"},
	}
)

// WideStep is the one series of a wide history that has a step: from commit
// WideStepAt on it takes 5 % more.
var WideStep = stopwatt.Series{Case: stopwatt.Case{Implementation: "i2", Workload: "w3"}, Metric: "time"}

// WideStepAt is the number of the commit, from 1, with which the step of a history
// of so many commits begins.
func WideStepAt(commits int) int { return commits*2/3 + 1 }

// WideSHA is that of the n-th commit, from 1.
func WideSHA(n int) string { return fmt.Sprintf("%08x%032x", 0xc0000000+n, n) }

// FillWide makes a wide history of so many commits in an empty database, whose
// schema may be that of version 12 or a later one. It is made by the server, always
// the same, and without a look at what refers to what, so the role must be a
// superuser.
func FillWide(ctx context.Context, dsn string, commits int) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // all has been answered
	settings, err := json.Marshal(wideSettings())
	if err != nil {
		return err
	}
	identity, err := json.Marshal(WideMachine.Identity)
	if err != nil {
		return err
	}
	epoch, err := json.Marshal(WideMachine.Epoch)
	if err != nil {
		return err
	}
	var metrics, units, betters []string
	for _, name := range wideMetrics {
		metric, known := stopwatt.MetricNamed(name)
		if !known {
			return errors.New("no metric " + name)
		}
		metrics, units, betters = append(metrics, name), append(units, metric.Unit), append(betters, string(metric.Better))
	}
	search, point := wideSearch(commits)
	for _, step := range []struct {
		sql  string
		args []any
	}{
		{"SET session_replication_role = replica", nil},
		{wideNames, []any{WideSuite.Project, WideSuite.Suite, WideImplementations, WideWorkloads, metrics, units, betters}},
		{wideMachine, []any{storage.Fingerprint(WideMachine.Identity), WideMachine.Name, identity, epoch}},
		{wideCommits, []any{commits, 24 * time.Hour / commitsADay}},
		{"SET session_replication_role = origin", nil}, // what a run sets off
		{wideRuns, []any{settings, trialRounds}},
		{"SET session_replication_role = replica", nil},
		{wideIdle, nil},
		{setAside, nil},
		{wideSummaries, []any{WideStep.Case.Implementation, WideStep.Case.Workload, WideStep.Metric, WideStepAt(commits), trialRounds}},
		{putBack, nil},
		{wideTrials, []any{trialRuns, trialRounds}},
		{wideMeasurements, nil},
		{wideSearches, []any{searches, storage.Fingerprint(WideMachine.Identity), search}},
		{widePoints, []any{WideSHA(WideStepAt(commits)), WideSHA(WideStepAt(commits) - 1), point}},
		{"SET session_replication_role = origin", nil},
		{"VACUUM (ANALYZE)", nil},
	} {
		if _, err := conn.Exec(ctx, step.sql, step.args...); err != nil {
			return fmt.Errorf("%.60s…: %w", step.sql, err)
		}
	}
	return nil
}

// wideSettings is the suite as each run carried it out.
func wideSettings() stopwatt.Suite {
	suite := stopwatt.Suite{Name: WideSuite.Suite, Baseline: "i1"}
	for i := range WideImplementations {
		suite.Implementations = append(suite.Implementations, stopwatt.Implementation{Name: fmt.Sprintf("i%d", i+1), Build: &stopwatt.Build{Context: fmt.Sprintf("docker/i%d", i+1)}})
	}
	for i := range WideWorkloads {
		suite.Workloads = append(suite.Workloads, workload(fmt.Sprintf("w%d", i+1)))
	}
	return suite
}

// wideSearch is what the last searches said of a history of so many commits, and
// the change point that one of them found.
func wideSearch(commits int) (search stopwatt.ChangeSearch, point stopwatt.ChangePoint) {
	search = Search(storage.Fingerprint(WideMachine.Identity))
	point = search.ChangePoints[0]
	search.Points, search.ChangePoints = nil, nil
	at := WideStepAt(commits)
	place := func(n int) stopwatt.CommitPlace { return stopwatt.CommitPlace{Position: n, SHA: WideSHA(n)} }
	point.First, point.Past, point.Reached, point.State = place(at), place(at-1), place(at), stopwatt.Confirmed
	return search, point
}

const (
	wideNames = `
		WITH p AS (INSERT INTO stopwatt_store.projects (name) VALUES ($1) RETURNING id),
		     s AS (INSERT INTO stopwatt_store.suites (project_id, name) SELECT id, $2 FROM p RETURNING id),
		     x AS (INSERT INTO stopwatt_store.metrics (name, unit, better) SELECT * FROM unnest($5::text[], $6::text[], $7::text[]))
		INSERT INTO stopwatt_store.cases (suite_id, implementation, workload)
		SELECT s.id, 'i' || i, 'w' || w FROM s, generate_series(1, $3::int) i, generate_series(1, $4::int) w ORDER BY i, w`
	wideMachine = `
		WITH m AS (
			INSERT INTO stopwatt_store.machines (fingerprint, name, identity, first_seen, last_seen)
			VALUES ($1, $2, $3, '2021-01-01Z', '2021-01-01Z') RETURNING id
		)
		INSERT INTO stopwatt_store.machine_epochs (machine_id, key, identity, epoch, first_seen, last_seen)
		SELECT id, md5('epoch') || md5('1'), $3, $4, '2021-01-01Z', '2021-01-01Z' FROM m`
	wideCommits = `
		INSERT INTO stopwatt_store.commits (project_id, sha, parents, author, committed_at, subject)
		SELECT p.id, to_hex(x'c0000000'::bigint + n) || lpad(to_hex(n), 32, '0'),
		       CASE WHEN n > 1 THEN ARRAY[to_hex(x'c0000000'::bigint + n - 1) || lpad(to_hex(n - 1), 32, '0')] ELSE '{}' END,
		       'Author ' || n % 12, '2021-01-01Z'::timestamptz + n * $2::interval, 'Change number ' || n
		FROM stopwatt_store.projects p, generate_series(1, $1::bigint) n
		ORDER BY n`
	wideRuns = `
		WITH m AS (
			UPDATE stopwatt_store.machines SET last_seen = (SELECT max(committed_at) FROM stopwatt_store.commits) RETURNING id
		)
		INSERT INTO stopwatt_store.runs (key, plan_key, suite_id, machine_id, commit_id, branch, on_default, dirty, profile, baseline,
			seed, rounds, planned, status, started, ended, tool, command, settings, engine, epoch_id)
		SELECT 'wide-' || c.id, 'plan-' || c.id, s.id, m.id, c.id, 'main', true, false, '', 'i1',
		       row_number() OVER (ORDER BY c.id), $2, 60 * $2, 'finished', c.committed_at + interval '10 min', c.committed_at + interval '60 min',
		       '1.2.3', 'stopwatt run', $1, '{"Version": "20.10.24"}', e.id
		FROM stopwatt_store.commits c, stopwatt_store.suites s, m, stopwatt_store.machine_epochs e
		ORDER BY c.id`
	wideIdle = `
		WITH i AS (
			INSERT INTO stopwatt_store.idle_windows (run_id, place, started, window_start, window_end)
			SELECT id, p, CASE p WHEN 'before' THEN started ELSE ended END, 0, 30000000000
			FROM stopwatt_store.runs, unnest(ARRAY['before', 'after']) p ORDER BY id
			RETURNING id
		)
		INSERT INTO stopwatt_store.idle_powers (idle_id, position, meter, watts, error, over, absent, warnings)
		SELECT id, n, CASE n WHEN 0 THEN 'board' ELSE 'cpu' END, 4.2 - 2.9 * n + (id % 100) / 5000.0, 0.02, 30000000000, '', '{}' FROM i, generate_series(0, 1) n`
	// Indexes are quicker made at once than row by row.
	setAside = `
		DO $$ DECLARE i record; BEGIN
			CREATE TEMPORARY TABLE set_aside AS
				SELECT indexname, indexdef FROM pg_indexes
				WHERE schemaname = 'stopwatt_store' AND tablename = 'summaries' AND indexname NOT LIKE '%\_pkey';
			FOR i IN SELECT * FROM set_aside LOOP EXECUTE format('DROP INDEX stopwatt_store.%I', i.indexname); END LOOP;
		END $$`
	putBack = `
		DO $$ DECLARE i record; BEGIN
			FOR i IN SELECT * FROM set_aside LOOP EXECUTE i.indexdef; END LOOP;
			DROP TABLE set_aside;
		END $$`
	// A figure differs from its case's level by 1 % at most.
	wideSummaries = `
		INSERT INTO stopwatt_store.summaries (run_id, case_id, metric_id, revision, n, mean, sd, median, min, max)
		SELECT r.id, k.id, x.id, 'head', $5, v.value, v.value * 0.004, v.value * 1.0001, v.value * 0.99, v.value * 1.02
		FROM stopwatt_store.runs r, stopwatt_store.cases k, stopwatt_store.metrics x,
		LATERAL (SELECT (k.id + 10 * x.id) * (1 + (hashint8(r.seed::bigint * 1000003 + k.id * 1009 + x.id) % 1000) / 1e5)
		                * CASE WHEN k.implementation = $1 AND k.workload = $2 AND x.name = $3 AND r.seed >= $4::bigint THEN 1.05 ELSE 1 END AS value) v
		ORDER BY r.id, k.id, x.id`
	wideTrials = `
		INSERT INTO stopwatt_store.trials (run_id, case_id, revision, round, position, status, reason, warnings, started, window_start, window_end)
		SELECT r.id, k.id, 'head', n, (n - 1) * 60 + k.id, 'valid', '', CASE WHEN (n + k.id) % 40 = 0 THEN ARRAY['4 % steal'] ELSE '{}' END,
		       r.started + n * interval '100 s', 0, 10000000000
		FROM (SELECT * FROM stopwatt_store.runs ORDER BY id DESC LIMIT $1) r, generate_series(1, $2::int) n, stopwatt_store.cases k
		ORDER BY r.id, n, k.id`
	wideMeasurements = `
		INSERT INTO stopwatt_store.measurements (trial_id, metric_id, value)
		SELECT t.id, x.id, (t.case_id + 10 * x.id) * (1 + (hashint8(t.id * 31 + x.id) % 1000) / 1e5)
		FROM stopwatt_store.trials t, stopwatt_store.metrics x ORDER BY t.id, x.id`
	wideSearches = `
		INSERT INTO stopwatt_store.change_searches (case_id, metric_id, against, fingerprint, taken, document)
		SELECT k.id, x.id, '', $2, '2026-01-01Z'::timestamptz + n * interval '1 h', $3
		FROM generate_series(1, $1::int) n, stopwatt_store.cases k, stopwatt_store.metrics x ORDER BY n, k.id, x.id`
	// The last search of each series has a change for the worse in it, whoever asks;
	// its place is that of the step.
	widePoints = `
		INSERT INTO stopwatt_store.change_points (search_id, position, state, withheld, first_sha, past_sha, reached_sha, before, after, ratio, low, high, p, document)
		SELECT id, 0, 'confirmed', '', $1, $2, $1, 5, 5.25, 1.05, 1.04, 1.06, 0.0001, $3 FROM stopwatt_store.change_searches`
)
