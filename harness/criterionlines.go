package harness

import (
	"regexp"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// bencherLine is a line of libtest's, which Criterion writes as well with
// --output-format bencher.
var bencherLine = regexp.MustCompile(`^test (.+?)\s+\.\.\. bench:\s+([0-9.,]+) (\S+?)/iter \(\+/- [0-9.,]+\)(?: = ([0-9.,]+) (\S+))?`)

// criterionTime is a line of Criterion's for people: an interval of the time of
// an iteration, with the estimate in its middle. Where the name is long it stands
// in the line above. The change to the run before has the same form in per cent.
var criterionTime = regexp.MustCompile(`(?m)^(.*?)\s+time:\s+\[[0-9.]+ [^\s%]+ ([0-9.]+) ([^\s%]+) [0-9.]+ [^\s%]+\]`)

// A criterionText is what cargo bench prints, as it is read line by line.
type criterionText struct {
	*source
	line       int
	name       string // the last line that may be the name of what follows
	benchmarks []stopwatt.Benchmark
}

// readCriterionLines reads what cargo bench prints.
func readCriterionLines(s *source) []stopwatt.Benchmark {
	t := &criterionText{source: s}
	for line := range strings.Lines(s.text) {
		t.line++
		line = strings.TrimRight(line, "\r\n")
		if bench := bencherLine.FindStringSubmatch(line); bench != nil {
			t.bencher(bench)
		} else if time := criterionTime.FindStringSubmatch(line); time != nil {
			t.printed(time)
		} else if strings.HasPrefix(line, "test ") && strings.Contains(line, "bench:") {
			s.faultInLine(t.line, "is cut off; want bench: TIME ns/iter (+/- DEVIATION)")
		} else if strings.TrimLeft(line, " \t") == line && line != "" {
			t.name = line
		}
	}
	return t.benchmarks
}

// bencher reads a line of libtest's: the median time of an iteration. The
// deviation beside it is of no one meaning: libtest's is a range, Criterion's the
// half of an interval.
func (t *criterionText) bencher(match []string) {
	b := stopwatt.Benchmark{Name: strings.TrimSpace(match[1])}
	f := figures{"criterion", &b}
	t.figure(f, ours("time"), match[2], readUnit(match[3]))
	if match[4] != "" {
		u := readUnit(match[5])
		t.figure(f, named("criterion", "bytes_per_second", u), match[4], u)
	}
	t.benchmarks = append(t.benchmarks, b)
}

// printed reads a line for people. Its estimate has four or five digits.
func (t *criterionText) printed(match []string) {
	name := strings.TrimSpace(match[1])
	if name == "" {
		name = strings.TrimSpace(t.name)
	}
	b := stopwatt.Benchmark{Name: name}
	f := figures{"criterion", &b}
	u := readUnit(match[3])
	metric := ours("time")
	if u.base != "s" { // another measurement than that of time
		metric = named("criterion", "measured", u)
		f.unknown(metric.Name, u)
	}
	t.figure(f, metric, match[2], u)
	f.note("is read from what Criterion prints for people, which is rounded; estimates.json and cargo-criterion have all digits")
	t.benchmarks = append(t.benchmarks, b)
}

// figure adds a number, with commas between its thousands or without.
func (t *criterionText) figure(f figures, metric stopwatt.Metric, written string, u unit) {
	r, ok := parseNumber(strings.ReplaceAll(written, ",", ""))
	if !ok || u.base != metric.Unit {
		t.faultInLine(t.line, "%s is no number of %s", quote(written), metric.Unit)
	}
	f.add(metric, u, r)
}
