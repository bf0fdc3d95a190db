package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// versionOne is a database as a stopwatt of schema version 1 left it:
// testdata/version1.sql is what that one stored, version1.json what it read back.
func versionOne(t *testing.T) (dsn string) {
	t.Helper()
	dsn = embeddedtest.ForTest(t)
	if err := storage.MigrateTo(t.Context(), dsn, 1); err != nil {
		t.Fatal(err)
	}
	stored, err := os.ReadFile("testdata/version1.sql")
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

func TestWhatVersionOneStoredReadsBack(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/version1.json")
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
	s := open(t, versionOne(t))
	for _, run := range want {
		id := run.Results.Run.ID
		results, err := s.Results(t.Context(), id)
		if diff := cmp.Diff(run.Results, results, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Error(err, diff)
		}
		trials, err := s.Trials(t.Context(), id)
		if diff := cmp.Diff(run.Trials, trials, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(stopwatt.Trial{}, "Latency")); err != nil || diff != "" {
			t.Error(err, diff)
		}
		for _, trial := range trials {
			if samples, err := s.Samples(t.Context(), id, trial.PlannedTrial); err != nil || len(samples) != 0 || trial.Latency.Count() != 1 {
				t.Errorf("%d samples, %d latencies, error %v", len(samples), trial.Latency.Count(), err)
			}
		}
	}
}

func TestTheViewsSayOfVersionOneWhatTheySaid(t *testing.T) {
	t.Parallel()
	dsn := versionOne(t)
	conn := connect(t, dsn)
	before := viewed(t, conn)
	open(t, dsn)
	if diff := cmp.Diff(before, viewed(t, conn)); diff != "" || len(before) != 2+3+9+1 {
		t.Errorf("%d rows\n%s", len(before), diff)
	}
}

// viewed is all that the views of version 1 say, but the columns added since.
func viewed(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		SELECT 'run ' || (to_jsonb(v) - 'epoch')::text FROM stopwatt.runs v
		UNION ALL SELECT 'trial ' || to_jsonb(v)::text FROM stopwatt.trials v
		UNION ALL SELECT 'measurement ' || to_jsonb(v)::text FROM stopwatt.measurements v
		UNION ALL SELECT 'result ' || to_jsonb(v)::text FROM stopwatt.results v
		ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
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

func TestFourMigrateWhileVersionOneReadsAndWrites(t *testing.T) {
	t.Parallel()
	dsn := versionOne(t)
	migrated, going, ended := make(chan struct{}), make(chan string), make(chan error)
	for name, sql := range asVersionOne {
		conn := connect(t, dsn)
		go func() { ended <- repeat(t.Context(), conn, name, sql, going, migrated) }()
	}
	for range asVersionOne {
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
	for range asVersionOne {
		err = errors.Join(err, <-ended)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, dsn)
	got := query(t, s, "select count(*) = count(kernel) and count(*) > 3, count(epoch) from runs where kernel <> ''")
	if diff := cmp.Diff([][]any{{true, int64(0)}}, got); diff != "" {
		t.Error(diff)
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
