package storage_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

func TestOpenSaysWhyTheDatabaseCannotBeUsed(t *testing.T) {
	t.Parallel()
	real, err := url.Parse(embeddedtest.ForTest(t))
	if err != nil {
		t.Fatal(err)
	}
	real.Path = "/nowhere"
	for _, row := range []struct{ name, dsn, says string }{
		{"nobody listens on the port", at(closedPort(t)), "refuses connections; is the server running"},
		{"nobody listens on the socket", "postgres://me:s3cret@/db?host=" + t.TempDir(), "no server listens on a socket in /"},
		{"the password is wrong", at(refusing(t, "28P01")), `refuses the password of user "me"; check it in STOPWATT_DATABASE`},
		{"the user is not allowed", at(refusing(t, "28000")), "allow it in the server's pg_hba.conf"},
		{"too many clients are there", at(refusing(t, "53300")), "raise max_connections"},
		{"the server is starting", at(refusing(t, "57P03")), "try again in a moment"},
		{"the server has another reason", at(refusing(t, "XX000")), "told so (SQLSTATE XX000)"},
		{"there is no such database", real.String(), `has no database "nowhere"; make it with: createdb nowhere`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := storage.Open(t.Context(), row.dsn)
			if !errors.Is(err, storage.ErrUnreachable) || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v", err)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("the password is told: %v", err)
			}
		})
	}
}

func TestOpenGivesUpOnASilentServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = storage.Open(ctx, at(silent.Addr().String()))
	if !errors.Is(err, storage.ErrUnreachable) || !strings.Contains(err.Error(), "did not answer") {
		t.Errorf("got %v", err)
	}
}

func TestOpenRefusesANameThatIsNone(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{"postgres://me:s3cret@host:port/db", "postgres://me:s3%zzcret@host/db", "me s3cret", "host=h port=s3cret",
		"mysql://me:s3cret@host/db?charset=utf8", "postgres://me:s3cret@host/db?sslmode=never", "postgres://me:s3cret@host/db?pool_max_conns=many"} {
		_, err := storage.Open(t.Context(), dsn)
		if !errors.Is(err, storage.ErrDSN) || strings.Contains(err.Error(), "cret") {
			t.Errorf("%s: %v", dsn, err)
		}
		if _, _, err := storage.Migrate(t.Context(), dsn); !errors.Is(err, storage.ErrDSN) || strings.Contains(err.Error(), "cret") {
			t.Errorf("migrate %s: %v", dsn, err)
		}
	}
}

func TestOpenNamesTheFileThatIsMissing(t *testing.T) {
	t.Parallel()
	_, err := storage.Open(t.Context(), "postgres://me:s3cret@host/db?sslmode=verify-full&sslrootcert=/nowhere/ca.pem")
	if !errors.Is(err, storage.ErrDSN) || !strings.Contains(err.Error(), "open /nowhere/ca.pem: no such file") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v", err)
	}
}

func at(address string) string {
	return "postgres://me:s3cret@" + address + "/db?sslmode=disable"
}

// closedPort is an address where nobody listens.
func closedPort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// refusing is the address of a server that turns every client away.
func refusing(t *testing.T, code string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if err := turnAway(conn, code); err != nil {
				t.Error(err)
			}
		}
	}()
	return listener.Addr().String()
}

func turnAway(conn net.Conn, code string) error {
	defer conn.Close()
	backend := pgproto3.NewBackend(conn, conn)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return fmt.Errorf("receive start-up message: %w", err)
	}
	backend.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: code, Message: "told so"})
	return backend.Flush()
}
