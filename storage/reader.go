package storage

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// reader is the role that queries of somebody's own are asked as in a private
// database, whose one other role is a superuser. It may log in and read the
// tables and views of this database; nothing more.
const reader = "stopwatt_reader"

// A standing is what the role of our sessions may do at its server.
type standing struct{ superuser, private bool }

func (s *Store) standing(ctx context.Context) (standing, error) {
	var is standing
	err := s.pool.QueryRow(ctx, `
		SELECT current_setting('is_superuser') = 'on', coalesce(current_setting('stopwatt.private', true), '') = 'on'`).Scan(&is.superuser, &is.private)
	return is, err
}

// asking opens a session for a query of somebody's own, with as few rights as
// can be had. A superuser that puts on another role can take it off again within
// the very statement that is asked, with set_config. So in a private database
// the session is the reader's from its beginning; at a server of somebody's own,
// where we make no roles, putting one on guards against slips alone.
func (s *Store) asking(ctx context.Context) (*pgx.Conn, error) {
	is, err := s.standing(ctx)
	if err != nil {
		return nil, err
	}
	config := s.pool.Config().ConnConfig.Copy()
	for name := range pageSettings { // which are of no use to other questions
		delete(config.RuntimeParams, name)
	}
	if is.superuser && is.private {
		if err := s.makeReader(ctx); err != nil {
			return nil, fmt.Errorf("make role %s: %w", reader, err)
		}
		config.User = reader
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil || !is.superuser || is.private {
		return conn, err
	}
	_, err = conn.Exec(ctx, "SELECT set_config('role', rolname, false) FROM pg_roles WHERE rolname = 'pg_read_all_data'") // since 14
	if err != nil {
		letGo(ctx, conn)
		return nil, err
	}
	return conn, nil
}

// letGo ends a session, also when ctx has ended.
func letGo(ctx context.Context, conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectBound)
	defer cancel()
	_ = conn.Close(ctx) // the session ends either way
}

// makeReader makes the reader where it is missing, with the password of our own
// role, and lets it read in this database.
func (s *Store) makeReader(ctx context.Context) error {
	var may bool
	err := s.pool.QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1 AND has_schema_privilege(oid, 'stopwatt_pages', 'USAGE'))`, reader).Scan(&may)
	if err != nil || may {
		return err
	}
	var create string
	err = s.pool.QueryRow(ctx, "SELECT format('CREATE ROLE %I LOGIN PASSWORD %L', $1::text, nullif($2::text, ''))",
		reader, s.pool.Config().ConnConfig.Password).Scan(&create)
	if err != nil {
		return err
	}
	if _, err := s.pool.Exec(ctx, create); err != nil && !isThere(err) {
		return err
	}
	return s.atomically(ctx, func(tx pgx.Tx) error { return letRead(ctx, tx) })
}

// isThere tells whether a role was not made because it is there, or because
// somebody else is making it at the same time.
func isThere(err error) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && (refused.Code == "42710" || refused.Code == "23505")
}

// letRead grants the reader what is there, and what later steps of the schema
// will add. The lock is for those that grant the same at once.
func letRead(ctx context.Context, tx pgx.Tx) error {
	for _, statement := range []string{
		"SELECT pg_advisory_xact_lock(hashtextextended('stopwatt reader', 0))",
		"GRANT SELECT ON ALL TABLES IN SCHEMA stopwatt, stopwatt_pages, stopwatt_store TO " + reader,
		"ALTER DEFAULT PRIVILEGES IN SCHEMA stopwatt, stopwatt_pages, stopwatt_store GRANT SELECT ON TABLES TO " + reader,
		"GRANT USAGE ON SCHEMA stopwatt, stopwatt_pages, stopwatt_store TO " + reader,
	} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
