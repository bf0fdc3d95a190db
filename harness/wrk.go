package harness

import (
	"regexp"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// wrk prints a summary for people; wrk2's has more percentiles. Its KB and MB
// have 1024 and 1024 × 1024 bytes, headers included, its m is a minute. Requests
// are answers of any status; those above 399 are counted beside.

var (
	wrkRequests   = regexp.MustCompile(`^\s*(\d+) requests in ([0-9.]+)([a-z]+), ([0-9.]+)([KMGTP]?)B read`)
	wrkLatency    = regexp.MustCompile(`^\s*Latency\s+(\S+)\s+(\S+)\s+(\S+)\s+\S+%`)
	wrkPercentile = regexp.MustCompile(`^\s*([0-9.]+)%\s+([-+0-9.a-z]+)\s*$`)
	wrkSockets    = regexp.MustCompile(`^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	wrkStatus     = regexp.MustCompile(`^\s*Non-2xx or 3xx responses: (\d+)`)
	wrkRate       = regexp.MustCompile(`^\s*Requests/sec:\s*(\S+)`)
	wrkTransfer   = regexp.MustCompile(`^\s*Transfer/sec:\s*([0-9.]+)([KMGTP]?)B`)
	wrkTime       = regexp.MustCompile(`^([-+]?(?:[0-9.]+|nan|inf))(us|ms|s|m|h)$`)
)

// A wrkSummary is what was read.
type wrkSummary struct {
	f                 figures
	requests, rate    reading
	wrong, unanswered reading
	hasCount, hasRate bool
	distributions     int // wrk2 prints a second one, of latencies that it did not correct
}

func readWrk(s *source) []stopwatt.Benchmark {
	b := stopwatt.Benchmark{Name: s.options.Name}
	summary := &wrkSummary{f: figures{"wrk", &b}}
	number := 0
	for line := range strings.Lines(s.text) {
		number++
		if summary.hasRate && strings.HasPrefix(line, "Running ") {
			s.faultInLine(number, "a second summary begins here; want one")
		}
		s.wrkLine(summary, number, strings.TrimRight(line, "\r\n"))
	}
	if !summary.hasCount || !summary.hasRate {
		s.faultAt(-1, "has no lines \"N requests in TIME\" and \"Requests/sec:\"; is wrk's summary cut off?")
		return nil
	}
	summary.f.rightAnswers(summary.requests, summary.wrong, summary.unanswered, summary.rate)
	return []stopwatt.Benchmark{b}
}

// wrkLine reads a line of the summary.
func (s *source) wrkLine(summary *wrkSummary, number int, line string) {
	f := summary.f
	read := func(text string) reading { return s.wrkNumber(number, text) }
	switch {
	case matches(wrkRequests, line) != nil:
		m := matches(wrkRequests, line)
		summary.requests, summary.hasCount = read(m[1]), true
		s.wrkAdd(f, number, ours("time"), m[2]+m[3])
		f.add(ours("bytes_received"), binaryUnit(m[4+1]+"B"), read(m[4]))
	case matches(wrkLatency, line) != nil:
		m := matches(wrkLatency, line)
		s.wrkAdd(f, number, ours("latency_mean"), m[1])
		s.wrkAdd(f, number, timing("wrk", "latency_sd"), m[2])
		s.wrkAdd(f, number, ours("latency_max"), m[3])
	case strings.Contains(line, "Latency Distribution"):
		summary.distributions++
	case matches(wrkPercentile, line) != nil && summary.distributions == 1:
		m := matches(wrkPercentile, line)
		if metric := percentile("wrk", m[1]); metric.Name != "latency_max" { // that stands above
			s.wrkAdd(f, number, metric, m[2])
		}
	case matches(wrkSockets, line) != nil:
		for _, text := range matches(wrkSockets, line)[1:] {
			summary.unanswered.value += read(text).value
		}
	case matches(wrkStatus, line) != nil:
		summary.wrong = read(matches(wrkStatus, line)[1])
	case matches(wrkRate, line) != nil:
		summary.rate, summary.hasRate = read(matches(wrkRate, line)[1]), true
	case matches(wrkTransfer, line) != nil:
		m := matches(wrkTransfer, line)
		u := binaryUnit(m[2] + "B/s")
		f.add(named("wrk", "bytes_per_second", u), u, read(m[1]))
	}
}

// matches are the groups of an expression in a line.
func matches(expression *regexp.Regexp, line string) []string {
	return expression.FindStringSubmatch(line)
}

// wrkNumber reads a number of a line.
func (s *source) wrkNumber(line int, text string) reading {
	r, ok := parseNumber(text)
	if !ok {
		s.faultInLine(line, "%s is no number", quote(text))
	}
	return r
}

// wrkAdd adds a time with its unit: 635.91us.
func (s *source) wrkAdd(f figures, line int, metric stopwatt.Metric, written string) {
	match := wrkTime.FindStringSubmatch(written)
	if match == nil {
		s.faultInLine(line, "%s is no time; want it as in 635.91us", quote(written))
		return
	}
	u := readUnit(match[2])
	if match[2] == "m" {
		u = readUnit("min")
	}
	f.add(metric, u, s.wrkNumber(line, match[1]))
}

func claimsWrk(l look) bool {
	return strings.Contains(l.text, "Requests/sec:") && strings.Contains(l.text, "Thread Stats")
}
