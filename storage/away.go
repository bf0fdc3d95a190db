package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gitlab.com/stopwatt/stopwatt"
)

// Away tells whether what failed with this error may be taken another time: the
// server is gone, slow, full, or takes no writing at present, or turns us away. False
// is said of what will always be refused: figures that are none, a run that is not
// stored.
func Away(err error) bool {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return !alwaysRefused(refused.Code)
	}
	var connecting *pgconn.ConnectError
	return errors.As(err, &connecting) || errors.Is(err, stopwatt.ErrUnreachable) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || err != nil && brokenOff(err)
}

// alwaysRefused tells whether the statement itself was at fault: classes 22, data exception,
// and 23, integrity constraint violation.
func alwaysRefused(code string) bool {
	return len(code) == 5 && (code[:2] == "22" || code[:2] == "23")
}

// readOnly tells whether the server takes no writing: a standby, perhaps one that was the
// primary. Connections that are made anew may reach another server.
func readOnly(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == "25006"
}

// RunOfKey returns the run of this key, or ErrNotFound.
func (s *Store) RunOfKey(ctx context.Context, key string) (stopwatt.Run, error) {
	var run stopwatt.Run
	err := s.reading(ctx, func(tx pgx.Tx) error {
		var id int64
		if err := tx.QueryRow(ctx, "SELECT id FROM stopwatt_store.runs WHERE key = $1", key).Scan(&id); err != nil {
			return notFound(err)
		}
		var err error
		run, err = readRun(ctx, tx, id)
		return err
	})
	if err != nil {
		return stopwatt.Run{}, fmt.Errorf("find the run of key %s: %w", plain(key), err)
	}
	return run, nil
}

// Claim makes the run this Store's, until it is closed. It tells whether that was
// possible: false where another process carries it out.
func (s *Store) Claim(ctx context.Context, runID int64) (bool, error) {
	ours, err := s.hold(ctx, runID)
	return ours, s.name(err)
}
