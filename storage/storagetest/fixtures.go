package storagetest

import (
	"math"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Run is a run of two implementations and two workloads that can be begun.
func Run() stopwatt.Run {
	started := time.Date(2026, 3, 4, 5, 6, 7, 891_000_000, time.UTC)
	return stopwatt.Run{
		Key: "k-1", PlanKey: "plan-1", Project: "team/servers", Suite: "web-servers", Baseline: "go", Profile: "short",
		Seed: math.MaxUint64, Rounds: 3, Planned: 12, Tool: "1.2.3", Command: "stopwatt run --profile short", Status: stopwatt.Running, Started: started,
		Checkout: stopwatt.Checkout{
			Branch: "main", Default: true, Dirty: true,
			Commit: stopwatt.Commit{SHA: "5f0c1e", Parents: []string{"aa11", "bb22"}, Author: "Zoë", Time: started.Add(-time.Hour), Subject: "Serve <faster>"},
		},
		Machine: stopwatt.Machine{
			Name:     "board-1",
			Identity: stopwatt.MachineIdentity{ID: "1d", CPUModel: "A76", Cores: 4, Threads: 4, MemoryBytes: 8 << 30, CPUInfo: "processor\t: 0\nflags\t: fp\n"},
			Epoch:    stopwatt.MachineEpoch{Kernel: "6.1.0", CommandLine: "ro quiet", EngineVersion: "20.10.24"},
		},
		Meters: []stopwatt.Meter{
			{Name: "board", Source: "ina226 0-0040", Renewal: 140 * time.Millisecond},
			{Name: "cpu", Absent: "this machine has no RAPL"},
		},
		Engine: stopwatt.Engine{Version: "20.10.24", API: "1.41", OS: "linux", Architecture: "arm64"},
		Images: map[string]stopwatt.Image{
			"go":   {ID: "sha256:01", Key: "k1", Bytes: 12_000_000, Reused: true, Bases: []stopwatt.BaseImage{{Written: "debian:bookworm-slim", Used: "stopwatt/debian:bookworm-slim", ID: "sha256:09"}}},
			"rust": {ID: "sha256:02", Bytes: 9_000_000, Digests: []string{"registry.example.org/rust@sha256:77"}},
		},
		Settings: stopwatt.Suite{
			Name: "web-servers", Baseline: "go", Profile: "short",
			Implementations: []stopwatt.Implementation{
				{Name: "go", Build: &stopwatt.Build{Context: "go", Args: map[string]string{"A": "b"}}, Memory: math.MaxInt64},
				{Name: "rust", Image: "registry.example.org/rust", Command: []string{"/serve", "--fast"}, Env: map[string]string{"THREADS": "4"}},
			},
			Workloads: []stopwatt.Workload{workload("static"), workload("csv")},
			Plan:      stopwatt.PlanSettings{Rounds: 3, Warmup: 2 * time.Second},
		},
	}
}

func workload(name string) stopwatt.Workload {
	return stopwatt.Workload{
		Name: name,
		HTTP: &stopwatt.HTTP{Port: 8080, Request: stopwatt.Request{Method: "POST", Path: "/" + name, Body: []byte{0, 1, 0xFF}}, Expect: stopwatt.Expect{Status: 200}, ReadyWithin: time.Minute},
		Load: stopwatt.Load{Users: 4, Requests: 5000, Timeout: 5 * time.Second},
	}
}

// Trial is a valid trial of Run.
func Trial(round int, implementation, workload string) stopwatt.Trial {
	latency := &stopwatt.Histogram{}
	latency.Record(1_500_000)
	return stopwatt.Trial{
		PlannedTrial: stopwatt.PlannedTrial{Round: round, Case: stopwatt.Case{Implementation: implementation, Workload: workload}, Revision: stopwatt.Head},
		Position:     round, Status: stopwatt.Valid,
		Started:      time.Date(2026, 3, 4, 5, 7, round, 123_456_000, time.UTC),
		Window:       stopwatt.Window{Start: 1_000_000_007, End: 6_000_000_011},
		Measurements: []stopwatt.Measurement{{Metric: "time", Value: 5.000000004}, {Metric: "throughput", Value: 0.1 + 0.2}, {Metric: "errors", Value: 0}},
		Absent:       []stopwatt.Absence{{Metric: "memory_peak", Reason: "cgroup v2 without memory.peak"}},
		Warnings:     []string{"the driver was busy", "4 % steal"},
		Latency:      latency,
		Samples: []stopwatt.Samples{
			{
				Meter: "board", Quantity: stopwatt.PowerDrawn,
				Times: []int64{1_000_000_000, 2_000_000_000, 5_000_000_000, math.MaxInt64}, Values: []int64{4_200_000, 0, -3, math.MinInt64},
				Gaps: []stopwatt.Gap{{From: 2_000_000_000, To: 5_000_000_000, Reason: "EAGAIN \u00fc"}},
			},
			{Meter: "vmstat", Quantity: "us"},
			{Meter: "server", Quantity: stopwatt.CPUUsed, Times: []int64{1, 2}, Values: []int64{3, 4}},
		},
	}
}

// Idle is an idle window of Run.
func Idle(place stopwatt.IdlePlace) stopwatt.IdleWindow {
	idle := stopwatt.IdleWindow{
		Place:   place,
		Started: time.Date(2026, 3, 4, 5, 6, 30, 500_000_000, time.UTC),
		Window:  stopwatt.Window{Start: 500_000_000, End: 30_500_000_000},
		Powers: []stopwatt.IdlePower{
			{Meter: "cpu", Over: 30 * time.Second, Absent: "this machine has no RAPL"},
			{Meter: "board", Watts: 3.25, Error: 0.0625, Over: 30 * time.Second, Warnings: []string{"readings cover 98.0 % of the window"}},
		},
		Samples: []stopwatt.Samples{
			{Meter: "vmstat", Quantity: "us", Times: []int64{1_000_000_000, 2_000_000_000}, Values: []int64{10, 0}},
			{Meter: "vmstat", Quantity: "b", Times: []int64{1_000_000_000, 2_000_000_000}, Values: []int64{0, 0}},
		},
	}
	if place == stopwatt.IdleAfter {
		idle.Started = idle.Started.Add(time.Hour)
	}
	return idle
}

// DriverShare is what the driver took by itself under a workload of Run.
func DriverShare(workload string) stopwatt.DriverShare {
	return stopwatt.DriverShare{
		Workload:     workload,
		Started:      time.Date(2026, 3, 4, 5, 7, 2, 0, time.UTC),
		Window:       stopwatt.Window{Start: 32_000_000_000, End: 34_000_000_000},
		Measurements: []stopwatt.Measurement{{Metric: "requests", Value: 80_000}, {Metric: "driver_cpu_request", Value: 0.0000125}},
		Absent:       []stopwatt.Absence{{Metric: "energy_cpu", Reason: "this machine has no RAPL"}},
	}
}

// Summary is one of a case of Run.
func Summary(implementation, workload, metric string, mean float64) stopwatt.Summary {
	return stopwatt.Summary{
		Case: stopwatt.Case{Implementation: implementation, Workload: workload}, Revision: stopwatt.Head, Metric: metric,
		N: 3, Mean: mean, SD: 0.25, Median: mean, Min: mean - 1, Max: mean + 1,
	}
}
