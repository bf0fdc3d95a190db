package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

// TestMain is the keeper, or a client that holds the server until its standard
// input ends, when the test binary is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 {
		goleak.VerifyTestMain(m)
	}
	var err error
	switch os.Args[1] {
	case "postgres-keeper":
		err = embedded.Keep(context.Background(), os.Args[2:], stopElsewhere)
	case "client": // with a data and a runtime folder, or with those of its user
		c := config("", "", time.Hour)
		if len(os.Args) > 2 {
			c.Data, c.Runtime = os.Args[2], os.Args[3]
		}
		err = client(c)
	case "throwaway":
		err = throwaway()
	default:
		goleak.VerifyTestMain(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func client(c embedded.Config) error {
	dsn, release, err := embedded.Start(context.Background(), c)
	if err != nil {
		return err
	}
	defer release()
	fmt.Println(dsn)
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func throwaway() error {
	dsn, release, err := embedded.Throwaway(context.Background())
	if err != nil {
		return err
	}
	defer release()
	fmt.Println(dsn)
	_, err = io.Copy(io.Discard, os.Stdin) // until it is killed
	return err
}

func config(data, runtime string, idle time.Duration) embedded.Config {
	return embedded.Config{Data: data, Runtime: runtime, Idle: idle, Keeper: []string{os.Args[0], "postgres-keeper"}}
}

// bound is how long anything may take on a busy machine.
const bound = time.Minute

// folder is one with a short path that the server's user can enter. What is
// left running in it is ended after the test.
func folder(t *testing.T) string {
	t.Helper()
	if err := embedded.FindBinaries(); errors.Is(err, embedded.ErrNoBinaries) && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	folder, err := os.MkdirTemp("/tmp", "swe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		endAll(t, folder)
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// endAll ends the keeper and the server of a data folder.
func endAll(t *testing.T, folder string) {
	t.Helper()
	for _, pid := range processes(t, folder) {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended since
	}
	await(t, "processes to end", func() bool { return len(processes(t, folder)) == 0 })
}

// processes lists the keepers and servers of a data folder: their command
// lines name it.
func processes(t *testing.T, folder string) []int {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, path := range lines {
		line, err := os.ReadFile(path)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // the pattern has digits only at its beginning
		if err == nil && pid != os.Getpid() && strings.Contains(string(line), folder+"/") {
			pids = append(pids, pid)
		}
	}
	return pids
}

// keeper is the process that was told of the data folder as a keeper.
func keeper(t *testing.T, folder string) int {
	t.Helper()
	for _, pid := range processes(t, folder) {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && strings.Contains(string(line), "postgres-keeper") {
			return pid
		}
	}
	return 0
}

// postmaster is the process of the server, 0 when there is none.
func postmaster(folder string) int {
	text, err := os.ReadFile(filepath.Join(folder, "postgres/data/postmaster.pid"))
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, _ := strconv.Atoi(line) // 0 where it is being written
	return pid
}

func await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(bound); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %v for %s", bound, what)
		}
	}
}

func start(t *testing.T, folder string, idle time.Duration) (dsn string, release func()) {
	t.Helper()
	dsn, release, err := embedded.Start(t.Context(), config(folder, folder+"/run", idle))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return dsn, release
}

// ask asks the server something, and waits while it is being started again.
func ask(t *testing.T, dsn, sql string) string {
	t.Helper()
	var answer string
	var last error
	await(t, "an answer", func() bool {
		last = func() error {
			conn, err := pgx.Connect(t.Context(), dsn)
			if err != nil {
				return err
			}
			defer conn.Close(t.Context())
			return conn.QueryRow(t.Context(), sql).Scan(&answer)
		}()
		return last == nil
	})
	return answer
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if pid == 0 {
		t.Fatal("there is no such process")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}
