package harness

import (
	"path"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Criterion.rs writes several things: cargo-criterion's messages, one in a line;
// a folder for each benchmark with estimates.json, sample.json and raw.csv; and
// what cargo bench prints. Times are nanoseconds where no unit stands.

func readCriterion(s *source) []stopwatt.Benchmark {
	start := strings.TrimSpace(s.text)
	switch {
	case strings.HasPrefix(start, "{"), strings.HasPrefix(start, "[["):
		return readCriterionJSON(s)
	case strings.HasPrefix(start, "group,"):
		return readCriterionCSV(s)
	}
	return readCriterionLines(s)
}

// readCriterionJSON tells the JSON forms apart.
func readCriterionJSON(s *source) []stopwatt.Benchmark {
	var benchmarks []stopwatt.Benchmark
	for _, d := range s.documents() {
		b := stopwatt.Benchmark{Name: criterionName(s.options)}
		f := figures{"criterion", &b}
		switch {
		case d.root.has("reason"):
			if d.word(d.root, "reason") != "benchmark-complete" {
				continue // of a group, or of the compiler
			}
			b.Name = d.word(d.root, "id")
			d.criterionMessage(f)
		case d.root.has("iters", "times"):
			d.criterionSample(f)
		case d.root.kind == jsonList:
			d.criterionPair(f)
		default:
			d.criterionEstimates(f)
		}
		if s.broken() {
			break
		}
		benchmarks = append(benchmarks, b)
	}
	return benchmarks
}

// criterionName takes the name from the path, for the files do not hold it:
// target/criterion/GROUP/FUNCTION/VALUE/new/estimates.json.
func criterionName(options Options) string {
	dir, file := path.Split(strings.ReplaceAll(options.File, `\`, "/"))
	if file != "estimates.json" && file != "sample.json" {
		return options.Name
	}
	parts := strings.Split(strings.Trim(dir, "/"), "/")
	if at := slices.IndexFunc(parts, func(part string) bool { return part == "criterion" || part == ".criterion" }); at >= 0 {
		parts = parts[at+1:]
	}
	if len(parts) < 2 { // the last one is the baseline: new, base
		return options.Name
	}
	return strings.Join(parts[:len(parts)-1], "/")
}

// criterionMessage reads a benchmark-complete message of cargo-criterion.
func (d document) criterionMessage(f figures) {
	written := d.word(d.root, "unit")
	u := readUnit(written)
	metric := ours("time")
	if u.base != "s" {
		metric = named("criterion", "measured", u)
		f.unknown(metric.Name, u)
	}
	mean := d.must(d.root, "mean", jsonObject)
	f.add(metric, u, d.number(mean, "estimate"), d.criterionIterations("measured_values", "iteration_count")...)
	for _, statistic := range []struct{ name, metric string }{{"median", timeMedian}, {"slope", "time_slope"}} {
		estimate, found := d.may(d.root, statistic.name, jsonObject)
		if found && u.base == "s" {
			f.add(timing("criterion", statistic.metric), u, d.number(estimate, "estimate"))
		}
	}
}

// criterionIterations divides what each sample took by its iterations.
func (d document) criterionIterations(times, iterations string) []reading {
	return d.samples(d.numbers(d.root, times), d.numbers(d.root, iterations), times, iterations)
}

// samples divides times by their iterations; both have a name in the file.
func (d document) samples(taken, counts []reading, times, iterations string) []reading {
	if len(taken) != len(counts) {
		d.fault(d.root, "has %d %s of %d %s", len(taken), times, len(counts), iterations)
		return nil
	}
	var each []reading
	for i := range taken {
		each = append(each, taken[i].over(counts[i]))
	}
	return each
}

// criterionSample reads sample.json: raw times of samples.
func (d document) criterionSample(f figures) {
	each := d.criterionIterations("times", "iters")
	f.add(ours("time"), nanoseconds, mean(each), each...)
}

// criterionPair reads sample.json as versions before 0.3.4 wrote it: the list of
// iterations and that of times.
func (d document) criterionPair(f figures) {
	pair := d.root.items()
	if len(pair) != 2 || pair[0].kind != jsonList || pair[1].kind != jsonList {
		d.fault(d.root, "is a list; want a sample: a list of iterations and one of times")
		return
	}
	each := d.samples(d.numbersOf(pair[1]), d.numbersOf(pair[0]), "times", "iters")
	f.add(ours("time"), nanoseconds, mean(each), each...)
}

// criterionEstimates reads estimates.json. Versions before 0.3.4 write the names
// of the statistics in another case. The file of the same name in the folder
// change has a mean and a median alone: shares, by which both grew.
func (d document) criterionEstimates(f figures) {
	if d.root.has("mean", "median") && !d.root.has("std_dev") || d.root.has("Mean", "Median") && !d.root.has("StdDev") {
		d.fault(d.root, "is the change to another run, not a time; read new/estimates.json")
		return
	}
	for _, statistic := range []struct{ name, before, metric string }{
		{"mean", "Mean", "time"},
		{"median", "Median", timeMedian},
		{"slope", "Slope", "time_slope"},
		{"std_dev", "StdDev", timeSD},
	} {
		name := statistic.name
		if d.root.has(statistic.before) {
			name = statistic.before
		}
		estimate, found := d.may(d.root, name, jsonObject)
		if found || statistic.name == "mean" {
			if !found {
				estimate = d.must(d.root, name, jsonObject)
			}
			f.add(timing("criterion", statistic.metric), nanoseconds, d.number(estimate, "point_estimate"))
		}
	}
}

// readCriterionCSV reads raw.csv: a row for each sample.
func readCriterionCSV(s *source) []stopwatt.Benchmark {
	table := s.table()
	var order []string
	samples := map[string][]reading{}
	for table.next() {
		var parts []string
		for _, column := range []string{"group", "function", "value"} {
			if part := table.cell(column); part != "" {
				parts = append(parts, part)
			}
		}
		name, u := strings.Join(parts, "/"), nanoseconds
		column := "sample_time_nanos" // until version 0.3
		if table.has("sample_measured_value") {
			column = "sample_measured_value"
			u = readUnit(table.cell("unit"))
		}
		if u.base != "s" {
			s.faultInLine(table.line, "%s is no unit of time", quote(table.cell("unit")))
		}
		if _, known := samples[name]; !known {
			order = append(order, name)
		}
		samples[name] = append(samples[name], table.number(column).over(table.number("iteration_count")).in(u))
	}
	var benchmarks []stopwatt.Benchmark
	for _, name := range order {
		b := stopwatt.Benchmark{Name: name}
		figures{"criterion", &b}.add(ours("time"), seconds, mean(samples[name]), samples[name]...)
		benchmarks = append(benchmarks, b)
	}
	return benchmarks
}

func claimsCriterion(l look) bool {
	reason, _ := l.root.member("reason")
	return l.json && (reason.kind == jsonText ||
		l.root.has("iters", "times") || l.root.has("mean", "std_dev") || l.root.has("Mean", "StdDev")) ||
		strings.HasPrefix(l.text, "group,function,value,") || strings.Contains(l.text, " ... bench:") ||
		criterionTime.MatchString(l.text)
}
