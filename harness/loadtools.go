package harness

import (
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// What load tools have in common: one benchmark, whose name is for the caller
// to give, and figures of requests. Requests and throughput of stopwatt are of
// right answers; where a tool counts all answers, its count is corrected by the
// wrong ones that it names.

// body is what a tool counts as received where headers are not, or not
// surely, among it: stopwatt's own bytes_received has them.
func body(format, name string) stopwatt.Metric { return named(format, name, bytesOf) }

// percentile is the metric of a percentile of latency: latency_p99.9.
func percentile(format, p string) stopwatt.Metric {
	p = trimZeros(p)
	switch p {
	case "100":
		return ours("latency_max")
	case "0":
		return timing(format, "latency_min")
	}
	return timing(format, "latency_p"+p)
}

// trimZeros takes the zeros off that stand behind a decimal point: 99.900.
func trimZeros(number string) string {
	if strings.Contains(number, ".") {
		return strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	return number
}

// rightAnswers adds requests, errors and throughput of a tool that counts all
// answers and says how many were wrong and how many requests had none.
func (f figures) rightAnswers(all, wrong, unanswered, perSecond reading) {
	right := all
	if all.absent == "" && wrong.value > 0 {
		right.value -= wrong.value
		if perSecond.absent == "" && all.value > 0 {
			perSecond.value *= right.value / all.value
		}
		f.note("%s counts %g answers, %g of them wrong; requests and throughput are of the right ones", f.format, all.value, wrong.value)
	}
	f.add(ours("requests"), count, right)
	f.add(ours("errors"), count, reading{value: wrong.value + unanswered.value})
	f.add(ours("throughput"), readUnit("1/s"), perSecond)
}

// isRight says whether a status code is that of a right answer.
func isRight(status string) bool {
	return len(status) == 3 && (status[0] == '2' || status[0] == '3')
}
