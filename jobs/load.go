package jobs

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Users where the suite names no number: of a closed load, and connections of
// an open one, where a slow answer occupies its connection while others come due.
const (
	usersClosed = 4
	usersOpen   = 64
)

// mostRate bounds a rate: above it, the driver itself is what is measured.
const mostRate = 1_000_000

// load is the mapping of that name. Zero fields say nothing.
type load struct {
	users      int
	requests   int
	lasting    time.Duration
	think      time.Duration
	rate       float64
	stages     []stopwatt.Stage
	arrivals   string
	find       string
	while      []stopwatt.Promise
	probe      time.Duration
	connection string
	timeout    time.Duration
	tool       *stopwatt.Tool
}

var loadRows = []row[load]{
	{word{key: "users", kind: "number", absent: "4, or 64 of an open load", doc: "Users at the same time, each with one connection, 1 to 10000. Each waits for its answer before it asks again. Of an open load: the most connections."},
		func(r *reader, at node, to *load) { r.count(at, "number of users", &to.users, 1, mostUsers) }},
	{word{key: "requests", kind: "number", absent: "`for` or `stages` is given", doc: "How many requests each user makes, 1 to 1000000000. Exactly one of `requests`, `for` and `stages` is given."},
		func(r *reader, at node, to *load) { r.count(at, "number of requests", &to.requests, 1, mostRequests) }},
	{word{key: "for", kind: "duration", absent: "`requests` or `stages` is given", doc: "How long is driven, at most 24h."},
		func(r *reader, at node, to *load) {
			r.duration(at, "for", &to.lasting, time.Millisecond, longestDrive)
		}},
	{word{key: "think", kind: "duration", absent: "none", doc: "How long each user waits from an answer to its next request, at most an hour. Closed loads only."},
		func(r *reader, at node, to *load) { r.duration(at, "think", &to.think, time.Microsecond, time.Hour) }},
	{word{key: "rate", kind: "rate", absent: "the load is closed", doc: "An open load: so many requests come due, whatever the answers do, like `2000/s` or `90/min`; latency counts from when a request was due."},
		func(r *reader, at node, to *load) { r.rate(at, "rate", &to.rate) }},
	{word{key: "stages", kind: "list of [stage]", absent: "one stage, of `rate`", doc: "An open load in stages, 1000 at most, instead of `rate` and `for`: steps and ramps."},
		func(r *reader, at node, to *load) { to.stages = r.stages(at) }},
	{word{key: "arrivals", kind: "text", absent: "`constant`", doc: "Of an open load: `constant` has equal gaps from one request to the next, `poisson` draws them from the run's seed, as callers who know nothing of each other come."},
		func(r *reader, at node, to *load) { r.choice(at, "arrivals", &to.arrivals, "constant", "poisson") }},
	{word{key: "find", kind: "text", absent: "nothing is searched", doc: "`max-rate`: search the highest rate at which all promises of `while` are kept, and drive `for` so long at that. See [load.md](load.md) for the procedure."},
		func(r *reader, at node, to *load) { r.choice(at, "find", &to.find, "max-rate") }},
	{word{key: "while", kind: "[while]", absent: "`find` is not given", doc: "What must hold at the rate that is searched."},
		func(r *reader, at node, to *load) { decode(r, at, "while", whileRows, &to.while) }},
	{word{key: "probe", kind: "duration", absent: "`2s`", doc: "How long each rate is tried when the highest is searched, 100ms to an hour."},
		func(r *reader, at node, to *load) {
			r.duration(at, "probe", &to.probe, 100*time.Millisecond, time.Hour)
		}},
	{word{key: "connection", kind: "text", fallback: "keep-alive", doc: "`keep-alive`, or `close` for a new connection for every request."},
		func(r *reader, at node, to *load) {
			r.choice(at, "connection", &to.connection, "keep-alive", "close")
		}},
	{word{key: "timeout", kind: "duration", fallback: "10s", doc: "How long one answer may take, at most an hour."},
		func(r *reader, at node, to *load) {
			r.duration(at, "timeout", &to.timeout, time.Millisecond, time.Hour)
		}},
	{word{key: "tool", kind: "[tool]", absent: "stopwatt's own driver", doc: "Another program that drives the load: `wrk`, `k6`, or one of your own. Then no other key but `timeout` stands beside it. See [load.md](load.md)."},
		func(r *reader, at node, to *load) {
			to.tool = new(stopwatt.Tool)
			whole(r, at, "tool", toolRows, to.tool)
			r.numberOnly(at, to.tool.Harness)
		}},
}

var toolRows = append([]row[stopwatt.Tool]{
	{word{key: "image", kind: "text", example: "image: and a reference", doc: "The image that the tool runs in; it is pulled unless it is there. The container joins the server's network and has no other."},
		func(r *reader, at node, to *stopwatt.Tool) { r.text(at, "image", &to.Image, isImage) }},
}, rowsOver(harnessRows, func(t *stopwatt.Tool) *stopwatt.Harness { return &t.Harness })...)

var stageRows = []row[stopwatt.Stage]{
	{word{key: "rate", kind: "rate", absent: "`from` and `to` are given", doc: "The rate of a step, like `2000/s`."},
		func(r *reader, at node, to *stopwatt.Stage) { r.rate(at, "rate", &to.From); to.To = to.From }},
	{word{key: "from", kind: "rate", absent: "`rate` is given", doc: "Where a ramp begins; `0/s` is a rate here."},
		func(r *reader, at node, to *stopwatt.Stage) { r.rate(at, "from", &to.From) }},
	{word{key: "to", kind: "rate", absent: "`rate` is given", doc: "Where a ramp ends."},
		func(r *reader, at node, to *stopwatt.Stage) { r.rate(at, "to", &to.To) }},
	{word{key: "for", kind: "duration", example: "for: 10s", doc: "How long the stage lasts, at most 24h."},
		func(r *reader, at node, to *stopwatt.Stage) {
			r.duration(at, "for", &to.For, time.Millisecond, longestDrive)
		}},
}

var whileRows = promiseRows()

// promiseRows has one row for each latency that can be promised.
func promiseRows() []row[[]stopwatt.Promise] {
	rows := make([]row[[]stopwatt.Promise], len(stopwatt.Promised))
	for i, metric := range stopwatt.Promised {
		rows[i] = row[[]stopwatt.Promise]{
			word{key: metric, kind: "duration", absent: "nothing is promised of it", doc: "The most that `" + metric + "` may be, 1µs to a minute."},
			func(r *reader, at node, to *[]stopwatt.Promise) {
				promise := stopwatt.Promise{Metric: metric}
				r.duration(at, metric, &promise.AtMost, time.Microsecond, time.Minute)
				*to = append(*to, promise)
			},
		}
	}
	return rows
}

// rate reads requests per second or per minute.
func (r *reader) rate(at node, noun string, to *float64) {
	if !r.is(at, scalar, noun) {
		return
	}
	number, period, named := strings.Cut(at.text, "/")
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	seconds, known := map[string]float64{"s": 1, "sec": 1, "second": 1, "min": 60, "m": 60, "minute": 60}[strings.TrimSpace(period)]
	least := 0.001
	if noun == "from" || noun == "to" {
		least = 0
	}
	switch {
	case err == nil && !named:
		r.fault(at.at, "%s %s names no period; write %s/s", noun, brief(at.text), strings.TrimSpace(number))
	case err != nil || !known:
		r.fault(at.at, "%s %s is no rate; write it like 2000/s or 90/min", noun, brief(at.text))
	case !(n/seconds >= least):
		r.fault(at.at, "%s %s is too low; write 1/s or more", noun, brief(at.text))
	case n/seconds > mostRate:
		r.fault(at.at, "%s %s is above %d/s, the highest; write less", noun, brief(at.text), mostRate)
	default:
		*to = n / seconds
	}
}

// mostStages is more than anybody writes by hand.
const mostStages = 1000

func (r *reader) stages(at node) []stopwatt.Stage {
	if !r.is(at, list, "stages") {
		return nil
	}
	if len(at.items) == 0 || len(at.items) > mostStages {
		r.fault(at.owner, "there are %d stages; write 1 to %d, as [{rate: 100/s, for: 10s}]", len(at.items), mostStages)
		return nil
	}
	stages := make([]stopwatt.Stage, len(at.items))
	for i, item := range at.items {
		whole(r, item, "stage", stageRows, &stages[i])
		r.stage(item)
	}
	return stages
}

// stage checks that a stage is either a step or a ramp.
func (r *reader) stage(at node) {
	ramp := at.has("from") && at.has("to")
	switch {
	case at.kind != mapping:
	case at.has("rate") && (at.has("from") || at.has("to")):
		r.fault(at.at, "stage has both rate and from or to; write rate for a step, from and to for a ramp")
	case !at.has("rate") && !ramp && none(at, keysOf(stageRows), "rate", "from", "to"):
		r.fault(at.at, "stage has no rate; write rate: 100/s for a step, from: 100/s and to: 500/s for a ramp")
	case !at.has("rate") && !ramp:
		r.fault(at.at, "a ramp has two ends; write from: 100/s and to: 500/s")
	}
}

func (r *reader) load(at node, to *load) {
	whole(r, at, "load", loadRows, to)
	if at.has("tool") {
		r.toolAlone(at, *to)
		return
	}
	r.fitting(at, "load")
	known := keysOf(loadRows)
	switch {
	case at.kind != mapping:
	case none(at, known, "requests", "for", "stages"):
		r.fault(at.owner, "load has no end; write for: 10s, or requests: 5000 for each user")
	case (at.has("rate") || at.has("find")) && at.has("requests"):
		r.fault(at.owner, "load has both %s and requests; an open load ends by time, write for: 10s instead", firstOf(at, "rate", "find"))
	case at.has("find") && none(at, known, "while"):
		r.fault(at.owner, "load has find and no while; write while: {latency_p99: 50ms}")
	case at.has("find") && len(to.while) == 0 && len(r.faults) == 0:
		r.fault(at.owner, "while promises nothing; write while: {latency_p99: 50ms}")
	case !at.has("find") && (at.has("while") || at.has("probe")):
		r.fault(at.owner, "load has %s and no find; write find: max-rate, or remove it", firstOf(at, "while", "probe"))
	case at.has("arrivals") && !to.open() && none(at, known, "rate", "stages", "find"):
		r.fault(at.owner, "load has arrivals and no rate; write rate: 2000/s, or remove it")
	case to.open() && at.has("think"):
		r.fault(at.owner, "load has both think and %s; users think in closed loads only, remove one", firstOf(at, "rate", "stages", "find"))
	}
}

// toolAlone checks that nothing is said beside a tool that the tool does not heed.
func (r *reader) toolAlone(at node, to load) {
	for _, e := range at.entries {
		if e.key != "tool" && e.key != "timeout" && slices.Contains(keysOf(loadRows), e.key) {
			r.fault(e.at, "load has both tool and %s, which the tool does not heed; say it in the tool's arguments", e.key)
		}
	}
	if to.tool != nil && len(to.tool.Run) == 0 && len(r.faults) == 0 {
		r.fault(at.owner, "tool has nothing to run; write run: [wrk, -t1, -c4, -d5s, --latency, \"{url}\"]")
	}
}

// open tells whether requests come due by the clock.
func (l load) open() bool { return l.rate != 0 || len(l.stages) > 0 || l.find != "" }

// fitting checks that a load does not end or begin in two ways.
func (r *reader) fitting(at node, noun string) {
	for _, keys := range [][2]string{{"requests", "for"}, {"requests", "stages"}, {"for", "stages"}, {"rate", "stages"}, {"rate", "find"}, {"stages", "find"}} {
		if at.has(keys[0]) && at.has(keys[1]) {
			r.fault(at.owner, "%s has both %s and %s; remove one", noun, keys[0], keys[1])
		}
	}
}

// firstOf is the first of some keys that is there.
func firstOf(at node, keys ...string) string {
	return keys[max(slices.IndexFunc(keys, at.has), 0)]
}

// under returns the load, overridden by what a profile says. What decides the
// model, closed or open, only a workload says.
func (l load) under(over load) stopwatt.Load {
	if l.tool != nil { // which no profile changes
		return stopwatt.Load{Tool: l.tool, Timeout: cmp.Or(over.timeout, l.timeout)}
	}
	requests, lasting := cmp.Or(over.requests, l.requests), cmp.Or(over.lasting, l.lasting)
	switch {
	case l.open():
		requests = 0 // a profile cannot count what the clock begins
	case over.requests != 0:
		lasting = 0
	case over.lasting != 0:
		requests = 0
	}
	load := stopwatt.Load{
		Users:    cmp.Or(over.users, l.users, usersClosed),
		Requests: requests,
		For:      lasting,
		Think:    cmp.Or(over.think, l.think),
		Close:    cmp.Or(over.connection, l.connection) == "close",
		Timeout:  cmp.Or(over.timeout, l.timeout),
	}
	if l.open() {
		l.schedule(over, &load)
	}
	return load
}

// schedule says when the requests of an open load come due.
func (l load) schedule(over load, to *stopwatt.Load) {
	to.Users = cmp.Or(over.users, l.users, usersOpen)
	to.Think = 0
	to.Poisson = cmp.Or(over.arrivals, l.arrivals) == "poisson"
	switch rate := cmp.Or(over.rate, l.rate); {
	case l.find != "":
		to.Find = &stopwatt.Find{While: l.while, Probe: cmp.Or(over.probe, l.probe, 2*time.Second)}
		return
	case len(l.stages) > 0:
		to.Stages = fitted(l.stages, over.lasting)
	default:
		to.Stages = []stopwatt.Stage{{From: rate, To: rate, For: to.For}}
	}
	to.For = 0
	for _, stage := range to.Stages {
		to.For += stage.For
	}
}

// fitted are the stages, each shortened or lengthened alike so that together
// they last so long; 0: as they are.
func fitted(stages []stopwatt.Stage, lasting time.Duration) []stopwatt.Stage {
	if lasting == 0 {
		return stages
	}
	whole := time.Duration(0)
	for _, stage := range stages {
		whole += stage.For
	}
	fitted := slices.Clone(stages)
	for i := range fitted {
		fitted[i].For = time.Duration(float64(fitted[i].For) / float64(max(whole, 1)) * float64(lasting))
	}
	return fitted
}

// inOrder reads whether something is taken in order, or by the other word.
func (r *reader) inOrder(at node, noun, other string, to *bool) {
	var word string
	r.choice(at, noun, &word, other, "in-order")
	*to = word == "in-order"
}
