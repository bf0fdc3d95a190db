package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// soakFor is how long make soak measures; 0: not at all.
var soakFor = flag.Duration("soak", 0, "how long TestSoak measures a small suite")

// soakSuite has more rounds than any soaking has time for.
const soakSuite = `suite: soak
implementations: {one: {build: server}, other: {build: server}}
workloads:
  hello: {http: {port: 8080, request: {path: /}}, load: {users: 2, for: 200ms}}
  count: {command: {run: [/server, count, "1000"], repeat: 3}}
plan: {rounds: 10000, warmup: 0s, settle: 0s, null-server: false}
meters: {idle: 0s}
`

// A soaked is something that must be level, and by how much its median in the last
// quarter may be above that of the second: by a share, and by a number.
type soaked struct {
	name  string
	share float64
	over  float64
	read  func(ctx context.Context) (float64, error)
}

// A soak is a run that goes on, a server that is asked, and what is read of both.
type soak struct {
	t        *testing.T
	folder   string
	database string
	store    *storage.Store
	what     []soaked
	values   [][]float64 // of each what, in the order of time
}

// TestSoak runs a small suite for a long time, and a server beside it that is asked for
// pages: what they hold of this machine at the end is what they held in the beginning.
func TestSoak(t *testing.T) {
	if *soakFor == 0 {
		t.Skip("make soak runs it: it takes half an hour")
	}
	requireDocker(t)
	s := newSoak(t)
	environment := map[string]string{"STOPWATT_DATABASE": s.database, "XDG_DATA_HOME": s.folder, "HOME": s.folder,
		"STOPWATT_LOCK": filepath.Join(s.folder, "lock"), "PATH": os.Getenv("PATH"), "DOCKER_HOST": os.Getenv("DOCKER_HOST")}
	address, end := serve(t, environment)
	ctx, cancel := context.WithTimeout(t.Context(), *soakFor)
	defer cancel()
	ended := make(chan int, 1)
	var said bytes.Buffer
	go func() {
		ended <- run(ctx, []string{"run", s.folder}, func(name string) string { return environment[name] }, &said, &said)
		cancel() // where it ends by itself, there is nothing more to watch
	}()
	pages := s.watch(ctx, address)
	if status := <-ended; !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Fatalf("the run ended by itself, with status %d:\n%s", status, tailOf(said.String()))
	}
	if status, complaints := end(); status != exitOK {
		t.Errorf("the server ended with status %d: %s", status, complaints)
	}
	trials := s.one("select count(*) from stopwatt_store.trials")
	t.Logf("%v, %d pages, %s trials\n%s", *soakFor, pages, trials, s.table())
	if n, err := strconv.Atoi(trials); err != nil || n < 4 || pages < 4 {
		t.Errorf("it has soaked nothing:\n%s", tailOf(said.String()))
	}
	s.judge()
	s.nothingLeft()
}

// tailOf is the end of what a command has said.
func tailOf(text string) string { return text[max(0, len(text)-2000):] }

// newSoak makes the suite, and says what is watched.
func newSoak(t *testing.T) *soak {
	s := &soak{t: t, folder: openFolder(t), database: embeddedtest.ForTest(t)}
	programs := buildPrograms(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	agent := "stopwatt-agent-linux-" + runtime.GOARCH
	beside := filepath.Join(filepath.Dir(self), agent)
	if err := copyFile(filepath.Join(programs, agent), beside); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(beside) })
	removeAgentLater(t, programs)
	server := filepath.Join(s.folder, "server")
	if err := errors.Join(os.Mkdir(server, 0o755), os.WriteFile(filepath.Join(s.folder, "stopwatt.yml"), []byte(soakSuite), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := installServer(server, programs); err != nil {
		t.Fatal(err)
	}
	if s.store, err = storage.Open(t.Context(), s.database); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.store.Close)
	t.Cleanup(func() { removeImages(t, s.database) })
	s.what = []soaked{
		{"resident MiB", 0.10, 8, resident},
		{"heap MiB", 0.10, 4, heap},
		{"descriptors", 0, 2, descriptors},
		{"goroutines", 0, 2, func(context.Context) (float64, error) { return float64(runtime.NumGoroutine()), nil }},
		{"containers", 0, 1, s.containers},
		{"spool files", 0, 1, s.spooled},
		{"connections", 0, 1, s.connections},
	}
	s.values = make([][]float64, len(s.what))
	return s
}

// watch reads everything some two hundred times until ctx ends, and asks the server for
// pages in between. It returns how many answered.
func (s *soak) watch(ctx context.Context, address string) (pages int) {
	ticks := time.NewTicker(max(*soakFor/200, 500*time.Millisecond))
	defer ticks.Stop()
	client := &http.Client{}
	defer client.CloseIdleConnections()
	for {
		select {
		case <-ctx.Done():
			return pages
		case <-ticks.C:
		}
		for _, page := range []string{"/", "/s/soak", "/machines", "/api/v1/overview", "/api/v1/runs/1", "/runs/1/trials/1"} {
			if asked(ctx, client, address+page) {
				pages++
			}
		}
		for i, what := range s.what {
			value, err := what.read(ctx)
			if ctx.Err() != nil {
				return pages
			}
			if err != nil {
				s.t.Errorf("%s: %v", what.name, err)
			}
			s.values[i] = append(s.values[i], value)
		}
	}
}

// asked asks for one page and reads it whole.
func asked(ctx context.Context, client *http.Client, address string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	defer answer.Body.Close() // which was only read
	_, err = io.Copy(io.Discard, answer.Body)
	return err == nil && answer.StatusCode == http.StatusOK
}

// resident is the memory of this process that lies in RAM.
func resident(context.Context) (float64, error) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, err
	}
	pages, err := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	return pages * float64(os.Getpagesize()) / (1 << 20), err
}

// heap is what can still be reached of what was allocated.
func heap(context.Context) (float64, error) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20), nil
}

func descriptors(context.Context) (float64, error) {
	open, err := os.ReadDir("/proc/self/fd")
	return float64(len(open)), err
}

// containers counts those of the run.
func (s *soak) containers(ctx context.Context) (float64, error) {
	out, err := exec.CommandContext(ctx, "docker", "ps", "-aq", "--filter", "label=stopwatt.run="+s.one("select coalesce(min(key), 'none') from stopwatt_store.runs")).Output()
	return float64(bytes.Count(out, []byte("\n"))), err
}

// spooled counts the files that wait in the spool.
func (s *soak) spooled(context.Context) (float64, error) {
	files := 0
	err := filepath.WalkDir(filepath.Join(s.folder, "stopwatt", "spool"), func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files++
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // delivered meanwhile
		}
		return err
	})
	return float64(files), err
}

// connections counts those to the database, that of the one who counts left out.
func (s *soak) connections(context.Context) (float64, error) {
	return strconv.ParseFloat(s.one("select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"), 64)
}

// one is the one value that a statement answers.
func (s *soak) one(sql string) string {
	answer, err := s.store.Query(context.Background(), sql, 1)
	if err != nil || len(answer.Rows) != 1 {
		s.t.Errorf("%s: %v", sql, err)
		return ""
	}
	return fmt.Sprint(answer.Rows[0][0])
}

// quarter is the median of a quarter, from 0 to 3.
func quarter(values []float64, which int) float64 {
	return median(values[len(values)*which/4 : len(values)*(which+1)/4])
}

// table shows the medians of the quarters.
func (s *soak) table() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%-14s %9s %9s %9s %9s %9s  %s\n", "", "quarter 1", "2", "3", "4", "most", "4 may be above 2 by")
	for i, what := range s.what {
		values := s.values[i]
		fmt.Fprintf(&text, "%-14s %9.1f %9.1f %9.1f %9.1f %9.1f  %.0f %% + %.0f\n", what.name,
			quarter(values, 0), quarter(values, 1), quarter(values, 2), quarter(values, 3), slices.Max(values), 100*what.share, what.over)
	}
	return text.String()
}

// judge compares the last quarter with the second: the first is that of beginning.
func (s *soak) judge() {
	for i, what := range s.what {
		before, after := quarter(s.values[i], 1), quarter(s.values[i], 3)
		if most := before*(1+what.share) + what.over; after > most {
			s.t.Errorf("%s: %.1f in the last quarter, %.1f in the second: more than %.1f", what.name, after, before, most)
		}
	}
}

// nothingLeft checks what stays when both have ended.
func (s *soak) nothingLeft() {
	for name, read := range map[string]func(context.Context) (float64, error){"containers": s.containers, "spool files": s.spooled} {
		if left, err := read(context.Background()); err != nil || left != 0 {
			s.t.Errorf("%s: %.0f are left, %v", name, left, err)
		}
	}
}
