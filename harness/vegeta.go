package harness

import (
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// vegeta's JSON report has durations in nanoseconds, a share of right answers
// and counts by status; 0 is the status of a request without an answer. The
// bytes are of bodies alone.

func readVegeta(s *source) []stopwatt.Benchmark {
	d := s.document()
	b := stopwatt.Benchmark{Name: s.options.Name}
	f := figures{"vegeta", &b}
	duration, wait := d.number(d.root, "duration"), reading{}
	if r, found := d.mayNumber(d.root, "wait"); found {
		wait = r
	}
	all := d.number(d.root, "requests")
	right := d.vegetaRight()
	time := reading{value: duration.value + wait.value, absent: duration.absent}
	f.add(ours("time"), nanoseconds, time)
	f.add(ours("requests"), count, right)
	f.add(ours("errors"), count, reading{value: all.value - right.value, absent: all.absent})
	if throughput, found := d.mayNumber(d.root, "throughput"); found {
		f.add(ours("throughput"), readUnit("1/s"), throughput)
	} else { // before version 12.6
		f.add(ours("throughput"), readUnit("1/s"), right.over(time.in(nanoseconds)))
	}
	if rate, found := d.mayNumber(d.root, "rate"); found {
		f.add(named("vegeta", "rate", readUnit("1/s")), readUnit("1/s"), rate)
	}
	d.vegetaLatencies(f)
	for _, direction := range []string{"bytes_in", "bytes_out"} {
		if moved, found := d.may(d.root, direction, jsonObject); found {
			f.add(body("vegeta", direction), bytesOf, d.number(moved, "total"))
		}
	}
	return []stopwatt.Benchmark{b}
}

// vegetaRight counts the right answers.
func (d document) vegetaRight() reading {
	codes := d.must(d.root, "status_codes", jsonObject)
	right := reading{}
	for i, item := range codes.items() {
		if isRight(codes.names()[i]) {
			right.value += d.numberOf(item).value
		}
	}
	return right
}

// vegetaLatencies reads the latencies: 50th, 99th, mean, max.
func (d document) vegetaLatencies(f figures) {
	latencies := d.must(d.root, "latencies", jsonObject)
	for i, item := range latencies.items() {
		name := latencies.names()[i]
		switch p, isPercentile := strings.CutSuffix(name, "th"); {
		case isPercentile:
			f.add(percentile("vegeta", p), nanoseconds, d.numberOf(item))
		case name == "mean", name == "max", name == "min":
			f.add(timing("vegeta", "latency_"+name), nanoseconds, d.numberOf(item))
		}
	}
}

func claimsVegeta(l look) bool { return l.json && l.root.has("latencies", "bytes_in", "status_codes") }
