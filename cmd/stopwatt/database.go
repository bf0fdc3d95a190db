package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

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

// databaseFolder is where the private Postgres keeps its data. Empty lets package
// embedded choose. Without XDG_DATA_HOME, root's data cannot lie in root's home, which
// is closed to the user that Postgres runs as.
func (d *desk) databaseFolder() string {
	switch {
	case filepath.IsAbs(d.getenv("XDG_DATA_HOME")):
		return d.dataFolder()
	case os.Geteuid() == 0:
		return rootFolder
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

// openStore opens the database, and delivers what waited for it. What release lets go of must be let go when
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
	waited, err := deliverAll(ctx, d.spool(), store)
	if err != nil {
		fmt.Fprintf(d.stderr, "spool   %v\n", harmless(err)) // what waits there goes on waiting
	}
	d.tellArrears(waited)
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
	reader := ""
	verb := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database's schema up to date",
		Long: `Brings the schema of the database up to date. Others may read and store meanwhile.

With --reader it then makes sure that there is a role which may read the
documented views and the web pages', and nothing else: for stopwatt serve,
Grafana, notebooks. Its password is that of $STOPWATT_READER_PASSWORD, or is asked
for in a terminal; without one the role's stays as it is. It may be repeated.`,
		Example: `  stopwatt migrate --db postgres://owner@db.example.org/bench
  stopwatt migrate --db postgres://owner@db.example.org/bench --reader grafana`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return d.migrate(cmd.Context(), reader) },
	}
	verb.Flags().StringVar(&reader, "reader", "", "make a role of this `NAME` that may only read")
	return verb
}

// migrate brings the schema up to date, and makes the reader that is asked for.
func (d *desk) migrate(ctx context.Context, reader string) error {
	dsn, release, err := d.dsn(ctx)
	if err != nil {
		return err
	}
	defer release()
	from, to, err := storage.Migrate(ctx, dsn)
	if err != nil {
		return databaseError(err)
	}
	if from == to {
		fmt.Fprintf(d.stdout, "schema %d is up to date\n", to)
	} else {
		fmt.Fprintf(d.stdout, "schema %d → %d\n", from, to)
	}
	if reader == "" {
		return nil
	}
	password, err := d.readerPassword(reader)
	if err != nil {
		return err
	}
	did, err := storage.LetRead(ctx, dsn, reader, password)
	if err != nil {
		return databaseError(err)
	}
	for _, line := range did {
		fmt.Fprintln(d.stdout, line)
	}
	return nil
}

// readerPassword is the password that a reader is given; empty leaves it as it is.
// It is no argument, because everybody on the machine may see those.
func (d *desk) readerPassword(reader string) (string, error) {
	terminal := int(os.Stdin.Fd())
	if password := d.getenv("STOPWATT_READER_PASSWORD"); password != "" || !term.IsTerminal(terminal) {
		return password, nil
	}
	fmt.Fprintf(d.stderr, "password of %s (empty: as it is): ", reader)
	password, err := term.ReadPassword(terminal)
	fmt.Fprintln(d.stderr)
	if err != nil {
		return "", fmt.Errorf("read the password: %w", err)
	}
	return string(password), nil
}
