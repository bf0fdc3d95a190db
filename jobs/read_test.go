package jobs

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

var update = flag.Bool("update", false, "write golden files anew")

// beside is a set of files whose suite lies in the folder "suites/here", so
// that names may climb out of it.
type beside fstest.MapFS

func (b beside) ReadFile(name string) ([]byte, error) {
	return fstest.MapFS(b).ReadFile(path.Join("suites/here", name))
}

func (b beside) Stat(name string) (fs.FileInfo, error) {
	return fstest.MapFS(b).Stat(path.Join("suites/here", name))
}

var exampleFiles = beside{
	"docker/go/Dockerfile":          {Data: []byte("FROM scratch\nEXPOSE 8080\n")},
	"docker/rust/Dockerfile":        {Data: []byte("FROM scratch\n")},
	"docker/bare/readme":            {Data: []byte("no Dockerfile here")},
	"suites/here/go/Dockerfile":     {Data: []byte("FROM scratch\n")},
	"suites/here/rust/Dockerfile":   {Data: []byte("FROM scratch\n")},
	"suites/here/points.csv":        {Data: []byte("1,2\r\n")},
	"suites/here/large.bin":         {Data: make([]byte, mostBody+1)},
	"suites/here/Dockerfile":        {Data: []byte("FROM scratch\n")},
	"suites/here/my dir/Dockerfile": {Data: []byte("FROM scratch\n")},
}

func read(t *testing.T, text, profile string) stopwatt.Suite {
	t.Helper()
	suite, err := Read("stopwatt.yml", []byte(text), exampleFiles, Options{Profile: profile})
	if err != nil {
		t.Fatalf("Read:\n%v", err)
	}
	return suite
}

const everyKey = `
suite: web-servers
baseline: rust
implementations:
  go: {build: ../../docker/go/}
  rust:
    build: {context: ../../docker/rust, dockerfile: Dockerfile, args: {ALLOC: arena, N: 1.10}, target: final, ref: v1.0}
    command: [/server, --port, 8080]
    env: {THREADS: 4, EMPTY: "", LINES: "a\nb"}
    cpus: 0-2,5
    memory: 512MiB
    stop-signal: SIGTERM
    writable: true
  pulled: {image: "registry.example.org/team/server:{sha}"}
workloads:
  static:
    http:
      port: 8080
      request: {path: /static?a=b}
    load: {requests: 5000}
  upload:
    http:
      port: 80
      request: {method: POST, path: /up, headers: {Accept: text/plain}, body: {file: points.csv}}
      expect: {status: 201, body-sha256: BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD}
      ready-within: 1m
    load: {users: 8, for: 10s, connection: close, timeout: 500ms}
plan:
  rounds: {min: 12, max: 32}
  budget: 45m
  cooldown: 1m
  warmup: 0s
  settle: 5m
  profiles:
    short: {rounds: 1, budget: 2m, warmup: 1s, settle: 0s, idle: 2s, load: {users: 2, for: 2s}}
    closed: {load: {requests: 7, connection: close, timeout: 1s}}
judge: {metrics: {time: 1.5%, latency_p99: 5 %, widgets: 2%}, fail-on: [regressed, undecided], energy: net}
control: pulled
meters: {idle: 20s, every: 50ms, counters: false}
`

func TestEveryKeyReachesTheSuite(t *testing.T) {
	t.Parallel()
	want := stopwatt.Suite{
		Name: "web-servers", Baseline: "rust",
		Implementations: []stopwatt.Implementation{
			{Name: "go", Build: &stopwatt.Build{Context: "../../docker/go"}},
			{
				Name: "rust",
				Build: &stopwatt.Build{
					Context: "../../docker/rust", Dockerfile: "Dockerfile",
					Args: map[string]string{"ALLOC": "arena", "N": "1.10"}, Target: "final", Ref: "v1.0",
				},
				Command: []string{"/server", "--port", "8080"},
				Env:     map[string]string{"THREADS": "4", "EMPTY": "", "LINES": "a\nb"},
				CPUs:    "0-2,5", Memory: 512 << 20, StopSignal: "SIGTERM", Writable: true,
			},
			{Name: "pulled", Image: "registry.example.org/team/server:{sha}"},
		},
		Workloads: []stopwatt.Workload{
			{
				Name: "static",
				HTTP: &stopwatt.HTTP{
					Port: 8080, Request: stopwatt.Request{Method: "GET", Path: "/static?a=b"},
					Expect: stopwatt.Expect{Status: 200, CheckOneIn: 1000}, ReadyWithin: 30 * time.Second,
				},
				Load: stopwatt.Load{Users: 4, Requests: 5000, Timeout: 10 * time.Second},
			},
			{
				Name: "upload",
				HTTP: &stopwatt.HTTP{
					Port: 80,
					Request: stopwatt.Request{
						Method: "POST", Path: "/up", Headers: map[string]string{"Accept": "text/plain"}, Body: []byte("1,2\r\n"),
					},
					Expect:      stopwatt.Expect{Status: 201, BodySHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", CheckOneIn: 1000},
					ReadyWithin: time.Minute,
				},
				Load: stopwatt.Load{Users: 8, For: 10 * time.Second, Close: true, Timeout: 500 * time.Millisecond},
			},
		},
		Plan: stopwatt.PlanSettings{Rounds: 32, MinRounds: 12, Budget: 45 * time.Minute, Settle: 5 * time.Minute, Cooldown: time.Minute},
		Judge: stopwatt.Judge{
			Metrics: []stopwatt.Threshold{{Metric: "time", Relative: 0.015}, {Metric: "latency_p99", Relative: 0.05}, {Metric: "widgets", Relative: 0.02}},
			FailOn:  []stopwatt.Verdict{stopwatt.Regressed, stopwatt.Undecided}, Net: true,
		},
		Control: "pulled",
		Meters:  stopwatt.MeterSettings{Idle: 20 * time.Second, Every: 50 * time.Millisecond},
	}
	if diff := cmp.Diff(want, read(t, everyKey, "")); diff != "" {
		t.Errorf("suite differs (-want +got):\n%s", diff)
	}
}

func TestAProfileOverridesWhatItNames(t *testing.T) {
	t.Parallel()
	short := read(t, everyKey, "short")
	if short.Profile != "short" || short.Plan != (stopwatt.PlanSettings{Rounds: 1, MinRounds: 1, Budget: 2 * time.Minute, Warmup: time.Second, Cooldown: time.Minute}) || short.Meters.Idle != 2*time.Second {
		t.Errorf("profile %q, plan %+v, meters %+v", short.Profile, short.Plan, short.Meters)
	}
	want := []stopwatt.Load{
		{Users: 2, For: 2 * time.Second, Timeout: 10 * time.Second},
		{Users: 2, For: 2 * time.Second, Close: true, Timeout: 500 * time.Millisecond},
	}
	if diff := cmp.Diff(want, loads(short)); diff != "" {
		t.Errorf("short: loads differ (-want +got):\n%s", diff)
	}
	closed := read(t, everyKey, "closed")
	want = []stopwatt.Load{
		{Users: 4, Requests: 7, Close: true, Timeout: time.Second},
		{Users: 8, Requests: 7, Close: true, Timeout: time.Second},
	}
	if diff := cmp.Diff(want, loads(closed)); diff != "" {
		t.Errorf("closed: loads differ (-want +got):\n%s", diff)
	}
	if closed.Plan.Rounds != 32 {
		t.Errorf("closed has %d rounds, want the plan's 32", closed.Plan.Rounds)
	}
}

func TestABodyMayBeTextOfManyLines(t *testing.T) {
	t.Parallel()
	suite := read(t, `suite: a
implementations: {b: {image: c}}
workloads:
  d:
    http:
      port: 1
      request:
        path: /
        body: |
          one
          	two
            three: {[*&!%
    load: {for: 1s}
`, "")
	want := "one\n\ttwo\n  three: {[*&!%\n"
	if got := string(suite.Workloads[0].HTTP.Request.Body); got != want {
		t.Errorf("body %q, want %q", got, want)
	}
}

func TestRoundsMayBeAskedForBesideTheSuite(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		asked int
		want  int // 0: refused
	}{
		{"none: the profile's", 0, 1},
		{"instead of the profile's", 7, 7},
		{"less than one", -1, 0},
		{"more than a plan may have", mostRounds + 1, 0},
	} {
		suite, err := Read("stopwatt.yml", []byte(everyKey), exampleFiles, Options{Profile: "short", Rounds: test.asked})
		if suite.Plan.Rounds != test.want || (err == nil) != (test.want > 0) {
			t.Errorf("%s: %d rounds, %v, want %d", test.name, suite.Plan.Rounds, err, test.want)
		}
	}
}

func TestWhatCannotBeAskedForHasNoSuite(t *testing.T) {
	t.Parallel()
	const bare = "suite: a\nimplementations: {b: {image: c}}\nworkloads: {d: {http: {port: 1, request: {path: /}}, load: {for: 1s}}}\n"
	for _, test := range []struct {
		name, text string
		options    Options
		want       string
	}{
		{"an unknown profile", everyKey, Options{Profile: "long"}, `s.yml:34:3: there is no profile "long"; there are: "short", "closed"`},
		{"a profile of a suite without any", bare, Options{Profile: "long"}, `s.yml: there is no profile "long", the suite has none; add it to plan as profiles: {name: {rounds: 2}}`},
		{"too many rounds", bare, Options{Rounds: 1 << 40}, `s.yml: 1099511627776 rounds are asked for; ask for 1 to 10000`},
		{"too many trials", wide(200), Options{Rounds: 10_000}, `s.yml:1:1: 200 cases in 10000 rounds are 2000000 trials, and a plan has at most 1000000; write fewer rounds`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read("s.yml", []byte(test.text), exampleFiles, test.options)
			faults := faultsOf(t, err)
			got, _, _ := strings.Cut(faults[0].String(), "\n")
			if got != test.want || len(faults) > 1 {
				t.Errorf("%d faults, the first\n%s, want one\n%s", len(faults), got, test.want)
			}
		})
	}
}

// wide is a suite of so many cases.
func wide(cases int) string {
	var b strings.Builder
	b.WriteString("suite: a\nworkloads: {d: {http: {port: 1, request: {path: /}}, load: {for: 1s}}}\nimplementations:\n")
	for i := range cases {
		fmt.Fprintf(&b, "  i%d: {image: c}\n", i)
	}
	return b.String()
}

// unreadable are files that are there, and of which nothing more can be had.
type unreadable struct{ everywhere }

func (unreadable) ReadFile(name string) ([]byte, error) {
	return nil, &fs.PathError{Op: "open", Path: "/home/someone/" + name, Err: fs.ErrPermission}
}

func TestAFileThatCannotBeReadIsAFaultWithoutItsFullPath(t *testing.T) {
	t.Parallel()
	const text = "suite: a\nimplementations: {b: {image: c}}\nworkloads: {d: {http: {port: 1, request: {path: /, body: {file: x/Dockerfile}}}, load: {for: 1s}}}\n"
	_, err := Read("s.yml", []byte(text), unreadable{}, Options{})
	want := `body: the file "x/Dockerfile" cannot be read ("permission denied"); give permission, or name another`
	if faults := faultsOf(t, err); len(faults) != 1 || faults[0].Message != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func loads(suite stopwatt.Suite) []stopwatt.Load {
	var all []stopwatt.Load
	for _, workload := range suite.Workloads {
		all = append(all, workload.Load)
	}
	return all
}

func TestAFileMayComeFromWindowsOrHaveAHeader(t *testing.T) {
	t.Parallel()
	want := read(t, everyKey, "")
	for name, text := range map[string]string{
		"CRLF":                    strings.ReplaceAll(everyKey, "\n", "\r\n"),
		"byte order mark":         "\ufeff" + everyKey,
		"document header":         "# a comment\n---" + everyKey + "...\n",
		"comments and joined 👩‍💻": "# 👩‍💻\n" + everyKey,
	} {
		if diff := cmp.Diff(want, read(t, text, "")); diff != "" {
			t.Errorf("%s: suite differs (-want +got):\n%s", name, diff)
		}
	}
}

// TestFaults reads each testdata/faults/*.yml and compares its faults with the
// file beside it.
func TestFaultsAreToldWithPlaceAndRemedy(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/faults/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yml"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Read("stopwatt.yml", text, exampleFiles, Options{})
			golden(t, strings.TrimSuffix(file, ".yml")+".txt", faultsOf(t, err).Error()+"\n")
		})
	}
}

func faultsOf(t *testing.T, err error) stopwatt.Faults {
	t.Helper()
	var faults stopwatt.Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("Read returned %v, want faults", err)
	}
	return faults
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	same(t, file, got)
}

// same compares with a file that -update leaves alone.
func same(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}
