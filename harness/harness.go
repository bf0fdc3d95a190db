// Package harness reads what benchmark harnesses and load tools print.
//
// Text goes in, stopwatt.Benchmark values come out, every number in its base
// unit, with the direction in which it is better where that is known. The room
// opens no file, starts no program and judges no figure: a text that says it
// took no time at all is believed.
package harness

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// MaxBytes bounds a result file. The largest that we have seen, with every
// iteration of a long JMH run, has 9 MiB.
const MaxBytes = 64 << 20

// maxName bounds a benchmark's name with its parameters, and what becomes part of
// it: a name that is longer is none, and would be repeated again and again.
const maxName = 4096

// Options say what a text itself does not.
type Options struct {
	// File is the name of the file as a person wrote it. It stands in faults, and
	// formats that name a benchmark by its path alone take the name from it.
	File string
	// Name is the benchmark's name where the format names none: a load tool, a
	// number. Where it is empty as well, so is Benchmark.Name.
	Name string
	// Unit, Metric and Better describe what the format number prints. Without
	// Metric it is told by the unit; without Better by the metric.
	Unit   string
	Metric string
	Better stopwatt.Better
	// Strip is cut out of every benchmark's name, wherever it matches; two
	// names that become one are a fault.
	Strip *regexp.Regexp
}

// A Format is one way in which results are written.
type Format struct {
	Name string // as suites and --format have it
	What string // whose it is, in a few words
	read func(*source) []stopwatt.Benchmark
	// claims says whether a text looks like this format.
	claims func(look) bool
}

// Formats are all formats that are read, those first whose look is unmistakable:
// the order in which Guess tries them.
var Formats = []Format{
	{"jmh", "JMH, -rf json", readJMH, claimsJMH},
	{"hyperfine", "hyperfine --export-json", readHyperfine, claimsHyperfine},
	{"pytest-benchmark", "pytest-benchmark, --benchmark-json", readPytest, claimsPytest},
	{"google-benchmark", "Google Benchmark, --benchmark_format=json", readGoogle, claimsGoogle},
	{"criterion", "Criterion.rs and cargo bench", readCriterion, claimsCriterion},
	{"catch2", "Catch2, --reporter xml", readCatch2, claimsCatch2},
	{"vegeta", "vegeta report -type json", readVegeta, claimsVegeta},
	{"oha", "oha --output-format json", readOha, claimsOha},
	{"k6", "k6 --summary-export and handleSummary", readK6, claimsK6},
	{"siege", "siege, its summary or --json-output", readSiege, claimsSiege},
	{"wrk", "wrk and wrk2, their summary", readWrk, claimsWrk},
	{"go", "go test -bench", readGo, claimsGo},
	{"json", "stopwatt's own form", readOwn, claimsOwn},
	{"csv", "a table with named columns", readCSV, claimsCSV},
	{"number", "one number", readNumber, claimsNumber},
}

// Names lists the names of all formats, as a person may write them.
func Names() []string {
	var names []string
	for _, format := range Formats {
		names = append(names, format.Name)
	}
	slices.Sort(names)
	return names
}

// Read reads a text of the named format. A text that is not of it, or cut off,
// or says something twice, yields stopwatt.Faults with their places and no
// benchmark. A single value that is no number (NaN, an infinity, an error of the
// benchmark) makes its figure absent, with the reason, and the others stand.
func Read(format string, text []byte, options Options) ([]stopwatt.Benchmark, error) {
	chosen := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == format })
	if chosen < 0 {
		return nil, fmt.Errorf("there is no format %q; there are %s", format, strings.Join(Names(), ", "))
	}
	src, err := open(text, options)
	if err != nil {
		return nil, err
	}
	benchmarks := Formats[chosen].read(src)
	if len(src.faults) == 0 {
		benchmarks = src.settle(benchmarks)
	}
	if len(src.faults) > 0 {
		return nil, src.faults
	}
	return Senses{}.TellApart(benchmarks, format), nil
}

// settle gives benchmarks the names that they are known by, and finds what is
// there twice.
func (s *source) settle(benchmarks []stopwatt.Benchmark) []stopwatt.Benchmark {
	if len(benchmarks) == 0 {
		s.faultAt(-1, "holds no benchmark; is it cut off, or of another format?")
	}
	given := map[string]string{} // the name in the text, by what it became
	for i, b := range benchmarks {
		was := b.Label()
		if s.options.Strip != nil {
			benchmarks[i].Name = s.options.Strip.ReplaceAllString(b.Name, "")
		}
		is := benchmarks[i].Label()
		if len(is) > maxName {
			s.faultAt(-1, "the name %s is longer than %d bytes", quote(is), maxName)
		}
		switch other, twice := given[is]; {
		case twice && other == was:
			s.faultAt(-1, "benchmark %s is there twice; give one of them another name", quote(was))
		case twice:
			s.faultAt(-1, "benchmarks %s and %s would both be named %s; strip less of their names", quote(other), quote(was), quote(is))
		}
		given[is] = was
		s.checkFigures(benchmarks[i])
	}
	return benchmarks
}

// checkFigures finds metrics that a benchmark has twice, or that lack a name or
// a unit.
func (s *source) checkFigures(b stopwatt.Benchmark) {
	seen := map[string]bool{}
	for _, f := range b.Figures {
		switch {
		case seen[f.Metric.Name]:
			s.faultAt(-1, "benchmark %s has the metric %s twice", quote(b.Label()), quote(f.Metric.Name))
		case f.Metric.Name == "":
			s.faultAt(-1, "benchmark %s has a metric without a name", quote(b.Label()))
		case f.Metric.Unit == "":
			s.faultAt(-1, "benchmark %s has the metric %s without a unit; the unit of what is counted is 1", quote(b.Label()), quote(f.Metric.Name))
		}
		seen[f.Metric.Name] = true
	}
}

// quote puts foreign text between quotation marks, short and printable.
func quote(text string) string {
	const longest = 80
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
