package harness

import (
	"regexp"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// JMH's JSON is written by its JSONResultFormat: a list of results, each with
// the score of its mode, the iterations of all forks and what profilers add.

// jmhUnits are units of JMH's that mean something else elsewhere: its profilers
// divide by 1024 twice and call it MB.
func jmhUnit(text string) unit {
	if strings.HasPrefix(text, "MB/") || strings.HasPrefix(text, "KB/") || strings.HasPrefix(text, "GB/") {
		return binaryUnit(text)
	}
	return readUnit(text)
}

// jmhDot is the dot before the names of profilers' metrics, also as it looks when
// a machine wrote it in its own encoding: "?" where that has no dot, two signs
// where its UTF-8 was taken for Windows-1252 or Mac Roman.
var jmhDot = regexp.MustCompile(`^(?:Â·|¬∑|[^\pL\pN_$]+)`)

// jmhTidied is what its writer does to a comma within a text: it breaks the line
// behind it, and indents the next.
var jmhTidied = regexp.MustCompile(`\n *`)

func readJMH(s *source) []stopwatt.Benchmark {
	d := s.document()
	if d.root.kind != jsonList && len(s.faults) == 0 {
		d.fault(d.root, "is %s; want JMH's list of results", d.root.kind)
	}
	modes, threads := jmhVarying(d, "mode"), jmhVarying(d, "threads")
	var benchmarks []stopwatt.Benchmark
	for _, result := range d.root.items() {
		b := stopwatt.Benchmark{Name: d.word(result, "benchmark"), Params: d.parameters(result, "params")}
		for i, p := range b.Params {
			b.Params[i].Value = jmhTidied.ReplaceAllString(p.Value, "")
		}
		if mode := d.word(result, "mode"); len(modes[b.Name]) > 1 {
			b.Params = append(b.Params, stopwatt.Param{Name: "mode", Value: mode})
		}
		if count, found := result.member("threads"); found && len(threads[b.Name]) > 1 {
			b.Params = append(b.Params, stopwatt.Param{Name: "threads", Value: d.plain(count)})
		}
		f := figures{"jmh", &b}
		primary := d.must(result, "primaryMetric", jsonObject)
		if len(s.faults) == 0 {
			d.jmhPrimary(f, primary, d.word(result, "mode"))
			d.jmhSecondary(f, result)
		}
		benchmarks = append(benchmarks, b)
	}
	return benchmarks
}

// jmhVarying collects the values that a setting has for each benchmark: with
// -bm all it is there once for each mode, and in the joined results of several
// runs once for each count of threads.
func jmhVarying(d document, setting string) map[string]map[string]bool {
	values := map[string]map[string]bool{}
	for _, result := range d.root.items() {
		name, _ := result.member("benchmark")
		v, _ := result.member(setting)
		if values[name.text] == nil {
			values[name.text] = map[string]bool{}
		}
		values[name.text][v.text] = true
	}
	return values
}

// jmhPrimary reads the score: time per operation, or operations per time in the
// mode thrpt.
func (d document) jmhPrimary(f figures, primary value, mode string) {
	written := d.word(primary, "scoreUnit")
	u := jmhUnit(written)
	metric := named("jmh", "score", u)
	switch u.base {
	case "s":
		metric = ours("time")
	case "1/s":
		metric = ours("throughput")
	}
	f.unknown(metric.Name, u)
	f.add(metric, u, d.number(primary, "score"), d.jmhIterations(primary)...)
	if mode == "sample" {
		d.jmhPercentiles(f, primary, u)
	}
}

// jmhIterations lays the iterations of all forks one behind the other. In the
// mode sample there is a histogram instead.
func (d document) jmhIterations(metric value) []reading {
	forks, _ := d.may(metric, "rawData", jsonList)
	var iterations []reading
	for _, fork := range forks.items() {
		if fork.kind != jsonList {
			d.fault(fork, "is %s; want a fork's list of iterations", fork.kind)
			return nil
		}
		iterations = append(iterations, d.numbersOf(fork)...)
	}
	return iterations
}

// jmhPercentiles reads percentiles of single calls. Those of other modes are of
// iterations, which are all there.
func (d document) jmhPercentiles(f figures, primary value, u unit) {
	percentiles, _ := d.may(primary, "scorePercentiles", jsonObject)
	for i, p := range percentiles.items() {
		name := "time_p" + trimZeros(percentiles.names()[i])
		switch name {
		case "time_p0":
			name = timeMin
		case "time_p100":
			name = timeMax
		}
		f.add(timing("jmh", name), u, d.numberOf(p))
	}
}

// jmhSecondary reads what profilers and auxiliary counters add. Older versions
// put a dot before the names of profilers' metrics.
func (d document) jmhSecondary(f figures, result value) {
	secondary, _ := d.may(result, "secondaryMetrics", jsonObject)
	for i, metric := range secondary.items() {
		name := jmhDot.ReplaceAllString(secondary.names()[i], "")
		written := d.word(metric, "scoreUnit")
		if written == "---" {
			continue // a profiler's report in words
		}
		u := jmhUnit(written)
		if strings.HasPrefix(name, "gc.") {
			u = jmhGarbage(u, written)
		}
		f.unknown(name, u)
		f.add(f.counter(name, u), u, d.number(metric, "score"), d.jmhIterations(metric)...)
	}
}

// jmhGarbage gives the garbage collector's metrics their direction: to allocate
// faster is no merit, to collect less often is.
func jmhGarbage(u unit, written string) unit {
	switch {
	case u.base == "B/s":
		return u.towards(stopwatt.Neither)
	case written == "counts":
		return u.towards(stopwatt.Less)
	}
	return u
}

func claimsJMH(l look) bool {
	return l.json && l.root.first().has("benchmark", "primaryMetric")
}
