package jobs

import (
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

var serviceRows = []row[stopwatt.Service]{
	{word{key: "image", kind: "text", absent: "it is built", doc: "An image to pull. Exactly one of `image` and `build` is given."},
		func(r *reader, at node, to *stopwatt.Service) { r.text(at, "image", &to.Image, isImage) }},
	{word{key: "build", kind: "text or [build]", absent: "`image` is pulled", doc: "How its image is built, as an implementation's."},
		func(r *reader, at node, to *stopwatt.Service) { to.Build = r.build(at) }},
	{word{key: "command", kind: "list of texts", absent: "the image's own", doc: "The program and its arguments, instead of the image's own."},
		func(r *reader, at node, to *stopwatt.Service) { r.command(at, &to.Command) }},
	{word{key: "env", kind: "names to texts", absent: "the image's own", doc: "Environment variables, beside the image's own."},
		func(r *reader, at node, to *stopwatt.Service) {
			r.dictionary(at, "env", &to.Env, isVariable, isPassable)
		}},
	{word{key: "user", kind: "text", absent: "the image's own", doc: "The user that it runs as. A program that begins as root to become another user must be given that one: it has no capabilities."},
		func(r *reader, at node, to *stopwatt.Service) { r.text(at, "user", &to.User, isLine) }},
	{word{key: "cpus", kind: "text", absent: "all cores", doc: "The cores that it may use, as an implementation's."},
		func(r *reader, at node, to *stopwatt.Service) { r.cores(at, &to.CPUs) }},
	{word{key: "memory", kind: "size", absent: "seven eighths of the machine's", doc: "The memory that it may use, as an implementation's."},
		func(r *reader, at node, to *stopwatt.Service) {
			r.size(at, "memory", &to.Memory, leastMemory, mostMemory)
		}},
	{word{key: "writable", kind: "yes or no", fallback: "false", doc: "`true` lets it write to its own root file system."},
		func(r *reader, at node, to *stopwatt.Service) { r.yes(at, "writable", &to.Writable) }},
	{word{key: "ready", kind: "[ready]", fallback: "{}", doc: "How it is known that it can be used. Without, it can be as soon as it runs."},
		func(r *reader, at node, to *stopwatt.Service) { r.ready(at, &to.Ready) }},
	{word{key: "keep", kind: "text", fallback: "trial", doc: "`trial` for a fresh one in each trial, `run` for one that lives as long as the run."},
		func(r *reader, at node, to *stopwatt.Service) {
			var word string
			r.choice(at, "keep", &word, "trial", "run")
			to.Keep = word == "run"
		}},
}

var readyRows = []row[stopwatt.Readiness]{
	{word{key: "command", kind: "list of texts or [shell]", absent: "not asked", doc: "A program of its container that exits with 0 when it can be used."},
		func(r *reader, at node, to *stopwatt.Readiness) { r.argv(at, "command", &to.Command) }},
	{word{key: "port", kind: "number", absent: "not asked", doc: "A port that takes TCP connections when it can be used, 1 to 65535."},
		func(r *reader, at node, to *stopwatt.Readiness) { r.count(at, "port number", &to.Port, 1, 65535) }},
	{word{key: "within", kind: "duration", fallback: "30s", doc: "How long that may take from its start, at most an hour."},
		func(r *reader, at node, to *stopwatt.Readiness) {
			r.duration(at, "within", &to.Within, time.Millisecond, time.Hour)
		}},
}

// ready reads how a service is known to be ready.
func (r *reader) ready(at node, to *stopwatt.Readiness) {
	whole(r, at, "ready", readyRows, to)
	if at.has("command") && at.has("port") {
		r.fault(at.owner, "ready has both command and port; remove one")
	}
}

// services reads companions.
func (r *reader) services(at node) []stopwatt.Service {
	var all []stopwatt.Service
	r.named(at, "service", func(name string, value node) {
		to := stopwatt.Service{Name: name}
		noun := "service " + brief(name)
		whole(r, value, noun, serviceRows, &to)
		switch {
		case value.has("build") && value.has("image"):
			r.fault(value.owner, "%s has both build and image; remove one", noun)
		case value.kind == mapping && none(value, keysOf(serviceRows), "build", "image"):
			r.fault(value.owner, "%s has no image; write image: and what to pull, or build: and a folder with a Dockerfile", noun)
		}
		all = append(all, to)
	})
	return all
}

// ownNames checks that the services of an implementation and of a workload are
// told apart: they are names in one network.
func (r *reader) ownNames(at node, suite stopwatt.Suite) {
	for _, w := range suite.Workloads {
		for _, i := range suite.Implementations {
			seen := map[string]bool{}
			for _, service := range i.ServicesUnder(w) {
				if seen[service.Name] {
					r.fault(at.at, "service %s is one of implementation %s and one of workload %s; rename one", brief(service.Name), brief(i.Name), brief(w.Name))
				}
				seen[service.Name] = true
			}
		}
	}
}
