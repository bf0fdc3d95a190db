package trial_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// byTool is a trial whose load a line of a shell drives.
func byTool(h *harbour, line string) trial.Order {
	byTool := order(h)
	byTool.Workload.Load = stopwatt.Load{Timeout: 5 * time.Second, Tool: &stopwatt.Tool{Image: "tool:1", Harness: stopwatt.Harness{
		Program: stopwatt.Program{Run: []string{"/bin/sh", "-c", line}, OKExit: []int{0}, Timeout: 20 * time.Second},
		Format:  "wrk",
	}}}
	byTool.Tool = stopwatt.Image{ID: "sha256:tool"}
	return byTool
}

// tells has every tool tell the same.
func tells(h *harbour, benchmarks ...stopwatt.Benchmark) trial.Bench {
	bench := h.bench()
	bench.Harness = func(workload stopwatt.Workload, results []byte) ([]stopwatt.Benchmark, error) {
		if workload.Harness.Format != "wrk" || !strings.HasPrefix(string(results), "asked 127.0.0.1:") {
			return nil, fmt.Errorf("%s of format %s", results, workload.Harness.Format)
		}
		return benchmarks, nil
	}
	return bench
}

// figure is one of a tool's.
func figure(metric string, value float64) stopwatt.Figure {
	known, _ := stopwatt.MetricNamed(metric)
	return stopwatt.Figure{Metric: known, Value: value}
}

func TestAToolDrivesInPlaceOfTheDriver(t *testing.T) {
	var asked atomic.Int64
	h := newHarbour(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1); hello(w, r) })
	bench := tells(h, stopwatt.Benchmark{Figures: []stopwatt.Figure{figure("requests", 500), figure("latency_p99", 0.002), figure("errors", 0)}})
	got := valid(t, bench, byTool(h, "echo asked {address}"))
	for metric, want := range map[string]float64{"requests": 500, "latency_p99": 0.002, "errors": 0} {
		if value, ok := got.Value(metric); !ok || value != want {
			t.Errorf("%s is %v, want %v", metric, value, want)
		}
	}
	said := map[string]int{}
	for _, m := range got.Measurements {
		said[m.Metric]++
	}
	for _, a := range got.Absent {
		said[a.Metric]++
	}
	for _, metric := range stopwatt.Metrics {
		if !ofPrograms(metric) && said[metric.Name] != 1 {
			t.Errorf("%s is told %d times", metric.Name, said[metric.Name])
		}
	}
	if n := asked.Load(); n != 2 { // this tool asks nothing
		t.Errorf("the server was asked %d times, want once to be ready and once after the load", n)
	}
	tool := h.orders["driver-2"]
	if tool.Image != "sha256:tool" || tool.JoinNetwork != "server-0" || tool.VolumesFrom != "volume" {
		t.Errorf("the tool's container is %+v", tool)
	}
}

func TestAToolMakesATrialInvalid(t *testing.T) {
	for line, want := range map[string]string{
		"echo asked {address}":      "the tool tells of 3 requests without a right answer",
		"echo nothing":              "results of the tool: nothing",
		"echo asked; exit 4":        "the tool: ",
		"echo asked {url} >&2":      "results of the tool",
		"/no/such/program {adress}": "the tool: ",
	} {
		h := newHarbour(t, hello)
		got, err := tells(h, stopwatt.Benchmark{Figures: []stopwatt.Figure{figure("errors", 3)}}).Run(t.Context(), byTool(h, line))
		if err != nil || got.Status != stopwatt.Invalid || !strings.Contains(got.Reason, want) {
			t.Errorf("%s: %v, %s, %q; want %q", line, err, got.Status, got.Reason, want)
		}
		if len(h.ended) > 0 {
			t.Errorf("%s: %d containers stay", line, len(h.ended))
		}
	}
}

func TestAServerThatSpeaksNoHTTPIsReadyWhenItConnects(t *testing.T) {
	var asked atomic.Int64
	h := newHarbour(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	order := byTool(h, "echo asked {address}")
	order.Workload.HTTP = &stopwatt.HTTP{Port: h.port(), Connects: true, ReadyWithin: 5 * time.Second}
	got := valid(t, tells(h, stopwatt.Benchmark{Figures: []stopwatt.Figure{figure("throughput", 7)}}), order)
	if value, _ := got.Value("throughput"); value != 7 || asked.Load() != 0 {
		t.Errorf("throughput %v, and the server was asked %d times", value, asked.Load())
	}
	if _, ok := got.Value("ready_time"); !ok {
		t.Error("ready_time is not told")
	}
}
