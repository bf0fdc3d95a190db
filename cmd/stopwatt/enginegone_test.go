package main

import (
	"bufio"
	"cmp"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt/containers"
)

// misfortune has a run meet with something each time it makes a call of this kind whose
// number is named: the call is not passed on until that has begun.
func (m *mortal) misfortune(calls func([]byte) bool, happens map[int]func() (passes bool)) {
	var mu sync.Mutex
	n := 0
	m.engine.look(func(sent []byte) bool {
		if !calls(sent) {
			return true
		}
		mu.Lock()
		n++
		what := happens[n]
		mu.Unlock()
		return what == nil || what()
	})
}

// A run of mortal's suite has four trials, and one of the driver by itself is left out. In
// each, the server is waited for as soon as it has been started.
var waitsForServer = request("POST", "/wait")

// endsIncomplete checks that a run ended with one status, so many invalid trials of four,
// each with a reason that holds these words, and that nothing of it is left.
func (m *mortal) endsIncomplete(status int, said string, invalid int, reason string) {
	m.t.Helper()
	if status != exitIncomplete || !strings.Contains(said, fmt.Sprintf("%d of 4 trials are invalid", invalid)) || !strings.Contains(said, "engine  Docker failed, and is waited for") {
		m.t.Errorf("status %d; want %d and %d invalid:\n%s", status, exitIncomplete, invalid, said)
	}
	if got, want := m.ask("select count(*) filter (where status = 'invalid' and reason like '%"+reason+"%'), count(*) from trials"), fmt.Sprintf("[[%d 4]]", invalid); got != want {
		m.t.Errorf("invalid for %q, and all: %s, want %s; reasons %s", reason, got, want, m.ask("select reason from trials"))
	}
}

// left are the containers of this database's runs on an engine.
func (m *mortal) left(host string) (left []string) {
	m.t.Helper()
	docker, err := containers.Connect(m.t.Context(), containers.Config{Getenv: func(name string) string {
		if name == "DOCKER_HOST" {
			return host
		}
		return os.Getenv(name)
	}})
	if err != nil {
		m.t.Fatal(err)
	}
	defer docker.Close()
	all, err := docker.Leftovers(m.t.Context(), func(string) bool { return true })
	if err != nil {
		m.t.Fatal(err)
	}
	keys := m.ask("select key from runs")
	for _, l := range all {
		if l.Run != "" && strings.Contains(keys, l.Run) {
			left = append(left, l.Role+" "+l.Name)
		}
	}
	return left
}

func TestAnEngineThatIsCutOffForAWhileCostsOneTrialAndLeavesNothing(t *testing.T) {
	requireDocker(t)
	t.Parallel()
	m := newMortal(t, uint64(time.Now().UnixNano()))
	var back sync.WaitGroup
	m.misfortune(waitsForServer, map[int]func() bool{2: func() bool {
		back.Go(m.engine.away)
		return false
	}})
	status, said := m.command(deathbed{})
	back.Wait()
	m.endsIncomplete(status, said, 1, "unreachable")
	if left := m.left(cmp.Or(os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func TestAnEngineThatIsGoneForGoodEndsTheRunWithItsOwnStatus(t *testing.T) {
	requireDocker(t)
	t.Parallel()
	m := newMortal(t, uint64(time.Now().UnixNano()))
	cut := func() bool { m.engine.cut(false); return false }
	m.misfortune(waitsForServer, map[int]func() bool{2: cut, 3: cut, 4: cut})
	status, said := m.command(deathbed{})
	if status != exitSurroundings || !strings.Contains(said, "the engine failed 3 trials in a row") {
		t.Errorf("status %d:\n%s", status, said)
	}
	m.misfortune(waitsForServer, nil)
	status, said = m.command(deathbed{})
	m.wentOn(status, said)
	if left := m.left(cmp.Or(os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock")); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// wentOn checks that a run which went on has its four trials, two of them lost.
func (m *mortal) wentOn(status int, said string) {
	m.t.Helper()
	if got := m.ask("select count(*) filter (where status = 'valid'), count(*) from trials"); status != exitIncomplete || got != "[[2 4]]" {
		m.t.Errorf("the same command: status %d, valid and all: %s\n%s", status, got, said)
	}
}

func TestAnEngineThatIsRestartedDuringATrialCostsThatAlone(t *testing.T) {
	requireDocker(t)
	own := newOwnEngine(t)
	m := newMortal(t, uint64(time.Now().UnixNano()))
	suite, err := os.ReadFile(filepath.Join(m.folder, "stopwatt.yml"))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Replace(string(suite), "users: 1, for: 100ms", "rate: 200/s, for: 4s", 1) // which an engine that stops ends
	if err := os.WriteFile(filepath.Join(m.folder, "stopwatt.yml"), []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	m.engine.reach(func() (net.Conn, error) { return net.Dial("unix", own.socket) })
	m.misfortune(waitsForServer, map[int]func() bool{2: func() bool { own.restart(); return false }})
	status, said := m.command(deathbed{})
	m.endsIncomplete(status, said, 1, "unreachable")
	if left := m.left("unix://" + own.socket); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

// An ownEngine is a Docker Engine of one test alone.
type ownEngine struct {
	t              *testing.T
	folder, socket string
	log            *os.File      // which its children write to as well, and go on when it was killed
	listens        chan struct{} // told each time that it has started

	mu      sync.Mutex
	process *exec.Cmd
}

// newOwnEngine starts one, in a network namespace of its own. That takes root, and an
// engine's program.
func newOwnEngine(t *testing.T) *ownEngine {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("an engine of the test's own takes root")
	}
	if _, err := exec.LookPath("dockerd"); err != nil && os.Getenv("CI") != "true" {
		t.Skip(err)
	}
	folder, err := os.MkdirTemp("", "engine") // a short name: containerd's sockets lie in it
	if err != nil {
		t.Fatal(err)
	}
	e := &ownEngine{t: t, folder: folder, socket: filepath.Join(folder, "docker.sock"), listens: make(chan struct{}, 10)}
	t.Cleanup(e.remove)
	if err := os.WriteFile(filepath.Join(folder, "config.json"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	e.log = write
	go func() {
		defer log.Close()
		for lines := bufio.NewScanner(log); lines.Scan(); {
			if strings.Contains(lines.Text(), "API listen on") {
				e.listens <- struct{}{}
			}
		}
	}()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.start()
	return e
}

// start starts it, and returns when it answers.
func (e *ownEngine) start() {
	in := func(name string) string { return filepath.Join(e.folder, name) }
	_ = os.Remove(in("pid")) // of one that was killed
	e.process = exec.Command("dockerd", "--config-file", in("config.json"), "--data-root", in("data"), "--exec-root", in("exec"), "--host", "unix://"+e.socket,
		"--pidfile", in("pid"), "--bridge", "none", "--iptables=false", "--ip-masq=false", "--ip-forward=false")
	// In a network of its own: an engine without a bridge removes the one that is called
	// docker0, which is another engine's.
	e.process.Stderr, e.process.SysProcAttr = e.log, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if err := e.process.Start(); err != nil {
		e.t.Errorf("start an engine: %v", err)
		return
	}
	select {
	case <-e.listens:
	case <-time.After(30 * time.Second):
		e.t.Error("an engine was started, and does not listen")
	}
}

// end ends it as a service manager does, and with it its containers.
func (e *ownEngine) end() {
	_ = e.process.Process.Signal(syscall.SIGTERM)
	_ = e.process.Wait() // which says how it was ended
}

// restart ends it and starts it again.
func (e *ownEngine) restart() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.end()
	e.start()
}

// remove ends it with all that it started, and leaves nothing of it.
func (e *ownEngine) remove() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.process != nil && e.process.Process != nil {
		e.end()
	}
	if e.log != nil {
		_ = e.log.Close()
	}
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		e.t.Error(err)
	}
	var mounted []string
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && strings.HasPrefix(fields[4], e.folder+"/") {
			mounted = append(mounted, fields[4])
		}
	}
	slices.Reverse(mounted) // the innermost first
	for _, at := range mounted {
		if err := syscall.Unmount(at, syscall.MNT_DETACH); err != nil {
			e.t.Errorf("unmount %s: %v", at, err)
		}
	}
	if err := os.RemoveAll(e.folder); err != nil {
		e.t.Error(err)
	}
}
