package trial

import (
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// record writes what was read into the trial: a number in base units, or the
// reason why there is none.
type record struct {
	*stopwatt.Trial
}

// measured records a number.
func (r record) measured(metric string, value float64) {
	r.Measurements = append(r.Measurements, stopwatt.Measurement{Metric: metric, Value: value})
}

// absent records why there is no number.
func (r record) absent(metric, reason string) {
	r.Absent = append(r.Absent, stopwatt.Absence{Metric: metric, Reason: reason})
}

// driven records what the driver counted and timed.
func (r record) driven(result *stopwatt.DriveResult) {
	r.Window, r.Latency = result.Window, result.Latency
	r.times("latency", result.Latency)
	r.driver(result)
	r.errors(result.Errors)
	seconds := result.Window.Duration().Seconds()
	r.measured("time", seconds)
	if seconds > 0 {
		r.measured("throughput", float64(result.Requests)/seconds)
	} else {
		r.absent("throughput", "the window has no length")
	}
	r.measured("requests", float64(result.Requests))
	r.measured("bytes_sent", float64(result.BytesSent))
	r.measured("bytes_received", float64(result.BytesReceived))
}

// quantiles are the percentiles that are recorded, by the ends of their names.
var quantiles = []struct {
	metric string
	share  float64
}{
	{"p50", 0.50},
	{"p90", 0.90},
	{"p99", 0.99},
	{"p99.9", 0.999},
}

// times records a histogram's mean, percentiles and maximum.
func (r record) times(name string, times *stopwatt.Histogram) {
	if times == nil || times.Count() == 0 {
		for _, end := range []string{"mean", "p50", "p90", "p99", "p99.9", "max"} {
			r.absent(name+"_"+end, "no request got a right answer")
		}
		return
	}
	r.measured(name+"_mean", times.Mean()/1e9)
	for _, q := range quantiles {
		r.measured(name+"_"+q.metric, seconds(times.Quantile(q.share)))
	}
	r.measured(name+"_max", seconds(times.Max()))
}

// errors records how many requests failed, by kind and together.
func (r record) errors(errors map[string]int64) {
	all := int64(0)
	for _, kind := range stopwatt.ErrorKinds {
		all += errors[kind]
		r.measured("errors_"+kind, float64(errors[kind]))
	}
	r.measured("errors", float64(all))
}

// usage records what the containers used.
func (r record) usage(atRest stopwatt.Usage, before, after stopwatt.Reading) {
	r.role(stopwatt.RoleServer, before.Server, after.Server)
	r.role(stopwatt.RoleDriver, before.Driver, after.Driver)
	r.held("memory_rest", "MemoryCurrent", atRest)
	r.held("memory_peak", "MemoryPeak", after.Server)
	r.held("memory_peak_driver", "MemoryPeak", after.Driver)
}

// companions records what the companions used together, where there are any.
func (r record) companions(c *companions, before, after stopwatt.Reading) {
	if len(c.all()) == 0 {
		return
	}
	r.role(stopwatt.RoleService, before.Service, after.Service)
	r.held("memory_peak_service", "MemoryPeak", after.Service)
}

// spending are the metrics that both containers have, by what stands round the
// role in their names: how much a field has risen, and how many of its units
// are one of the metric's.
var spending = []struct {
	before, after, field string
	units                float64
}{
	{"cpu_", "", "CPU", 1e9},
	{"cpu_", "_user", "CPUUser", 1e9},
	{"cpu_", "_system", "CPUSystem", 1e9},
	{"throttled_", "", "Throttled", 1},
	{"io_read_", "", "IORead", 1},
	{"io_written_", "", "IOWritten", 1},
	{"pressure_cpu_", "", "PressureCPU", 1e9},
	{"pressure_memory_", "", "PressureMemory", 1e9},
	{"pressure_io_", "", "PressureIO", 1e9},
	{"context_switches_", "", "ContextSwitches", 1},
	{"context_switches_", "_voluntary", "SwitchesVoluntary", 1},
	{"context_switches_", "_involuntary", "SwitchesInvoluntary", 1},
	{"instructions_", "", "Instructions", 1},
	{"cycles_", "", "Cycles", 1},
	{"cache_misses_", "", "CacheMisses", 1},
}

// role records what one of the containers used between the two edges of the
// window. A counter that went back is no number.
func (r record) role(role string, before, after stopwatt.Usage) {
	for _, s := range spending {
		r.spent(s.before+role+s.after, s.field, s.units, before, after)
	}
	r.held("pids_peak_"+role, "PidsPeak", after)
}

// spent records by how much a field has risen, so many of whose units are one of
// the metric's.
func (r record) spent(metric, field string, units float64, before, after stopwatt.Usage) {
	rise, reason := after.Since(before, field)
	if reason != "" {
		r.absent(metric, reason)
		return
	}
	r.measured(metric, float64(rise)/units)
}

// held records a number as it stood at one moment.
func (r record) held(metric, field string, usage stopwatt.Usage) {
	value, reason := usage.Field(field)
	if reason != "" {
		r.absent(metric, reason)
		return
	}
	r.measured(metric, float64(value))
}

// witnessed records what was seen of the machine: energy, samples, and what
// makes the figures doubtful.
func (r record) witnessed(testimony stopwatt.Testimony, idle []stopwatt.IdlePower, window stopwatt.Window, work stopwatt.Work) {
	r.Samples = testimony.Samples
	r.Measurements = append(r.Measurements, testimony.Figures...)
	r.Absent = append(r.Absent, testimony.Absent...)
	r.Warnings = append(r.Warnings, testimony.Doubts...)
	for _, energy := range testimony.Energies {
		figures, absences := energy.Figures(idleOf(idle, energy.Meter), window, work)
		r.Measurements = append(r.Measurements, figures...)
		r.Absent = append(r.Absent, absences...)
		for _, warning := range energy.Warnings {
			r.Warnings = append(r.Warnings, energy.Meter+": "+warning)
		}
	}
}

// idleOf is the idle power by this meter.
func idleOf(idle []stopwatt.IdlePower, meter string) stopwatt.IdlePower {
	for _, power := range idle {
		if power.Meter == meter {
			return power
		}
	}
	return stopwatt.IdlePower{Meter: meter, Absent: "it was not measured"}
}

// readyTime records how long the server took to its first right answer.
func (b Bench) readyTime(r record, server *container, ready *stopwatt.Ready) {
	switch {
	case b.Elsewhere != nil:
		r.absent("ready_time", "the driver runs on another Docker host, by another clock")
	case server.asked == 0:
		r.absent("ready_time", "the engine runs on another machine: its clock cannot be read from here")
	default:
		r.measured("ready_time", seconds(ready.At-server.asked))
	}
}

// seconds turns nanoseconds into the base unit.
func seconds(ns int64) float64 { return time.Duration(ns).Seconds() }
