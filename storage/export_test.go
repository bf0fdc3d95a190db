package storage

import (
	"context"

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
