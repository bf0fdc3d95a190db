// Package embeddedtest gives tests a real Postgres.
//
// It keeps one server for each test process, which nothing survives. It checks
// nothing itself.
package embeddedtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

// postgres is a server that runs. Release is never called: the server ends with
// the process. It is kept because what nobody can call any more is collected as
// garbage, and released.
type postgres struct {
	DSN     string
	Release func()
}

// server starts the process's one server at its first call.
var server = sync.OnceValues(func() (postgres, error) {
	dsn, release, err := embedded.Throwaway(context.Background())
	return postgres{DSN: dsn, Release: release}, err
})

var databases atomic.Int64

// bound is how long making or dropping a database may take on a busy machine.
const bound = time.Minute

// ForTest returns the name of a fresh, empty database that is dropped after the
// test. Where the machine has no Postgres the test is skipped, and under CI it
// fails.
func ForTest(t testing.TB) string {
	t.Helper()
	started, err := server()
	if errors.Is(err, embedded.ErrNoBinaries) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("test_%d", databases.Add(1))
	execute(t, started.DSN, "CREATE DATABASE "+name+" TEMPLATE template0")
	t.Cleanup(func() { execute(t, started.DSN, "DROP DATABASE "+name+" WITH (FORCE)") })
	fresh, err := url.Parse(started.DSN)
	if err != nil {
		t.Fatal(err)
	}
	fresh.Path = "/" + name
	return fresh.String()
}

func execute(t testing.TB, dsn, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx) // all has been answered
	if _, err := conn.Exec(ctx, sql); err != nil {
		t.Fatal(err)
	}
}
