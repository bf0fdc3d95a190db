package harness

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Catch2's XML reporter writes, within test cases and sections, the mean and the
// standard deviation of each benchmark in nanoseconds. Its JSON reporter leaves
// benchmarks out.

// A catch2Result is one <BenchmarkResults>.
type catch2Result struct {
	name     string // with its test case and sections
	at       int
	mean, sd reading
	failed   string
	hasMean  bool
	hasSD    bool
}

// A catch2Reader walks through the elements.
type catch2Reader struct {
	*source
	path    []string // test case and sections
	open    []string // names of the open elements
	results []*catch2Result
}

func readCatch2(s *source) []stopwatt.Benchmark {
	r := &catch2Reader{source: s}
	decoder := xml.NewDecoder(strings.NewReader(s.text))
	for len(s.faults) == 0 {
		at := int(decoder.InputOffset())
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return r.benchmarks()
		}
		if err != nil {
			s.faultAt(int(decoder.InputOffset()), "%s", err)
			return nil
		}
		switch element := token.(type) {
		case xml.StartElement:
			r.start(element, at)
		case xml.EndElement:
			r.end()
		}
	}
	return nil
}

// start looks at an element that opens.
func (r *catch2Reader) start(element xml.StartElement, at int) {
	name := element.Name.Local
	switch {
	case len(r.open) == 0 && name != "Catch2TestRun" && name != "Catch":
		r.faultAt(at, "begins with <%s>; want Catch2's <Catch2TestRun>", name)
	case len(r.open) > maxDepth:
		r.faultAt(at, "elements are nested more than %d deep", maxDepth)
	}
	inResult := len(r.open) > 0 && r.open[len(r.open)-1] == "BenchmarkResults"
	r.open = append(r.open, name)
	switch {
	case name == "TestCase" || name == "Section":
		r.path = append(r.path, r.name(element, at))
	case name == "BenchmarkResults":
		full := strings.Join(append(r.path[:len(r.path):len(r.path)], r.name(element, at)), "/")
		r.results = append(r.results, &catch2Result{name: full, at: at})
	case inResult:
		r.statistic(r.results[len(r.results)-1], element, at)
	}
}

// name is the name of an element.
func (r *catch2Reader) name(element xml.StartElement, at int) string {
	name := attribute(element, "name")
	if len(name) > maxName {
		r.faultAt(at, "the name %s is longer than %d bytes", quote(name), maxName)
	}
	return name
}

// end looks at an element that closes.
func (r *catch2Reader) end() {
	name := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if name == "TestCase" || name == "Section" {
		r.path = r.path[:len(r.path)-1]
	}
}

// statistic reads what a benchmark's result holds.
func (r *catch2Reader) statistic(result *catch2Result, element xml.StartElement, at int) {
	switch element.Name.Local {
	case "mean":
		result.mean, result.hasMean = r.number(element, at), true
	case "standardDeviation":
		result.sd, result.hasSD = r.number(element, at), true
	case "failed":
		result.failed = "failed: " + attribute(element, "message")
	}
}

// number is the number in an element's value.
func (r *catch2Reader) number(element xml.StartElement, at int) reading {
	written := attribute(element, "value")
	parsed, ok := parseNumber(written)
	if !ok {
		r.faultAt(at, "%s, the value of <%s>, is no number", quote(written), element.Name.Local)
	}
	return parsed
}

// attribute is the text of an element's attribute, empty where it has none.
func attribute(element xml.StartElement, name string) string {
	for _, a := range element.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// benchmarks puts the results together. Catch2 runs a test case once for each of
// its sections, and measures a benchmark in front of them each time anew.
func (r *catch2Reader) benchmarks() []stopwatt.Benchmark {
	var order []string
	byName := map[string][]*catch2Result{}
	for _, result := range r.results {
		if !result.hasMean && result.failed == "" {
			r.faultAt(result.at, "benchmark %s has no <mean>; was the run broken off?", quote(result.name))
		}
		if byName[result.name] == nil {
			order = append(order, result.name)
		}
		byName[result.name] = append(byName[result.name], result)
	}
	var benchmarks []stopwatt.Benchmark
	for _, name := range order {
		b := stopwatt.Benchmark{Name: name}
		catch2Figures(figures{"catch2", &b}, byName[name])
		benchmarks = append(benchmarks, b)
	}
	return benchmarks
}

// catch2Figures reads the results of one benchmark.
func catch2Figures(f figures, results []*catch2Result) {
	var means []reading
	for _, result := range results {
		switch {
		case result.hasMean:
			means = append(means, result.mean)
		case len(results) > 1:
			f.note("a measurement is left out: %s", result.failed)
		}
	}
	switch {
	case len(means) == 0:
		f.absent(ours("time"), results[0].failed)
	case len(means) == 1:
		f.add(ours("time"), nanoseconds, means[0])
		f.optional(timing("catch2", timeSD), nanoseconds, results[0].sd, results[0].hasSD)
	default:
		f.note("was measured %d times; the time is the mean of them", len(means))
		f.add(ours("time"), nanoseconds, mean(means), means...)
	}
}

func claimsCatch2(l look) bool {
	return strings.Contains(l.text, "<Catch2TestRun") || strings.Contains(l.text, "<BenchmarkResults") ||
		strings.Contains(l.text, "<Catch ")
}
