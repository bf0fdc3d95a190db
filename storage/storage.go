// Package storage keeps runs and their history in Postgres.
//
// It is the only room that knows SQL. It judges nothing and computes no
// statistics: summaries come in and go out as they are.
package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/migrations"
)

// ErrNotFound says that the database holds no such run.
var ErrNotFound = stopwatt.ErrNotFound

const (
	// connectBound is how long Open waits for an answer.
	connectBound = 10 * time.Second
	// oldestServer is the first server whose features the schema uses, in the
	// form of server_version_num.
	oldestServer = 130000
	// connections is the most that one command holds open, beside the session
	// that holds its locks. It saves one trial after the other; the rest is for
	// pages that are read at the same time.
	connections = 4
)

// A Store is a database of runs. Its methods may be called from several
// goroutines.
type Store struct {
	pool *pgxpool.Pool

	// holder is the session that holds the locks of the runs which this
	// process carries out. They go with the session, however the process ends.
	holding sync.Mutex
	holder  *pgx.Conn
}

// Open connects to the database that dsn names, a URL or keywords and values,
// and brings its schema up to date where that is needed. It gives up after ten
// seconds without an answer. A database that cannot be used at present makes
// an error that is ErrUnreachable, a dsn that names none one that is ErrDSN,
// and a schema that is newer than this stopwatt one that is ErrNewerSchema.
func Open(ctx context.Context, dsn string) (*Store, error) {
	config, err := parse(dsn)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	s := &Store{pool: pool}
	if err := s.begin(ctx); err != nil {
		pool.Close()
		return nil, fmt.Errorf("open database: %w", err)
	}
	return s, nil
}

// parse reads the name of a database, and sets what every session of ours is
// given. A name that is not understood makes an error that is ErrDSN: also the
// URL of another kind of database, which would otherwise be taken for keywords
// where it holds an equals sign.
func parse(dsn string) (*pgxpool.Config, error) {
	if scheme, _, found := strings.Cut(dsn, "://"); found && !strings.ContainsAny(scheme, " =") && scheme != "postgres" && scheme != "postgresql" {
		return nil, ErrDSN
	}
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, nameless(err)
	}
	config.MaxConns = connections
	session := config.ConnConfig
	session.ConnectTimeout = connectBound
	session.RuntimeParams["timezone"] = "UTC"
	if session.RuntimeParams["application_name"] == "" {
		session.RuntimeParams["application_name"] = "stopwatt"
	}
	return config, nil
}

// begin makes sure of the server and of the schema.
func (s *Store) begin(ctx context.Context) error {
	if err := s.checkServer(ctx); err != nil {
		return err
	}
	version, err := s.SchemaVersion(ctx)
	if err != nil || version >= migrations.Latest() {
		return errors.Join(err, tooNew(version))
	}
	_, _, err = migrate(ctx, s.pool.Config().ConnConfig)
	return err
}

// checkServer asks the server, within the bound, for its version.
func (s *Store) checkServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectBound)
	defer cancel()
	var number int
	err := s.pool.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&number)
	if err != nil {
		return explain(err, s.pool.Config().ConnConfig)
	}
	if number < oldestServer {
		return fmt.Errorf("%w: the server is PostgreSQL %d; stopwatt needs %d or newer", ErrUnreachable, number/10000, oldestServer/10000)
	}
	return nil
}

// Close lets go of the database. A run that was begun and not finished can be
// continued from then on.
func (s *Store) Close() {
	s.holding.Lock()
	defer s.holding.Unlock()
	if s.holder != nil {
		letGo(context.Background(), s.holder)
		s.holder = nil
	}
	s.pool.Close()
}
