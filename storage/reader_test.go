package storage_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// private is how the private server says what it is.
func private(dsn string) string { return dsn + "&options=-c%20stopwatt.private%3Don" }

// beyondReading is what a superuser may do in a transaction that reads only.
var beyondReading = []string{
	"select pg_read_file('/etc/passwd')",
	"select pg_ls_dir('/')",
	"select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()",
	"select pg_reload_conf()",
	"select lo_export(1, '/tmp/x')",
}

func TestQueryOfAPrivateDatabaseOnlyReads(t *testing.T) {
	t.Parallel()
	s := open(t, private(embeddedtest.ForTest(t)))
	for _, sql := range append([]string{
		"select * from pg_authid",
		"select set_config('role', 'none', true), query_to_xml('select pg_read_file(''/etc/passwd'')', true, true, '')",
		"select set_config('role', 'stopwatt', true), pg_read_file('/etc/passwd')",
		"select set_config('session_authorization', 'stopwatt', true), query_to_xml('select pg_read_file(''/etc/passwd'')', true, true, '')",
		"select set_config('session_authorization', null, true), query_to_xml('select pg_read_file(''/etc/passwd'')', true, true, '')",
	}, beyondReading...) {
		answer, err := s.Query(t.Context(), sql, 0)
		if err == nil || !strings.Contains(err.Error(), "permission denied") && !strings.Contains(err.Error(), "must be a superuser") {
			t.Errorf("%s: %v, error %v", sql, answer.Rows, err)
		}
	}
	answer, err := s.Query(t.Context(), "select session_user::text, current_user::text, rolsuper, rolcreaterole, rolcreatedb, rolreplication from pg_roles where rolname = current_user", 0)
	if diff := cmp.Diff([][]any{{"stopwatt_reader", "stopwatt_reader", false, false, false, false}}, answer.Rows); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestQueryOfAPrivateDatabaseReadsEveryViewAndTable(t *testing.T) {
	t.Parallel()
	dsn := private(embeddedtest.ForTest(t))
	s := open(t, dsn)
	run, _ := begin(t, s, "k-1")
	if err := s.SaveTrial(t.Context(), run.ID, storagetest.Trial(1, "go", "csv")); err != nil {
		t.Fatal(err)
	}
	if answer, err := s.Query(t.Context(), "select count(*) from measurements", 0); err != nil || answer.Rows[0][0] != int64(3) {
		t.Errorf("%v, error %v", answer.Rows, err)
	}
	execute(t, dsn, "CREATE VIEW stopwatt.added AS SELECT id FROM stopwatt_store.runs") // as a later step of the schema may
	names, err := s.Query(t.Context(), "select format('%I.%I', schemaname, relname) from (select schemaname, viewname as relname from pg_views union select schemaname, tablename from pg_tables) x where schemaname like 'stopwatt%'", 0)
	if err != nil || len(names.Rows) < 20 {
		t.Fatalf("%d tables and views, error %v", len(names.Rows), err)
	}
	for _, row := range names.Rows {
		if _, err := s.Query(t.Context(), "select * from "+row[0].(string), 0); err != nil {
			t.Errorf("%s: %v", row[0], err)
		}
	}
}

func TestQueryOfASuperuserElsewhereMakesNoSlip(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	for _, sql := range beyondReading {
		if answer, err := s.Query(t.Context(), sql, 0); err == nil {
			t.Errorf("%s: %v", sql, answer.Rows)
		}
	}
}

func TestSeveralAskAPrivateDatabaseForTheFirstTime(t *testing.T) {
	t.Parallel()
	dsn, release := ownServer(t)
	defer release()
	open(t, dsn)
	errs := make(chan error)
	for range 6 {
		go func() {
			s, err := storage.Open(t.Context(), dsn)
			if err == nil {
				defer s.Close()
				_, err = s.Query(t.Context(), "select * from runs", 0)
			}
			errs <- err
		}()
	}
	for range 6 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

// TestQueryLogsInWithThePassword asks a server that lets nobody in without.
func TestQueryLogsInWithThePassword(t *testing.T) {
	t.Parallel()
	dsn, release := ownServer(t)
	defer release()
	execute(t, dsn, `DO $$ BEGIN
		EXECUTE format('COPY (SELECT ''local all stopwatt_reader scram-sha-256'' UNION ALL SELECT ''local all all trust'') TO %L', current_setting('hba_file'));
	END $$`)
	execute(t, dsn, "SELECT pg_reload_conf()")
	s := open(t, strings.Replace(dsn, "stopwatt@", "stopwatt:s3'cr%5Cet@", 1))
	ask := func(s *storage.Store) error {
		_, err := s.Query(t.Context(), "select * from runs", 0)
		return err
	}
	if err := ask(s); err != nil {
		t.Error(err)
	}
	wrong := open(t, strings.Replace(dsn, "stopwatt@", "stopwatt:wrong@", 1))
	err := ask(wrong)
	for err == nil { // until the server has reloaded
		err = ask(wrong)
	}
	if !errors.Is(err, storage.ErrUnreachable) || !strings.Contains(err.Error(), "refuses the password") {
		t.Errorf("with another password: %v", err)
	}
	if err := ask(s); err != nil {
		t.Error(err)
	}
}

// ownServer is a private server that no other test uses: roles belong to all
// databases of a server.
func ownServer(t *testing.T) (dsn string, release func()) {
	t.Helper()
	embeddedtest.ForTest(t) // skips where there is no Postgres
	dsn, release, err := embedded.Throwaway(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return private(dsn), release
}
