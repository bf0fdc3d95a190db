package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/spool"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// A struckRun is a run during which something happens to its database, a real one.
type struckRun struct {
	t      *testing.T
	dsn    string // past the wire
	wire   *wire
	store  *storage.Store
	folder string
	told   []string

	wired   string // the database by the wire
	machine string // that it is measured on; empty: bench
	sync    spool.Syncer
}

// strike begins one with a database of its own.
func strike(t *testing.T) *struckRun {
	t.Helper()
	s := &struckRun{t: t, dsn: embeddedtest.ForTest(t), folder: filepath.Join(t.TempDir(), "spool")}
	s.wire, s.wired = toPostgres(t, s.dsn)
	s.store = s.open(s.wired)
	return s
}

func (s *struckRun) open(dsn string) *storage.Store {
	s.t.Helper()
	store, err := storage.Open(s.t.Context(), dsn)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(store.Close)
	return store
}

// execute changes the database past the wire, whatever new sessions may do there.
func (s *struckRun) execute(statements ...string) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.dsn)
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(s.t.Context()))
	for _, sql := range append([]string{"SET default_transaction_read_only = off"}, statements...) {
		if _, err := conn.PgConn().Exec(s.t.Context(), sql).ReadAll(); err != nil {
			s.t.Fatal(err)
		}
	}
}

// run carries out four rounds of two cases; before the trial at a position, something
// happens.
func (s *struckRun) run(happens map[int]func()) (stopwatt.Run, error) {
	place := &outside{engine: map[string]bool{}, drives: map[stopwatt.PlannedTrial]int{}}
	store := &spooled{archive: s.store, spool: spool.Spool{Folder: s.folder, Sync: s.sync}, tell: func(format string, values ...any) {
		s.told = append(s.told, fmt.Sprintf(format, values...))
	}}
	order := smallOrder(false)
	order.Run.Rounds, order.Run.Settings.Plan.Rounds = 4, 4
	if s.machine != "" {
		order.Run.Machine.Name, order.Run.Machine.Identity.ID = s.machine, s.machine
	}
	conductor := orchestrator.Orchestrator{
		Store: store, Audience: silent{},
		Bench: func(stopwatt.Run) orchestrator.Trials { return &struckBench{place, happens} },
	}
	run, err := conductor.Run(s.t.Context(), order)
	return run, errors.Join(err, store.close(s.t.Context()))
}

// A struckBench is a place for trials before which something happens.
type struckBench struct {
	*outside
	happens map[int]func()
}

func (b *struckBench) Run(ctx context.Context, order trial.Order) (stopwatt.Trial, error) {
	if happens := b.happens[order.Position]; happens != nil {
		happens()
	}
	return b.outside.Run(ctx, order)
}

// whole checks past the wire that the run is stored whole, once, and nothing waits.
func (s *struckRun) whole(run stopwatt.Run) {
	s.t.Helper()
	store := s.open(s.dsn)
	trials, err := store.Trials(s.t.Context(), run.ID)
	if err != nil || len(trials) != 8 {
		s.t.Errorf("%d trials of 8 are stored, error %v", len(trials), err)
	}
	results, err := store.Results(s.t.Context(), run.ID)
	if err != nil || results.Run.Status != stopwatt.Finished || len(results.Cases) != 2 || results.Cases[0].Valid != 4 || len(results.Cases[0].Summaries) == 0 {
		s.t.Errorf("results %+v, error %v", results.Cases, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.folder, "*")); len(left) > 0 {
		s.t.Errorf("%v are left in the spool", left)
	}
}

// trouble53100 makes the trials' table refuse them as a server does in trouble of that kind.
const trouble53100 = `
	CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
	CREATE TRIGGER full_disk BEFORE INSERT ON stopwatt_store.trials FOR EACH ROW EXECUTE FUNCTION full_disk()`

const endSessions = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

func TestMeasuringGoesOnWhileTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		goes, returns func(s *struckRun)
	}{
		"stopped":   {func(s *struckRun) { s.wire.cut(true) }, func(s *struckRun) { s.wire.cut(false) }},
		"silent":    {func(s *struckRun) { s.wire.silence(true) }, func(s *struckRun) { s.wire.silence(false); s.wire.cut(false) }},
		"disk full": {func(s *struckRun) { s.execute(trouble53100) }, func(s *struckRun) { s.execute("DROP FUNCTION full_disk CASCADE") }},
		"a standby that takes no writing": {
			func(s *struckRun) { s.execute(readOnlyFrom("on"), endSessions) },
			func(s *struckRun) { s.execute(readOnlyFrom("off"), endSessions) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("for a while", func(t *testing.T) {
				t.Parallel()
				s := strike(t)
				run, err := s.run(map[int]func(){3: func() { test.goes(s) }, 6: func() { test.returns(s) }})
				if err != nil {
					t.Errorf("error %v", err)
				}
				if len(s.told) != 2 || !strings.Contains(s.told[0], "measuring goes on") || !strings.Contains(s.told[1], "is back, and has the") {
					t.Errorf("told %q", s.told)
				}
				s.whole(run)
			})
			t.Run("until the end", func(t *testing.T) {
				t.Parallel()
				s := strike(t)
				run, err := s.run(map[int]func(){3: func() { test.goes(s) }})
				var known failure
				if !errors.As(err, &known) || known.status != exitSurroundings || !strings.Contains(err.Error(), "6 trials wait in "+s.folder) || !strings.Contains(err.Error(), "stopwatt sync") {
					t.Errorf("error %v", err)
				}
				test.returns(s)
				s.store.Close() // the command has ended
				all, err := deliverAll(t.Context(), spool.Spool{Folder: s.folder}, s.open(s.dsn))
				if err != nil || all.why != nil || all.trials != 6 || all.runs != 1 {
					t.Errorf("delivered %+v, error %v", all, err)
				}
				s.whole(run)
			})
		})
	}
}

// readOnlyFrom says of new sessions of this database whether they may write.
func readOnlyFrom(switched string) string {
	return "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = " + switched + "', current_database()); END $$"
}

func TestAConnectionThatIsCutInsideACopyLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	s := strike(t)
	var once sync.Once
	var cut atomic.Bool
	s.wire.look(func(sent []byte) bool {
		passes := true
		if copying(sent) {
			once.Do(func() { passes = false; cut.Store(true) })
		}
		return passes
	})
	run, err := s.run(nil)
	if err != nil || !cut.Load() {
		t.Errorf("error %v, cut: %v", err, cut.Load())
	}
	s.whole(run)
}

func TestSessionsThatTheServerEndsLoseAndDoubleNothing(t *testing.T) {
	t.Parallel()
	s := strike(t)
	again := func() { s.execute(endSessions) }
	run, err := s.run(map[int]func(){2: again, 3: again, 5: again, 8: again})
	if err != nil {
		t.Errorf("error %v", err)
	}
	s.whole(run)
}

// Two names of one database stand for a server and the one that takes over from it.
func TestARunGoesOnWithTheServerThatTakesOver(t *testing.T) {
	t.Parallel()
	s := strike(t)
	successor, _ := toPostgres(t, s.dsn)
	successor.cut(true)
	one, other := s.wire.listener.Addr().String(), successor.listener.Addr().String()
	s.store.Close()
	s.store = s.open(strings.Replace(s.wired, one, one+","+other, 1) + "&target_session_attrs=read-write")
	run, err := s.run(map[int]func(){
		3: func() { s.wire.cut(true) },
		5: func() { successor.cut(false) },
	})
	if err != nil {
		t.Errorf("error %v", err)
	}
	s.whole(run)
}

func TestASlowDatabaseLosesNothing(t *testing.T) {
	t.Parallel()
	s := strike(t)
	s.wire.slow(50 * time.Millisecond)
	run, err := s.run(nil)
	if err != nil || len(s.told) > 0 {
		t.Errorf("told %q, error %v", s.told, err)
	}
	s.whole(run)
}

func TestTwoRunsAtOnceLoseAndDoubleNothingWhileTheirDatabaseIsAway(t *testing.T) {
	t.Parallel()
	one := strike(t)
	other := &struckRun{t: t, dsn: one.dsn, wire: one.wire, store: one.open(one.wired), wired: one.wired, folder: one.folder, machine: "another"}
	var both sync.WaitGroup
	runs, errs := [2]stopwatt.Run{}, [2]error{}
	for i, s := range []*struckRun{one, other} {
		happens := map[int]func(){3: func() { s.wire.cut(true) }, 6: func() { s.wire.cut(false) }}
		both.Go(func() { runs[i], errs[i] = s.run(happens) })
	}
	both.Wait()
	if err := errors.Join(errs[:]...); err != nil || runs[0].ID == runs[1].ID {
		t.Errorf("runs %d and %d, error %v", runs[0].ID, runs[1].ID, err)
	}
	one.whole(runs[0])
	other.whole(runs[1])
}

func TestTrialsOfAnotherDatabaseGoOnWaiting(t *testing.T) {
	t.Parallel()
	s := strike(t)
	run, err := s.run(map[int]func(){3: func() { s.wire.cut(true) }})
	if err == nil {
		t.Error("the run ended well")
	}
	other := s.open(embeddedtest.ForTest(t))
	all, err := deliverAll(t.Context(), spool.Spool{Folder: s.folder}, other)
	if err != nil || all.waiting != 6 || !errors.Is(all.why, errOtherDatabase) {
		t.Errorf("delivered %+v, error %v", all, err)
	}
	s.store.Close()
	for range 2 { // as two commands do
		if all, err = deliverAll(t.Context(), spool.Spool{Folder: s.folder}, s.open(s.dsn)); err != nil || all.why != nil {
			t.Errorf("delivered %+v, error %v", all, err)
		}
	}
	s.whole(run)
}
