// Package embedded runs a private Postgres when no database is named.
//
// The server listens on a unix socket alone, in a folder that only its owner
// may enter. It is shared by every command that uses the same data folder, and
// is stopped by its keeper, a process of its own, when nobody has used it for a
// while. The package installs no Postgres, upgrades none, and takes no backups.
package embedded

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"
)

// ErrNoBinaries says that this machine has no Postgres that can be used.
var ErrNoBinaries = errors.New("no PostgreSQL 13 or newer on this machine; install it (Debian: apt-get install postgresql), or name a database with --db or STOPWATT_DATABASE")

// Config says where the private server lives. The zero value of every field
// but Keeper is useful.
type Config struct {
	// Data is the folder that keeps the database, below a folder "postgres".
	// Empty: stopwatt in the XDG data folder, or /var/lib/stopwatt for root.
	Data string
	// Runtime is a folder with a short path for the socket, which may have 107
	// bytes in all. Empty: stopwatt in XDG_RUNTIME_DIR, in /run for root, or
	// else in /tmp.
	Runtime string
	// Binaries is the folder of initdb and postgres. Empty: they are looked for.
	Binaries string
	// Keeper is the command that calls Keep with the one argument that is
	// added to it.
	Keeper []string
	// KeeperEnv is what the keeper's environment holds beside a PATH, NAME=VALUE.
	// It outlives the job that started it, and must be given no secret.
	KeeperEnv []string
	// Idle is how long the server waits for another client after the last one
	// has left. 0: ten minutes.
	Idle time.Duration
	// Launch makes sure that a server runs by other means, where no binaries
	// exist, and returns its address on this machine, HOST:PORT, as soon as it
	// answers. After an error it leaves nothing running. The keeper ends what it
	// has started: see Keep. nil: Start returns ErrNoBinaries then.
	Launch func(ctx context.Context, order ServerOrder) (address string, err error)
}

const (
	defaultIdle = 10 * time.Minute
	// startBound is how long a start may take, the recovery after a power loss
	// and the first initdb on a slow card included.
	startBound = 2 * time.Minute
	// pollEvery is how often the start looks whether the server is ready.
	pollEvery = 20 * time.Millisecond
)

// Start makes sure that the private server runs, and returns how to reach it.
// The server stays at least until release is called or the process ends.
func Start(ctx context.Context, config Config) (dsn string, release func(), err error) {
	dsn, release, err = start(ctx, config)
	if err != nil {
		return "", nil, fmt.Errorf("start the private database: %w", err)
	}
	return dsn, release, nil
}

func start(ctx context.Context, config Config) (string, func(), error) {
	account, err := serverAccount()
	if err != nil {
		return "", nil, err
	}
	home, err := makeHome(config.Data, account)
	if err != nil {
		return "", nil, err
	}
	bounded, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	starting, err := lock(bounded, home.file("start.lock"), exclusive)
	if err != nil {
		return "", nil, err
	}
	defer starting.release()
	client, err := lock(bounded, home.file("clients.lock"), shared)
	if err != nil {
		return "", nil, err
	}
	dsn, err := serve(ctx, config, order{Home: home, Account: account, Idle: config.Idle})
	if err != nil {
		client.release()
		return "", nil, err
	}
	return dsn, sync.OnceFunc(client.release), nil
}

// serve returns the name of the database when its server answers: one from
// this machine's binaries, or, where there are none or the data began so, one
// that is launched by other means, which may have to be fetched first and so
// has a bound of its own.
func serve(ctx context.Context, config Config, o order) (string, error) {
	server, err := recallElsewhere(o.Home)
	if err != nil {
		return "", err
	}
	if config.Launch != nil && server.holdsData() {
		return startElsewhere(ctx, config, o, server)
	}
	bounded, cancel := context.WithTimeout(ctx, startBound)
	defer cancel()
	none := ensure(bounded, config, o)
	if config.Launch == nil || !errors.Is(none, ErrNoBinaries) {
		return o.Home.dsn(), none
	}
	dsn, err := startElsewhere(ctx, config, o, server)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w; %w", none, err)
	}
	return dsn, err
}

// ensure returns when the server answers and a keeper watches over it. Where
// there is none yet, it makes the cluster and starts the keeper.
func ensure(ctx context.Context, config Config, o order) error {
	if kept(ctx, o.Home) {
		return nil
	}
	var err error
	if o.Binaries, err = findBinaries(config.Binaries, o.Home.version()); err != nil {
		return err
	}
	if o.Home.Socket, err = socketFolder(config.Runtime, o.Home.Folder, o.Account); err != nil {
		return err
	}
	if err := create(ctx, o.Binaries, o.Home, o.Account); err != nil {
		return err
	}
	return await(ctx, config, o)
}

// kept tells whether the server answers and a keeper watches over it.
func kept(ctx context.Context, h home) bool {
	return taken(h.file("keeper.lock")) && answers(ctx, h)
}

// await starts a keeper as soon as there is no other, which may be about to
// end, and returns when the server answers.
func await(ctx context.Context, config Config, o order) error {
	var ended <-chan struct{}
	for !kept(ctx, o.Home) {
		if ended == nil && !taken(o.Home.file("keeper.lock")) {
			var err error
			if _, ended, err = spawn(config, o); err != nil {
				return err
			}
		}
		select {
		case <-ended:
			return fmt.Errorf("its keeper ended; the last lines of %s:\n%s", o.Home.file(logFile), o.Home.logTail())
		case <-ctx.Done():
			return fmt.Errorf("it did not answer: %w; the last lines of %s:\n%s", ctx.Err(), o.Home.file(logFile), o.Home.logTail())
		case <-time.After(pollEvery):
		}
	}
	return nil
}

// dsnFor names the database that is reached through the socket in a folder.
func dsnFor(socket, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + database}
	u.RawQuery = url.Values{"host": {socket}, "port": {port}}.Encode()
	return u.String()
}
