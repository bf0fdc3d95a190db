package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/meter/simulated"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	simulated.Main()
	testscript.Main(tidy{m}, map[string]func(){"stopwatt": mortalMain})
}

// tidy removes what tests have made when all of them have run, and not sooner: they
// build the same images, for an image is named by what it was built from, and one
// that removed them would take them from another that is still at work.
// Goroutines that outlive the tests fail them.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	status := t.M.Run()
	if err := errors.Join(removeMade(), os.RemoveAll(programsFolder)); err != nil {
		fmt.Fprintln(os.Stderr, "remove what the tests have made:", err)
		return max(status, 1)
	}
	if err := goleak.Find(); err != nil && status == 0 {
		fmt.Fprintln(os.Stderr, "goroutines outlive the tests:", err)
		return 1
	}
	return status
}

// made are the keys of the images that tests have made.
var made struct {
	sync.Mutex
	keys map[string]bool
}

// keepImages names the variable that leaves images to the tests of other checkouts, which
// build some of the same at the same time.
const keepImages = "STOPWATT_TEST_KEEP_IMAGES"

// removeMade removes the images that tests have made.
func removeMade() error {
	if len(made.keys) == 0 || os.Getenv(keepImages) != "" {
		return nil
	}
	ctx := context.Background()
	docker, err := containers.Connect(ctx, containers.Config{})
	if err != nil {
		return err
	}
	defer docker.Close()
	images, err := docker.Images(ctx)
	if err != nil {
		return err
	}
	return docker.RemoveImages(ctx, slices.DeleteFunc(images, func(i containers.MadeImage) bool { return !made.keys[i.Key] }))
}

// TestScripts runs the command lines of testdata/script: what is printed, where,
// and with which exit status. They use the real Docker and a real Postgres.
func TestScripts(t *testing.T) {
	t.Parallel()
	requireDocker(t)
	programs := buildPrograms(t)
	removeAgentLater(t, programs)
	testscript.Run(t, testscript.Params{
		Dir:         "testdata/script",
		WorkdirRoot: openFolder(t),
		Setup: func(env *testscript.Env) error {
			env.Setenv("STOPWATT_DATABASE", embeddedtest.ForTest(t))
			guest, err := url.Parse(env.Getenv("STOPWATT_DATABASE"))
			if err != nil {
				return err
			}
			guest.User = url.User("script_guest")
			env.Setenv("GUEST_DATABASE", guest.String())
			// After all scripts: they build the same images.
			t.Cleanup(func() { removeImages(t, env.Getenv("STOPWATT_DATABASE")) })
			env.Setenv("DOCKER_HOST", os.Getenv("DOCKER_HOST"))
			env.Setenv("STOPWATT_LOCK", filepath.Join(env.WorkDir, ".lock"))
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
			env.Setenv("HOME", env.WorkDir)
			return install(env, programs)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":     status,
			"containers": countContainers,
			"killed":     killed,
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
	})
}

// requireDocker skips the test where no engine answers; under CI it fails it.
func requireDocker(t *testing.T) {
	t.Helper()
	docker, err := containers.Connect(t.Context(), containers.Config{})
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	docker.Close()
}

// buildPrograms builds the driver and the server under test, static, and
// returns their folder.
func buildPrograms(t testing.TB) string {
	t.Helper()
	folder, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// programsFolder is where the programs lie that tests have built; removed when all have run.
var programsFolder = filepath.Join(os.TempDir(), fmt.Sprintf("stopwatt-programs-%d", os.Getpid()))

// programs builds them for the first test that asks.
var programs = sync.OnceValues(func() (folder string, err error) {
	if err := os.Mkdir(programsFolder, 0o755); err != nil {
		return "", err
	}
	for name, source := range map[string]string{
		"stopwatt-agent-linux-" + runtime.GOARCH: "../stopwatt-agent",
		"server":                                 "./testdata/server",
	} {
		build := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(programsFolder, name), source)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s: %w\n%s", source, err, out)
		}
	}
	return programsFolder, nil
})

// removeAgentLater removes the image of the driver that was built for this test.
func removeAgentLater(t testing.TB, programs string) {
	t.Helper()
	binary, err := os.ReadFile(filepath.Join(programs, "stopwatt-agent-linux-"+runtime.GOARCH))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeImagesOf(map[string]bool{containers.AgentKey(binary): true}) })
}

// install puts the driver beside the stopwatt of the scripts, and a folder with
// the server and its Dockerfile into the script's own folder.
func install(env *testscript.Env, programs string) error {
	beside := stopwattFolder(env.Getenv("PATH"))
	agent := "stopwatt-agent-linux-" + runtime.GOARCH
	if err := copyFile(filepath.Join(programs, agent), filepath.Join(beside, agent)); err != nil {
		return err
	}
	folder := filepath.Join(env.WorkDir, "server")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	return installServer(folder, programs)
}

// installServer makes a folder that the server under test can be built from.
func installServer(folder, programs string) error {
	dockerfile := "FROM scratch\nCOPY server /server\nEXPOSE 8080\nENTRYPOINT [\"/server\"]\n"
	if err := os.WriteFile(filepath.Join(folder, "Dockerfile"), []byte(dockerfile), 0o644); err != nil {
		return err
	}
	return copyFile(filepath.Join(programs, "server"), filepath.Join(folder, "server"))
}

// removeImages removes the images that the runs of a database were made from.
func removeImages(t *testing.T, database string) {
	ctx := context.Background()
	store, err := storage.Open(ctx, database)
	if err != nil {
		t.Error(err)
		return
	}
	defer store.Close()
	answer, err := store.Query(ctx, "select key from stopwatt_store.run_images union select key from stopwatt_store.run_base_images", 0)
	if err != nil {
		t.Error(err)
		return
	}
	used := map[string]bool{}
	for _, row := range answer.Rows {
		key, _ := row[0].(string)
		used[key] = true
	}
	removeImagesOf(used)
}

// removeImagesOf has the images of these keys removed when all tests have run.
func removeImagesOf(keys map[string]bool) {
	made.Lock()
	defer made.Unlock()
	if made.keys == nil {
		made.keys = map[string]bool{}
	}
	maps.Copy(made.keys, keys)
}

// openFolder is a folder that other users may look into, as t.TempDir is not:
// the private Postgres of root's runs as one of them.
func openFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "stopwatt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

// stopwattFolder is where testscript has put the stopwatt of the scripts: the
// first folder of their PATH.
func stopwattFolder(path string) string {
	folder, _, _ := strings.Cut(path, string(os.PathListSeparator))
	return folder
}

// copyFile copies a program, whole or not at all: others may be starting it.
func copyFile(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(to), "part")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	if _, err := part.Write(content); err != nil {
		return err
	}
	if err := part.Chmod(0o755); err != nil {
		return err
	}
	if err := part.Close(); err != nil {
		return err
	}
	return os.Rename(part.Name(), to)
}

// status runs stopwatt and checks its exit status: status 3 run --fresh.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N ARGUMENT…")
	}
	err := ts.Exec("stopwatt", args[1:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("stopwatt: %v", err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// killed runs stopwatt and sends it a signal when so many trials are stored:
// killed KILL 4 run.
func killed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: killed SIGNAL TRIALS ARGUMENT…")
	}
	signal, known := map[string]os.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM}[args[0]]
	if !known {
		ts.Fatalf("signal %s: write KILL or TERM", args[0])
	}
	command := exec.Command(filepath.Join(stopwattFolder(ts.Getenv("PATH")), "stopwatt"), args[2:]...)
	command.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "XDG_DATA_HOME", "STOPWATT_DATABASE", "STOPWATT_LOCK", "DOCKER_HOST"} {
		command.Env = append(command.Env, name+"="+ts.Getenv(name))
	}
	var said bytes.Buffer
	command.Stderr = &said
	ts.Check(command.Start())
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // what a killed process has to say is its signal
		close(ended)
	}()
	if !waitForTrials(ts, args[1], ended) {
		ts.Fatalf("stopwatt ended before it had %s trials:\n%s", args[1], said.String())
	}
	ts.Check(command.Process.Signal(signal))
	<-ended
}

// waitForTrials returns when so many trials are in the script's database, or,
// with false, when the process that was to store them has ended.
func waitForTrials(ts *testscript.TestScript, want string, ended <-chan struct{}) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	for {
		answer := ask(ctx, ts, "select count(*) from trials")
		if n, err := strconv.Atoi(want); err != nil || answer.Rows[0][0].(int64) >= int64(n) {
			ts.Check(err)
			return true
		}
		select {
		case <-ended:
			return false
		default:
		}
	}
}

// ask asks the script's database.
func ask(ctx context.Context, ts *testscript.TestScript, query string) storage.Answer {
	store, err := storage.Open(ctx, ts.Getenv("STOPWATT_DATABASE"))
	ts.Check(err)
	defer store.Close()
	answer, err := store.Query(ctx, query, 0)
	ts.Check(err)
	return answer
}

// countContainers checks how many containers of the script's runs there are,
// running or not: containers 0.
func countContainers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: containers N")
	}
	ctx := context.Background()
	ours := map[string]bool{}
	for _, row := range ask(ctx, ts, "select key from runs").Rows {
		ours[row[0].(string)] = true
	}
	docker, err := containers.Connect(ctx, containers.Config{})
	ts.Check(err)
	defer docker.Close()
	all, err := docker.Leftovers(ctx, func(string) bool { return true })
	ts.Check(err)
	left := 0
	for _, container := range all {
		if ours[container.Run] {
			left++
		}
	}
	if fmt.Sprint(left) != args[0] {
		ts.Fatalf("%d containers are there, want %s", left, args[0])
	}
}
