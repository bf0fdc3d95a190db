package harness

import (
	"cmp"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// readNumber reads the one number that a program prints, in the unit that its
// suite states. A number that the unit stands behind is understood as well.
func readNumber(s *source) []stopwatt.Benchmark {
	fields := strings.Fields(s.text)
	if len(fields) == 2 && fields[1] == s.options.Unit {
		fields = fields[:1]
	}
	if len(fields) != 1 {
		s.faultAt(strings.Index(s.text, fields[0]), "want one number and nothing else; here are %d words", len(fields))
		return nil
	}
	r, ok := parseNumber(fields[0])
	if !ok {
		s.faultAt(strings.Index(s.text, fields[0]), "%s is no number", quote(fields[0]))
		return nil
	}
	b := stopwatt.Benchmark{Name: s.options.Name}
	f := figures{"number", &b}
	u := readUnit(cmp.Or(s.options.Unit, "1"))
	metric := s.chosen(f, s.options.Metric, u, s.options.Better)
	f.add(metric, u, r)
	return []stopwatt.Benchmark{b}
}

// chosen is the metric that a person named, or that the unit tells: time for
// seconds, throughput for what happens per second, and else value.
func (s *source) chosen(f figures, name string, u unit, better stopwatt.Better) stopwatt.Metric {
	if name == "" {
		name = map[string]string{"s": "time", "1/s": "throughput"}[u.base]
	}
	if better != "" {
		u.better = better
	} else {
		f.unknown(cmp.Or(name, "value"), u)
	}
	metric, known := stopwatt.MetricNamed(name)
	switch {
	case known && metric.Unit != u.base:
		s.faultAt(-1, "the metric %s is measured in %s, not in %s; name it otherwise", name, metric.Unit, quote(u.base))
	case known && better != "" && metric.Better != better:
		s.faultAt(-1, "of the metric %s, %s is better, not %s; name it otherwise", name, metric.Better, better)
	case known:
		return metric
	}
	return stopwatt.Metric{Name: cmp.Or(name, "value"), Unit: u.base, Better: u.better, What: "As " + f.format + " reports it."}
}

func claimsNumber(l look) bool {
	fields := strings.Fields(l.text)
	if len(fields) != 1 {
		return false
	}
	_, ok := parseNumber(fields[0])
	return ok
}
