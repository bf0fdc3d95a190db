package report

import (
	"bytes"
	"flag"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares what was written with a file in testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs (-want +got), -update rewrites it:\n%s", name, cmp.Diff(string(want), string(got)))
	}
}

// A sketch is what made-up trials of one case scatter round: seconds, latency
// in microseconds, CPU seconds and MiB.
type sketch struct {
	implementation, workload string
	seconds, p50, p99        float64
	cpu, mebibytes           float64
}

// scatter makes trials of each sketch, the same at every call.
func scatter(sketches []sketch, rounds int, requests float64) []stopwatt.Trial {
	random := rand.New(rand.NewPCG(48213, 1))
	around := func(x float64) float64 { return x * (1 + 0.004*random.NormFloat64()) }
	start := time.Date(2026, 11, 30, 10, 2, 0, 0, time.UTC)
	var trials []stopwatt.Trial
	for round := 1; round <= rounds; round++ {
		for _, s := range sketches {
			seconds := around(s.seconds)
			trials = append(trials, stopwatt.Trial{
				PlannedTrial: stopwatt.PlannedTrial{
					Round:    round,
					Case:     stopwatt.Case{Implementation: s.implementation, Workload: s.workload},
					Revision: stopwatt.Head,
				},
				Position: len(trials) + 1,
				Status:   stopwatt.Valid,
				Started:  start.Add(time.Duration(len(trials)) * 30 * time.Second),
				Window:   stopwatt.Window{Start: 1e9, End: 1e9 + int64(seconds*1e9)},
				Measurements: []stopwatt.Measurement{
					{Metric: "time", Value: seconds},
					{Metric: "throughput", Value: requests / seconds},
					{Metric: "latency_p50", Value: around(s.p50) * 1e-6},
					{Metric: "latency_p99", Value: around(s.p99) * 1e-6},
					{Metric: "requests", Value: requests},
					{Metric: "errors", Value: 0},
					{Metric: "cpu_server", Value: around(s.cpu)},
					{Metric: "memory_peak", Value: math.Round(around(s.mebibytes) * (1 << 20))},
				},
			})
		}
	}
	return trials
}

// resultsOf sums trials up plainly; package regression has the real one.
func resultsOf(run stopwatt.Run, trials []stopwatt.Trial) stopwatt.Results {
	results := stopwatt.Results{Run: run}
	for _, c := range run.Settings.Cases() {
		result := stopwatt.CaseResult{Case: c, Revision: stopwatt.Head}
		values := map[string][]float64{}
		reasons, absent, warnings := map[string]int{}, map[stopwatt.Absence]int{}, map[string]int{}
		for _, trial := range trials {
			switch {
			case trial.Case != c:
			case trial.Status == stopwatt.Invalid:
				result.Invalid++
				reasons[trial.Reason]++
			default:
				result.Valid++
				if len(trial.Warnings) > 0 {
					result.Marked++
				}
				for _, warning := range trial.Warnings {
					warnings[warning]++
				}
				for _, m := range trial.Measurements {
					values[m.Metric] = append(values[m.Metric], m.Value)
				}
				for _, a := range trial.Absent {
					absent[a]++
				}
			}
		}
		for reason, n := range reasons {
			result.Reasons = append(result.Reasons, stopwatt.ReasonCount{Reason: reason, Count: n})
		}
		for a, n := range absent {
			result.Absent = append(result.Absent, stopwatt.AbsenceCount{Metric: a.Metric, Reason: a.Reason, Count: n})
		}
		slices.SortFunc(result.Reasons, func(a, b stopwatt.ReasonCount) int { return b.Count - a.Count })
		for warning, n := range warnings {
			result.Warnings = append(result.Warnings, stopwatt.WarningCount{Warning: warning, Count: n})
		}
		slices.SortFunc(result.Absent, func(a, b stopwatt.AbsenceCount) int { return strings.Compare(a.Metric+a.Reason, b.Metric+b.Reason) })
		slices.SortFunc(result.Warnings, func(a, b stopwatt.WarningCount) int { return strings.Compare(a.Warning, b.Warning) })
		for _, name := range slices.SortedFunc(maps.Keys(values), stopwatt.CompareMetrics) {
			result.Summaries = append(result.Summaries, summaryOf(c, name, values[name]))
		}
		results.Cases = append(results.Cases, result)
	}
	return results
}

func summaryOf(c stopwatt.Case, metric string, values []float64) stopwatt.Summary {
	slices.Sort(values)
	n := len(values)
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / float64(n)
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	sd := 0.0
	if n > 1 {
		sd = math.Sqrt(squares / float64(n-1))
	}
	return stopwatt.Summary{
		Case: c, Revision: stopwatt.Head, Metric: metric, N: n, Mean: mean, SD: sd,
		Median: (values[(n-1)/2] + values[n/2]) / 2, Min: values[0], Max: values[n-1],
	}
}

// contrastOf lays results out plainly, the first implementation as baseline,
// with the arithmetic mean; package regression has the real one.
func contrastOf(results stopwatt.Results, metrics []stopwatt.Metric) stopwatt.Contrast {
	settings := results.Run.Settings
	c := stopwatt.Contrast{Baseline: settings.Implementations[0].Name, Metrics: metrics, Mean: stopwatt.Arithmetic}
	for _, i := range settings.Implementations {
		c.Implementations = append(c.Implementations, i.Name)
	}
	at := 0
	for _, w := range settings.Workloads {
		block := stopwatt.WorkloadContrast{Workload: w.Name}
		base := results.Cases[at]
		for range settings.Implementations {
			row := stopwatt.ContrastRow{Implementation: results.Cases[at].Case.Implementation, Result: results.Cases[at]}
			for _, metric := range metrics {
				ratio := ratioOf(row.Result, base, metric.Name)
				ratio.Near = ratio.Near && !results.Run.Imported
				row.Ratios = append(row.Ratios, ratio)
			}
			block.Rows = append(block.Rows, row)
			at++
		}
		c.Workloads = append(c.Workloads, block)
	}
	for i, name := range c.Implementations[1:] {
		mean := stopwatt.MeanRow{Implementation: name}
		for m := range metrics {
			sum, squares, n, near := 0.0, 0.0, 0, 0
			for _, block := range c.Workloads {
				base, _ := block.Rows[0].Result.Summary(metrics[m].Name)
				if ratio := block.Rows[i+1].Ratios[m]; ratio.Known && base.Mean != 0 {
					sum += ratio.Value
					squares += ratio.Error * ratio.Error
					n++
					if ratio.Near {
						near++
					}
				}
			}
			mean.Ratios = append(mean.Ratios, stopwatt.Ratio{
				Value: sum / float64(max(n, 1)), Known: n > 0,
				Error: math.Sqrt(squares) / float64(max(n, 1)), Near: n > 0 && near == n,
			})
			mean.Counts = append(mean.Counts, n)
		}
		c.Means = append(c.Means, mean)
	}
	if len(results.Run.Meters) > 0 && results.Run.Meters[1].Absent == "" {
		c.Meters = metersOf(results)
	}
	return c
}

func ratioOf(of, base stopwatt.CaseResult, metric string) stopwatt.Ratio {
	a, has := of.Summary(metric)
	b, hasBase := base.Summary(metric)
	switch {
	case !has || !hasBase || b.Mean == 0 && a.Mean != 0:
		return stopwatt.Ratio{}
	case a.Mean == b.Mean:
		return stopwatt.Ratio{Value: 1, Known: true}
	}
	return stopwatt.Ratio{
		Value: a.Mean / b.Mean, Known: true,
		Error: math.Hypot(a.SD, a.Mean/b.Mean*b.SD) / b.Mean / math.Sqrt(float64(a.N)),
		Near:  math.Abs(a.Mean-b.Mean) <= a.SD+b.SD || a.N < 2,
	}
}

// servers is a run of four web servers under three workloads, as in the
// article that the project began with; all figures are made up.
func servers(rounds int) (stopwatt.Results, []stopwatt.Trial) {
	run := stopwatt.Run{
		ID: 412, Key: "k7m2", Suite: "web-servers", Project: "team/servers", Baseline: "rust-tokio", Seed: 48213,
		Rounds: rounds, Planned: 12 * rounds, Status: stopwatt.Finished, Tool: "0.1.0", Command: "stopwatt run suites/web-servers",
		Checkout: stopwatt.Checkout{
			Commit: stopwatt.Commit{SHA: "90d47bb1c5f0e6a7d8b9c0a1b2c3d4e5f6a7b8c9", Subject: "arena: reuse the last block", Time: time.Date(2026, 11, 29, 17, 30, 0, 0, time.UTC)},
			Branch: "main", Default: true,
		},
		Machine: stopwatt.Machine{
			Name:     "odroid-h3",
			Identity: stopwatt.MachineIdentity{ID: "5e1c", CPUModel: "Intel(R) Celeron(R) N5105 @ 2.00GHz", Cores: 4, Threads: 4, MemoryBytes: 16 << 30},
			Epoch:    stopwatt.MachineEpoch{Kernel: "6.1.0-28-amd64", Governor: "performance", EngineVersion: "27.3.1", CgroupVersion: "2"},
		},
		Engine:  stopwatt.Engine{Version: "27.3.1", API: "1.47", OS: "linux", Architecture: "amd64", StorageDriver: "overlay2", CgroupVersion: "2", CgroupDriver: "systemd"},
		Images:  map[string]stopwatt.Image{},
		Started: time.Date(2026, 11, 30, 10, 2, 0, 0, time.UTC),
		Ended:   time.Date(2026, 11, 30, 11, 11, 0, 0, time.UTC),
		Settings: stopwatt.Suite{
			Name: "web-servers", Baseline: "rust-tokio", Plan: stopwatt.PlanSettings{Rounds: rounds, Warmup: 2 * time.Second},
			Implementations: []stopwatt.Implementation{{Name: "rust-tokio"}, {Name: "go"}, {Name: "rust-arena", Writable: true}, {Name: "rust-tokio-alloc", Env: map[string]string{"LD_PRELOAD": "libjemalloc.so.2"}}},
		},
	}
	for i, name := range []string{"csv-svg-path", "send-static-file", "varying-allocations"} {
		run.Settings.Workloads = append(run.Settings.Workloads, stopwatt.Workload{Name: name, Load: stopwatt.Load{Users: 4, Requests: 5000, Close: i == 1}})
	}
	for i, implementation := range run.Settings.Implementations {
		run.Images[implementation.Name] = stopwatt.Image{
			ID: "sha256:" + string(rune('a'+i)) + "1b2c3d4e5f60718293a4b5c6d7e8f90", Bytes: int64(80+i) << 20,
			Bases: []stopwatt.BaseImage{{Written: "debian:bookworm-slim", Used: "stopwatt/debian:bookworm-slim", ID: "sha256:0f1e2d3c4b5a69788796a5b4c3d2e1f0"}},
		}
	}
	trials := scatter([]sketch{
		{"rust-tokio", "csv-svg-path", 6.76, 1310, 2410, 24.2, 6.1},
		{"go", "csv-svg-path", 7.08, 1370, 3900, 27.4, 18.4},
		{"rust-arena", "csv-svg-path", 7.32, 1440, 2620, 26.6, 64.3},
		{"rust-tokio-alloc", "csv-svg-path", 6.70, 1300, 2350, 24.0, 9.9},
		{"rust-tokio", "send-static-file", 1.989, 380, 720, 5.31, 5.2},
		{"go", "send-static-file", 2.114, 402, 1150, 6.02, 14.9},
		{"rust-arena", "send-static-file", 1.975, 377, 690, 5.22, 64.1},
		{"rust-tokio-alloc", "send-static-file", 1.99, 379, 731, 5.30, 8.7},
		{"rust-tokio", "varying-allocations", 9.29, 1830, 3320, 35.0, 41.2},
		{"go", "varying-allocations", 8.86, 1740, 5210, 34.2, 92.6},
		{"rust-arena", "varying-allocations", 9.31, 1840, 3300, 36.7, 128.4},
		{"rust-tokio-alloc", "varying-allocations", 8.41, 1650, 3010, 31.9, 55.5},
	}, rounds, 20000)
	trials[5].Warnings = []string{"other processes used 6.1 % of the CPU"}
	trials[11].Warnings = []string{"other processes used 3.3 % of the CPU", "the driver was saturated"}
	return resultsOf(run, trials), trials
}

// hostile is a run in which everything foreign tries to be more than text, and
// most of what can be missing is.
func hostile() (stopwatt.Results, []stopwatt.Trial) {
	const (
		script = `<script>alert(1)</script>`
		escape = "\x1b[31mred\x1b[0m|\r\nsecond line"
		wide   = "測試服務器的一個非常非常長的名字甲"
		wide2  = "測試服務器的一個非常非常長的名字乙"
	)
	run := stopwatt.Run{
		ID: 7, Suite: "[link](javascript:alert(1)) " + script, Baseline: script, Rounds: 3, Planned: 40, Status: stopwatt.Aborted, Profile: "short",
		Checkout: stopwatt.Checkout{
			Commit: stopwatt.Commit{SHA: "0123456789abcdef", Subject: "@everyone look: </title>" + script + " ![x](http://example.org/x.png)", Author: "a|b"},
			Branch: "\x1b]0;title\x07x\u202etxt.exe", Dirty: true,
		},
		Machine: stopwatt.Machine{Name: "<b>m</b>\u200b"},
		Started: time.Date(2026, 11, 30, 10, 2, 0, 0, time.UTC),
		Command: "stopwatt run '</code>" + script + "`'",
		Settings: stopwatt.Suite{
			Implementations: []stopwatt.Implementation{{Name: script}, {Name: escape}, {Name: wide}, {Name: wide2}, {Name: "dead"}},
			Workloads:       []stopwatt.Workload{{Name: "a|b\n# heading"}, {Name: `"><img src=x onerror=alert(1)>`}},
		},
	}
	run.Meters = []stopwatt.Meter{{Name: "board", Source: script + "|" + escape, Renewal: time.Second}, {Name: escape, Absent: "`" + script}}
	run.Idle = []stopwatt.IdleWindow{{Place: script, Window: stopwatt.Window{End: 1e9}, Samples: hostileSamples(0), Powers: []stopwatt.IdlePower{
		{Meter: "board", Watts: 4.2, Error: 0.1, Warnings: []string{script}}, {Meter: escape, Absent: script},
	}}}
	var sketches []sketch
	for _, workload := range run.Settings.Workloads {
		for i, implementation := range run.Settings.Implementations {
			sketches = append(sketches, sketch{implementation.Name, workload.Name, float64(i) * 0.0003, 10, 1e6 * float64(i+1), 1, 3})
		}
	}
	trials := scatter(sketches, 3, 100)
	for i := range trials {
		trial := &trials[i]
		trial.Measurements = slices.DeleteFunc(trial.Measurements, func(m stopwatt.Measurement) bool {
			return math.IsInf(m.Value, 0) || m.Metric == "memory_peak" && trial.Case.Implementation == wide
		})
		switch {
		case trial.Case.Implementation == "dead":
			trial.Status, trial.Reason, trial.Measurements = stopwatt.Invalid, "exited with 137 (out of memory): "+escape+" "+script, nil
		case trial.Case.Implementation == escape && trial.Round == 2:
			trial.Status, trial.Reason, trial.Measurements = stopwatt.Invalid, "wrong body: `"+script+"` | @root", nil
		case trial.Case.Implementation == wide:
			trial.Absent = []stopwatt.Absence{{Metric: "memory_peak", Reason: "open /sys: " + escape}}
			trial.Warnings = []string{"*bold* " + script}
			trial.Samples = hostileSamples(trial.Window.Start)
		}
	}
	return resultsOf(run, trials), trials
}

// types are some of the published nanoseconds of six implementations of one
// type system (JMH, 2023), a single figure each.
func types() stopwatt.Results {
	rows := []struct {
		workload string
		nanos    []float64
	}{
		{"nestedAdd", []float64{30, 801, 795, 555, 505, 2462}},
		{"nestedCreation", []float64{132, 7762, 1234, 256, 266, 1653}},
		{"nestedDeserialization", []float64{798, 22046, 15689, 12326, 11866, 84610}},
		{"nestedSort", []float64{0, 0, 0, 0, 0, 600}},
		{"manyAppends", []float64{15029, 281207, 49189, 29093, 26935, 56772}},
	}
	run := stopwatt.Run{Suite: "types", Rounds: 1}
	for _, name := range []string{"imperative", "eval", "hash-refactoring", "lazy-params", "hash-sort-fix", "old-proto"} {
		run.Settings.Implementations = append(run.Settings.Implementations, stopwatt.Implementation{Name: name})
	}
	results := stopwatt.Results{}
	for _, row := range rows {
		run.Settings.Workloads = append(run.Settings.Workloads, stopwatt.Workload{Name: row.workload})
		for i, ns := range row.nanos {
			c := stopwatt.Case{Implementation: run.Settings.Implementations[i].Name, Workload: row.workload}
			results.Cases = append(results.Cases, stopwatt.CaseResult{
				Case: c, Revision: stopwatt.Head, Valid: 1,
				Summaries: []stopwatt.Summary{{Case: c, Metric: "time", N: 1, Mean: ns * 1e-9, Median: ns * 1e-9, Min: ns * 1e-9, Max: ns * 1e-9}},
			})
		}
	}
	results.Run = run
	return results
}
