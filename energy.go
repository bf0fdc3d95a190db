package stopwatt

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// LeastRenewals is how often a meter must have renewed its value within a
// window. Fifty, because a window may begin and end anywhere between two
// renewals: with fewer, its edges alone could be wrong by more than 2 %.
const LeastRenewals = 50

// LeastCoverage is the share of a window that a power sensor must have read.
const LeastCoverage = 0.95

// A Meter is one that measures the energy of this machine, or what was meant
// to be one.
type Meter struct {
	Name   string // "board" gives the metric energy_board
	Source string // where its numbers come from: "rapl package-0", "ina226 0-0040"
	// Renewal is the time from one value to the next; 0 when it is not known.
	Renewal time.Duration
	Absent  string // why it cannot be read; empty when it can
}

// Least is how long a window must be to have the energy of it; 0 when that is
// not known beforehand.
func (m Meter) Least() time.Duration { return LeastRenewals * m.Renewal }

// Quantity is what samples are of.
type Quantity string

// Quantities of energy meters, and of containers, whose meter is called
// "server" or "driver". The columns of vmstat, whose meter is called "vmstat",
// are quantities by their own names, "r", "b", "us", "cs" and so on, in
// thousandths of base units: threads, bytes, bytes per second, times per second,
// and shares of the time of all CPUs.
const (
	EnergyUsed Quantity = "energy" // µJ since the first sample; what was used in a gap is not in it
	PowerDrawn Quantity = "power"  // µW
	CPUUsed    Quantity = "cpu"    // ns since the container's start
)

// Quantities that the driver counts second by second; the meter is called
// "load". A sample stands at the end of its second.
const (
	RightAnswers  Quantity = "requests"
	WrongAnswers  Quantity = "errors"
	BytesReceived Quantity = "bytes_received"
	LatencyP50    Quantity = "latency_p50" // ns; 0 in a second without a right answer
	LatencyP99    Quantity = "latency_p99" // ns, likewise
)

// Courses lists the quantities that the driver counts second by second.
var Courses = []Quantity{RightAnswers, WrongAnswers, BytesReceived, LatencyP50, LatencyP99}

// Samples are the readings of one meter in a trial.
type Samples struct {
	Meter    string
	Quantity Quantity
	Times    []int64 // CLOCK_MONOTONIC, nanoseconds, rising; of a power sensor, the middle of the stretch that it averaged
	Values   []int64 // as many, in the quantity's unit
	Gaps     []Gap   // stretches that the readings do not cover
}

// A Gap is a stretch of time, from CLOCK_MONOTONIC to CLOCK_MONOTONIC in
// nanoseconds, about which a meter says nothing, and why.
type Gap struct {
	From, To int64
	Reason   string
}

// Energy is what one meter says was used in a window, idle power included.
type Energy struct {
	Meter    string
	Gross    int64   // µJ; 0 when it is absent
	Coverage float64 // share of the window with readings, 0 to 1
	Renewals int64   // how often the meter renewed its value in the window
	Absent   string  // why there is no number; empty when there is
	Warnings []string
}

// IdlePower is the power that the machine draws while it does nothing.
type IdlePower struct {
	Meter    string
	Watts    float64 // mean
	Error    float64 // standard error of the mean, W
	Over     time.Duration
	Absent   string // why there is no number; empty when there is
	Warnings []string
}

// IdleDrift is the share by which two idle powers may differ without a warning.
const IdleDrift = 0.05

// NetOf takes idle power off the energy of a window, and says how far idle
// power makes the result uncertain (one standard error), both in joules. The
// result may be negative: it is a difference of two measured values.
func (e Energy) NetOf(idle IdlePower, window Window) (net, uncertainty float64) {
	seconds := window.Duration().Seconds()
	return float64(e.Gross)/1e6 - idle.Watts*seconds, idle.Error * seconds
}

// Work is what was done in a window, and what its energy is divided by: right
// answers or repetitions. The zero value is none that could be counted.
type Work struct {
	Per   WorkUnit
	Count int64
}

// WorkUnit is a piece of work.
type WorkUnit string

// Pieces of work.
const (
	RightAnswer WorkUnit = "request"
	OneRun      WorkUnit = "repetition"
)

// metric is the metric of energy by this meter per piece of work; empty when
// the work cannot be counted.
func (w Work) metric(meter string) string {
	if w.Per == "" {
		return ""
	}
	return "energy_" + meter + "_per_" + string(w.Per)
}

// none says why there is no energy per piece of work when there was no work.
func (w Work) none() string {
	if w.Per == RightAnswer {
		return "no request got a right answer"
	}
	return "nothing was repeated"
}

// Figures are the measurements that a meter yields for a trial, or the reasons
// why it has none.
func (e Energy) Figures(idle IdlePower, window Window, work Work) ([]Measurement, []Absence) {
	metrics := EnergyMetrics(e.Meter)
	net, gross, uncertainty, power := metrics[0].Name, metrics[1].Name, metrics[2].Name, metrics[4].Name
	reason := e.Absent
	if reason == "" && window.Duration() <= 0 {
		reason = "the window has no length"
	}
	if reason != "" {
		return nil, absentAll(reason, net, gross, uncertainty, work.metric(e.Meter), power)
	}
	joules := float64(e.Gross) / 1e6
	figures := []Measurement{{gross, joules}, {power, joules / window.Duration().Seconds()}}
	if idle.Absent != "" {
		return figures, absentAll("no idle power: "+idle.Absent, net, uncertainty, work.metric(e.Meter))
	}
	left, error := e.NetOf(idle, window)
	figures = append(figures, Measurement{net, left}, Measurement{uncertainty, error})
	switch {
	case work.Per == "":
		return figures, nil
	case work.Count <= 0:
		return figures, absentAll(work.none(), work.metric(e.Meter))
	}
	return append(figures, Measurement{work.metric(e.Meter), left / float64(work.Count)}), nil
}

// absentAll says of several metrics that there is no number, for one reason.
func absentAll(reason string, metrics ...string) []Absence {
	var all []Absence
	for _, metric := range metrics {
		if metric != "" {
			all = append(all, Absence{metric, reason})
		}
	}
	return all
}

// Bracket joins the idle powers before the first round and after the last: the
// mean of both, uncertain by their own errors and by half of what lies between
// them, because nobody knows when in between it changed. More than IdleDrift
// is a warning. A meter that has one of them alone keeps that, and says so.
func Bracket(before, after []IdlePower) []IdlePower {
	late := map[string]IdlePower{}
	for _, idle := range after {
		late[idle.Meter] = idle
	}
	var joined []IdlePower
	for _, early := range before {
		joined = append(joined, early.with(late[early.Meter]))
	}
	return joined
}

// with joins two idle powers of one meter.
func (i IdlePower) with(late IdlePower) IdlePower {
	i.Warnings, late.Warnings = i.named(), late.named()
	lateUnknown := late.Meter == "" || late.Absent != ""
	switch {
	case lateUnknown && i.Absent != "":
		return i
	case lateUnknown:
		i.Warnings = append(i.Warnings, "idle power of "+i.Meter+" was measured before the first round only"+because(late.Absent))
		return i
	case i.Absent != "":
		late.Warnings = append(late.Warnings, "idle power of "+i.Meter+" was measured after the last round only"+because(i.Absent))
		return late
	}
	drift := late.Watts - i.Watts
	joined := IdlePower{
		Meter:    i.Meter,
		Watts:    (i.Watts + late.Watts) / 2,
		Error:    math.Hypot(math.Hypot(i.Error, late.Error)/2, drift/2),
		Over:     i.Over + late.Over,
		Warnings: append(i.Warnings, late.Warnings...),
	}
	if share := drift / i.Watts; math.Abs(share) > IdleDrift {
		joined.Warnings = append(joined.Warnings, fmt.Sprintf("idle power of %s went from %.3g W to %.3g W (%+.1f %%) between the first round and the last",
			i.Meter, i.Watts, late.Watts, 100*share))
	}
	return joined
}

// named are the warnings with the meter's name: joined, they stand beside those
// of other meters.
func (i IdlePower) named() []string {
	var named []string
	for _, warning := range i.Warnings {
		named = append(named, "idle power of "+i.Meter+": "+warning)
	}
	return named
}

// because appends a reason where there is one.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// EnergyMetrics are the metrics that a meter of this name yields: net energy
// first, then gross, the net's uncertainty, energy per request, mean power, and
// energy per repetition.
func EnergyMetrics(meter string) []Metric {
	of := " by the machine's meter `" + meter + "`"
	return []Metric{
		{"energy_" + meter, "J", Less, windowDriven, "Net energy" + of + ": gross, less the machine's idle power over the window. It may be negative."},
		{"energy_" + meter + grossSuffix, "J", Less, windowDriven, "Gross energy" + of + ", idle power included."},
		{"energy_" + meter + uncertaintySuffix, "J", Less, windowDriven, "Standard error that the idle power leaves in the net energy."},
		{"energy_" + meter + perRequestSuffix, "J", Less, windowDriven, "Net energy" + of + " per right answer."},
		{"power_" + meter, "W", Less, windowDriven, "Mean power" + of + ", idle power included."},
		{"energy_" + meter + perRepetitionSuffix, "J", Less, windowDriven, "Net energy" + of + " per repetition of a command, what prepares and cleans up included."},
	}
}

const (
	grossSuffix         = "_gross"
	uncertaintySuffix   = "_uncertainty"
	perRequestSuffix    = "_per_request"
	perRepetitionSuffix = "_per_repetition"
)

// energyMetric returns the metric of this name, if it is one of a meter's.
func energyMetric(name string) (Metric, bool) {
	meter, ok := strings.CutPrefix(name, "power_")
	if !ok {
		meter, ok = strings.CutPrefix(name, "energy_")
	}
	meter, _, _ = strings.Cut(meter, "_")
	if !ok || !IsMeterName(meter) {
		return Metric{}, false
	}
	for _, metric := range EnergyMetrics(meter) {
		if metric.Name == name {
			return metric, true
		}
	}
	return Metric{}, false
}

// IsMeterName says whether a meter may be called so: lower-case letters, digits
// and -, a letter first, 32 at most. No underscore: metrics are told by it.
func IsMeterName(name string) bool {
	for i, c := range name {
		letter, other := c >= 'a' && c <= 'z', c >= '0' && c <= '9' || c == '-'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return name != "" && len(name) <= 32
}
