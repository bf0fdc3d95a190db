package harness

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"gitlab.com/stopwatt/stopwatt"
)

// go test -bench prints lines in the format that golang.org/x/perf/benchfmt
// reads: a name, a count of iterations, and values with their units. With
// -count a benchmark has several lines, which are its iterations here.

// maxSettings bounds how many settings a line has: go test writes four, and
// words with a colon that a benchmark prints look like more.
const maxSettings = 20

// A goLine is one line of results.
type goLine struct {
	name   string // with its sub-benchmarks, the GOMAXPROCS behind it left out
	procs  string // the GOMAXPROCS
	config map[string]string
	values []benchfmt.Value
	number int
}

func readGo(s *source) []stopwatt.Benchmark {
	lines, better := s.goLines()
	if len(s.faults) > 0 {
		return nil
	}
	goEndings(lines)
	varying := goVarying(lines)
	var order []string
	groups := map[string][]goLine{}
	byLabel := map[string]stopwatt.Benchmark{}
	for _, line := range lines {
		b := goBenchmark(line, varying)
		key := b.Label()
		if groups[key] == nil {
			order, byLabel[key] = append(order, key), b
		}
		groups[key] = append(groups[key], line)
	}
	var benchmarks []stopwatt.Benchmark
	for _, key := range order {
		b := byLabel[key]
		goFigures(figures{"go", &b}, groups[key], better)
		benchmarks = append(benchmarks, b)
	}
	return benchmarks
}

// goLines reads all lines, and which direction of a unit is better where the
// text says so.
func (s *source) goLines() ([]goLine, map[string]stopwatt.Better) {
	var lines []goLine
	better := map[string]stopwatt.Better{}
	reader := benchfmt.NewReader(strings.NewReader(s.goText()), s.options.File)
	for reader.Scan() && !s.broken() {
		switch record := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			s.faultInLine(record.Line, "%s", record.Msg)
		case *benchfmt.UnitMetadata:
			if record.Key == "better" {
				better[record.OrigUnit] = map[string]stopwatt.Better{"higher": stopwatt.More, "lower": stopwatt.Less}[record.Value]
			}
		case *benchfmt.Result:
			lines = append(lines, goResult(record))
		}
	}
	if err := reader.Err(); err != nil {
		s.faultAt(-1, "%s", err)
	}
	return lines, better
}

// goResult copies a record, which the reader writes over.
func goResult(record *benchfmt.Result) goLine {
	name, procs := record.Name.String(), ""
	if _, parts := record.Name.Parts(); len(parts) > 0 && parts[len(parts)-1][0] == '-' {
		procs = string(parts[len(parts)-1])
		name, procs = strings.TrimSuffix(name, procs), procs[1:]
	}
	line := goLine{name: name, procs: procs, config: map[string]string{}, values: slices.Clone(record.Values)}
	for _, c := range record.Config[:min(len(record.Config), maxSettings)] {
		line.config[c.Key] = string(c.Value[:min(len(c.Value), maxName/maxSettings)])
	}
	_, line.number = record.Pos()
	return line
}

// goEndings gives names back what is no GOMAXPROCS: utf-8 ends so. Go leaves -1
// out, and measures every benchmark with each count of -cpu; so where a line has
// no count, a name that has one is also there without.
func goEndings(lines []goLine) {
	whole, one := map[string]bool{}, false
	for _, line := range lines {
		whole[line.whole()] = true
		one = one || line.procs == ""
	}
	for i, line := range lines {
		if one && !whole[line.name] {
			lines[i].name, lines[i].procs = line.whole(), ""
		}
	}
}

// whole is the name as it is written.
func (l goLine) whole() string {
	if l.procs == "" {
		return l.name
	}
	return l.name + "-" + l.procs
}

// goResultLine is what stands behind a benchmark's name: the time, or, where the
// benchmark leaves that out, any value with its unit between tabs.
var goResultLine = regexp.MustCompile(`^\s*\d+(?:\s+[0-9.e+-]+ ns/op|(?:\t\s*[-+0-9.eInfNa]+ \S+)+\s*$)`)

// goName is the beginning of a benchmark's name: Benchmarks and Benchmarking are
// words.
var goName = regexp.MustCompile(`^Benchmark(?:\P{Ll}|$)`)

// goEvent is the beginning of an event of go test -json.
var goEvent = regexp.MustCompile(`(?m)^\s*\{.*"Action":`)

// goText is the text without what is no result: words that happen to begin as
// one does ("Benchmarking …"), and lines too long for the reader. What a
// benchmark prints comes between its name and its result: they are put together
// again. With -json the lines are taken out of the events. Lines keep their
// numbers.
func (s *source) goText() string {
	const longest = 60 << 10 // bufio.Scanner ends at 64 KiB
	text := s.text
	if goEvent.MatchString(text) {
		text = s.goEvents()
	}
	var kept strings.Builder
	begun := "" // a name that waits for its result
	for line := range strings.Lines(text) {
		fields := strings.Fields(line[:min(len(line), longest)])
		begins := len(fields) > 0 && goName.MatchString(fields[0])
		switch {
		case !begins && strings.HasPrefix(line, "Benchmark"):
			line = "\n"
		case len(line) > longest:
			line = "\n"
		case begins && len(fields) > 1 && !isDigits(fields[1]):
			begun, line = fields[0], "\n"
		case begins && len(fields) == 1 && strings.HasSuffix(line, "\n"):
			begun, line = fields[0], "\n"
		case begins:
			begun = ""
		case begun != "" && goResultLine.MatchString(line):
			line, begun = begun+" "+line, ""
		}
		kept.WriteString(line)
	}
	return kept.String()
}

// isDigits says whether a text is a count.
func isDigits(text string) bool {
	return strings.Trim(text, "0123456789") == "" && text != ""
}

// goEvents puts the output together that go test -json hands out in pieces,
// package by package. Lines that are no events are the go command's own words.
func (s *source) goEvents() string {
	var order []string
	output := map[string]*strings.Builder{}
	end := 0
	for line := range strings.Lines(s.text) {
		start := end
		end += len(line)
		if !strings.HasPrefix(strings.TrimSpace(line), "{") {
			continue
		}
		p := parser{text: s.text[:end], at: start, most: maxValues}
		p.space()
		event, err := p.value(0)
		if err != nil {
			s.faultAt(p.at, "%s", err)
			s.ended = true
			return ""
		}
		if action, _ := event.member("Action"); action.text != "output" {
			continue
		}
		name, _ := event.member("Package")
		if output[name.text] == nil {
			order, output[name.text] = append(order, name.text), &strings.Builder{}
		}
		piece, _ := event.member("Output")
		output[name.text].WriteString(piece.text)
	}
	var text strings.Builder
	for _, name := range order {
		text.WriteString(output[name].String() + "\n")
	}
	return text.String()
}

// goSettings are those that go test writes. Others stand at the head of a text:
// behind the first result they are words with a colon that a benchmark printed.
var goSettings = []string{"pkg", "goos", "goarch", "cpu"}

// goVarying are the settings of which lines of one text differ: packages, the
// GOMAXPROCS of -cpu. Only those are parameters.
func goVarying(lines []goLine) []string {
	seen := map[string]map[string]bool{}
	note := func(key, v string) {
		if seen[key] == nil {
			seen[key] = map[string]bool{}
		}
		seen[key][v] = true
	}
	for _, line := range lines {
		for key := range line.config {
			if _, first := lines[0].config[key]; first || slices.Contains(goSettings, key) {
				note(key, line.config[key])
			}
		}
		note("gomaxprocs", line.procs)
	}
	var varying []string
	for key := range seen {
		alone := len(seen[key]) == 1
		for _, line := range lines {
			if _, has := line.config[key]; !has && key != "gomaxprocs" {
				alone = false
			}
		}
		if !alone {
			varying = append(varying, key)
		}
	}
	slices.Sort(varying)
	return varying
}

// goBenchmark names what a line measured: parts of sub-benchmarks that read
// KEY=VALUE are parameters, the others stay in the name.
func goBenchmark(line goLine, varying []string) stopwatt.Benchmark {
	parts := strings.Split(line.name, "/")
	b := stopwatt.Benchmark{Name: parts[0]}
	for _, part := range parts[1:] {
		key, v, found := strings.Cut(part, "=")
		if !found || key == "" {
			b.Name += "/" + part
			continue
		}
		b.Params = append(b.Params, stopwatt.Param{Name: key, Value: v})
	}
	for _, key := range varying {
		v := line.config[key]
		if key == "gomaxprocs" {
			v = line.procs
		}
		if v != "" {
			b.Params = append(b.Params, stopwatt.Param{Name: key, Value: v})
		}
	}
	return b
}

// goFigures reads the values of all lines of a benchmark, unit by unit.
func goFigures(f figures, lines []goLine, better map[string]stopwatt.Better) {
	var order []string
	readings := map[string][]reading{}
	for _, line := range lines {
		for _, v := range line.values {
			written, number := v.Unit, v.Value
			if v.OrigUnit != "" {
				written, number = v.OrigUnit, v.OrigValue
			}
			if readings[written] == nil {
				order = append(order, written)
			}
			readings[written] = append(readings[written], computed(number))
		}
	}
	for _, written := range order {
		name, u := goUnit(written)
		if direction := better[written]; direction != "" {
			u.better = direction
		} else {
			f.unknown(name, u)
		}
		metric := f.apart(named("go", name, u), written, "go_"+name)
		f.add(metric, u, mean(readings[written]), readings[written]...)
	}
}

// goUnit is the metric that a unit stands for, and its unit. The unit is also
// the metric's name: ns/op is time, B/op is B/op, MB/s is B/s, p99-ns is p99.
func goUnit(written string) (name string, u unit) {
	u = readUnit(written)
	if u.base == "s" && strings.HasSuffix(written, "/op") {
		return "time", u
	}
	if u.known {
		return goTidy(written), u
	}
	if at := strings.LastIndex(written, "-"); at > 0 {
		if tail := readUnit(written[at+1:]); tail.known {
			return written[:at], tail
		}
	}
	return written, u
}

// goTidy is a unit with its prefixes taken away, for the numbers have lost them.
func goTidy(written string) string {
	above, below, ratio := strings.Cut(written, "/")
	if u := simpleUnits[above]; u.times != 1 || u.over != 1 {
		above = u.base
	}
	if !ratio {
		return above
	}
	if per := simpleUnits[below]; per.base == "s" {
		below = "s"
	}
	return above + "/" + below
}

func claimsGo(l look) bool {
	if l.json && l.root.has("Action") {
		return strings.Contains(l.text, "Benchmark")
	}
	s := &source{text: l.text}
	for line := range strings.Lines(s.goText()) {
		fields := strings.Fields(line)
		if len(fields) >= 4 && goName.MatchString(fields[0]) && isDigits(fields[1]) {
			return true
		}
	}
	return false
}
