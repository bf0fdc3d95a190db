package jobs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"gitlab.com/stopwatt/stopwatt"
)

// Limits of memory: Docker refuses less than six mebibytes.
const (
	leastMemory = 6 << 20
	mostMemory  = 64 << 40
)

// An implementation is one as it was written. What it does otherwise under a
// workload is read when the workloads are known.
type implementation struct {
	stopwatt.Implementation
	with node
}

var implementationRows = []row[implementation]{
	{word{key: "build", kind: "text or [build]", absent: "`image` is pulled", doc: "How its image is built: a folder with a Dockerfile, relative to the suite file, or more in a mapping. Exactly one of `build` and `image` is given."},
		func(r *reader, at node, to *implementation) { to.Build = r.build(at) }},
	{word{key: "image", kind: "text", absent: "it is built", doc: "An image to pull. `{sha}` in it stands for the commit that is measured, for images that another job built. In braces, put it in quotes."},
		func(r *reader, at node, to *implementation) { r.text(at, "image", &to.Image, isImage) }},
	{word{key: "null-server", kind: "yes or no", fallback: "false", doc: "`true` makes it the null server, which is in stopwatt's own driver: it answers every request with 200 and no body, at next to no cost, so that its figures are the driver's own on this machine. It has neither `build` nor `image`, and speaks plain HTTP on a port."},
		func(r *reader, at node, to *implementation) { r.yes(at, "null-server", &to.Null) }},
	{word{key: "command", kind: "list of texts", absent: "the image's own", doc: "The program and its arguments, instead of the image's own."},
		func(r *reader, at node, to *implementation) { r.command(at, &to.Command) }},
	{word{key: "env", kind: "names to texts", absent: "the image's own", doc: "Environment variables, beside the image's own."},
		func(r *reader, at node, to *implementation) {
			r.dictionary(at, "env", &to.Env, isVariable, isPassable)
		}},
	{word{key: "cpus", kind: "text", absent: "all cores", doc: "The cores that it may use: `\"0-3\"` or `\"0,2\"`. A single core is written in quotes, because `2` could also be meant as two cores."},
		func(r *reader, at node, to *implementation) { r.cores(at, &to.CPUs) }},
	{word{key: "memory", kind: "size", absent: "seven eighths of the machine's", doc: "The memory that it may use, from 6MiB: bytes, or a number of `KiB`, `MiB`, `GiB` or `TiB`."},
		func(r *reader, at node, to *implementation) {
			r.size(at, "memory", &to.Memory, leastMemory, mostMemory)
		}},
	{word{key: "stop-signal", kind: "text", absent: "it is killed outright", doc: "The signal that asks it to end by itself, like `SIGTERM`. A polite stop of a process that handles no signal costs ten seconds a trial."},
		func(r *reader, at node, to *implementation) {
			r.text(at, "stop-signal", &to.StopSignal, isSignal)
		}},
	{word{key: "writable", kind: "yes or no", fallback: "false", doc: "`true` lets it write to its own root file system."},
		func(r *reader, at node, to *implementation) { r.yes(at, "writable", &to.Writable) }},
	{word{key: "exec", kind: "list of texts", absent: "nothing", doc: "What stands before the `run` of `command` and `harness` workloads: an interpreter, a virtual machine and its flags."},
		func(r *reader, at node, to *implementation) { r.argv(at, "exec", &to.Exec) }},
	{word{key: "with", kind: "names to [with]", absent: "as every workload says", doc: "What it does otherwise than a `command` or `harness` workload says, by the workload's name without its params."},
		func(r *reader, at node, to *implementation) { to.with = at }},
	{word{key: "services", kind: "names to [service]", absent: "none", doc: "Companions that it needs, like a database. They run beside it in one private network, each under its name, and are metered apart."},
		func(r *reader, at node, to *implementation) { to.Services = r.services(at) }},
}

var buildRows = []row[stopwatt.Build]{
	{word{key: "context", kind: "text", example: "context: folder", doc: "The folder that is sent to the builder, relative to the suite file."},
		func(r *reader, at node, to *stopwatt.Build) { r.path(at, "context", &to.Context) }},
	{word{key: "dockerfile", kind: "text", absent: "`Dockerfile` in the context", doc: "The Dockerfile, relative to the suite file. One that is named here is always today's, also when `ref` names another commit, which may have had none."},
		func(r *reader, at node, to *stopwatt.Build) { r.path(at, "dockerfile", &to.Dockerfile) }},
	{word{key: "args", kind: "names to texts", absent: "none", doc: "Build arguments."},
		func(r *reader, at node, to *stopwatt.Build) {
			r.dictionary(at, "args", &to.Args, isVariable, isPassable)
		}},
	{word{key: "target", kind: "text", absent: "the last stage", doc: "The stage of the Dockerfile to stop at."},
		func(r *reader, at node, to *stopwatt.Build) { r.text(at, "target", &to.Target, isName) }},
	{word{key: "ref", kind: "text", absent: "the commit that is measured", doc: "Another commit, branch or tag that the context is taken from."},
		func(r *reader, at node, to *stopwatt.Build) { r.text(at, "ref", &to.Ref, isLine, isRef) }},
	{word{key: "repository", kind: "text", absent: "the one that the suite lies in", doc: "The URL of another git repository: `https://…`, `ssh://…`, `file:///…` or `user@host:path`. `context` is a folder of it (`.` for all), and `ref` a commit of it, else that of its default branch. It is kept in the data folder and its commit recorded."},
		func(r *reader, at node, to *stopwatt.Build) {
			r.text(at, "repository", &to.Repository, isLine, isRepository)
		}},
}

var withRows = []row[stopwatt.Override]{
	{word{key: "run", kind: "list of texts or [shell]", absent: "the workload's", doc: "Instead of the workload's `run`. `exec` stands before it."},
		func(r *reader, at node, to *stopwatt.Override) { r.argv(at, "run", &to.Run) }},
	{word{key: "prepare", kind: "list of texts or [shell]", absent: "the workload's", doc: "Instead of the workload's `prepare`."},
		func(r *reader, at node, to *stopwatt.Override) { r.argv(at, "prepare", &to.Prepare) }},
	{word{key: "results", kind: "text", absent: "the workload's", doc: "Instead of the workload's `results`."},
		func(r *reader, at node, to *stopwatt.Override) { r.text(at, "results", &to.Results, isInContainer) }},
}

func (r *reader) implementations(at node) []implementation {
	var all []implementation
	r.named(at, "implementation", func(name string, value node) {
		all = append(all, r.implementation(name, value))
	})
	return all
}

func (r *reader) implementation(name string, at node) implementation {
	to := implementation{Implementation: stopwatt.Implementation{Name: name}}
	noun := "implementation " + brief(name)
	whole(r, at, noun, implementationRows, &to)
	switch {
	case to.Null && (at.has("build") || at.has("image") || at.has("command")):
		r.fault(at.owner, "%s is the null server and has an image or a command of its own; remove one", noun)
	case to.Null:
	case at.has("build") && at.has("image"):
		r.fault(at.owner, "%s has both build and image; remove one", noun)
	case at.kind == mapping && none(at, keysOf(implementationRows), "build", "image"):
		r.fault(at.owner, "%s has no image; write build: and a folder with a Dockerfile, or image: and what to pull", noun)
	}
	return to
}

// overridden is the implementation with what it does otherwise under these
// workloads.
func (r *reader) overridden(i implementation, workloads []workload) stopwatt.Implementation {
	to := i.Implementation
	if i.with.kind == nothing || i.with.kind == "" {
		return to
	}
	r.named(i.with, "with", func(family string, value node) {
		found := false
		for _, w := range workloads {
			if w.family != family {
				continue
			}
			found = true
			noun := fmt.Sprintf("with %s of implementation %s", brief(family), brief(i.Name))
			var over stopwatt.Override
			decode(r, value.with(w.params), noun, withRows, &over)
			r.overridable(value, noun, w)
			if to.With == nil {
				to.With = map[string]stopwatt.Override{}
			}
			to.With[variant(w.family, w.params)] = over
		}
		if !found {
			r.noWorkload(value, family, workloads)
		}
	})
	return to
}

// overridable checks that a workload has what is overridden.
func (r *reader) overridable(at node, noun string, w workload) {
	switch {
	case w.http != nil:
		r.fault(at.owner, "%s: an http workload runs nothing; remove it", noun)
	case w.harness == nil && at.has("results"):
		r.fault(at.owner, "%s has results, which only harness workloads have; remove it", noun)
	}
}

// noWorkload says that there is no workload of this name.
func (r *reader) noWorkload(at node, name string, workloads []workload) {
	var names []string
	for _, w := range workloads {
		names = append(names, w.family)
	}
	if guess, near := nearest(name, names); near {
		r.fault(at.owner, "%s is no workload; did you mean %s?", brief(name), brief(guess))
		return
	}
	r.fault(at.owner, "%s is no workload; write one of workloads", brief(name))
}

// runnable checks that every implementation has something to run under every
// command and harness workload.
func (r *reader) runnable(at node, suite stopwatt.Suite) {
	for _, w := range suite.Workloads {
		for _, i := range suite.Implementations {
			if (w.Command != nil || w.Harness != nil) && len(i.Program(w).Run) == 0 {
				r.fault(at.at, "implementation %s has nothing to run under workload %s; write run: [program] in the workload, or with: {WORKLOAD: {run: [program]}} in the implementation", brief(i.Name), brief(w.Name))
			}
		}
	}
}

// build reads a folder, or a mapping with more than that.
func (r *reader) build(at node) *stopwatt.Build {
	var to stopwatt.Build
	context, dockerfile := at, at
	if at.kind == scalar {
		r.path(at, "build", &to.Context)
	} else {
		whole(r, at, "build", buildRows, &to)
		context, _ = at.get("context")
		dockerfile, _ = at.get("dockerfile")
	}
	if to.Dockerfile != "" {
		r.regular(dockerfile, "dockerfile", to.Dockerfile)
	}
	if to.Context != "" && to.Ref == "" && to.Repository == "" { // another commit may have other folders
		r.folder(context, to)
	}
	return &to
}

// folder checks that a build's context is there, and has its Dockerfile.
func (r *reader) folder(at node, build stopwatt.Build) {
	info, err := r.files.Stat(build.Context)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.fault(at.at, "there is no folder %s beside the suite file; make it, or mend its name", brief(build.Context))
	case err != nil:
		r.fault(at.at, "the folder %s cannot be looked at (%s); give permission, or name another", brief(build.Context), cause(err))
	case !info.IsDir():
		r.fault(at.at, "%s is a file, no folder; name its folder, and the file itself as dockerfile", brief(build.Context))
	case build.Dockerfile == "":
		r.regular(at, "build", path.Join(build.Context, "Dockerfile"))
	}
}

func (r *reader) command(at node, to *[]string) {
	r.texts(at, "command", to, isPassable)
	if at.kind == list && len(at.items) == 0 {
		r.fault(at.at, "command is empty; write the program and its arguments, or remove the key")
	}
}

func (r *reader) cores(at node, to *string) {
	if at.kind == scalar && at.plain && wholeNumber.MatchString(at.text) {
		r.fault(at.at, `cpus %s may mean a core or a number of cores; write "0-1" for two cores, or %q in quotes for that core`, at.text, at.text)
		return
	}
	r.text(at, "cpus", to, isCores)
}
