package harness

import (
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// oha's JSON has times in seconds. Its success is any answer, whatever the
// status; the bytes are of bodies alone.

// ohaDeadline is what oha notes of requests that were under way when the time
// was over. They are no errors.
const ohaDeadline = "aborted due to deadline"

func readOha(s *source) []stopwatt.Benchmark {
	d := s.document()
	b := stopwatt.Benchmark{Name: s.options.Name}
	f := figures{"oha", &b}
	summary := d.must(d.root, "summary", jsonObject)
	f.add(ours("time"), seconds, d.number(summary, "total"))
	d.ohaAnswers(f, summary)
	for _, statistic := range []struct{ name, metric string }{
		{"average", "latency_mean"},
		{"fastest", "latency_min"},
		{"slowest", "latency_max"},
	} {
		if r, found := d.mayNumber(summary, statistic.name); found {
			f.add(timing("oha", statistic.metric), seconds, r)
		}
	}
	percentiles := d.must(d.root, "latencyPercentiles", jsonObject)
	for i, item := range percentiles.items() {
		f.add(percentile("oha", strings.TrimPrefix(percentiles.names()[i], "p")), seconds, d.numberOf(item))
	}
	if r, found := d.mayNumber(summary, "totalData"); found {
		f.add(body("oha", "total_data"), bytesOf, r)
	}
	return []stopwatt.Benchmark{b}
}

// ohaAnswers counts right answers, wrong ones, and requests without any. The
// rate of oha is of all of them.
func (d document) ohaAnswers(f figures, summary value) {
	var right, wrong, unanswered, late reading
	codes, _ := d.may(d.root, "statusCodeDistribution", jsonObject)
	for i, item := range codes.items() {
		if isRight(codes.names()[i]) {
			right.value += d.numberOf(item).value
		} else {
			wrong.value += d.numberOf(item).value
		}
	}
	failures, _ := d.may(d.root, "errorDistribution", jsonObject)
	for i, item := range failures.items() {
		if failures.names()[i] == ohaDeadline {
			late.value += d.numberOf(item).value
		} else {
			unanswered.value += d.numberOf(item).value
		}
	}
	f.add(ours("requests"), count, right)
	f.add(ours("errors"), count, reading{value: wrong.value + unanswered.value})
	perSecond := d.number(summary, "requestsPerSec")
	if all := right.value + wrong.value + unanswered.value + late.value; all > right.value && perSecond.absent == "" {
		f.note("oha's rate is of %g requests; throughput is that of the %g right answers among them", all, right.value)
		perSecond = right.over(d.number(summary, "total"))
	}
	f.add(ours("throughput"), readUnit("1/s"), perSecond)
}

func claimsOha(l look) bool { return l.json && l.root.has("summary", "latencyPercentiles") }
