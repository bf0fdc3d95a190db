package harness

import (
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// A CSV has a number in each row and says in named columns what it is of.
// Columns that are not listed here are parameters of the benchmark; among them
// implementation and machine, which import takes for what they say.

// csvNames are the columns that may name the benchmark.
var csvNames = []string{"workload", "benchmark", "name"}

// csvRepeats are the columns that count repetitions: rows that differ in them
// alone are iterations of one figure.
var csvRepeats = []string{"repetition", "iteration", "round", "trial"}

// csvOther are the other columns that are no parameters.
var csvOther = []string{"metric", "unit", "better", "value", "n", "sd"}

func readCSV(s *source) []stopwatt.Benchmark {
	t := s.table()
	named := slices.IndexFunc(csvNames, t.has)
	switch {
	case len(s.faults) > 0:
		return nil
	case named < 0:
		s.faultInLine(1, "has no column that names the benchmark; call it %s", csvNames[0])
	case !t.has("value"):
		s.faultInLine(1, "has no column \"value\"")
	case !t.has("unit"):
		s.faultInLine(1, "has no column \"unit\"")
	}
	if len(s.faults) > 0 {
		return nil
	}
	var order []string
	rows := map[string]*csvRows{}
	for t.next() {
		b := t.benchmark(csvNames[named])
		key := b.Label()
		if rows[key] == nil {
			order, rows[key] = append(order, key), &csvRows{benchmark: b}
		}
		t.figure(rows[key])
	}
	var benchmarks []stopwatt.Benchmark
	for _, key := range order {
		benchmarks = append(benchmarks, rows[key].read())
	}
	return benchmarks
}

// A csvRows are the rows of one benchmark.
type csvRows struct {
	benchmark stopwatt.Benchmark
	figures   []*csvFigure
}

// A csvFigure is one metric of a benchmark: a row, or a row for each repetition.
type csvFigure struct {
	metric stopwatt.Metric
	unit   unit
	values []reading
	n, sd  reading
	line   int
}

// benchmark is what a row is of.
func (t *table) benchmark(named string) stopwatt.Benchmark {
	b := stopwatt.Benchmark{Name: t.cell(named)}
	if b.Name == "" {
		t.faultInLine(t.line, "the column %s is empty", named)
	}
	for _, column := range t.header {
		if column == named || slices.Contains(csvOther, column) || slices.Contains(csvRepeats, column) || t.cell(column) == "" {
			continue
		}
		b.Params = append(b.Params, stopwatt.Param{Name: column, Value: t.cell(column)})
	}
	return b
}

// figure reads a row's number.
func (t *table) figure(of *csvRows) {
	f := figures{"csv", &of.benchmark}
	u := readUnit(t.cell("unit"))
	var better stopwatt.Better
	if word := t.cell("better"); word != "" {
		better = t.direction(word, func(message string) { t.faultInLine(t.line, "%s", message) })
	}
	before := len(t.faults)
	figure := &csvFigure{metric: t.chosen(f, t.cell("metric"), u, better), unit: u, line: t.line}
	for i := before; i < len(t.faults); i++ { // what is wrong with the metric is wrong in this line
		t.faults[i].Line, t.faults[i].Column = t.line, 1
	}
	figure.values = []reading{t.number("value")}
	figure.n, figure.sd = t.optional("n"), t.optional("sd")
	for _, other := range of.figures {
		switch {
		case other.metric.Name != figure.metric.Name:
		case slices.ContainsFunc(csvRepeats, t.has) && other.unit == figure.unit:
			other.values = append(other.values, figure.values...)
			return
		default:
			t.faultInLine(t.line, "%s of %s stands in line %d already; a column %q tells repetitions apart",
				other.metric.Name, quote(of.benchmark.Label()), other.line, csvRepeats[0])
			return
		}
	}
	of.figures = append(of.figures, figure)
}

// optional is the number in a column that may be missing or empty.
func (t *table) optional(column string) reading {
	if t.cell(column) == "" {
		return reading{absent: "is not there"}
	}
	return t.number(column)
}

// read turns the rows into a benchmark. How many trials are behind a published
// figure, and their standard deviation, are metrics of their own.
func (r *csvRows) read() stopwatt.Benchmark {
	f := figures{"csv", &r.benchmark}
	for _, figure := range r.figures {
		var iterations []reading
		if len(figure.values) > 1 {
			iterations = figure.values
		}
		f.add(figure.metric, figure.unit, mean(figure.values), iterations...)
		if figure.sd.absent == "" {
			f.add(named("csv", figure.metric.Name+"_sd", figure.unit.towards(stopwatt.Less)), figure.unit, figure.sd)
		}
		if figure.n.absent == "" {
			f.add(named("csv", figure.metric.Name+"_n", count), count, figure.n)
		}
	}
	return r.benchmark
}

func claimsCSV(l look) bool {
	s := &source{text: l.text}
	t := s.table()
	return !l.json && len(s.faults) == 0 && t.has("value") && slices.ContainsFunc(csvNames, t.has)
}
