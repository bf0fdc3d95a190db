package harness

import (
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// k6 writes its summary in three ways: --summary-export, with a metric's
// statistics beside each other; what handleSummary is given, with them under
// values; and since version 1.5 a list under results. Times are milliseconds in
// all of them. A metric with tags, http_req_duration{name:login}, is of those
// requests alone, and a benchmark of its own here.

// k6Times are the built-in metrics that are times: --summary-export does not
// say so.
var k6Times = []string{
	"http_req_duration", "http_req_blocked", "http_req_connecting", "http_req_tls_handshaking", "http_req_sending",
	"http_req_waiting", "http_req_receiving", "iteration_duration", "group_duration", "ws_connecting", "ws_ping",
	"ws_session_duration", "grpc_req_duration", "browser_http_req_duration", "browser_web_vital_fcp",
	"browser_web_vital_fid", "browser_web_vital_inp", "browser_web_vital_lcp", "browser_web_vital_ttfb",
}

// k6Bytes are those that are bytes.
var k6Bytes = []string{"data_sent", "data_received", "browser_data_sent", "browser_data_received"}

// A k6Metric is a metric in whichever form.
type k6Metric struct {
	name     string
	contains string // time, data, default; empty where the form does not say
	values   value
}

func readK6(s *source) []stopwatt.Benchmark {
	d := s.document()
	groups, order := d.k6Groups()
	var benchmarks []stopwatt.Benchmark
	for _, tags := range order {
		b := stopwatt.Benchmark{Name: s.options.Name, Params: k6Tags(tags)}
		f := figures{"k6", &b}
		if tags == "" {
			d.k6Duration(f)
		}
		for _, metric := range groups[tags] {
			d.k6Figures(f, metric, groups[tags])
		}
		if len(b.Figures) > 0 {
			benchmarks = append(benchmarks, b)
		}
	}
	return benchmarks
}

// k6Groups lays metrics with the same tags together, those without first.
func (d document) k6Groups() (groups map[string][]k6Metric, order []string) {
	groups, order = map[string][]k6Metric{}, []string{""}
	for _, metric := range d.k6Metrics() {
		name, tags, _ := strings.Cut(metric.name, "{")
		metric.name = name
		if groups[tags] == nil && tags != "" {
			order = append(order, tags)
		}
		groups[tags] = append(groups[tags], metric)
	}
	return groups, order
}

// k6Metrics finds the metrics in whichever form.
func (d document) k6Metrics() []k6Metric {
	var metrics []k6Metric
	if results, found := d.root.member("results"); found {
		for _, item := range d.must(results, "metrics", jsonList).items() {
			contains, _ := d.may(item, "contains", jsonText)
			metrics = append(metrics, k6Metric{d.word(item, "name"), contains.text, d.must(item, "values", jsonObject)})
		}
		return metrics
	}
	all := d.must(d.root, "metrics", jsonObject)
	for i, item := range all.items() {
		metric := k6Metric{name: all.names()[i], values: item}
		if nested, found := item.member("values"); found {
			contains, _ := d.may(item, "contains", jsonText)
			metric.contains, metric.values = contains.text, nested
		}
		if metric.values.kind != jsonObject {
			d.fault(metric.values, "is %s; want an object with a metric's values", metric.values.kind)
			return nil
		}
		metrics = append(metrics, metric)
	}
	return metrics
}

// k6Duration reads how long the test took, where the form says so.
func (d document) k6Duration(f figures) {
	if state, found := d.may(d.root, "state", jsonObject); found {
		r, found := d.mayNumber(state, "testRunDurationMs")
		f.optional(ours("time"), milliseconds, r, found)
	}
	if config, found := d.may(d.root, "config", jsonObject); found {
		r, found := d.mayNumber(config, "duration")
		f.optional(ours("time"), seconds, r, found)
	}
}

// k6Tags are the tags of a metric as parameters: {name:login,method:GET}.
func k6Tags(tags string) []stopwatt.Param {
	if tags == "" {
		return nil
	}
	var params []stopwatt.Param
	for tag := range strings.SplitSeq(strings.TrimSuffix(tags, "}"), ",") {
		name, v, _ := strings.Cut(tag, ":")
		params = append(params, stopwatt.Param{Name: strings.TrimSpace(name), Value: strings.TrimSpace(v)})
	}
	return params
}

// unit is what a metric is counted in.
func (m k6Metric) unit() unit {
	switch {
	case m.contains == "time", m.contains == "" && slices.Contains(k6Times, m.name):
		return milliseconds
	case m.contains == "data", m.contains == "" && slices.Contains(k6Bytes, m.name):
		return bytesOf
	}
	return count
}

// k6Figures reads one metric. Rates count what was true: of http_req_failed the
// passes are the requests that failed.
func (d document) k6Figures(f figures, metric k6Metric, beside []k6Metric) {
	switch metric.name {
	case "http_reqs":
		d.k6Requests(f, metric, beside)
		return
	case "http_req_failed":
		return // see k6Requests
	case "vus_max":
		return // a setting
	}
	for i, item := range metric.values.items() {
		statistic := metric.values.names()[i]
		if item.kind == jsonObject { // thresholds
			continue
		}
		d.k6Figure(f, metric, statistic, d.numberOf(item))
	}
	if metric.unit() == count && metric.values.has("avg") {
		f.note("k6 does not say in which unit %s is", metric.name)
	}
}

// k6Figure reads one statistic of a metric.
func (d document) k6Figure(f figures, metric k6Metric, statistic string, r reading) {
	u := metric.unit()
	name := metric.name + "_" + strings.NewReplacer("(", "", ")", "").Replace(statistic)
	switch statistic {
	case "count":
		switch metric.name {
		case "data_received":
			name = "bytes_received"
		case "data_sent":
			name = "bytes_sent"
		default:
			name = metric.name
		}
		if metric.values.has("avg") { // of a trend: how many values it is of
			name, u = metric.name+"_count", count
		}
	case "rate":
		u = count
		if metric.values.has("count") {
			u = rate(metric.unit(), seconds, "1/s").towards(stopwatt.Neither)
		}
	case "value":
		name = metric.name
	case "passes", "fails", "matches", "total":
		u = count
	}
	if metric.name == "http_req_duration" {
		name = k6Latency(statistic, name)
	}
	f.add(named("k6", name, u), u, r)
}

// k6Latency is stopwatt's name of a statistic of latency.
func k6Latency(statistic, otherwise string) string {
	switch statistic {
	case "avg":
		return "latency_mean"
	case "med":
		return "latency_p50"
	case "min", "max":
		return "latency_" + statistic
	}
	if p, found := strings.CutPrefix(statistic, "p("); found {
		return percentile("k6", strings.TrimSuffix(p, ")")).Name
	}
	return otherwise
}

// k6Requests counts requests: k6 counts all, and beside them those that failed.
func (d document) k6Requests(f figures, metric k6Metric, beside []k6Metric) {
	all := d.number(metric.values, "count")
	perSecond, found := d.mayNumber(metric.values, "rate")
	if !found { // the newest form leaves it out
		perSecond = all.over(f.value("time"))
	}
	f.rightAnswers(all, d.k6Failed(all, beside), reading{}, perSecond)
}

// k6Failed is how many requests failed. A summary that somebody has cut down may
// have the share alone.
func (d document) k6Failed(all reading, beside []k6Metric) reading {
	at := slices.IndexFunc(beside, func(m k6Metric) bool { return m.name == "http_req_failed" })
	if at < 0 {
		return reading{}
	}
	for _, field := range []string{"passes", "matches"} {
		if r, found := d.mayNumber(beside[at].values, field); found {
			return r
		}
	}
	for _, field := range []string{"rate", "value"} {
		if r, found := d.mayNumber(beside[at].values, field); found {
			return reading{value: math.Round(r.value * all.value), absent: r.absent}
		}
	}
	return reading{}
}

func claimsK6(l look) bool {
	results, _ := l.root.member("results")
	metrics, _ := l.root.member("metrics")
	return l.json && (results.has("metrics") || metrics.kind == jsonObject && (l.root.has("root_group") || metrics.has("iterations")))
}
