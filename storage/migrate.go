package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
	"github.com/pressly/goose/v3/lock"

	"gitlab.com/stopwatt/stopwatt/migrations"
)

// ErrNewerSchema says that a newer stopwatt has changed the database.
var ErrNewerSchema = errors.New("the database belongs to a newer stopwatt")

// ErrMayNotStore says that the role has no right to the tables, as a reader has none.
var ErrMayNotStore = errors.New("what a reader may do is enough for stopwatt sql and stopwatt serve; all else needs a role that stores, as in docs/gitlab.md")

// versions is the table of the steps that were applied.
const versions = "stopwatt_store.schema_version"

// SchemaVersion is the number of the last step that the database's schema has
// taken, 0 when it has taken none.
func (s *Store) SchemaVersion(ctx context.Context) (int, error) {
	var there bool
	err := s.pool.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", versions).Scan(&there)
	version := 0
	if err == nil && there {
		err = s.pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM "+versions+" WHERE is_applied").Scan(&version)
	}
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "42501" {
		return 0, fmt.Errorf("role %q may not read the tables: %w", s.pool.Config().ConnConfig.User, ErrMayNotStore)
	}
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", s.name(err))
	}
	return version, nil
}

// Migrate brings the schema of the database up to date and says from which
// version to which. Several may do so at once: one does it, the others wait.
func Migrate(ctx context.Context, dsn string) (from, to int, err error) {
	config, err := parse(dsn)
	if err != nil {
		return 0, 0, err
	}
	from, to, err = migrate(ctx, config.ConnConfig)
	if err != nil {
		return 0, 0, fmt.Errorf("migrate database: %w", err)
	}
	return from, to, nil
}

func migrate(ctx context.Context, config *pgx.ConnConfig) (from, to int, err error) {
	db := stdlib.OpenDB(*config)
	defer db.Close() // every statement has been answered by then
	if err := db.PingContext(ctx); err != nil {
		return 0, 0, explain(err, config)
	}
	steps, err := provider(db)
	if err != nil {
		return 0, 0, err
	}
	results, err := steps.Up(ctx)
	if err != nil {
		return 0, 0, mayNot(err)
	}
	if len(results) > 0 {
		if _, err := db.ExecContext(ctx, "SELECT stopwatt_store.show_pages()"); err != nil {
			return 0, 0, mayNot(err)
		}
	}
	now, err := steps.GetDBVersion(ctx)
	if err != nil {
		return 0, 0, mayNot(err)
	}
	return before(steps.ListSources(), results, now), int(now), tooNew(int(now))
}

// before is the version in front of the first step that was taken now: numbers
// may be left out.
func before(steps []*goose.Source, taken []*goose.MigrationResult, now int64) int {
	if len(taken) == 0 {
		return int(now)
	}
	last := int64(0)
	for _, step := range steps {
		if step.Version < taken[0].Source.Version {
			last = max(last, step.Version)
		}
	}
	return int(last)
}

// tooNew refuses a schema that this stopwatt has not seen.
func tooNew(version int) error {
	if version <= migrations.Latest() {
		return nil
	}
	return fmt.Errorf("%w: its schema has version %d and this one knows up to %d; install the newer one here", ErrNewerSchema, version, migrations.Latest())
}

// provider carries out the steps: each in a transaction, all under one
// advisory lock, which is asked for every second, for at most five minutes.
func provider(db *sql.DB) (*goose.Provider, error) {
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	table, err := database.NewStore(goose.DialectPostgres, versions)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.DialectCustom, db, migrations.Files,
		goose.WithStore(versionTable{table}),
		goose.WithSessionLocker(locker),
		goose.WithDisableGlobalRegistry(true))
}

// A versionTable is goose's table of versions, in a schema of its own.
type versionTable struct{ database.Store }

// TableExists asks the catalogue, so that the log of the server does not fill
// with errors.
func (t versionTable) TableExists(ctx context.Context, db database.DBTxConn) (bool, error) {
	var there bool
	err := db.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", versions).Scan(&there)
	return there, err
}

// CreateVersionTable makes the schema first. It is called under the lock.
func (t versionTable) CreateVersionTable(ctx context.Context, db database.DBTxConn) error {
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS stopwatt_store"); err != nil {
		return err
	}
	return t.Store.CreateVersionTable(ctx, db)
}

// mayNot adds the remedy to an error that says why the schema was not changed.
func mayNot(err error) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code {
	case "42501":
		return fmt.Errorf("the schema needs a change that this role may not make: %s; let the database's owner call: stopwatt migrate", refused.Message)
	case "55P03", "40P01":
		return fmt.Errorf("the schema needs a change, and another session holds its tables (%s); end transactions that were left open, and try again", refused.Message)
	}
	return err
}
