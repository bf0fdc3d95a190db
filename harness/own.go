package harness

import (
	"cmp"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// stopwatt's own form is one object for each metric of a benchmark, in a list or
// one behind the other:
//
//	{"benchmark": "add", "params": {"n": 100}, "metric": "time", "unit": "ns/op", "better": "less", "values": [30, 31]}

// ownKeys are the keys of an object. A person writes them: others are faults.
var ownKeys = []string{"benchmark", "params", "metric", "unit", "better", "value", "values"}

func readOwn(s *source) []stopwatt.Benchmark {
	var benchmarks []*stopwatt.Benchmark
	byLabel := map[string]*stopwatt.Benchmark{}
	for _, d := range s.documents() {
		records := d.root.items()
		if d.root.kind != jsonList {
			records = []value{d.root}
		}
		for _, record := range records {
			named := stopwatt.Benchmark{Name: d.word(record, "benchmark"), Params: d.parameters(record, "params")}
			b := byLabel[named.Label()]
			if b == nil {
				b = &named
				byLabel[named.Label()] = b
				benchmarks = append(benchmarks, b)
			}
			d.ownFigure(figures{"json", b}, record)
			if s.broken() {
				return nil
			}
		}
	}
	var read []stopwatt.Benchmark
	for _, b := range benchmarks {
		read = append(read, *b)
	}
	return read
}

// ownFigure reads one metric.
func (d document) ownFigure(f figures, record value) {
	for i, name := range record.names() {
		if !slices.Contains(ownKeys, name) {
			d.fault(record.items()[i], "unknown key %s; there are %v", quote(name), ownKeys)
		}
	}
	metric, _ := d.may(record, "metric", jsonText)
	written, hasUnit := d.may(record, "unit", jsonText)
	u := readUnit(written.text)
	if known, is := stopwatt.MetricNamed(metric.text); !hasUnit && is {
		u = readUnit(known.Unit)
	} else if !hasUnit {
		d.must(record, "unit", jsonText)
	}
	values := d.numbers(record, "values")
	single, hasSingle := record.member("value")
	r := mean(values)
	switch {
	case hasSingle:
		r = d.numberOf(single)
	case len(values) == 0:
		d.fault(record, "has neither a number under \"value\" nor any under \"values\"")
	}
	f.add(d.source.chosen(f, metric.text, u, d.ownBetter(record)), u, r, values...)
}

// ownBetter reads the direction.
func (d document) ownBetter(record value) stopwatt.Better {
	better, found := d.may(record, "better", jsonText)
	if !found {
		return ""
	}
	return d.source.direction(better.text, func(message string) { d.fault(better, "%s", message) })
}

// direction understands less, more and neither, and the words that others use.
func (s *source) direction(word string, fault func(string)) stopwatt.Better {
	switch word {
	case "less", "lower", "smaller":
		return stopwatt.Less
	case "more", "higher", "bigger", "larger":
		return stopwatt.More
	case "neither":
		return stopwatt.Neither
	}
	fault(quote(word) + " is no direction; write less, more or neither")
	return stopwatt.Neither
}

func claimsOwn(l look) bool {
	record := l.root
	if record.kind == jsonList {
		record = record.first()
	}
	return l.json && record.has("benchmark") &&
		cmp.Or(record.has("value"), record.has("values"))
}
