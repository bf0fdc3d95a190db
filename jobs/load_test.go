package jobs

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// loadSuite is a suite of one workload, with profiles.
const loadSuite = `
suite: loads
implementations: {go: {image: "go:1"}}
workloads:
  w:
    http: %s
    load: %s
plan:
  profiles:
    short: {load: {for: 2s}}
    few: {load: {requests: 5}}
    fast: {load: {rate: 300/s, users: 8}}
`

// asked is the workload of a suite with this http and load.
func asked(t *testing.T, http, load, profile string) stopwatt.Workload {
	t.Helper()
	files := beside(fstest.MapFS{"suites/here/values.csv": {Data: []byte("id,name\n1,a b\n2,\"c,d\"\n")}})
	suite, err := Read("stopwatt.yml", fmt.Appendf(nil, loadSuite, http, load), files, Options{Profile: profile})
	if err != nil {
		t.Fatal(err)
	}
	return suite.Workloads[0]
}

func TestLoadsAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	stage := func(from, to float64, lasting time.Duration) stopwatt.Stage {
		return stopwatt.Stage{From: from, To: to, For: lasting}
	}
	const second = time.Second
	tests := []struct {
		load, profile string
		want          stopwatt.Load
	}{
		{"{for: 10s}", "", stopwatt.Load{Users: 4, For: 10 * second}},
		{"{users: 9, requests: 7, think: 5ms}", "", stopwatt.Load{Users: 9, Requests: 7, Think: 5 * time.Millisecond}},
		{"{for: 10s, think: 5ms}", "few", stopwatt.Load{Users: 4, Requests: 5, Think: 5 * time.Millisecond}},
		{"{requests: 7}", "short", stopwatt.Load{Users: 4, For: 2 * second}},
		{"{rate: 2000/s, for: 10s}", "", stopwatt.Load{Users: 64, For: 10 * second, Stages: []stopwatt.Stage{stage(2000, 2000, 10*second)}}},
		{"{rate: 90/min, for: 10s, users: 3}", "", stopwatt.Load{Users: 3, For: 10 * second, Stages: []stopwatt.Stage{stage(1.5, 1.5, 10*second)}}},
		{"{rate: 2000/s, for: 10s, arrivals: poisson}", "short", stopwatt.Load{Users: 64, For: 2 * second, Poisson: true, Stages: []stopwatt.Stage{stage(2000, 2000, 2*second)}}},
		{"{rate: 2000/s, for: 10s}", "few", stopwatt.Load{Users: 64, For: 10 * second, Stages: []stopwatt.Stage{stage(2000, 2000, 10*second)}}},
		{"{rate: 2000/s, for: 10s}", "fast", stopwatt.Load{Users: 8, For: 10 * second, Stages: []stopwatt.Stage{stage(300, 300, 10*second)}}},
		{"{stages: [{rate: 10/s, for: 6s}, {from: 10/s, to: 50/s, for: 4s}]}", "", stopwatt.Load{Users: 64, For: 10 * second, Stages: []stopwatt.Stage{stage(10, 10, 6*second), stage(10, 50, 4*second)}}},
		{"{stages: [{rate: 10/s, for: 6s}, {from: 0/s, to: 50/s, for: 4s}]}", "short", stopwatt.Load{Users: 64, For: 2 * second, Stages: []stopwatt.Stage{stage(10, 10, 1200*time.Millisecond), stage(0, 50, 800*time.Millisecond)}}},
		{"{find: max-rate, while: {latency_p99: 50ms, latency_max: 1s}, for: 5s}", "", stopwatt.Load{Users: 64, For: 5 * second,
			Find: &stopwatt.Find{Probe: 2 * second, While: []stopwatt.Promise{{Metric: "latency_p99", AtMost: 50 * time.Millisecond}, {Metric: "latency_max", AtMost: second}}}}},
	}
	for _, test := range tests {
		t.Run(test.load+" "+test.profile, func(t *testing.T) {
			t.Parallel()
			test.want.Timeout = 10 * second
			got := asked(t, "{port: 80, request: {path: /}}", test.load, test.profile).Load
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestSeveralRequestsWithValues(t *testing.T) {
	t.Parallel()
	got := asked(t, `{port: 80, order: in-order, data: {file: values.csv, rows: random}, requests: [{path: "/{id}"}, {method: POST, path: /, body: "{name}", weight: 3, expect: {status: 201}}]}`, "{for: 1s}", "").HTTP
	want := &stopwatt.HTTP{
		Port:    80,
		Request: stopwatt.Request{Method: "GET", Path: "/{id}", Weight: 1},
		Expect:  stopwatt.Expect{Status: 200, CheckOneIn: 1000},
		Others: []stopwatt.Ask{{
			Request: stopwatt.Request{Method: "POST", Path: "/", Body: []byte("{name}"), Weight: 3},
			Expect:  stopwatt.Expect{Status: 201, CheckOneIn: 1000},
		}},
		InOrder:     true,
		Data:        &stopwatt.Data{Columns: []string{"id", "name"}, Rows: [][]string{{"1", "a b"}, {"2", "c,d"}}, Random: true},
		ReadyWithin: 30 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestToolsThatDrive(t *testing.T) {
	t.Parallel()
	got := asked(t, "{port: 6379, ready: connect}", `{tool: {image: "redis:7", run: [redis-benchmark, -p, "6379", --csv], format: json, timeout: 1m}}`, "short")
	want := stopwatt.Load{Timeout: 10 * time.Second, Tool: &stopwatt.Tool{Image: "redis:7", Harness: stopwatt.Harness{Format: "json",
		Program: stopwatt.Program{Run: []string{"redis-benchmark", "-p", "6379", "--csv"}, OKExit: []int{0}, Timeout: time.Minute}}}}
	if diff := cmp.Diff(want, got.Load); diff != "" || !got.HTTP.Connects || got.HTTP.Request.Path != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestTheNullServerIsAskedWhatItCanAnswer(t *testing.T) {
	t.Parallel()
	const suite = `
suite: nothing
implementations: {null: {null-server: true}}
workloads: {w: %s}
`
	for workload, want := range map[string]string{
		"{http: {port: 80, request: {path: /}}, load: {for: 1s}}":          "",
		"{http: {port: 80, tls: {}, request: {path: /}}, load: {for: 1s}}": "the null server answers plain HTTP on a port, and workload \"w\" is another",
		"{http: {socket: /a/b, request: {path: /}}, load: {for: 1s}}":      "the null server answers plain HTTP on a port",
		"{command: {run: [fib]}}":                                          "the null server answers plain HTTP on a port",
	} {
		read, err := Read("stopwatt.yml", fmt.Appendf(nil, suite, workload), beside(fstest.MapFS{}), Options{})
		if want == "" && (err != nil || !read.Implementations[0].Null) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", workload, err)
		}
	}
}

func TestServersBehindASocket(t *testing.T) {
	t.Parallel()
	if got := asked(t, "{socket: /run/server/http, request: {path: /}}", "{for: 1s}", "").HTTP; got.Socket != "/run/server/http" || got.Port != 0 {
		t.Errorf("%+v", got)
	}
}

func TestServersThatSpeakTLS(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]stopwatt.TLS{"{}": {}, "{name: example.org, verify: true}": {Name: "example.org", Verify: true}} {
		got := asked(t, "{port: 443, request: {path: /}, tls: "+text+"}", "{for: 1s}", "").HTTP.TLS
		if got == nil || *got != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestFilesOfValuesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":              "it has no rows",
		"id\n":          "it has no rows",
		"id,name\n1\n":  "it is no CSV file",
		"a b\n1\n":      "is no name for a column",
		"id,id\n1,2\n":  "is there twice; rename one",
		"id,\n1,2\n":    "is no name for a column",
		"id\n\"open\n1": "it is no CSV file",
		// Each name is looked for among those before it: a file of nothing else took hours.
		strings.Join(names(mostBody/8), ",") + "\n1\n": "columns, and may have 100; give fewer",
		"id\n" + strings.Repeat("1\n", mostRows+1):     "more than 1000000 rows; give fewer",
	} {
		if _, complaint := readData(text); !strings.Contains(complaint, want) {
			t.Errorf("%.20q: complaint %q, want %q", text, complaint, want)
		}
	}
}

// names are so many names of columns.
func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = strconv.Itoa(i)
	}
	return all
}

func FuzzReadData(f *testing.F) {
	for _, text := range []string{"id,name\n1,a\n", "\ufeffid\n1\n", "id\n\"a\nb\"\n", "x", "a,a\n1,2\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		data, complaint := readData(text)
		if complaint == "" && (len(data.Columns) == 0 || len(data.Rows) == 0) {
			t.Error("neither values nor a complaint")
		}
		for _, row := range data.Rows {
			if len(row) != len(data.Columns) {
				t.Errorf("a row of %d values for %d columns", len(row), len(data.Columns))
			}
		}
	})
}
