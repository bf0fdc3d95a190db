package jobs

import (
	"slices"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Limits of a load, wide enough for any machine and narrow enough that a slip
// of the finger does not occupy one for a year.
const (
	mostUsers    = 10_000
	mostRequests = 1_000_000_000
	longestDrive = 24 * time.Hour
)

// A workload is one as it was written, its load not yet overridden.
type workload struct {
	family   string // its name without its parameters
	params   []stopwatt.Param
	http     *stopwatt.HTTP
	load     load
	command  *stopwatt.Command
	harness  *stopwatt.Harness
	services []stopwatt.Service
}

var workloadRows = []row[workload]{
	{word{key: "http", kind: "[http]", absent: "exactly one of `http`, `command` and `harness` is given", doc: "A server, what it is asked, and what is a right answer."},
		func(r *reader, at node, to *workload) {
			to.http = new(stopwatt.HTTP)
			r.http(at, to.http)
		}},
	{word{key: "load", kind: "[load]", absent: "none; needed with `http`", doc: "How requests are sent."},
		func(r *reader, at node, to *workload) { r.load(at, &to.load) }},
	{word{key: "command", kind: "[command]", absent: "exactly one of `http`, `command` and `harness` is given", doc: "A program that is run to its end again and again, each time timed."},
		func(r *reader, at node, to *workload) {
			to.command = new(stopwatt.Command)
			whole(r, at, "command", commandRows, to.command)
		}},
	{word{key: "harness", kind: "[harness]", absent: "exactly one of `http`, `command` and `harness` is given", doc: "A program that measures itself, and whose results are read."},
		func(r *reader, at node, to *workload) {
			to.harness = new(stopwatt.Harness)
			whole(r, at, "harness", harnessRows, to.harness)
			r.numberOnly(at, *to.harness)
		}},
	{word{key: "params", kind: "names to lists of texts", absent: "none", doc: "Parameters and the values that each takes. They make one workload for every combination, named `WORKLOAD/NAME=VALUE,…`; `{NAME}` in its other keys stands for the value."},
		func(*reader, node, *workload) {}}, // read before the others: see variants
	{word{key: "services", kind: "names to [service]", absent: "none", doc: "Companions that every implementation needs for it, as an implementation's."},
		func(r *reader, at node, to *workload) { to.services = r.services(at) }},
}

var httpRows = []row[stopwatt.HTTP]{
	{word{key: "port", kind: "number", absent: "`socket` is given", doc: "The port that the server listens on, 1 to 65535. Exactly one of `port` and `socket` is given."},
		func(r *reader, at node, to *stopwatt.HTTP) { r.count(at, "port number", &to.Port, 1, 65535) }},
	{word{key: "socket", kind: "text", absent: "`port` is given", doc: "The Unix socket that the server listens on: an absolute path in its container, 107 characters at most. Its folder becomes a volume that the driver shares; the server's user must be able to write there, and the driver, who is root without privileges, to the socket."},
		func(r *reader, at node, to *stopwatt.HTTP) { r.text(at, "socket", &to.Socket, isSocket) }},
	{word{key: "redirects", kind: "text", fallback: "answer", doc: "`answer`: a redirect is an answer like others; `follow`: it is followed, ten times a request at most and never to another server, and the last answer must be the right one."},
		func(r *reader, at node, to *stopwatt.HTTP) {
			var word string
			r.choice(at, "redirects", &word, "answer", "follow")
			to.Follow = word == "follow"
		}},
	{word{key: "request", kind: "[request]", absent: "`requests` is given", doc: "What it is asked. Exactly one of `request` and `requests` is given."},
		func(r *reader, at node, to *stopwatt.HTTP) {
			whole(r, at, "request", requestRows, &to.Request)
		}},
	{word{key: "expect", kind: "[expect]", fallback: "{}", doc: "What a right answer to `request` looks like."},
		func(r *reader, at node, to *stopwatt.HTTP) { whole(r, at, "expect", expectRows, &to.Expect) }},
	{word{key: "requests", kind: "list of [ask]", absent: "`request` is given", doc: "Several requests, 1000 at most. The first is what readiness is asked by; all are verified before the load and after it."},
		func(r *reader, at node, to *stopwatt.HTTP) { r.asks(at, to) }},
	{word{key: "order", kind: "text", fallback: "weighted", doc: "How `requests` are chosen: `weighted`, each drawn by its weight from the run's seed; or `in-order`, one after the other, from the first again."},
		func(r *reader, at node, to *stopwatt.HTTP) { r.inOrder(at, "order", "weighted", &to.InOrder) }},
	{word{key: "data", kind: "[data]", absent: "no values", doc: "Values that are put into requests where a column's `{name}` stands."},
		func(r *reader, at node, to *stopwatt.HTTP) { r.data(at, to) }},
	{word{key: "tls", kind: "[tls]", absent: "plain text", doc: "Speak HTTP/1.1 over TLS. A request then costs the driver several times as much: see [load.md](load.md)."},
		func(r *reader, at node, to *stopwatt.HTTP) {
			to.TLS = &stopwatt.TLS{}
			whole(r, at, "tls", tlsRows, to.TLS)
		}},
	{word{key: "ready", kind: "text", fallback: "answer", doc: "When the server is ready: with its first right `answer`; or when it takes the first connection, `connect`. The latter needs no request, and a `tool` that drives: so servers are measured that speak no HTTP."},
		func(r *reader, at node, to *stopwatt.HTTP) {
			var word string
			r.choice(at, "ready", &word, "answer", "connect")
			to.Connects = word == "connect"
		}},
	{word{key: "ready-within", kind: "duration", fallback: "30s", doc: "How long the server may take from its start to its first right answer, at most an hour. A wrong answer that stays the same for 2 s ends the waiting, unless its status is 503."},
		func(r *reader, at node, to *stopwatt.HTTP) {
			r.duration(at, "ready-within", &to.ReadyWithin, time.Millisecond, time.Hour)
		}},
}

var requestRows = []row[stopwatt.Request]{
	{word{key: "method", kind: "text", fallback: "GET", doc: "The method, in capitals."},
		func(r *reader, at node, to *stopwatt.Request) { r.text(at, "method", &to.Method, isMethod) }},
	{word{key: "path", kind: "text", example: "path: /", doc: "The path and its query. It begins with `/`."},
		func(r *reader, at node, to *stopwatt.Request) { r.text(at, "path", &to.Path, isRequestPath) }},
	{word{key: "headers", kind: "names to texts", absent: "none", doc: "Headers, beside those that the driver writes itself: `Connection`, `Content-Length`, `Transfer-Encoding`. `Expect` and `Upgrade` are not supported."},
		func(r *reader, at node, to *stopwatt.Request) { r.headers(at, &to.Headers) }},
	{word{key: "body", kind: "text or [body]", absent: "none", doc: "What is sent after the headers."},
		func(r *reader, at node, to *stopwatt.Request) { to.Body = r.body(at) }},
}

var bodyRows = []row[[]byte]{
	{word{key: "file", kind: "text", example: "file: and its name", doc: "A file that is sent as it is, relative to the suite file, 16 MiB at most."},
		func(r *reader, at node, to *[]byte) {
			var name string
			if r.path(at, "file", &name); name != "" {
				*to = r.content(at, "body", name)
			}
		}},
}

var expectRows = []row[stopwatt.Expect]{
	{word{key: "status", kind: "number", fallback: "200", doc: "The status of a right answer, 200 to 599."},
		func(r *reader, at node, to *stopwatt.Expect) { r.count(at, "status", &to.Status, 200, 599) }},
	{word{key: "body-sha256", kind: "text", absent: "the body is not checked", doc: "The SHA-256 of the body of a right answer: 64 hexadecimal digits, as `sha256sum` prints them."},
		func(r *reader, at node, to *stopwatt.Expect) {
			r.text(at, "body-sha256", &to.BodySHA256, isSHA256)
			to.BodySHA256 = strings.ToLower(to.BodySHA256)
		}},
	{word{key: "check-one-in", kind: "number", fallback: "1000", doc: "Under load, of so many answers one has its whole body hashed and compared with `body-sha256`, 1 to 1000000000; of all others the length is compared. `1` hashes every body, at the driver's cost."},
		func(r *reader, at node, to *stopwatt.Expect) {
			r.count(at, "number of answers", &to.CheckOneIn, 1, mostRequests)
		}},
}

// workloads reads them, under the parameters of a profile.
func (r *reader) workloads(at node, profile []parameter) []workload {
	var all []workload
	r.named(at, "workload", func(name string, value node) {
		noun := "workload " + brief(name)
		for _, params := range r.variants(value, noun, profile) {
			w := workload{family: name, params: params}
			whole(r, value.with(params), noun, workloadRows, &w)
			r.oneKind(value, noun)
			all = append(all, w)
		}
	})
	return all
}

// variants are the combinations of a workload's parameters.
func (r *reader) variants(at node, noun string, profile []parameter) [][]stopwatt.Param {
	written, ok := at.get("params")
	if !ok || written.kind == nothing {
		return combinations(nil)
	}
	parameters := over(r.parameters(written), profile)
	if countVariants(parameters) > mostVariants {
		r.fault(written.owner, "the params of %s make more than %d workloads; write fewer values", noun, mostVariants)
		return combinations(nil)
	}
	return combinations(parameters)
}

// oneKind checks that a workload is of one kind, and an http one has its load.
func (r *reader) oneKind(at node, noun string) {
	kinds := slices.DeleteFunc([]string{"http", "command", "harness"}, func(key string) bool { return !at.has(key) })
	known := keysOf(workloadRows)
	switch {
	case at.kind != mapping:
	case len(kinds) > 1:
		r.fault(at.owner, "%s has both %s and %s; make two workloads of it", noun, kinds[0], kinds[1])
	case none(at, known, "http", "command", "harness"):
		r.fault(at.owner, "%s says nothing to do; write http: {port: 8080, request: {path: /}}, command: {run: [program]} or harness: {run: [program], format: go}", noun)
	case connects(at) && !driven(at):
		r.fault(at.owner, "%s is ready when it connects, and has no tool that drives it; write load: {tool: {image: …, run: […], format: …}}", noun)
	case behindSocket(at) && driven(at):
		r.fault(at.owner, "%s is asked over a socket, which a tool's container does not see; write port, or have stopwatt drive", noun)
	case at.has("http") && none(at, known, "load"):
		r.fault(at.owner, "%s has no load; write load: {users: 4, for: 10s}", noun)
	case at.has("load") && !at.has("http") && len(kinds) > 0:
		r.fault(at.owner, "%s has a load, which only http workloads have; remove it", noun)
	}
}

// connects tells whether a workload's server need not speak HTTP.
func connects(at node) bool {
	http, _ := at.get("http")
	ready, _ := http.get("ready")
	return ready.text == "connect"
}

// behindSocket tells whether a workload's server is asked over a Unix socket.
func behindSocket(at node) bool {
	http, _ := at.get("http")
	return http.has("socket")
}

// driven tells whether a tool drives a workload's load.
func driven(at node) bool {
	load, _ := at.get("load")
	return load.has("tool")
}

// under returns the workload, its load or repetitions overridden by what a
// profile says.
func (w workload) under(profile profile) stopwatt.Workload {
	to := stopwatt.Workload{Name: variant(w.family, w.params), Params: w.params, HTTP: w.http, Command: w.command, Harness: w.harness, Services: w.services}
	if w.command != nil && profile.repeat != nil {
		w.command.Repeat = *profile.repeat
	}
	if w.http != nil {
		to.Load = w.load.under(profile.load)
	}
	return to
}

// headers are alike when only their capitals differ.
func (r *reader) headers(at node, to *map[string]string) {
	r.dictionary(at, "headers", to, isHeaderName, isHeaderValue)
	seen := map[string]string{}
	for _, e := range at.entries {
		lower := strings.ToLower(e.key)
		if before, twice := seen[lower]; twice && before != e.key {
			r.fault(e.at, "%s is the same header as %s; remove one", brief(e.key), brief(before))
		}
		seen[lower] = e.key
	}
}

// body reads a text, or the file that a mapping names.
func (r *reader) body(at node) []byte {
	if at.kind == scalar {
		return []byte(at.text)
	}
	var content []byte
	whole(r, at, "body", bodyRows, &content)
	return content
}
