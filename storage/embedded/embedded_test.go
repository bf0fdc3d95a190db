package embedded_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

func TestTheServerIsStillAndListensOnASocketAlone(t *testing.T) {
	t.Parallel()
	dsn, _ := start(t, folder(t), time.Hour)
	for setting, want := range map[string]string{
		"listen_addresses": "", "autovacuum": "off", "checkpoint_timeout": "1d", "data_checksums": "on",
		"server_encoding": "UTF8", "unix_socket_permissions": "0700", "stopwatt.private": "on",
	} {
		if got := ask(t, dsn, "SELECT current_setting('"+setting+"')"); got != want {
			t.Errorf("%s is %q, want %q", setting, got, want)
		}
	}
	if got := ask(t, dsn, "SELECT current_database() || ' ' || datcollate FROM pg_database WHERE datname = current_database()"); got != "stopwatt C" {
		t.Errorf("database %q", got)
	}
}

// TestTwoProcessesShareOneServer has two processes start it at once.
func TestTwoProcessesShareOneServer(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	type process struct {
		c     *exec.Cmd
		input io.Closer
		out   io.Reader
	}
	var clients []process
	for range 2 {
		c := exec.Command(os.Args[0], "client", folder, folder+"/run")
		c.Stderr = os.Stderr
		input, errIn := c.StdinPipe()
		output, errOut := c.StdoutPipe()
		if err := errors.Join(errIn, errOut, c.Start()); err != nil {
			t.Fatal(err)
		}
		clients = append(clients, process{c, input, output})
	}
	started := map[string]bool{}
	for _, client := range clients {
		var dsn string
		if _, err := fmt.Fscanln(client.out, &dsn); err != nil {
			t.Fatal(err)
		}
		started[ask(t, dsn, "SELECT pg_postmaster_start_time()::text")] = true
	}
	if len(started) != 1 {
		t.Errorf("servers started at %v", started)
	}
	for _, client := range clients {
		if err := errors.Join(client.input.Close(), client.c.Wait()); err != nil {
			t.Error(err)
		}
	}
}

func TestAHalfMadeClusterIsMadeAnew(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	half := filepath.Join(folder, "postgres/new-123/base")
	if err := os.MkdirAll(half, 0o755); err != nil {
		t.Fatal(err)
	}
	dsn, _ := start(t, folder, time.Hour)
	ask(t, dsn, "SELECT 'ok'")
	if _, err := os.Stat(half); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the half-made one is still there: %v", err)
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	olderCluster := folder(t)
	if err := os.MkdirAll(olderCluster+"/postgres/data", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(olderCluster+"/postgres/data/PG_VERSION", []byte("12\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := folder(t)
	if err := os.Mkdir(foreign+"/run", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(foreign+"/run", 0o777); err != nil { // Mkdir heeds the umask
		t.Fatal(err)
	}
	good := folder(t)
	for _, row := range []struct {
		name   string
		config embedded.Config
		says   string
	}{
		{"the socket's path is too long", embedded.Config{Data: good, Runtime: good + "/" + strings.Repeat("long", 25)}, "107 are allowed; name a folder with a shorter path"},
		{"the cluster is older", embedded.Config{Data: olderCluster, Runtime: olderCluster + "/run"}, "made by PostgreSQL 12 and this machine has"},
		{"anybody may write to the runtime folder", embedded.Config{Data: good, Runtime: foreign + "/run"}, "is not a folder of ours that only we may write to"},
		{"the named folder holds no Postgres", embedded.Config{Data: good, Runtime: good + "/run", Binaries: good}, "has no initdb and postgres of version 13 or newer"},
		{"no keeper is named", embedded.Config{Data: good, Runtime: good + "/run"}, "no keeper is named"},
		{"the keeper ends at once", embedded.Config{Data: good, Runtime: good + "/run", Keeper: []string{"/bin/sh", "-c", "echo told so; exit 1"}}, "told so"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, _, err := embedded.Start(t.Context(), row.config)
			if err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestAThrowawayEndsWithItsProcess kills a process that has started one.
func TestAThrowawayEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	folder(t) // skips where there is no Postgres
	c := exec.Command(os.Args[0], "throwaway")
	input, errIn := c.StdinPipe()
	output, errOut := c.StdoutPipe()
	if err := errors.Join(errIn, errOut, c.Start()); err != nil {
		t.Fatal(err)
	}
	defer input.Close() // after it was killed
	var dsn string
	_, errScan := fmt.Fscanln(output, &dsn)
	kill(t, c.Process.Pid)
	_ = c.Wait() // killed
	if errScan != nil {
		t.Fatal(errScan)
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		t.Fatal(err)
	}
	await(t, "its files to go", func() bool {
		_, err := os.Stat(config.Host)
		return errors.Is(err, os.ErrNotExist)
	})
}

func TestAnOrdinaryUserHasAServerOfItsOwn(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	c, home := asNobody(t, folder)
	output, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if got := ask(t, strings.TrimSpace(string(output)), "SELECT current_setting('data_directory')"); got != home+"/data/stopwatt/postgres/data" {
		t.Errorf("data in %s", got)
	}
}

func TestADataFolderOfAnotherUserIsNamed(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	c, home := asNobody(t, folder)
	if err := os.MkdirAll(home+"/data/stopwatt/postgres", 0o755); err != nil {
		t.Fatal(err)
	}
	output, err := c.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "start.lock: permission denied; the data folder is another user's") {
		t.Errorf("%v: %s", err, output)
	}
}

// asNobody is a client that is run by the user nobody, with a home of its own.
func asNobody(t *testing.T, folder string) (c *exec.Cmd, home string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; the other tests are an ordinary user's then")
	}
	home = filepath.Join(folder, "home")
	if err := errors.Join(os.Mkdir(home, 0o700), os.Chown(home, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endAll(t, home) })
	binary, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(folder+"/test", binary, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	c = exec.Command(folder+"/test", "client")
	c.Dir = "/"
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "XDG_DATA_HOME=" + home + "/data", "XDG_RUNTIME_DIR=" + home}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	return c, home
}

// endless is an initdb that never ends. Its version is newer than any.
const endless = `#!/bin/sh
[ "$1" = --version ] && echo "${0##*/} (PostgreSQL) 999" && exit
read line <"${0%/*}/never"
`

// TestInitdbEndsWithTheProcessThatStartedIt kills a process that is making a
// cluster.
func TestInitdbEndsWithTheProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	bin := folder + "/bin"
	if err := errors.Join(os.Mkdir(bin, 0o755), syscall.Mkfifo(bin+"/never", 0o644),
		os.WriteFile(bin+"/initdb", []byte(endless), 0o755), os.WriteFile(bin+"/postgres", []byte(endless), 0o755)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], "client", folder, folder+"/run")
	c.Env = append(os.Environ(), "PATH="+bin+":/usr/bin:/bin")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	initdb := func() bool {
		return slices.ContainsFunc(processes(t, folder), func(pid int) bool {
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			return err == nil && strings.Contains(string(line), "initdb\x00-D")
		})
	}
	await(t, "initdb to start", initdb)
	kill(t, c.Process.Pid)
	_ = c.Wait() // killed
	await(t, "initdb to end", func() bool { return !initdb() })
}
