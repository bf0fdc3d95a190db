package harness

import (
	"fmt"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// ours is a metric of stopwatt.Metrics.
func ours(name string) stopwatt.Metric {
	metric, known := stopwatt.MetricNamed(name)
	if !known {
		panic("harness: stopwatt has no metric " + name)
	}
	return metric
}

// The statistics of time that harnesses state beside its mean. They are
// metrics of their own; where stopwatt has one of the name, it is that.
const (
	timeMedian = "time_median"
	timeSD     = "time_sd"
	timeMin    = "time_min"
	timeMax    = "time_max"
)

// named is the metric of this name in this unit: one of stopwatt.Metrics where
// name and unit are the same, else the harness's own. A name that stopwatt uses
// for something else is told apart by the format's.
func named(format, name string, u unit) stopwatt.Metric {
	metric, known := stopwatt.MetricNamed(name)
	if known && metric.Unit == u.base {
		return metric
	}
	if known {
		name = format + "_" + name
	}
	return stopwatt.Metric{
		Name:   name,
		Unit:   u.base,
		Better: u.better,
		What:   fmt.Sprintf("As %s reports it.", format),
	}
}

// timing is a statistic of time: less of it is better.
func timing(format, name string) stopwatt.Metric { return named(format, name, seconds) }

// towards is a unit with its direction set.
func (u unit) towards(better stopwatt.Better) unit {
	u.better = better
	return u
}

// A figures gathers the figures of one benchmark.
type figures struct {
	format string
	b      *stopwatt.Benchmark
}

// add adds one number in a unit, with the iterations behind it. Iterations that
// are no numbers are left out and noted.
func (f figures) add(metric stopwatt.Metric, u unit, r reading, iterations ...reading) {
	figure := stopwatt.Figure{Metric: metric}
	converted := r.in(u)
	if converted.absent != "" {
		figure.Absent = converted.absent
		f.b.Figures = append(f.b.Figures, figure)
		return
	}
	figure.Value = converted.value
	lost := 0
	for _, i := range iterations {
		if i = i.in(u); i.absent != "" {
			lost++
			continue
		}
		figure.Values = append(figure.Values, i.value)
	}
	if lost > 0 {
		f.note("%d of %d iterations of %s are no numbers and left out", lost, len(iterations), metric.Name)
	}
	f.b.Figures = append(f.b.Figures, figure)
}

// optional adds a number that the text need not have.
func (f figures) optional(metric stopwatt.Metric, u unit, r reading, found bool) {
	if found {
		f.add(metric, u, r)
	}
}

// absent adds a figure that has no number.
func (f figures) absent(metric stopwatt.Metric, reason string) {
	f.b.Figures = append(f.b.Figures, stopwatt.Figure{Metric: metric, Absent: reason})
}

// counter is the metric of what a benchmark's author named.
func (f figures) counter(name string, u unit) stopwatt.Metric {
	return f.apart(named(f.format, name, u), f.format+"_"+name)
}

// apart is a metric by a name that the benchmark does not have yet: its own, or
// the first of the others that is free. Authors of benchmarks name their counters
// as they like, time_cpu beside a time_cpu.
func (f figures) apart(metric stopwatt.Metric, others ...string) stopwatt.Metric {
	taken := func(name string) bool {
		return slices.ContainsFunc(f.b.Figures, func(figure stopwatt.Figure) bool { return figure.Metric.Name == name })
	}
	for ; taken(metric.Name) && len(others) > 0; others = others[1:] {
		metric.Name, metric.What = others[0], fmt.Sprintf("As %s reports it.", f.format)
	}
	return metric
}

// value is the number of a figure that was added before.
func (f figures) value(metric string) reading {
	for _, figure := range f.b.Figures {
		if figure.Metric.Name == metric && figure.Absent == "" {
			return reading{value: figure.Value}
		}
	}
	return reading{absent: "there is no " + metric}
}

// note adds a doubt, once.
func (f figures) note(format string, args ...any) {
	note := fmt.Sprintf(format, args...)
	for _, n := range f.b.Notes {
		if n == note {
			return
		}
	}
	f.b.Notes = append(f.b.Notes, note)
}

// unknown notes a unit that is kept as it is.
func (f figures) unknown(name string, u unit) {
	if !u.known {
		f.note("the unit %s of %s is not known: its numbers are kept as they are, with no direction", quote(u.base), quote(name))
	}
}

// in converts a reading to the base unit.
func (r reading) in(u unit) reading {
	if r.absent != "" {
		return r
	}
	converted := u.toBase(r.value)
	if math.Abs(converted) > largest {
		return reading{absent: fmt.Sprintf("is %g, more than any measurement", r.value)}
	}
	return computed(converted)
}

// mean is the arithmetic mean of the readings that are numbers.
func mean(readings []reading) reading {
	sum, n := 0.0, 0
	for _, r := range readings {
		if r.absent == "" {
			sum += r.value
			n++
		}
	}
	if n == 0 {
		if len(readings) > 0 {
			return readings[0]
		}
		return reading{absent: "there are no iterations"}
	}
	return computed(sum / float64(n))
}

// over divides two readings: what an iteration took, by how many it was.
func (r reading) over(by reading) reading {
	switch {
	case r.absent != "":
		return r
	case by.absent != "":
		return by
	}
	return computed(r.value / by.value)
}
