package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gitlab.com/stopwatt/stopwatt"
)

// ErrUnreachable says that the database cannot be used at present.
var ErrUnreachable = fmt.Errorf("database %w", stopwatt.ErrUnreachable)

// ErrDSN says that the database's name was not understood.
var ErrDSN = errors.New("the database's name is not understood; write postgres://USER:PASSWORD@HOST:PORT/DATABASE or host=HOST dbname=DATABASE user=USER")

// nameless is ErrDSN. Of the reason it repeats only which file is missing: it
// may hold parts of the name, perhaps the password.
func nameless(err error) error {
	var file *fs.PathError
	if errors.As(err, &file) {
		return fmt.Errorf("%w; it refers to a file: %w", ErrDSN, file)
	}
	return ErrDSN
}

// explain says why a connection was not made, and what to do about it. The
// password is no part of the text.
func explain(err error, config *pgx.ConnConfig) error {
	at := fmt.Sprintf("%s:%d", config.Host, config.Port)
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return fmt.Errorf("%w: %s", ErrUnreachable, explainRefusal(refused, config, at))
	}
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown):
		return fmt.Errorf("%w: host %q is not known; check its spelling", ErrUnreachable, config.Host)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: no server listens on a socket in %s; start it, or check the folder", ErrUnreachable, config.Host)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: permission denied to the socket in %s", ErrUnreachable, config.Host)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: %s refuses connections; is the server running, and listening on this address?", ErrUnreachable, at)
	case errors.Is(err, context.Canceled):
		return err
	case isTimeout(err):
		return fmt.Errorf("%w: %s did not answer within %v; check the address, and the firewalls between", ErrUnreachable, at, connectBound)
	}
	return fmt.Errorf("%w: %s: %w", ErrUnreachable, at, innermost(err))
}

// explainRefusal tells why the server turned us away, by its SQLSTATE.
func explainRefusal(refused *pgconn.PgError, config *pgx.ConnConfig, at string) string {
	switch refused.Code {
	case "28P01":
		return fmt.Sprintf("%s refuses the password of user %q; check it in STOPWATT_DATABASE, PGPASSWORD or ~/.pgpass", at, config.User)
	case "28000":
		return fmt.Sprintf("%s refuses user %q: %s; allow it in the server's pg_hba.conf, or name another user", at, config.User, refused.Message)
	case "3D000":
		return fmt.Sprintf("%s has no database %q; make it with: createdb %s", at, config.Database, config.Database)
	case "42501":
		return fmt.Sprintf("user %q may not connect to database %q at %s; grant it CONNECT", config.User, config.Database, at)
	case "53300":
		return fmt.Sprintf("%s has no connection left; raise max_connections, or end other clients", at)
	case "57P03":
		return fmt.Sprintf("%s is starting up or shutting down; try again in a moment", at)
	}
	return fmt.Sprintf("%s: %s (SQLSTATE %s)", at, refused.Message, refused.Code)
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
}

// innermost is the cause, without the words that each layer has put round it.
func innermost(err error) error {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err
		}
		err = next
	}
}

// patience is how long a transaction is tried again while the server is away,
// so that its restart does not end a run.
const (
	patience   = 15 * time.Second
	retryPause = 200 * time.Millisecond
)

// patiently tries again after a deadlock, and when the connection breaks off.
// Since then nobody knows whether the transaction was committed, it must be
// such that doing it twice does it once.
func (s *Store) patiently(ctx context.Context, try func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if readOnly(err) {
			s.pool.Reset()
		}
		if err == nil || !passing(err) || time.Now().After(deadline) {
			return s.name(err)
		}
		select {
		case <-ctx.Done():
			return s.name(err)
		case <-time.After(retryPause):
		}
	}
}

// atomically carries out work in one transaction, perhaps more than once.
func (s *Store) atomically(ctx context.Context, work func(tx pgx.Tx) error) error {
	return s.patiently(ctx, func() error { return pgx.BeginFunc(ctx, s.pool, work) })
}

// reading carries out work in a transaction that sees one state of the
// database and changes nothing, perhaps more than once.
func (s *Store) reading(ctx context.Context, work func(tx pgx.Tx) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return s.patiently(ctx, func() error { return pgx.BeginTxFunc(ctx, s.pool, options, work) })
}

// name makes ErrUnreachable of what a lost connection looks like.
func (s *Store) name(err error) error {
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) || err != nil && brokenOff(err) {
		return explain(err, s.pool.Config().ConnConfig)
	}
	return err
}

// passing tells whether the same transaction may succeed in a moment.
func passing(err error) bool {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		var connecting *pgconn.ConnectError
		return errors.As(err, &connecting) || brokenOff(err)
	}
	switch refused.Code {
	case "40001", "40P01", // lost a race, deadlock
		"57P01", "57P02", "57P03": // shutting down, crashed, starting up
		return true
	}
	return false
}

// brokenOff tells whether a connection ended under a statement.
func brokenOff(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
		errors.Is(err, pgconn.ErrConnClosed) || pgconn.SafeToRetry(err)
}
