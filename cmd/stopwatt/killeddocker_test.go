package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// dieAtSync names the variable that says at which fsync of the spool a stopwatt of the tests
// kills itself. The stopwatt that people use does not know it.
const dieAtSync = "STOPWATT_TEST_DIE_AT_SYNC"

// rootData names the variable that says where a stopwatt of the tests has root's data. Those
// that people keep on this machine are none of the tests' business.
const rootData = "STOPWATT_TEST_ROOT_DATA"

// mortalMain is main, of a process that may be told when to die.
func mortalMain() {
	if folder := os.Getenv(rootData); folder != "" {
		rootFolder = folder
	}
	if at, err := strconv.Atoi(os.Getenv(dieAtSync)); err == nil {
		calls := 0
		syncSpool = func(file *os.File) error {
			if calls++; calls == at {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return file.Sync()
		}
	}
	main()
}

// A deathbed is a call at which a command is to die.
type deathbed struct {
	name   string
	calls  func(sent []byte) bool // which calls are counted
	nth    int
	signal syscall.Signal
	asked  bool // the call is passed on, and its answer not heard; else it is not made
	sync   int  // at which fsync instead
}

func (d deathbed) String() string {
	return fmt.Sprintf("%s, number %d (%v, asked: %v)", d.name, max(d.nth, d.sync), d.signal, d.asked)
}

// request tells whether a request to the engine begins here, of this method and to such a path.
func request(method, path string) func([]byte) bool {
	return func(sent []byte) bool {
		line, _, _ := bytes.Cut(sent, []byte("\r\n"))
		words := strings.Fields(string(line))
		return len(words) == 3 && strings.HasPrefix(words[2], "HTTP/") && (method == "" || words[0] == method) && strings.Contains(words[1], path)
	}
}

// deathbeds are those that are always among the drawn ones, and so many others among the
// first calls of a run.
func deathbeds(draw *rand.Rand, others, calls int) []deathbed {
	any := request("", "/")
	all := []deathbed{
		{name: "build", calls: request("POST", "/build"), nth: 1},
		{name: "create", calls: request("POST", "/containers/create"), nth: 1 + draw.IntN(3)},
		{name: "start", calls: request("POST", "/start"), nth: 1 + draw.IntN(3)},
		{name: "attach", calls: request("POST", "/attach"), nth: 1},
		{name: "remove", calls: request("DELETE", "/containers/"), nth: 1 + draw.IntN(2)},
		{name: "COPY", calls: copying, nth: 1},
		{name: "fsync", sync: 3 + draw.IntN(6)}, // the first two are of the folders
	}
	for range others {
		all = append(all, deathbed{name: "request", calls: any, nth: 1 + draw.IntN(calls)})
	}
	for i := range all {
		all[i].signal = []syscall.Signal{syscall.SIGKILL, syscall.SIGKILL, syscall.SIGTERM}[draw.IntN(3)]
		all[i].asked = draw.IntN(2) == 0
	}
	draw.Shuffle(len(all)-1, func(i, j int) { all[i+1], all[j+1] = all[j+1], all[i+1] }) // what is to be built is built once
	return all
}

// A mortal is a command that is given again and again, and dies again and again.
type mortal struct {
	t                *testing.T
	folder, dsn      string
	engine, database *wire
	env              []string

	mu     sync.Mutex
	bed    deathbed
	seen   int
	victim *os.Process // nil where nobody is to die
}

// watch counts calls, and kills at the one that is meant.
func (m *mortal) watch(sent []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.victim == nil || m.bed.calls == nil || !m.bed.calls(sent) {
		return true
	}
	if m.seen++; m.seen != m.bed.nth {
		return true
	}
	_ = m.victim.Signal(m.bed.signal)
	return m.bed.asked || m.bed.signal == syscall.SIGTERM
}

// command carries the command out until it ends or dies.
func (m *mortal) command(bed deathbed) (status int, said string) {
	ctx, cancel := context.WithTimeout(m.t.Context(), 5*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "stopwatt", "run")
	command.Dir, command.Env = m.folder, m.env
	if bed.sync > 0 {
		command.Env = append(command.Env, fmt.Sprintf("%s=%d", dieAtSync, bed.sync))
	}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	m.mu.Lock()
	if err := command.Start(); err != nil {
		m.t.Fatal(err)
	}
	m.bed, m.seen, m.victim = bed, 0, command.Process
	m.mu.Unlock()
	_ = command.Wait() // its status tells
	m.mu.Lock()
	m.victim = nil
	m.mu.Unlock()
	return command.ProcessState.ExitCode(), output.String()
}

// ask asks the database past the wires.
func (m *mortal) ask(question string) string {
	m.t.Helper()
	store, err := storage.Open(m.t.Context(), m.dsn)
	if err != nil {
		m.t.Fatal(err)
	}
	defer store.Close()
	answer, err := store.Query(m.t.Context(), question, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	return fmt.Sprint(answer.Rows)
}

// kept counts the trials that the database has.
func (m *mortal) kept() int {
	m.t.Helper()
	stored, err := strconv.Atoi(strings.Trim(m.ask("select count(*) from trials"), "[]"))
	if err != nil {
		m.t.Fatal(err)
	}
	return stored
}

// finished counts the runs that came to their end.
func (m *mortal) finished() int {
	m.t.Helper()
	finished, err := strconv.Atoi(strings.Trim(m.ask("select count(*) from runs where status = 'finished'"), "[]"))
	if err != nil {
		m.t.Fatal(err)
	}
	return finished
}

func TestAStopwattThatIsKilledAtDrawnCallsLosesNothingAndLeavesNothing(t *testing.T) {
	t.Parallel()
	requireDocker(t)
	seed := uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("STOPWATT_TEST_SEED"), 10, 64); err == nil {
		seed = given
	}
	t.Logf("STOPWATT_TEST_SEED=%d", seed)
	m := newMortal(t, seed)
	stranger := newStranger(t)
	const links, calls = 13, 45 // a whole run of this suite makes about 50; with those named 20 deaths
	before, runs := 0, 0
	beds := deathbeds(rand.New(rand.NewPCG(seed, 0)), links, calls)
	if few, err := strconv.Atoi(os.Getenv("STOPWATT_TEST_LINKS")); err == nil {
		beds = beds[:min(few, len(beds))]
	}
	for i, bed := range beds {
		status, said := m.command(bed)
		// A run may have come to its end before its command did.
		switch finished := m.finished(); {
		case finished > runs+1, status == 0 && finished != runs+1:
			t.Errorf("%s: status %d, and %d runs were finished before and %d are now", bed, status, runs, finished)
			fallthrough
		default:
			runs = finished
		}
		t.Logf("%2d %s: status %d, %d trials", i+1, bed, status, m.kept())
		if status > 0 && bed.signal == syscall.SIGKILL && bed.sync == 0 {
			t.Errorf("%s: it ended by itself with %d:\n%s", bed, status, said)
		}
		if kept := m.kept(); kept < before {
			t.Errorf("%s: %d trials were kept before and %d are now", bed, before, kept)
		} else {
			before = kept
		}
	}
	if status, said := m.command(deathbed{}); status != 0 {
		t.Fatalf("the same command ends with %d:\n%s", status, said)
	}
	m.whole(runs + 1)
	if !stranger() {
		t.Error("somebody else's container is gone")
	}
}

// whole checks that every run was finished with each of its trials once, and nothing is left.
func (m *mortal) whole(runs int) {
	m.t.Helper()
	if got, want := m.ask("select count(*), count(*) filter (where status = 'finished' and valid = 4) from runs"), fmt.Sprintf("[[%d %d]]", runs, runs); got != want {
		m.t.Errorf("runs, finished and whole: %s, want %s", got, want)
	}
	if twice := m.ask("select run, implementation, workload, round from trials group by 1, 2, 3, 4 having count(*) > 1"); twice != "[]" {
		m.t.Errorf("stored twice: %s", twice)
	}
	for _, place := range []string{"data/stopwatt/spool/*", "tmp/*"} {
		if left, _ := filepath.Glob(filepath.Join(m.folder, place)); len(left) > 0 {
			m.t.Errorf("%v are left", left)
		}
	}
	docker, err := containers.Connect(m.t.Context(), containers.Config{})
	if err != nil {
		m.t.Fatal(err)
	}
	defer docker.Close()
	keys := m.ask("select key from runs")
	left, err := docker.Leftovers(m.t.Context(), func(string) bool { return true })
	if err != nil {
		m.t.Fatal(err)
	}
	for _, l := range left {
		if l.Run != "" && strings.Contains(keys, l.Run) {
			m.t.Errorf("%s %s is left", l.Role, l.Name)
		}
	}
}

// newMortal makes the folder, the wires and the environment of a command.
func newMortal(t *testing.T, seed uint64) *mortal {
	t.Helper()
	m := &mortal{t: t, folder: openFolder(t), dsn: embeddedtest.ForTest(t)}
	programs := buildPrograms(t)
	removeAgentLater(t, programs)
	t.Cleanup(func() { removeImages(t, m.dsn) })
	stopwatt, err := exec.LookPath("stopwatt")
	if err != nil {
		t.Fatal(err)
	}
	agent := "stopwatt-agent-linux-" + runtime.GOARCH
	if err := copyFile(filepath.Join(programs, agent), filepath.Join(filepath.Dir(stopwatt), agent)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"server", "tmp", "data"} {
		if err := os.Mkdir(filepath.Join(m.folder, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := installServer(filepath.Join(m.folder, "server"), programs); err != nil {
		t.Fatal(err)
	}
	dockerfile := fmt.Sprintf("FROM scratch\nLABEL seed=%d\nCOPY server /server\nENTRYPOINT [\"/server\"]\n", seed) // built here, not there already
	suite := `suite: mortal
implementations: {one: {build: server}, two: {build: server}}
workloads:
  hello: {http: {port: 8080, request: {path: /}}, load: {users: 1, for: 100ms}}
plan: {rounds: 2, warmup: 20ms, settle: 0s, null-server: false}
meters: {idle: 0s}
`
	for name, text := range map[string]string{"server/Dockerfile": dockerfile, "stopwatt.yml": suite} {
		if err := os.WriteFile(filepath.Join(m.folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m.layWires()
	return m
}

// layWires lays the wires to the engine and the database.
func (m *mortal) layWires() {
	m.t.Helper()
	listener, err := net.Listen("unix", filepath.Join(m.folder, "engine"))
	if err != nil {
		m.t.Fatal(err)
	}
	m.engine = newWire(m.t, listener, dialEngine)
	var dsn string
	m.database, dsn = toPostgres(m.t, m.dsn)
	m.engine.look(m.watch)
	m.database.look(m.watch)
	m.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.folder, "TMPDIR=" + filepath.Join(m.folder, "tmp"), "XDG_DATA_HOME=" + filepath.Join(m.folder, "data"),
		"STOPWATT_LOCK=" + filepath.Join(m.folder, "lock"), "STOPWATT_DATABASE=" + dsn, "DOCKER_HOST=unix://" + filepath.Join(m.folder, "engine"),
	}
}

// dialEngine connects to the engine that the tests use.
func dialEngine() (net.Conn, error) {
	at, err := url.Parse(cmp.Or(os.Getenv("DOCKER_HOST"), "unix:///var/run/docker.sock"))
	if err != nil {
		return nil, err
	}
	if at.Scheme == "unix" {
		return net.Dial("unix", at.Path)
	}
	return net.Dial("tcp", at.Host)
}

// newStranger makes a container of somebody else's, from an empty image of theirs, and
// returns what tells whether it is there still.
func newStranger(t *testing.T) (there func() bool) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) { return dialEngine() }}}
	call := func(method, path, kind string, body io.Reader) (int, []byte) {
		request, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, "http://engine"+path, body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", kind)
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		answer, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, answer
	}
	image := fmt.Sprintf("stranger-%d", os.Getpid())
	if status, said := call("POST", "/images/create?fromSrc=-&repo="+image+"&tag=1", "application/x-tar", bytes.NewReader(make([]byte, 1024))); status != http.StatusOK {
		t.Fatalf("import an image: %d %s", status, said)
	}
	t.Cleanup(func() { call("DELETE", "/images/"+image+":1", "", nil) })
	status, said := call("POST", "/containers/create", "application/json", strings.NewReader(`{"Image": "`+image+`:1", "Cmd": ["/none"]}`))
	var made struct{ ID string }
	if err := json.Unmarshal(said, &made); err != nil || status != http.StatusCreated {
		t.Fatalf("create a container: %d %s", status, said)
	}
	t.Cleanup(func() { call("DELETE", "/containers/"+made.ID, "", nil) })
	return func() bool {
		status, _ := call("GET", "/containers/"+made.ID+"/json", "", nil)
		return status == http.StatusOK
	}
}
