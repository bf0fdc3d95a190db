package embedded_test

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

func TestTheServerGoesWhenNobodyUsesIt(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	_, release := start(t, folder, 50*time.Millisecond)
	first := postmaster(folder)
	release()
	release() // twice does no harm
	await(t, "keeper and server to end", func() bool { return len(processes(t, folder)) == 0 })
	if left, err := os.ReadDir(folder + "/run"); err != nil || len(left) != 0 {
		t.Errorf("the runtime folder holds %v, error %v", left, err)
	}
	start(t, folder, time.Hour)
	if second := postmaster(folder); second == 0 || second == first {
		t.Errorf("server %d, after %d", second, first)
	}
}

func TestTheServerStaysWhileAnybodyUsesIt(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	_, releaseFirst := start(t, folder, 50*time.Millisecond)
	dsn, releaseSecond := start(t, folder, 50*time.Millisecond)
	before := ask(t, dsn, "SELECT pg_postmaster_start_time()::text")
	releaseFirst()
	// The keeper looks every 20 ms; an answer after this long shows that it lets the server be.
	ask(t, dsn, "SELECT pg_sleep(0.5)::text")
	if after := ask(t, dsn, "SELECT pg_postmaster_start_time()::text"); after != before {
		t.Errorf("started at %s, and again at %s", before, after)
	}
	releaseSecond()
	await(t, "keeper and server to end", func() bool { return len(processes(t, folder)) == 0 })
}

func TestTheServerIsStartedAgainWhenItIsKilled(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	dsn, _ := start(t, folder, time.Hour)
	before := ask(t, dsn, "SELECT pg_postmaster_start_time()::text")
	kill(t, postmaster(folder))
	if after := ask(t, dsn, "SELECT pg_postmaster_start_time()::text"); after == before {
		t.Error("the killed server answered")
	}
}

func TestTheServerSurvivesItsKeeper(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	dsn, release := start(t, folder, 50*time.Millisecond)
	before := ask(t, dsn, "SELECT pg_postmaster_start_time()::text")
	first := keeper(t, folder)
	kill(t, first)
	await(t, "the keeper to end", func() bool { return keeper(t, folder) != first })
	_, releaseSecond := start(t, folder, 50*time.Millisecond)
	if after := ask(t, dsn, "SELECT pg_postmaster_start_time()::text"); after != before {
		t.Error("the server was started again")
	}
	release()
	releaseSecond()
	await(t, "the new keeper to stop the old server", func() bool { return len(processes(t, folder)) == 0 })
}

func TestBothKilledStartAgain(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	_, release := start(t, folder, time.Hour)
	kill(t, keeper(t, folder))
	kill(t, postmaster(folder))
	release()
	dsn, _ := start(t, folder, time.Hour)
	ask(t, dsn, "SELECT 'ok'")
}

func TestANumberThatAnotherProcessHasNowIsNoServer(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	_, release := start(t, folder, 50*time.Millisecond)
	release()
	await(t, "the server to end", func() bool { return len(processes(t, folder)) == 0 })
	stale := filepath.Join(folder, "postgres/data/postmaster.pid")
	text := fmt.Sprintf("%d\n%s/postgres/data\n1\n5432\n/tmp\n\n0 0\nready   \n", os.Getpid(), folder)
	if err := os.WriteFile(stale, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	dsn, _ := start(t, folder, time.Hour)
	ask(t, dsn, "SELECT 'ok'")
}

// TestAJobEndsThoughTheServerStays starts the server from a process that was
// given a pipe, as CI jobs are, and reads the pipe to its end.
func TestAJobEndsThoughTheServerStays(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	ours, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	c := exec.Command(os.Args[0], "client", folder, folder+"/run")
	c.ExtraFiles = []*os.File{theirs}
	if output, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	theirs.Close()
	if err := ours.SetReadDeadline(time.Now().Add(bound)); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the pipe is still open: %v", err)
	}
	if keeper(t, folder) == 0 {
		t.Error("the server has gone as well")
	}
}

func TestTheKeeperKnowsNoSecretOfTheJob(t *testing.T) {
	folder := folder(t)
	t.Setenv("CI_JOB_TOKEN", "s3cret")
	start(t, folder, time.Hour)
	for _, pid := range processes(t, folder) {
		environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(environment), "s3cret") {
			t.Errorf("process %d knows it", pid)
		}
	}
}

func TestARunGoesOnWhenTheServerIsKilled(t *testing.T) {
	t.Parallel()
	folder := folder(t)
	dsn, _ := start(t, folder, time.Hour)
	store, err := storage.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	run, _, err := store.Begin(t.Context(), storagetest.Run(), false)
	if err != nil {
		t.Fatal(err)
	}
	for round := range 3 {
		if err := store.SaveTrial(t.Context(), run.ID, storagetest.Trial(round+1, "go", "csv")); err != nil {
			t.Fatal(err)
		}
		killed := postmaster(folder)
		kill(t, killed)
		await(t, "another server", func() bool { return postmaster(folder) > 0 && postmaster(folder) != killed })
	}
	trials, err := store.Trials(t.Context(), run.ID)
	if err != nil || len(trials) != 3 {
		t.Errorf("%d trials, error %v", len(trials), err)
	}
}

func TestTheServerIsTidiedUpWhenARunIsFinished(t *testing.T) {
	t.Parallel()
	dsn, _ := start(t, folder(t), time.Hour)
	store, err := storage.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	run, _, err := store.Begin(t.Context(), storagetest.Run(), false)
	if err == nil {
		err = store.Finish(t.Context(), run.ID, stopwatt.Finished, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(t, dsn, "SELECT (last_vacuum IS NOT NULL AND last_analyze IS NOT NULL)::text FROM pg_stat_user_tables WHERE relname = 'runs'"); got != "true" {
		t.Errorf("vacuumed and analyzed: %s", got)
	}
}
