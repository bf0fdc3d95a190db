package jobs

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

var judgeRows = []row[stopwatt.Judge]{
	{word{key: "metrics", kind: "metrics to shares", absent: "time 3 % and the board's energy 3 %, or CPU time 3 % where no board is metered", doc: "What is judged, and the least change of it that matters: `{time: 1%, latency_p99: 5%}`. Every metric of [metrics.md](metrics.md) that has a better direction can be judged."},
		func(r *reader, at node, to *stopwatt.Judge) { r.judged(at, &to.Metrics) }},
	{word{key: "fail-on", kind: "list of texts", absent: "`[regressed]`", doc: "Which verdicts the exit status tells: `regressed` (10) and `undecided` (11)."},
		func(r *reader, at node, to *stopwatt.Judge) { r.failOn(at, &to.FailOn) }},
	{word{key: "energy", kind: "text", fallback: "gross", doc: "`gross`: energy is judged with idle power in it, so that no estimate enters. `net`: with idle power taken off."},
		func(r *reader, at node, to *stopwatt.Judge) {
			var word string
			r.choice(at, "energy", &word, "gross", "net")
			to.Net = word == "net"
		}},
	{word{key: "differing-answers", kind: "yes or no", fallback: "false", doc: "Whether a workload is judged of which the head's `expect` differs from the base's. Else its figures are shown, for they are of other work."},
		func(r *reader, at node, to *stopwatt.Judge) { r.yes(at, "differing-answers", &to.Differing) }},
}

// failable are the verdicts that an exit status can tell.
var failable = []string{string(stopwatt.Regressed), string(stopwatt.Undecided)}

func (r *reader) failOn(at node, to *[]stopwatt.Verdict) {
	var words []string
	r.texts(at, "fail-on", &words, func(text string) string {
		if slices.Contains(failable, text) {
			return ""
		}
		return "write " + strings.Join(failable, " or ")
	})
	*to = []stopwatt.Verdict{}
	for _, word := range words {
		*to = append(*to, stopwatt.Verdict(word))
	}
}

// judged reads the metrics and their thresholds.
func (r *reader) judged(at node, to *[]stopwatt.Threshold) {
	if !r.is(at, mapping, "metrics") {
		return
	}
	if len(at.entries) == 0 {
		r.fault(at.owner, "metrics names nothing to judge; write {time: 3%%}, or remove the key")
	}
	for _, e := range r.unique(at, "metrics") {
		r.judgeable(e)
		judged := stopwatt.Threshold{Metric: e.key}
		r.share(e.value, "threshold of "+brief(e.key), &judged.Relative)
		*to = append(*to, judged)
	}
}

// judgeable tells when a metric cannot be judged. What a harness counts under a
// name of its own nobody knows beforehand: only what looks like a slip is a
// fault.
func (r *reader) judgeable(e entry) {
	if metric, known := stopwatt.MetricNamed(e.key); known {
		if metric.Better == stopwatt.Neither {
			r.fault(e.at, "%s cannot be judged: neither more nor less of it is better; see docs/metrics.md", brief(e.key))
		}
		return
	}
	var names []string
	for _, metric := range stopwatt.Metrics {
		names = append(names, metric.Name)
	}
	if guess, near := nearest(e.key, names); near {
		r.fault(e.at, "there is no metric %s; did you mean %s?", brief(e.key), guess)
	}
}

var percent = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?) ?%$`)

// Limits of a threshold. Below a thousandth nothing that runs on a computer is
// alike; at twice as much nobody needs a procedure.
const (
	leastThreshold = 0.001
	mostThreshold  = 1
)

// share reads a share, written in percent.
func (r *reader) share(at node, noun string, to *float64) {
	if !r.is(at, scalar, noun) {
		return
	}
	found := percent.FindStringSubmatch(at.text)
	if found == nil {
		r.fault(at.at, "%s cannot be %s; write it in percent, like 3%%", noun, brief(at.text))
		return
	}
	value, _ := strconv.ParseFloat(found[1], 64)
	switch value /= 100; {
	case value < leastThreshold:
		r.fault(at.at, "%s %s is below 0.1%%; write more", noun, brief(at.text))
	case value > mostThreshold:
		r.fault(at.at, "%s %s is above 100%%; write less", noun, brief(at.text))
	default:
		*to = value
	}
}

// A span of rounds: looks at what is undecided come between them.
type span struct{ least, most int }

var roundsRows = []row[span]{
	{word{key: "min", kind: "number", example: "min: 12", doc: "After how many rounds a verdict is looked for first, 1 to 10000."},
		func(r *reader, at node, to *span) { r.rounds(at, &to.least) }},
	{word{key: "max", kind: "number", example: "max: 32", doc: "After how many rounds what is still undecided stays so, `min` to 10000."},
		func(r *reader, at node, to *span) { r.rounds(at, &to.most) }},
}

// roundsOrSpan reads a number of rounds, or from which to which.
func (r *reader) roundsOrSpan(at node, to *span) {
	if at.kind != mapping {
		r.rounds(at, &to.most)
		to.least = to.most
		return
	}
	whole(r, at, "rounds", roundsRows, to)
	if to.least > to.most && to.most > 0 {
		r.fault(at.owner, "rounds has a min of %d above its max of %d; exchange them", to.least, to.most)
	}
}

func (r *reader) budget(at node, to *time.Duration) {
	r.duration(at, "budget", to, time.Minute, 30*24*time.Hour)
}
