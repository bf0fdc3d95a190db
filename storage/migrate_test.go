package storage_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt/migrations"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

func TestMigrateFromNothingAndAgain(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	for _, row := range []struct{ from, to int }{{0, migrations.Latest()}, {migrations.Latest(), migrations.Latest()}} {
		from, to, err := storage.Migrate(t.Context(), dsn)
		if from != row.from || to != row.to || err != nil {
			t.Errorf("migrated from %d to %d, want %d to %d, error %v", from, to, row.from, row.to, err)
		}
	}
	if version, err := open(t, dsn).SchemaVersion(t.Context()); version != migrations.Latest() || err != nil {
		t.Errorf("version %d, error %v", version, err)
	}
}

func TestFourMigrateAtOnce(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	type outcome struct {
		from int
		err  error
	}
	outcomes := make(chan outcome)
	for range 4 {
		go func() {
			from, _, err := storage.Migrate(t.Context(), dsn)
			outcomes <- outcome{from, err}
		}()
	}
	fromNothing := 0
	for range 4 {
		o := <-outcomes
		if o.err != nil {
			t.Error(o.err)
		}
		if o.from == 0 {
			fromNothing++
		}
	}
	if fromNothing != 1 {
		t.Errorf("%d of 4 migrated from nothing", fromNothing)
	}
}

func TestANewerSchemaIsRefused(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	open(t, dsn)
	execute(t, dsn, "INSERT INTO stopwatt_store.schema_version (version_id, is_applied) VALUES (999, true)")
	_, err := storage.Open(t.Context(), dsn)
	if !errors.Is(err, storage.ErrNewerSchema) || !strings.Contains(err.Error(), "version 999") {
		t.Errorf("open: %v", err)
	}
	if _, _, err := storage.Migrate(t.Context(), dsn); !errors.Is(err, storage.ErrNewerSchema) {
		t.Errorf("migrate: %v", err)
	}
}

func TestARoleThatMayNotMigrateIsToldWhoMay(t *testing.T) {
	t.Parallel()
	dsn := embeddedtest.ForTest(t)
	execute(t, dsn, "CREATE ROLE guest LOGIN")
	t.Cleanup(func() { execute(t, dsn, "DROP ROLE guest") })
	guest, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	guest.User = url.User("guest")
	_, err = storage.Open(t.Context(), guest.String())
	if err == nil || !strings.Contains(err.Error(), "let the database's owner call: stopwatt migrate") {
		t.Errorf("got %v", err)
	}
}

// execute carries out statements behind the store's back.
func execute(t *testing.T, dsn, sql string) {
	t.Helper()
	if err := tryExecute(t, dsn, sql); err != nil {
		t.Fatal(err)
	}
}

func tryExecute(t *testing.T, dsn, sql string) error {
	t.Helper()
	ctx, cancel := contextFor(t)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, sql)
	return err
}
