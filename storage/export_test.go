package storage

import (
	"context"
	"maps"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"gitlab.com/stopwatt/stopwatt"
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

// BareRows are the rows of trials as SaveTrials copies them, by table, made before
// anything is timed.
type BareRows struct{ batch trialBatch }

// NewBareRows makes the rows of trials of a run that is stored.
func (s *Store) NewBareRows(ctx context.Context, runID int64, trials []stopwatt.Trial) (BareRows, error) {
	b := trialBatch{run: runID}
	err := s.atomically(ctx, func(tx pgx.Tx) error {
		var err error
		if b.keys, err = keysOfTrials(ctx, tx, runID, trials); err != nil {
			return err
		}
		ids, err := reserveTrials(ctx, tx, trials)
		for i, trial := range trials {
			if err == nil {
				err = b.add(trial, ids[i:])
			}
		}
		return err
	})
	return BareRows{b}, err
}

// Copy copies the rows in one transaction.
func (r BareRows) Copy(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		for _, table := range r.batch.tables() {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{"stopwatt_store", table.name}, table.columns, pgx.CopyFromRows(table.rows)); err != nil {
				return err
			}
		}
		return nil
	})
}
