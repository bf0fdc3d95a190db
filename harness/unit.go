package harness

import (
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A unit is how a text's numbers become those of a base unit.
type unit struct {
	base string // s, J, B, W, 1, 1/s, B/s; the text's own where it is not known
	// A value is multiplied by times and divided by over. One of them is 1: to
	// divide by 1e9 rounds once, to multiply by 1e-9 twice.
	times, over float64
	better      stopwatt.Better
	known       bool
}

// toBase converts a value.
func (u unit) toBase(value float64) float64 { return value * u.times / u.over }

// seconds is the unit of formats that count in base units.
var seconds = unit{base: "s", times: 1, over: 1, better: stopwatt.Less, known: true}

// nanoseconds is the unit of formats that say nothing else.
var nanoseconds = unit{base: "s", times: 1, over: 1e9, better: stopwatt.Less, known: true}

// milliseconds are k6's.
var milliseconds = unit{base: "s", times: 1, over: 1e3, better: stopwatt.Less, known: true}

// count is the unit of what is counted.
var count = unit{base: "1", times: 1, over: 1, better: stopwatt.Neither, known: true}

// bytesOf is the unit of what is moved: whether that is good depends on the
// workload alone.
var bytesOf = unit{base: "B", times: 1, over: 1, better: stopwatt.Neither, known: true}

// simpleUnits are the units that stand alone or in front of a slash. Prefixes
// are those of the SI: a kB and a KB have 1000 bytes, a KiB has 1024. Where a
// tool means 1024 by KB, its reader says so.
var simpleUnits = map[string]unit{}

func init() {
	add := func(base string, better stopwatt.Better, times, over float64, names string) {
		for name := range strings.FieldsSeq(names) {
			simpleUnits[name] = unit{base, times, over, better, true}
		}
	}
	less, more, neither := stopwatt.Less, stopwatt.More, stopwatt.Neither
	add("s", less, 1, 1e12, "ps psec")
	add("s", less, 1, 1e9, "ns nsec nsecs nanos nanosecond nanoseconds")
	add("s", less, 1, 1e6, "us µs μs usec usecs micros microsecond microseconds")
	add("s", less, 1, 1e3, "ms msec msecs millis millisecond milliseconds")
	add("s", less, 1, 1, "s sec secs second seconds")
	add("s", less, 60, 1, "min mins minute minutes")
	add("s", less, 3600, 1, "h hr hrs hour hours")
	add("s", less, 86400, 1, "day days")
	add("B", less, 1, 1, "B byte bytes Byte Bytes")
	add("B", less, 1e3, 1, "kB KB")
	add("B", less, 1e6, 1, "MB")
	add("B", less, 1e9, 1, "GB")
	add("B", less, 1e12, 1, "TB")
	add("B", less, 1<<10, 1, "KiB")
	add("B", less, 1<<20, 1, "MiB")
	add("B", less, 1<<30, 1, "GiB")
	add("B", less, 1<<40, 1, "TiB")
	add("B", less, 1<<50, 1, "PiB")
	add("J", less, 1, 1e6, "uJ µJ μJ")
	add("J", less, 1, 1e3, "mJ")
	add("J", less, 1, 1, "J joule joules")
	add("J", less, 1e3, 1, "kJ")
	add("W", less, 1, 1e3, "mW")
	add("W", less, 1, 1, "W watt watts")
	add("W", less, 1e3, 1, "kW")
	add("1/s", more, 1, 1, "Hz")
	add("1/s", more, 1e3, 1, "kHz")
	add("1/s", more, 1e6, 1, "MHz")
	add("1/s", more, 1e9, 1, "GHz")
	add("1", neither, 1, 100, "% percent")
	add("1", neither, 1, 1, "1 # count counts "+events)
}

// events are what happens again and again: something per event is still that
// something, and events per second are a rate.
const events = "op ops operation operations iter iters iteration iterations req reqs request requests " +
	"trans transaction transactions call calls item items hit hits alloc allocs query queries msg msgs message messages"

// readUnit understands a unit: ns, MiB, ns/op, ops/ms, MB/s. One that it does
// not know is kept as it is written and never guessed.
func readUnit(text string) unit {
	text = strings.TrimSpace(text)
	above, below, ratio := strings.Cut(text, "/")
	u, known := simpleUnits[above]
	if above == "1" && ratio {
		u, known = count, true
	}
	if !known {
		return unit{base: text, times: 1, over: 1, better: stopwatt.Neither}
	}
	if !ratio {
		return u
	}
	per, known := simpleUnits[below]
	switch {
	case known && per.base == "s":
		return rate(u, per, text)
	case known && isEvent(below):
		return perEvent(u)
	}
	return unit{base: text, times: 1, over: 1, better: stopwatt.Neither}
}

// isEvent says whether a unit counts events.
func isEvent(name string) bool {
	for event := range strings.FieldsSeq(events) {
		if event == name {
			return true
		}
	}
	return false
}

// perEvent is the unit of something for each event. Less of it is better,
// whatever it is: fewer bytes, fewer allocations.
func perEvent(u unit) unit {
	u.better = stopwatt.Less
	return u
}

// rate is the unit of something per time.
func rate(u, per unit, text string) unit {
	bases := map[string]string{"1": "1/s", "B": "B/s", "J": "W"}
	base, known := bases[u.base]
	if !known {
		return unit{base: text, times: 1, over: 1, better: stopwatt.Neither}
	}
	better := stopwatt.More
	if base == "W" {
		better = stopwatt.Less
	}
	// Per nanosecond is a thousand million times per second.
	return reduced(unit{base: base, times: u.times * per.over, over: u.over * per.times, better: better, known: true})
}

// reduced leaves one of times and over at 1 where it can.
func reduced(u unit) unit {
	if u.times >= u.over {
		u.times, u.over = u.times/u.over, 1
	} else {
		u.times, u.over = 1, u.over/u.times
	}
	return u
}

// binaryUnit understands a unit of bytes whose prefixes mean 1024, whatever is
// written: MB is MiB, KB/s is KiB/s.
func binaryUnit(text string) unit {
	above, below, ratio := strings.Cut(strings.TrimSpace(text), "/")
	if prefix, found := strings.CutSuffix(above, "B"); found && len(prefix) == 1 {
		above = strings.ToUpper(prefix) + "iB"
	}
	if ratio {
		above += "/" + below
	}
	return readUnit(above)
}
