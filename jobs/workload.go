package jobs

import (
	"cmp"
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
	name string
	http stopwatt.HTTP
	load load
}

var workloadRows = []row[workload]{
	{word{key: "http", kind: "[http]", example: "http: {port: 8080, request: {path: /}}", doc: "A server, what it is asked, and what is a right answer."},
		func(r *reader, at node, to *workload) { whole(r, at, "http", httpRows, &to.http) }},
	{word{key: "load", kind: "[load]", example: "load: {users: 4, for: 10s}", doc: "How requests are sent."},
		func(r *reader, at node, to *workload) { r.load(at, &to.load) }},
}

var httpRows = []row[stopwatt.HTTP]{
	{word{key: "port", kind: "number", example: "port: and the port that the server listens on", doc: "The port that the server listens on, 1 to 65535."},
		func(r *reader, at node, to *stopwatt.HTTP) { r.count(at, "port number", &to.Port, 1, 65535) }},
	{word{key: "request", kind: "[request]", example: "request: {method: GET, path: /}", doc: "What it is asked."},
		func(r *reader, at node, to *stopwatt.HTTP) {
			whole(r, at, "request", requestRows, &to.Request)
		}},
	{word{key: "expect", kind: "[expect]", fallback: "{}", doc: "What a right answer looks like."},
		func(r *reader, at node, to *stopwatt.HTTP) { whole(r, at, "expect", expectRows, &to.Expect) }},
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
}

// load is the mapping of that name. Zero fields say nothing.
type load struct {
	users      int
	requests   int
	lasting    time.Duration
	connection string
	timeout    time.Duration
}

var loadRows = []row[load]{
	{word{key: "users", kind: "number", fallback: "4", doc: "Users at the same time, each with one connection, 1 to 10000. Each waits for its answer before it asks again."},
		func(r *reader, at node, to *load) { r.count(at, "number of users", &to.users, 1, mostUsers) }},
	{word{key: "requests", kind: "number", absent: "`for` is given", doc: "How many requests each user makes, 1 to 1000000000. Exactly one of `requests` and `for` is given."},
		func(r *reader, at node, to *load) { r.count(at, "number of requests", &to.requests, 1, mostRequests) }},
	{word{key: "for", kind: "duration", absent: "`requests` is given", doc: "How long is driven, at most 24h."},
		func(r *reader, at node, to *load) {
			r.duration(at, "for", &to.lasting, time.Millisecond, longestDrive)
		}},
	{word{key: "connection", kind: "text", fallback: "keep-alive", doc: "`keep-alive`, or `close` for a new connection for every request."},
		func(r *reader, at node, to *load) {
			r.choice(at, "connection", &to.connection, "keep-alive", "close")
		}},
	{word{key: "timeout", kind: "duration", fallback: "10s", doc: "How long one answer may take, at most an hour."},
		func(r *reader, at node, to *load) {
			r.duration(at, "timeout", &to.timeout, time.Millisecond, time.Hour)
		}},
}

func (r *reader) workloads(at node) []workload {
	var all []workload
	r.named(at, "workload", func(name string, value node) {
		w := workload{name: name}
		whole(r, value, "workload "+brief(name), workloadRows, &w)
		all = append(all, w)
	})
	return all
}

func (r *reader) load(at node, to *load) {
	whole(r, at, "load", loadRows, to)
	r.onlyOneEnd(at, "load")
	if at.kind == mapping && none(at, keysOf(loadRows), "requests", "for") {
		r.fault(at.owner, "load has no end; write for: 10s, or requests: 5000 for each user")
	}
}

// onlyOneEnd checks that a load does not end in two ways.
func (r *reader) onlyOneEnd(at node, noun string) {
	if at.has("requests") && at.has("for") {
		r.fault(at.owner, "%s has both requests and for; remove one", noun)
	}
}

// under returns the workload, its load overridden by what a profile says.
func (w workload) under(over load) stopwatt.Workload {
	if over.requests != 0 || over.lasting != 0 {
		w.load.requests, w.load.lasting = over.requests, over.lasting
	}
	return stopwatt.Workload{Name: w.name, HTTP: &w.http, Load: stopwatt.Load{
		Users:    cmp.Or(over.users, w.load.users),
		Requests: w.load.requests,
		For:      w.load.lasting,
		Close:    cmp.Or(over.connection, w.load.connection) == "close",
		Timeout:  cmp.Or(over.timeout, w.load.timeout),
	}}
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
