package storage

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// MigrateTo brings the schema to an older version than the latest.
func MigrateTo(ctx context.Context, dsn string, version int64) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*config)
	defer db.Close() // every statement has been answered by then
	steps, err := provider(db)
	if err != nil {
		return err
	}
	_, err = steps.UpTo(ctx, version)
	return err
}

// EpochKey is what tells the epochs of a machine apart.
var EpochKey = epochKey

// OpenTraced is OpenReader, telling what it asks.
func OpenTraced(ctx context.Context, dsn string, tracer pgx.QueryTracer) (*Archive, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	config.ConnConfig.Tracer = tracer
	return openReader(ctx, config)
}

// ConnectAsPages opens a session like those of an archive.
func ConnectAsPages(ctx context.Context, dsn string) (*pgx.Conn, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	maps.Copy(config.ConnConfig.RuntimeParams, pageSettings)
	return pgx.ConnectConfig(ctx, config.ConnConfig)
}
