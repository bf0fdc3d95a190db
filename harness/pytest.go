package harness

import (
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// pytest-benchmark's JSON has one object for each test; times are seconds per
// call, those of stats.data too: a round's time is divided by its iterations
// before it is kept.

func readPytest(s *source) []stopwatt.Benchmark {
	d := s.document()
	var benchmarks []stopwatt.Benchmark
	for _, test := range d.must(d.root, "benchmarks", jsonList).items() {
		b := d.pytestBenchmark(test)
		f := figures{"pytest-benchmark", &b}
		stats := d.must(test, "stats", jsonObject)
		if len(s.faults) == 0 {
			d.pytestStats(f, stats)
			d.pytestExtra(f, test)
		}
		benchmarks = append(benchmarks, b)
	}
	return benchmarks
}

// pytestBenchmark names a test by its full name, file and class included, which
// no other test has. Where its parameters are listed, the brackets with their
// abbreviations are left out; but objects are listed by their addresses, or all
// alike, and then the brackets stay instead.
func (d document) pytestBenchmark(test value) stopwatt.Benchmark {
	name, found := d.may(test, "fullname", jsonText)
	if !found {
		name = d.must(test, "name", jsonText)
	}
	id, _ := d.may(test, "param", jsonText)
	params := d.parameters(test, "params")
	object := slices.ContainsFunc(params, func(p stopwatt.Param) bool { return strings.Contains(p.Value, "UNSERIALIZABLE[") })
	b := stopwatt.Benchmark{Name: name.text}
	if len(params) > 0 && !object {
		b.Name, b.Params = strings.TrimSuffix(name.text, "["+id.text+"]"), params
	}
	if group, found := d.may(test, "group", jsonText); found {
		b.Params = append(b.Params, stopwatt.Param{Name: "group", Value: group.text})
	}
	return b
}

func (d document) pytestStats(f figures, stats value) {
	f.add(ours("time"), seconds, d.number(stats, "mean"), d.numbers(stats, "data")...)
	for _, statistic := range []struct{ name, metric string }{
		{"median", timeMedian},
		{"stddev", timeSD},
		{"min", timeMin},
		{"max", timeMax},
	} {
		r, found := d.mayNumber(stats, statistic.name)
		f.optional(timing("pytest-benchmark", statistic.metric), seconds, r, found)
	}
}

// pytestExtra reads the numbers that a test noted about itself.
func (d document) pytestExtra(f figures, test value) {
	extra, _ := d.may(test, "extra_info", jsonObject)
	for i, item := range extra.items() {
		if item.kind == jsonNumber {
			f.add(f.counter(extra.names()[i], count), count, d.numberOf(item))
		}
	}
}

func claimsPytest(l look) bool {
	tests, _ := l.root.member("benchmarks")
	return l.json && (l.root.has("machine_info", "benchmarks") || tests.first().has("stats"))
}
