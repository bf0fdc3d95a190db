package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// LetRead makes sure that there is a role of this name which may log in and read:
// the views in schema stopwatt, those of the web pages in schema stopwatt_pages, and
// what later steps of the schema add to them; no table, and it may change nothing.
// A password that is not empty becomes the role's; an empty one leaves it as it is.
// It says what it did, and may be called again. dsn names a role that owns the
// schema and may make roles.
func LetRead(ctx context.Context, dsn, name, password string) (did []string, err error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	if err != nil {
		return nil, fmt.Errorf("let %s read: %w", name, explain(err, config.ConnConfig))
	}
	defer letGo(ctx, conn)
	err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		did, err = letReadViews(ctx, tx, name, password)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("let %s read: %w", name, mayNotGrant(err))
	}
	return did, nil
}

func letReadViews(ctx context.Context, tx pgx.Tx, name, password string) ([]string, error) {
	if name == "" || strings.HasPrefix(name, "pg_") {
		return nil, fmt.Errorf("%q is no name for a role", name)
	}
	// One at a time: roles and grants are rows that two cannot change at once.
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended('stopwatt reader', 0))"); err != nil {
		return nil, err
	}
	made, err := makeRole(ctx, tx, name, password)
	if err != nil {
		return nil, err
	}
	for _, format := range []string{
		"GRANT USAGE ON SCHEMA stopwatt, stopwatt_pages TO %I",
		"GRANT SELECT ON ALL TABLES IN SCHEMA stopwatt, stopwatt_pages TO %I",
		"ALTER DEFAULT PRIVILEGES IN SCHEMA stopwatt, stopwatt_pages GRANT SELECT ON TABLES TO %I",
		"ALTER ROLE %I SET default_transaction_read_only = on",
	} {
		if err := executeFormat(ctx, tx, format, name); err != nil {
			return nil, err
		}
	}
	return append(made, fmt.Sprintf("role %s may read the views in schema stopwatt, and those of the pages in schema stopwatt_pages", name)), nil
}

// makeRole makes the role where it is missing, and gives it the password. It
// refuses one that may do more than read.
func makeRole(ctx context.Context, tx pgx.Tx, name, password string) ([]string, error) {
	var mighty bool
	err := tx.QueryRow(ctx, `
		SELECT rolsuper OR rolcreaterole OR rolcreatedb OR rolbypassrls
		       OR pg_has_role(oid, (SELECT nspowner FROM pg_namespace WHERE nspname = 'stopwatt_store'), 'MEMBER')
		FROM pg_roles WHERE rolname = $1`, name).Scan(&mighty)
	var did []string
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		if err := executeFormat(ctx, tx, "CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION", name); err != nil {
			return nil, err
		}
		did = append(did, "made role "+name)
	case err != nil:
		return nil, err
	case mighty:
		return nil, fmt.Errorf("role %s is there, and may do more than read; name another one", name)
	default:
		did = append(did, fmt.Sprintf("role %s was there", name))
	}
	if password == "" {
		return did, nil
	}
	return append(did, "set its password"), executeFormat(ctx, tx, "ALTER ROLE %I PASSWORD %L", name, password)
}

// executeFormat executes a statement that takes no parameters, with names and texts
// put in by the server's own quoting.
func executeFormat(ctx context.Context, tx pgx.Tx, format string, texts ...string) error {
	var statement string
	if err := tx.QueryRow(ctx, "SELECT format($1, VARIADIC $2::text[])", format, texts).Scan(&statement); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, statement)
	return err
}

// mayNotGrant adds the remedy to an error that says why nothing was granted.
func mayNotGrant(err error) error {
	var refused *pgconn.PgError
	if errors.As(err, &refused) && (refused.Code == "42501" || refused.Code == "25006") {
		return fmt.Errorf("the role that the database was named with may not do that: %s; name one that owns the schema and has CREATEROLE", refused.Message)
	}
	return err
}
