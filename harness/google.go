package harness

import (
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Google Benchmark's JSON has a row for each repetition of each benchmark, and
// rows of aggregates over them, which are no repetitions: mean, median, stddev,
// cv (a share, though a time unit stands beside it), and BigO and RMS of a fit.

// googleFields are the fields of a row that its reporter writes itself. All
// other numbers are counters of the benchmark's author.
var googleFields = map[string]bool{
	"name": true, "run_name": true, "run_type": true, "family_index": true, "per_family_instance_index": true,
	"repetitions": true, "repetition_index": true, "threads": true, "iterations": true,
	"real_time": true, "cpu_time": true, "time_unit": true, "label": true,
	"aggregate_name": true, "aggregate_unit": true, "big_o": true, "rms": true, "cpu_coefficient": true, "real_coefficient": true,
	"error_occurred": true, "error_message": true, "skipped": true, "skip_message": true,
}

// googleAggregates are the aggregates that are times, by the metric that they
// are of real time.
var googleAggregates = map[string]string{"mean": "time", "median": timeMedian, "stddev": timeSD, "min": timeMin, "max": timeMax}

// A googleRun is one benchmark: its repetitions, and its aggregates by name.
type googleRun struct {
	name        string
	repetitions []value
	aggregates  map[string]value
}

func readGoogle(s *source) []stopwatt.Benchmark {
	d := s.document()
	rows := d.must(d.root, "benchmarks", jsonList)
	names := map[string]bool{}
	for _, row := range rows.items() {
		names[d.word(row, "name")] = true
		if len(row.names()) > maxColumns {
			d.fault(row, "has %d fields; %d is the most", len(row.names()), maxColumns)
		}
	}
	if len(s.faults) > 0 {
		return nil
	}
	var benchmarks []stopwatt.Benchmark
	for _, run := range googleRuns(rows.items(), names) {
		b := stopwatt.Benchmark{}
		b.Name, b.Params = googleName(run.name)
		d.googleFigures(figures{"google-benchmark", &b}, run)
		if len(b.Figures) > 0 {
			benchmarks = append(benchmarks, b)
		}
	}
	return benchmarks
}

// googleRuns groups rows by the benchmark that they are of.
func googleRuns(rows []value, names map[string]bool) []*googleRun {
	var runs []*googleRun
	at := map[string]*googleRun{}
	for _, row := range rows {
		name, aggregate := googleRow(row, names)
		run := at[name]
		if run == nil {
			run = &googleRun{name: name, aggregates: map[string]value{}}
			at[name] = run
			runs = append(runs, run)
		}
		if aggregate != "" {
			run.aggregates[aggregate] = row
		} else {
			run.repetitions = append(run.repetitions, row)
		}
	}
	return runs
}

// googleRow tells of which benchmark a row is, and which aggregate, if it is
// one. Before version 1.5 rows did not say: there an aggregate's name ends with
// its kind, and it stands beside a _mean.
func googleRow(row value, names map[string]bool) (name, aggregate string) {
	full, _ := row.member("name")
	runName, _ := row.member("run_name")
	kind, _ := row.member("aggregate_name")
	runType, says := row.member("run_type")
	switch {
	case kind.text != "" && runName.text != "":
		return runName.text, kind.text
	case says && runType.text == "aggregate":
		return full.text, "unnamed"
	case runName.text != "":
		return runName.text, ""
	case says:
		return full.text, ""
	}
	for _, suffix := range []string{"mean", "median", "stddev", "cv", "BigO", "RMS"} {
		base, found := strings.CutSuffix(full.text, "_"+suffix)
		if found && (row.has("big_o") || row.has("rms") || names[base+"_mean"]) {
			return base, suffix
		}
	}
	return full.text, ""
}

// googleName splits a name at its slashes: threads:4 is a parameter, 1024 is
// not, for nobody says of what.
func googleName(full string) (string, []stopwatt.Param) {
	parts := strings.Split(full, "/")
	name := parts[0]
	var params []stopwatt.Param
	for _, part := range parts[1:] {
		key, v, found := strings.Cut(part, ":")
		if !found || key == "" || strings.HasPrefix(v, ":") {
			name += "/" + part
			continue
		}
		params = append(params, stopwatt.Param{Name: key, Value: v})
	}
	return name, params
}

// googleFigures reads a benchmark: its repetitions, or, where only aggregates
// were reported, those.
func (d document) googleFigures(f figures, run *googleRun) {
	if len(run.repetitions) == 0 {
		d.googleAggregated(f, run)
		return
	}
	var counted []value
	for _, row := range run.repetitions {
		if reason := googleError(row); reason != "" {
			f.note("a repetition is left out: %s", reason)
			continue
		}
		counted = append(counted, row)
	}
	if len(counted) == 0 {
		f.b.Notes = nil
		f.absent(ours("time"), googleError(run.repetitions[0]))
		return
	}
	f.add(ours("time"), seconds, mean(d.googleTimes(counted, "real_time")), d.googleTimes(counted, "real_time")...)
	f.add(timing("google-benchmark", "time_cpu"), seconds, mean(d.googleTimes(counted, "cpu_time")), d.googleTimes(counted, "cpu_time")...)
	for _, name := range googleCounters(counted[0]) {
		var readings []reading
		for _, row := range counted {
			if r, found := d.mayNumber(row, name); found {
				readings = append(readings, r)
			}
		}
		u := googleUnit(name)
		f.add(f.counter(name, u), u, mean(readings), readings...)
	}
}

// googleError is why a row has no figures.
func googleError(row value) string {
	for _, pair := range [][2]string{{"error_occurred", "error_message"}, {"skipped", "skip_message"}} {
		if failed, _ := row.member(pair[0]); failed.text == "true" {
			message, _ := row.member(pair[1])
			return strings.Join(strings.Fields(strings.ReplaceAll(pair[0], "_", " ")+": "+message.text), " ")
		}
	}
	return ""
}

// googleTimes reads one of the times of some rows, in seconds. Each row has its
// own unit.
func (d document) googleTimes(rows []value, field string) []reading {
	var times []reading
	for _, row := range rows {
		written := d.must(row, "time_unit", jsonText)
		u := readUnit(written.text)
		if u.base != "s" && written.text != "" {
			d.fault(written, "%s is no unit of time", quote(written.text))
		}
		times = append(times, d.number(row, field).in(u))
	}
	return times
}

// googleCounters are the names of a row's counters.
func googleCounters(row value) []string {
	var names []string
	for i, name := range row.names() {
		if item := row.items()[i]; !googleFields[name] && (item.kind == jsonNumber || item.kind == jsonNull) {
			names = append(names, name)
		}
	}
	return names
}

// googleUnit is the unit of a counter. The reporter itself names a few; those of
// authors are numbers, and which direction is better only they know.
func googleUnit(name string) unit {
	switch name {
	case "bytes_per_second":
		return readUnit("B/s")
	case "items_per_second":
		return readUnit("1/s")
	case "allocs_per_iter":
		return count.towards(stopwatt.Less)
	case "max_bytes_used", "total_allocated_bytes", "net_heap_growth":
		return bytesOf.towards(stopwatt.Less)
	}
	return count
}

// googleAggregated reads a benchmark of which only aggregates were reported.
func (d document) googleAggregated(f figures, run *googleRun) {
	for _, kind := range []string{"mean", "median", "stddev", "min", "max"} {
		row, found := run.aggregates[kind]
		if !found {
			continue
		}
		name := googleAggregates[kind]
		f.add(named("google-benchmark", name, seconds), seconds, d.googleTimes([]value{row}, "real_time")[0])
		if kind != "mean" {
			continue
		}
		f.add(timing("google-benchmark", "time_cpu"), seconds, d.googleTimes([]value{row}, "cpu_time")[0])
		for _, counter := range googleCounters(row) {
			u := googleUnit(counter)
			f.add(f.counter(counter, u), u, d.number(row, counter))
		}
	}
	if len(f.b.Figures) > 0 {
		f.note("only aggregates were reported; the single repetitions are not known")
	}
}

func claimsGoogle(l look) bool {
	rows, _ := l.root.member("benchmarks")
	return l.json && (l.root.has("context", "benchmarks") || rows.first().has("real_time", "time_unit"))
}
