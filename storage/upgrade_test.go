package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/migrations"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// versionOne and versionTwo are databases as stopwatts of those schema versions
// left them: testdata/version1.sql is what that one stored, version1.json what it
// read back.
func versionOne(t *testing.T) (dsn string) { return leftBy(t, 1) }
func versionTwo(t *testing.T) (dsn string) { return leftBy(t, 2) }

func leftBy(t *testing.T, version int64) (dsn string) {
	t.Helper()
	dsn = embeddedtest.ForTest(t)
	if err := storage.MigrateTo(t.Context(), dsn, version); err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile(fmt.Sprintf("testdata/version%d.sql", version))
	if err != nil {
		t.Fatal(err)
	}
	execute(t, dsn, string(stored))
	return dsn
}

// connect opens a session that knows nothing of the store.
func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := contextFor(t)
		defer cancel()
		_ = conn.Close(ctx) // the session ends either way
	})
	return conn
}

func TestWhatOlderVersionsStoredReadsBack(t *testing.T) {
	t.Parallel()
	for version := int64(1); version <= 2; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			readsBack(t, open(t, leftBy(t, version)), fmt.Sprintf("testdata/version%d.json", version))
		})
	}
}

// A database that version 2 began may have stopped at any version since: each adds its step alone.
func TestADatabaseThatStoppedAtAnyVersionIsUpgradedAndReadsBack(t *testing.T) {
	t.Parallel()
	for version := int64(3); version < int64(migrations.Latest()); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			dsn := versionTwo(t)
			if err := storage.MigrateTo(t.Context(), dsn, version); err != nil {
				t.Fatal(err)
			}
			readsBack(t, open(t, dsn), "testdata/version2.json")
		})
	}
}

// readsBack compares what is stored with what the older version read, which knew
// of no metrics that are listed with results.
func readsBack(t *testing.T, s *storage.Store, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want []struct {
		Results stopwatt.Results
		Trials  []stopwatt.Trial
	}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, run := range want {
		id := run.Results.Run.ID
		results, err := s.Results(t.Context(), id)
		if diff := cmp.Diff(run.Results, results, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(stopwatt.Results{}, "Metrics")); err != nil || diff != "" {
			t.Error(err, diff)
		}
		trials, err := s.Trials(t.Context(), id)
		if diff := cmp.Diff(run.Trials, trials, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(stopwatt.Trial{}, "Latency")); err != nil || diff != "" {
			t.Error(err, diff)
		}
		for _, trial := range trials {
			if trial.Latency.Count() != 1 {
				t.Errorf("%d latencies", trial.Latency.Count())
			}
		}
	}
}

func TestSamplesOfOlderVersionsReadBack(t *testing.T) {
	t.Parallel()
	one, two := open(t, versionOne(t)), open(t, versionTwo(t))
	trial := storagetest.Trial(1, "go", "csv")
	if samples, err := one.Samples(t.Context(), 1, trial.PlannedTrial); err != nil || len(samples) != 0 {
		t.Errorf("version 1 stored %d samples, error %v", len(samples), err)
	}
	samples, err := two.Samples(t.Context(), 1, trial.PlannedTrial)
	if diff := cmp.Diff(trial.Samples, samples, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestTheViewsSayOfVersionOneWhatTheySaid(t *testing.T) {
	t.Parallel()
	dsn := versionOne(t)
	conn := connect(t, dsn)
	before := viewed(t, conn, viewsOfOne, "epoch")
	open(t, dsn)
	if diff := cmp.Diff(before, viewed(t, conn, viewsOfOne, "epoch")); diff != "" || len(before) != 2+3+9+1 {
		t.Errorf("%d rows\n%s", len(before), diff)
	}
}

func TestTheViewsSayOfVersionTwoWhatTheySaid(t *testing.T) {
	t.Parallel()
	dsn := versionTwo(t)
	conn := connect(t, dsn)
	before := viewed(t, conn, viewsOfTwo)
	open(t, dsn)
	if diff := cmp.Diff(before, viewed(t, conn, viewsOfTwo)); diff != "" || len(before) != 2+3+9+1+4+1 {
		t.Errorf("%d rows\n%s", len(before), diff)
	}
}

var (
	viewsOfOne = []string{"runs", "trials", "measurements", "results"}
	viewsOfTwo = append([]string{"energy", "idle", "machines"}, viewsOfOne...)
)

// viewed is all that views say, but the columns added since.
func viewed(t *testing.T, conn *pgx.Conn, views []string, added ...string) []string {
	t.Helper()
	added = append(added, "part_of", "base_commit", "imported", "source", "per_repetition", "repetitions", "attempt",
		"pipeline_kind", "pipeline", "merge_request", "base_rule", "labels")
	var all []string
	for _, view := range views {
		rows, err := conn.Query(t.Context(), "SELECT '"+view+" ' || (to_jsonb(v) - $1::text[])::text FROM stopwatt."+view+" v ORDER BY 1", added)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, lines...)
	}
	return all
}

func TestARunOfVersionOneIsContinuedOnItsMachine(t *testing.T) {
	t.Parallel()
	s := open(t, versionOne(t))
	killed, err := s.Results(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	run := killed.Run
	run.Key, run.Machine.Identity.Turbo, run.Machine.Identity.CPUInfo = "k-3", "off", "processor\t: 0\n"
	stored, done, err := s.Begin(t.Context(), run, false)
	if err != nil || stored.ID != 2 || len(done) != 1 {
		t.Fatalf("began run %d with %d trials, error %v", stored.ID, len(done), err)
	}
	next := storagetest.Trial(2, "go", "csv")
	if err := errors.Join(s.SaveTrial(t.Context(), 2, next), s.SaveIdle(t.Context(), 2, storagetest.Idle(stopwatt.IdleAfter))); err != nil {
		t.Fatal(err)
	}
	samples, err := s.Samples(t.Context(), 2, next.PlannedTrial)
	if diff := cmp.Diff(next.Samples, samples, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Error(err, diff)
	}
	run.Key, run.PlanKey = "k-4", "plan-4"
	if _, _, err := s.Begin(t.Context(), run, false); err != nil {
		t.Fatal(err)
	}
	got := query(t, s, "select count(*), count(distinct fingerprint), count(epoch), count(distinct kernel) from runs")
	if diff := cmp.Diff([][]any{{int64(3), int64(1), int64(1), int64(1)}}, got); diff != "" {
		t.Error(diff)
	}
}

// asVersionOne are statements of that version, in the order in which it takes
// its locks. %d is a number that is new each time.
var asVersionOne = map[string]string{
	"begins runs": `BEGIN;
		INSERT INTO stopwatt_store.machines (fingerprint, name, identity, first_seen, last_seen) VALUES ('f', 'm', '{"ID": "7"}', now(), now())
			ON CONFLICT (fingerprint) DO UPDATE SET last_seen = excluded.last_seen;
		INSERT INTO stopwatt_store.runs (key, plan_key, suite_id, machine_id, commit_id, branch, on_default, dirty, profile, baseline, seed,
			rounds, planned, status, started, tool, command, settings, engine, epoch)
			SELECT 'old-%d', 'p', 1, id, 1, 'main', true, false, '', 'go', 7, 1, 1, 'running', now(), '1', 'stopwatt run', '{}', '{}', '{"Kernel": "5.4"}'
			FROM stopwatt_store.machines WHERE fingerprint = 'f';
		COMMIT`,
	"saves trials": `BEGIN;
		SELECT suite_id FROM stopwatt_store.runs WHERE id = 2;
		WITH t AS (
			INSERT INTO stopwatt_store.trials (run_id, case_id, revision, round, position, status, reason, warnings, started, window_start, window_end)
			VALUES (2, 1, 'head', 1000 + %d, 9, 'valid', '', '{}', now(), 0, 1) RETURNING id
		)
		INSERT INTO stopwatt_store.measurements SELECT id, 1, 2 FROM t;
		COMMIT`,
	"replaces summaries": `BEGIN;
		SELECT suite_id FROM stopwatt_store.runs WHERE id = 2 FOR UPDATE;
		DELETE FROM stopwatt_store.summaries WHERE run_id = 2;
		INSERT INTO stopwatt_store.summaries (run_id, case_id, metric_id, revision, n, mean, median, min, max) VALUES (2, 1, 1, 'head', 1, %d, 1, 1, 1);
		COMMIT`,
	"reads runs": `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
		SELECT r.epoch, m.identity, r.settings FROM stopwatt_store.runs r JOIN stopwatt_store.machines m ON m.id = r.machine_id WHERE r.id <> %d;
		SELECT v.value FROM stopwatt_store.measurements v JOIN stopwatt_store.trials t ON t.id = v.trial_id;
		COMMIT`,
	"asks the view runs":    "SELECT * FROM stopwatt.runs WHERE run <> %d",
	"asks the view trials":  "SELECT * FROM stopwatt.trials WHERE run <> %d",
	"asks the view results": "SELECT * FROM stopwatt.results JOIN stopwatt.runs USING (run) WHERE run <> %d",
}

// asVersionTwo are statements of that version beside those of version 1.
var asVersionTwo = with(asVersionOne, map[string]string{
	"begins runs": `BEGIN;
		INSERT INTO stopwatt_store.machines (fingerprint, name, identity, first_seen, last_seen) VALUES ('f', 'm', '{"ID": "7"}', now(), now())
			ON CONFLICT (fingerprint) DO UPDATE SET last_seen = excluded.last_seen;
		SELECT id, plan_key FROM stopwatt_store.runs WHERE key = 'none';
		INSERT INTO stopwatt_store.commits (project_id, sha, parents, author, committed_at, subject)
			VALUES (1, 'c', '{}', '', now(), '') ON CONFLICT DO NOTHING;
		INSERT INTO stopwatt_store.machine_epochs (machine_id, key, identity, epoch, first_seen, last_seen)
			SELECT id, 'e', '{}', '{"Kernel": "5.4"}', now(), now() FROM stopwatt_store.machines WHERE fingerprint = 'f'
			ON CONFLICT (machine_id, key) DO UPDATE SET last_seen = excluded.last_seen;
		INSERT INTO stopwatt_store.runs (key, plan_key, suite_id, machine_id, commit_id, branch, on_default, dirty, profile, baseline, seed,
			rounds, planned, status, started, tool, command, settings, engine, meters, epoch_id)
			SELECT 'old-%d', 'p', 1, m.id, c.id, 'main', true, false, '', 'go', 7, 1, 1, 'running', now(), '2', 'stopwatt run', '{}', '{}', '[]', e.id
			FROM stopwatt_store.machines m JOIN stopwatt_store.machine_epochs e ON e.machine_id = m.id, stopwatt_store.commits c
			WHERE m.fingerprint = 'f' AND c.sha = 'c';
		COMMIT`,
	"saves net figures": `BEGIN;
		SELECT t.id FROM stopwatt_store.trials t JOIN stopwatt_store.cases c ON c.id = t.case_id WHERE t.id = 1;
		INSERT INTO stopwatt_store.metrics (name, unit, better) VALUES ('time', 's', 'less') ON CONFLICT DO NOTHING;
		INSERT INTO stopwatt_store.measurements (trial_id, metric_id, value) VALUES (1, 1, %d)
			ON CONFLICT (trial_id, metric_id) DO UPDATE SET value = excluded.value;
		COMMIT`,
	"asks the view energy":         "SELECT * FROM stopwatt.energy WHERE run <> %d",
	"asks views side by side":      "SELECT * FROM stopwatt.runs JOIN stopwatt.trials USING (run) JOIN stopwatt.results USING (run) WHERE run <> %d",
	"asks them the other way":      "SELECT * FROM stopwatt.results JOIN stopwatt.trials USING (run) JOIN stopwatt.runs USING (run) WHERE run <> %d",
	"asks for figures of machines": "SELECT * FROM stopwatt.machines JOIN stopwatt.runs USING (epoch) JOIN stopwatt.measurements USING (run) WHERE run <> %d",
})

func with(statements, others map[string]string) map[string]string {
	all := maps.Clone(statements)
	maps.Copy(all, others)
	return all
}

func TestFourMigrateWhileVersionOneReadsAndWrites(t *testing.T) {
	t.Parallel()
	dsn := versionOne(t)
	fourMigrate(t, dsn, asVersionOne)
	got := query(t, open(t, dsn), "select count(*) = count(kernel) and count(*) > 3, count(epoch) from runs where kernel <> ''")
	if diff := cmp.Diff([][]any{{true, int64(0)}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestFourMigrateWhileVersionTwoReadsAndWrites(t *testing.T) {
	t.Parallel()
	dsn := versionTwo(t)
	fourMigrate(t, dsn, asVersionTwo)
	got := query(t, open(t, dsn), "select count(*) = count(kernel) and count(*) > 3, bool_or(imported), count(base_commit) from runs")
	if diff := cmp.Diff([][]any{{true, false, int64(0)}}, got); diff != "" {
		t.Error(diff)
	}
}

// fourMigrate brings a database up to date, four at once, while others execute
// statements on it.
func fourMigrate(t *testing.T, dsn string, statements map[string]string) {
	t.Helper()
	migrated, going, ended := make(chan struct{}), make(chan string), make(chan error)
	for name, sql := range statements {
		conn := connect(t, dsn)
		go func() { ended <- repeat(t.Context(), conn, name, sql, going, migrated) }()
	}
	for range statements {
		<-going
	}
	outcomes := make(chan error)
	for range 4 {
		go func() {
			_, to, err := storage.Migrate(t.Context(), dsn)
			if err == nil && to != migrations.Latest() {
				err = fmt.Errorf("migrated to %d", to)
			}
			outcomes <- err
		}()
	}
	err := errors.Join(<-outcomes, <-outcomes, <-outcomes, <-outcomes)
	close(migrated)
	for range statements {
		err = errors.Join(err, <-ended)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// repeat executes statements again and again, with a new number each time, until
// a channel is closed, and once more after that.
func repeat(ctx context.Context, conn *pgx.Conn, name, sql string, going chan<- string, until <-chan struct{}) error {
	for n, last := 1, false; ; n++ {
		_, err := conn.Exec(ctx, fmt.Sprintf(sql, n))
		if n == 1 {
			going <- name
		}
		if err != nil {
			return fmt.Errorf("one that %s: %w", name, err)
		}
		if last {
			return nil
		}
		select {
		case <-until:
			last = true
		default:
		}
	}
}

func TestMigrateGivesUpWhereATransactionWasLeftOpen(t *testing.T) {
	t.Parallel()
	dsn := versionOne(t)
	conn := connect(t, dsn)
	if _, err := conn.Exec(t.Context(), "BEGIN; SELECT count(*) FROM stopwatt_store.trials; SELECT count(*) FROM stopwatt.runs"); err != nil {
		t.Fatal(err)
	}
	_, _, err := storage.Migrate(t.Context(), dsn)
	if err == nil || !strings.Contains(err.Error(), "end transactions that were left open") {
		t.Errorf("got %v", err)
	}
	if _, err := conn.Exec(t.Context(), "SELECT * FROM stopwatt.runs; COMMIT"); err != nil {
		t.Error(err)
	}
	if from, to, err := storage.Migrate(t.Context(), dsn); from != 1 || to != migrations.Latest() || err != nil {
		t.Errorf("then migrated from %d to %d, error %v", from, to, err)
	}
}
