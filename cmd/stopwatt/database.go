package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

// keeperName is the hidden verb that supervises the private Postgres.
const keeperName = "postgres-keeper"

// dsn names the database: --db, else the environment, else a private one that
// is started here and let go by release.
func (d *desk) dsn(ctx context.Context) (dsn string, release func(), err error) {
	if d.database != "" {
		return d.database, func() {}, nil
	}
	if named := d.getenv("STOPWATT_DATABASE"); named != "" {
		return named, func() {}, nil
	}
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	idle, err := d.databaseIdle()
	if err != nil {
		return "", nil, askedWrongly(err)
	}
	dsn, release, err = embedded.Start(ctx, embedded.Config{
		Data:      d.databaseFolder(),
		Idle:      idle,
		Keeper:    []string{self, keeperName},
		KeeperEnv: d.dockerEnvironment(),
		Launch:    d.launchDatabase,
	})
	if err != nil {
		return "", nil, surroundings(err)
	}
	return dsn, release, nil
}

// databaseFolder is where the private Postgres keeps its data. Empty lets
// package embedded choose: without XDG_DATA_HOME, root's data cannot lie in
// root's home, which is closed to the user that Postgres runs as.
func (d *desk) databaseFolder() string {
	if filepath.IsAbs(d.getenv("XDG_DATA_HOME")) {
		return d.dataFolder()
	}
	return ""
}

// databaseIdle is how long the private Postgres waits for another command
// before it stops: $STOPWATT_DATABASE_IDLE, else ten minutes.
func (d *desk) databaseIdle() (time.Duration, error) {
	text := d.getenv("STOPWATT_DATABASE_IDLE")
	if text == "" {
		return 0, nil
	}
	idle, err := time.ParseDuration(text)
	if err != nil || idle <= 0 {
		return 0, fmt.Errorf("STOPWATT_DATABASE_IDLE=%s is no length of time; write 10m", quote(text))
	}
	return idle, nil
}

// openStore opens the database. What release lets go of must be let go when
// the command ends.
func (d *desk) openStore(ctx context.Context) (*storage.Store, func(), error) {
	dsn, release, err := d.dsn(ctx)
	if err != nil {
		return nil, nil, err
	}
	store, err := storage.Open(ctx, dsn)
	if err != nil {
		release()
		return nil, nil, databaseError(err)
	}
	return store, func() { store.Close(); release() }, nil
}

// databaseError tells a database that was named wrongly from one that fails.
func databaseError(err error) error {
	if errors.Is(err, storage.ErrDSN) {
		return askedWrongly(err)
	}
	return surroundings(err)
}

// keeperVerb is the hidden verb that the private Postgres is supervised by.
func (d *desk) keeperVerb() *cobra.Command {
	return &cobra.Command{
		Use:                keeperName,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return embedded.Keep(cmd.Context(), args, d.stopDatabase)
		},
	}
}

// migrateVerb is `stopwatt migrate`.
func (d *desk) migrateVerb() *cobra.Command {
	return &cobra.Command{
		Use:     "migrate",
		Short:   "Bring the database's schema up to date",
		Example: `  stopwatt migrate --db postgres://owner@db.example.org/bench`,
		Args:    atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			dsn, release, err := d.dsn(cmd.Context())
			if err != nil {
				return err
			}
			defer release()
			from, to, err := storage.Migrate(cmd.Context(), dsn)
			if err != nil {
				return databaseError(err)
			}
			if from == to {
				fmt.Fprintf(d.stdout, "schema %d is up to date\n", to)
				return nil
			}
			fmt.Fprintf(d.stdout, "schema %d → %d\n", from, to)
			return nil
		},
	}
}
