package stopwatt

import "time"

// TrialStatus says whether a trial's figures may be used.
type TrialStatus string

// A trial is valid, or invalid for a reason that it carries.
const (
	Valid   TrialStatus = "valid"
	Invalid TrialStatus = "invalid"
)

// A Trial is one case at one revision, measured once: fresh container,
// verified, warmed, driven, metered, removed.
type Trial struct {
	PlannedTrial
	Position     int // where it stood in the order of the run, from 1
	Status       TrialStatus
	Reason       string    // why it is invalid; empty when it is valid
	Started      time.Time // wall clock, for people
	Window       Window
	Measurements []Measurement
	Absent       []Absence
	Warnings     []string
	Latency      *Histogram // nil when nothing was driven
	Samples      []Samples  // what was read again and again while it was driven
	Repetitions  []Repetitions
	Parts        []Part // what a harness measured by itself; each a case of its own
	// Defines are the metrics of this trial and its parts that are not among
	// Metrics: a harness may count what it likes.
	Defines []Metric
}

// Repetitions are the single values behind a measurement: what each run of a
// command took, what each iteration of a harness gave, in their order and in the
// metric's base unit. They are for looking at a trial from inside; n is counted
// in trials.
type Repetitions struct {
	Metric string
	Values []float64
}

// A Part is one benchmark of those that a harness measured in one trial. Its
// case has the trial's implementation, and a workload that is named
// WORKLOAD/BENCHMARK.
type Part struct {
	Case         Case
	Measurements []Measurement
	Absent       []Absence
	Repetitions  []Repetitions
}

// A Window is the stretch of time that was measured, in nanoseconds of
// CLOCK_MONOTONIC of the machine: from the first request written to the last
// answer read.
type Window struct {
	Start, End int64
}

// Duration is how long the window lasted.
func (w Window) Duration() time.Duration { return time.Duration(w.End - w.Start) }

// A Measurement is one number that a trial yields for one metric, in the
// metric's base unit.
type Measurement struct {
	Metric string
	Value  float64
}

// An Absence says why a trial has no number for a metric. A bad reading is
// never turned into a number.
type Absence struct {
	Metric string
	Reason string
}

// Metric returns the metric of this name: one that the trial defines, or one that
// MetricNamed knows.
func (t Trial) Metric(name string) (Metric, bool) {
	for _, metric := range t.Defines {
		if metric.Name == name {
			return metric, true
		}
	}
	return MetricNamed(name)
}

// Value returns the trial's measurement of the named metric.
func (t Trial) Value(metric string) (float64, bool) {
	for _, m := range t.Measurements {
		if m.Metric == metric {
			return m.Value, true
		}
	}
	return 0, false
}
