package storage

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"gitlab.com/stopwatt/stopwatt/migrations"
)

// ErrOlderSchema says that the database's schema lacks what this stopwatt reads.
var ErrOlderSchema = errors.New("the database's schema is older than this stopwatt; let its owner call: stopwatt migrate")

const (
	// pageBound is how long one question of a page may take.
	pageBound = 5 * time.Second
	// pageConnections is the most that an archive holds open.
	pageConnections = 4
)

// pageSettings are what every session of an archive is given.
var pageSettings = map[string]string{
	"default_transaction_read_only": "on",
	"statement_timeout":             fmt.Sprint(pageBound.Milliseconds()),
	"jit":                           "off", // it takes longer to compile than the questions last
	// Pages ask for little of much. A planner that believes a table to be small
	// reads it from end to end, and still does when it has grown.
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
}

// An Archive answers what pages ask, from what is stored. It changes nothing, and
// needs no right but that of the role which LetRead makes.
type Archive struct{ store *Store }

// OpenReader connects to the database that dsn names, for reading alone. It makes
// no change to the schema: one that is older than this stopwatt makes an error that
// is ErrOlderSchema. The other errors are those of Open.
func OpenReader(ctx context.Context, dsn string) (*Archive, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	return openReader(ctx, config)
}

func openReader(ctx context.Context, config *pgxpool.Config) (*Archive, error) {
	config.MaxConns = pageConnections
	maps.Copy(config.ConnConfig.RuntimeParams, pageSettings)
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	a := &Archive{&Store{pool: pool}}
	if err := a.begin(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open database: %w", err)
	}
	return a, nil
}

// begin makes sure of the server and of the schema.
func (a *Archive) begin(ctx context.Context) error {
	if err := a.store.checkServer(ctx); err != nil {
		return err
	}
	version := 0
	err := a.store.pool.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM stopwatt_pages.schema_version WHERE is_applied").Scan(&version)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (refused.Code == "42P01" || refused.Code == "3F000") || err == nil && version < migrations.Latest() {
		return ErrOlderSchema
	}
	if errors.As(err, &refused) && refused.Code == "42501" {
		return fmt.Errorf("role %q may not read the pages' views; let the database's owner call: stopwatt migrate --reader %s",
			a.store.pool.Config().ConnConfig.User, a.store.pool.Config().ConnConfig.User)
	}
	return errors.Join(a.store.name(err), tooNew(version))
}

// Query answers a statement of somebody's own; see Store.Query.
func (a *Archive) Query(ctx context.Context, sql string, limit int) (Answer, error) {
	return a.store.Query(ctx, sql, limit)
}

// Close lets go of the database.
func (a *Archive) Close() { a.store.Close() }

// reading carries out work in a transaction that sees one state of the database,
// by way of the pages' views.
func (a *Archive) reading(ctx context.Context, work func(tx pgx.Tx) error) error {
	err := a.store.reading(ctx, func(tx pgx.Tx) error { return work(pagesTx{tx}) })
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "57014" && ctx.Err() == nil {
		return fmt.Errorf("the database took longer than %v: %w", pageBound, errors.Join(context.DeadlineExceeded, err))
	}
	return err
}

// A pagesTx asks the views in schema stopwatt_pages what is asked of the tables
// behind them, so that the same question is written once. Both have the same names
// and columns; see show_pages in the migrations.
type pagesTx struct{ pgx.Tx }

func (tx pagesTx) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	return tx.Tx.Query(ctx, ofPages(sql), args...)
}

func (tx pagesTx) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	return tx.Tx.QueryRow(ctx, ofPages(sql), args...)
}

func ofPages(sql string) string {
	return strings.ReplaceAll(sql, "stopwatt_store.", "stopwatt_pages.")
}
