package report

import (
	"bytes"
	"io"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// lookedAt is a trial of ten seconds with a meter, two containers, and latencies.
func lookedAt() stopwatt.Trial {
	latency := &stopwatt.Histogram{}
	for i := range 20_000 {
		latency.Record(int64(100_000 + 40*i))
	}
	var times, joules, runnable []int64
	for i := range int64(101) {
		times = append(times, 5e9+i*1e8)
		joules = append(joules, 400_000*i+20_000*(i*i/40))
		runnable = append(runnable, 1000*(i%3))
	}
	window := stopwatt.Window{Start: 5e9, End: 15e9}
	return stopwatt.Trial{
		PlannedTrial: stopwatt.PlannedTrial{Round: 3, Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Revision: stopwatt.Head},
		Position:     17, Status: stopwatt.Valid, Window: window, Started: time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC), Latency: latency,
		Measurements: []stopwatt.Measurement{{Metric: "time", Value: 10}, {Metric: "throughput", Value: 2000}, {Metric: "latency_p99", Value: 0.000892}},
		Absent:       []stopwatt.Absence{{Metric: "energy_cpu", Reason: "permission denied"}},
		Warnings:     []string{"other processes used 6.1 % of the CPU"},
		Samples: []stopwatt.Samples{
			{Meter: "board", Quantity: stopwatt.EnergyUsed, Times: times, Values: joules},
			{Meter: "vmstat", Quantity: "r", Times: times, Values: runnable},
		},
	}
}

// familiar is a machine of two epochs, with idle power and a calibration.
func familiar() stopwatt.MachineHistory {
	day := func(n int) time.Time { return time.Date(2026, 11, n, 8, 0, 0, 0, time.UTC) }
	h := stopwatt.MachineHistory{Line: stopwatt.MachineLine{Name: "odroid-h3", Fingerprint: "5e1c77aa00112233", FirstSeen: day(1), LastSeen: day(30)}}
	h.Machine.Identity = stopwatt.MachineIdentity{CPUModel: "Intel Celeron N5105", Threads: 4, MemoryBytes: 16 << 30}
	h.Epochs = []stopwatt.EpochSeen{
		{First: day(12), Epoch: stopwatt.MachineEpoch{Kernel: "6.1.0-28", EngineVersion: "27.3.1", Governor: "performance"}},
		{First: day(1), Epoch: stopwatt.MachineEpoch{Kernel: "6.1.0-27", EngineVersion: "27.3.1"}},
	}
	for i, watts := range []float64{4.18, 4.19, 4.18, 4.31} {
		h.Idle = append(h.Idle, stopwatt.IdleSeen{Run: int64(400 + i/2), At: day(2 + i), Power: stopwatt.IdlePower{Meter: "board", Watts: watts}})
	}
	metric, _ := stopwatt.MetricNamed("time")
	h.Calibrations = []stopwatt.Calibration{{Suite: "web-servers", Taken: day(20), Cases: []stopwatt.CaseCalibration{
		{Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Metric: metric, N: 24, Spread: 0.011, Smallest: 0.012}}}}
	return h
}

func TestWhatIsLookedAtOnItsOwn(t *testing.T) {
	t.Parallel()
	run := stopwatt.Run{ID: 412, Suite: "web-servers", Machine: stopwatt.Machine{Name: "odroid-h3"}, Checkout: stopwatt.Checkout{Commit: stopwatt.Commit{SHA: "90d47bb1aa"}}}
	invalid := lookedAt()
	invalid.Status, invalid.Reason, invalid.Latency, invalid.Samples, invalid.Measurements, invalid.Absent = stopwatt.Invalid, "exited with 137 (out of memory)", nil, nil, nil, nil
	unseen := familiar()
	unseen.Idle, unseen.Calibrations, unseen.Epochs = nil, nil, unseen.Epochs[1:]
	for file, write := range map[string]func(io.Writer) error{
		"trial.txt":          func(w io.Writer) error { return TrialText(w, run, lookedAt(), 0) },
		"trial-invalid.txt":  func(w io.Writer) error { return TrialText(w, run, invalid, 0) },
		"trial.json":         func(w io.Writer) error { return TrialJSON(w, lookedAt()) },
		"machine.txt":        func(w io.Writer) error { return MachineText(w, familiar(), 0) },
		"machine-unseen.txt": func(w io.Writer) error { return MachineText(w, unseen, 0) },
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.Bytes())
		})
	}
}
