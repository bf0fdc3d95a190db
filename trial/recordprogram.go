package trial

import (
	"cmp"
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
)

// perRun are the metrics of a command whose number is the mean of all
// repetitions: where each is found, and how many of its units are one of the
// metric's.
var perRun = []struct {
	metric string
	of     func(stopwatt.Repetition) int64
	units  float64
}{
	{"time_user", func(r stopwatt.Repetition) int64 { return r.User }, 1e9},
	{"time_system", func(r stopwatt.Repetition) int64 { return r.System }, 1e9},
	{"context_switches_voluntary", func(r stopwatt.Repetition) int64 { return r.SwitchesVoluntary }, 1},
	{"context_switches_involuntary", func(r stopwatt.Repetition) int64 { return r.SwitchesInvoluntary }, 1},
	{"page_faults_minor", func(r stopwatt.Repetition) int64 { return r.FaultsMinor }, 1},
	{"page_faults_major", func(r stopwatt.Repetition) int64 { return r.FaultsMajor }, 1},
}

// repeated records what was measured of a command's repetitions.
func (r record) repeated(command stopwatt.Command, ready *stopwatt.TimerReady, result *stopwatt.TimeResult) error {
	empty, known := r.empty(ready)
	if command.SubtractEmpty && !known {
		return fmt.Errorf("the cost of an empty program cannot be subtracted: %s", ready.EmptyAbsent)
	}
	if !command.SubtractEmpty {
		empty = 0
	}
	walls := each(result.Repetitions, func(once stopwatt.Repetition) float64 { return seconds(once.Wall) - empty })
	r.walls(walls)
	r.measured("repetitions", float64(len(walls)))
	for _, p := range perRun {
		values := each(result.Repetitions, func(once stopwatt.Repetition) float64 { return float64(p.of(once)) / p.units })
		r.kept(p.metric, values)
		r.measured(p.metric, regression.Describe(values).Mean)
	}
	r.resident(result)
	r.Warnings = append(r.Warnings, regression.RepetitionDoubts(walls)...)
	r.noted(steadyRuns(walls, command.Warmup))
	if len(command.Prepare)+len(command.Cleanup) > 0 {
		r.Warnings = append(r.Warnings, "what prepares and cleans up ran in the window too: CPU time and energy of the container hold it")
	}
	return nil
}

// empty records what an empty program costs.
func (r record) empty(ready *stopwatt.TimerReady) (cost float64, known bool) {
	if ready.EmptyAbsent != "" || len(ready.Empty) == 0 {
		r.absent("time_empty", cmp.Or(ready.EmptyAbsent, "the timer has not measured it"))
		return 0, false
	}
	costs := make([]float64, len(ready.Empty))
	for i, ns := range ready.Empty {
		costs[i] = seconds(ns)
	}
	cost = regression.Describe(costs).Median
	r.measured("time_empty", cost)
	return cost, true
}

// walls records the wall times and their spread.
func (r record) walls(walls []float64) {
	s := regression.Describe(walls)
	r.kept("time", walls)
	r.measured("time", s.Mean)
	r.measured("time_median", s.Median)
	r.measured("time_min", s.Min)
	r.measured("time_max", s.Max)
	if len(walls) < 2 {
		r.absent("time_sd", "one repetition has no spread")
		return
	}
	r.measured("time_sd", s.SD)
}

// resident records the memory of repetitions, unless it may be that of the timer:
// a process begins with the peak of the one that started it.
func (r record) resident(result *stopwatt.TimeResult) {
	values := each(result.Repetitions, func(once stopwatt.Repetition) float64 { return float64(once.Memory) })
	if least := float64(result.LeastMemory); slices.Min(values) <= least {
		r.absent("memory_resident", fmt.Sprintf("it is at most %.1f MiB, which the timer itself holds", least/(1<<20)))
		return
	}
	r.kept("memory_resident", values)
	r.measured("memory_resident", regression.Describe(values).Mean)
}

// kept keeps single values.
func (r record) kept(metric string, values []float64) {
	r.Repetitions = append(r.Repetitions, stopwatt.Repetitions{Metric: metric, Values: values})
}

// each takes one number of each repetition.
func each(repetitions []stopwatt.Repetition, of func(stopwatt.Repetition) float64) []float64 {
	values := make([]float64, len(repetitions))
	for i, once := range repetitions {
		values[i] = of(once)
	}
	return values
}
