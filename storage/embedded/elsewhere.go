package embedded

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"syscall"
	"time"
)

// A ServerOrder says which server Config.Launch is to start.
type ServerOrder struct {
	Name string // of this data folder's server, and of no other; hexadecimal digits
	// Fresh: the server has never answered. What is left of it may be half-made,
	// and holds nothing; it is to be removed before.
	Fresh                    bool
	User, Password, Database string   // to be made when the server is made
	Settings                 []string // NAME=VALUE, for the server's command line
	// Answers says why the server at an address, HOST:PORT, cannot be used yet;
	// nil when it can.
	Answers func(ctx context.Context, address string) error
}

// elsewhereFile remembers the server that was launched by other means. It
// holds the password, so only its owner may read it.
const elsewhereFile = "elsewhere.json"

// An elsewhere is a server that was launched by other means.
type elsewhere struct {
	Name     string
	Password string
	Address  string // where it answered last, HOST:PORT; empty: it never has
}

// recallElsewhere reads what is remembered of the server, or thinks up a new
// one.
func recallElsewhere(h home) (elsewhere, error) {
	text, err := os.ReadFile(h.file(elsewhereFile))
	if errors.Is(err, fs.ErrNotExist) {
		return elsewhere{Name: randomHex(4), Password: randomHex(16)}, nil
	}
	if err != nil {
		return elsewhere{}, fmt.Errorf("the server's password: %w", err)
	}
	var e elsewhere
	if err := json.Unmarshal(text, &e); err != nil || e.Name == "" || e.Password == "" {
		return elsewhere{}, fmt.Errorf("%s is garbled; restore it, or move it away to begin a new history", h.file(elsewhereFile))
	}
	return e, nil
}

func randomHex(bytes int) string {
	random := make([]byte, bytes)
	_, _ = rand.Read(random) // never fails, says its description
	return hex.EncodeToString(random)
}

// holdsData tells whether anybody can have stored anything there. Then the data
// folder goes on with it, also when Postgres is installed later.
func (e elsewhere) holdsData() bool { return e.Address != "" }

// save remembers the server, or leaves what was remembered before.
func (e elsewhere) save(h home) error {
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("remember the server: %w", err)
	}
	part, err := os.CreateTemp(h.Folder, "new-") // with the mode 0600; see create for those that stay
	if err != nil {
		return fmt.Errorf("remember the server: %w", err)
	}
	_, err = part.Write(text)
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = os.Rename(part.Name(), h.file(elsewhereFile))
	}
	if err != nil {
		return fmt.Errorf("remember the server: %w", errors.Join(err, os.Remove(part.Name())))
	}
	return nil
}

// dsn names the database at an address. The address is on this machine's
// loopback, so nothing is encrypted; but whoever listens there when the server
// has gone shall not be told the password.
func (e elsewhere) dsn(address string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(role, e.Password), Host: address, Path: "/" + databaseName}
	u.RawQuery = "require_auth=scram-sha-256&sslmode=disable"
	return u.String()
}

func (e elsewhere) order() ServerOrder {
	return ServerOrder{
		Name:     e.Name,
		Fresh:    !e.holdsData(),
		User:     role,
		Password: e.Password,
		Database: databaseName,
		Settings: stillness,
		Answers:  func(ctx context.Context, address string) error { return connect(ctx, e.dsn(address)) },
	}
}

// startElsewhere returns the name of the database when the server answers and
// a keeper watches over it. The keeper comes first: however this process ends,
// nothing goes on running that nobody stops.
func startElsewhere(ctx context.Context, config Config, o order, server elsewhere) (string, error) {
	if server.holdsData() && taken(o.Home.file("keeper.lock")) && connect(ctx, server.dsn(server.Address)) == nil {
		return server.dsn(server.Address), nil
	}
	if err := server.save(o.Home); err != nil { // before anything is made that needs it
		return "", err
	}
	o.Elsewhere = server.Name
	keeper, err := watchOver(ctx, config, o)
	if err != nil {
		return "", err
	}
	address, err := config.Launch(ctx, server.order())
	if err != nil {
		_ = keeper.Signal(syscall.SIGTERM) // it may have ended, where another is there
		return "", err
	}
	server.Address = address
	return server.dsn(address), server.save(o.Home)
}

// watchOver starts a keeper and returns when there is one: this, or another.
// The other may be about to end, so this one is started in any case; it gives
// up when it is not needed.
func watchOver(ctx context.Context, config Config, o order) (*os.Process, error) {
	keeper, ended, err := spawn(config, o)
	if err != nil {
		return nil, err
	}
	for !taken(o.Home.file("keeper.lock")) {
		select {
		case <-ended:
			return nil, fmt.Errorf("its keeper ended; the last lines of %s:\n%s", o.Home.file(logFile), o.Home.logTail())
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for its keeper: %w", ctx.Err())
		case <-time.After(pollEvery):
		}
	}
	return keeper, nil
}
