package harness

import "gitlab.com/stopwatt/stopwatt"

// hyperfine's JSON is its BenchmarkResult for each command, in seconds.

func readHyperfine(s *source) []stopwatt.Benchmark {
	d := s.document()
	var benchmarks []stopwatt.Benchmark
	for _, result := range d.must(d.root, "results", jsonList).items() {
		b := stopwatt.Benchmark{Name: d.word(result, "command"), Params: d.parameters(result, "parameters")}
		if single, found := d.may(result, "parameter", jsonText); found { // before version 1.11, without its name
			b.Params = append(b.Params, stopwatt.Param{Name: "parameter", Value: single.text})
		}
		f := figures{"hyperfine", &b}
		f.add(ours("time"), seconds, d.number(result, "mean"), d.numbers(result, "times")...)
		for _, statistic := range []struct{ name, metric string }{
			{"median", timeMedian},
			{"stddev", timeSD},
			{"min", timeMin},
			{"max", timeMax},
			{"user", "time_user"},
			{"system", "time_system"},
		} {
			r, found := d.mayNumber(result, statistic.name)
			f.optional(timing("hyperfine", statistic.metric), seconds, r, found)
		}
		d.hyperfineMemory(f, result)
		d.hyperfineExits(f, result)
		benchmarks = append(benchmarks, b)
	}
	return benchmarks
}

// hyperfineMemory reads the peak memory of each run, since version 1.18.
func (d document) hyperfineMemory(f figures, result value) {
	peaks := d.numbers(result, "memory_usage_byte")
	if len(peaks) > 0 {
		f.add(ours("memory_resident"), bytesOf, mean(peaks), peaks...)
	}
}

// hyperfineExits counts the runs that did not end well: with --ignore-failure
// their times are among the others.
func (d document) hyperfineExits(f figures, result value) {
	codes, _ := d.may(result, "exit_codes", jsonList)
	failed := 0
	for _, code := range codes.items() {
		if code.text != "0" {
			failed++
		}
	}
	if failed > 0 {
		f.note("%d of %d runs ended with an exit status other than 0; their times are among the others", failed, len(codes.items()))
	}
}

func claimsHyperfine(l look) bool {
	results, _ := l.root.member("results")
	return l.json && results.kind == jsonList && results.first().has("command")
}
