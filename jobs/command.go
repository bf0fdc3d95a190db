package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// mostRepeated bounds the repetitions of one trial: each is kept.
const mostRepeated = 1_000_000

// programRows are the keys of whatever is run to its end. timeout is the bound
// that its absence stands for.
func programRows[T any](of func(*T) *stopwatt.Program, timeout string) []row[T] {
	return []row[T]{
		{word{key: "run", kind: "list of texts or [shell]", absent: "each implementation's own `exec`, or `run` in its `with`", doc: "The program and its arguments. An implementation's `exec` stands before it."},
			func(r *reader, at node, to *T) { r.argv(at, "run", &of(to).Run) }},
		{word{key: "prepare", kind: "list of texts or [shell]", absent: "nothing", doc: "A program that is run before each repetition and not timed."},
			func(r *reader, at node, to *T) { r.argv(at, "prepare", &of(to).Prepare) }},
		{word{key: "cleanup", kind: "list of texts or [shell]", absent: "nothing", doc: "A program that is run after each repetition and not timed."},
			func(r *reader, at node, to *T) { r.argv(at, "cleanup", &of(to).Cleanup) }},
		{word{key: "stdin", kind: "text", absent: "`/dev/null`", doc: "A file that it reads from its standard input, relative to the suite file, 16 MiB at most."},
			func(r *reader, at node, to *T) { of(to).Stdin = r.bytesOf(at, "stdin") }},
		{word{key: "ok-exit", kind: "number or list of numbers", fallback: "0", doc: "The exit statuses of a good end. Any other makes the trial invalid."},
			func(r *reader, at node, to *T) { r.statuses(at, &of(to).OKExit) }},
		{word{key: "timeout", kind: "duration", fallback: timeout, doc: "How long it may take once, at most 24h. Then it is killed with all that it has started, and the trial is invalid."},
			func(r *reader, at node, to *T) {
				r.duration(at, "timeout", &of(to).Timeout, time.Millisecond, 24*time.Hour)
			}},
	}
}

var commandRows = append(programRows(func(c *stopwatt.Command) *stopwatt.Program { return &c.Program }, "10m"), []row[stopwatt.Command]{
	{word{key: "warmup", kind: "number", fallback: "0", doc: "Repetitions before those that are timed, at most 10000."},
		func(r *reader, at node, to *stopwatt.Command) {
			r.count(at, "number of warm-ups", &to.Warmup, 0, 10_000)
		}},
	{word{key: "repeat", kind: "number or [repeat]", fallback: "{}", doc: "How often it is run and timed in each trial."},
		func(r *reader, at node, to *stopwatt.Command) { r.repeat(at, &to.Repeat) }},
	{word{key: "output", kind: "text or [output]", fallback: "null", doc: "What becomes of its standard output: `null` for `/dev/null`, `pipe` to have it read and dropped, or what it must be."},
		func(r *reader, at node, to *stopwatt.Command) { r.output(at, &to.Output) }},
	{word{key: "subtract-empty", kind: "yes or no", fallback: "false", doc: "`true` takes the cost of starting an empty program, measured in the same container, off each repetition's wall time. It is told either way."},
		func(r *reader, at node, to *stopwatt.Command) { r.yes(at, "subtract-empty", &to.SubtractEmpty) }},
}...)

var shellRows = []row[[]string]{
	{word{key: "shell", kind: "text", example: "shell: and a line for /bin/sh", doc: "A line that the container's `/bin/sh` reads."},
		func(r *reader, at node, to *[]string) {
			var line string
			if r.text(at, "shell", &line, isPassable, isSomething); line != "" {
				*to = []string{"/bin/sh", "-c", line}
			}
		}},
}

// Ten repetitions and three seconds are what hyperfine begins with.
var repeatRows = []row[stopwatt.Repeat]{
	{word{key: "min", kind: "number", fallback: "10", doc: "Repetitions at least, 1 to 1000000."},
		func(r *reader, at node, to *stopwatt.Repeat) { r.repetitions(at, &to.Least) }},
	{word{key: "max", kind: "number", fallback: "10000", doc: "Repetitions at most, 1 to 1000000."},
		func(r *reader, at node, to *stopwatt.Repeat) { r.repetitions(at, &to.Most) }},
	{word{key: "for", kind: "duration", fallback: "3s", doc: "It is repeated until the repetitions together have taken so long, at most 24h; `0s` for `min` alone."},
		func(r *reader, at node, to *stopwatt.Repeat) { r.duration(at, "for", &to.For, 0, 24*time.Hour) }},
}

var outputRows = []row[stopwatt.Output]{
	{word{key: "sha256", kind: "text", absent: "`file` is given", doc: "The SHA-256 of it: 64 hexadecimal digits, as `sha256sum` prints them."},
		func(r *reader, at node, to *stopwatt.Output) {
			r.text(at, "sha256", &to.SHA256, isSHA256)
			to.SHA256 = strings.ToLower(to.SHA256)
		}},
	{word{key: "file", kind: "text", absent: "`sha256` is given", doc: "A file that holds just that, relative to the suite file, 16 MiB at most."},
		func(r *reader, at node, to *stopwatt.Output) {
			sum := sha256.Sum256(r.bytesOf(at, "file"))
			to.SHA256 = hex.EncodeToString(sum[:])
		}},
}

// argv reads a program and its arguments, or a line for a shell.
func (r *reader) argv(at node, noun string, to *[]string) {
	if at.kind == mapping {
		whole(r, at, noun, shellRows, to)
		return
	}
	r.texts(at, noun, to, isPassable)
	switch {
	case at.kind == list && len(at.items) == 0:
		r.fault(at.at, "%s is empty; write the program and its arguments, or remove the key", noun)
	case len(*to) > 0 && (*to)[0] == "":
		r.fault(at.items[0].at, "the program in %s has no name; write its path", noun)
	}
}

// isSomething checks that a text is not empty.
func isSomething(text string) string {
	if strings.TrimSpace(text) == "" {
		return "write something, or remove the key"
	}
	return ""
}

// bytesOf reads the file that a text names.
func (r *reader) bytesOf(at node, noun string) []byte {
	var name string
	if r.path(at, noun, &name); name == "" {
		return nil
	}
	return r.content(at, noun, name)
}

// statuses reads one exit status or several.
func (r *reader) statuses(at node, to *[]int) {
	items := []node{at}
	if at.kind == list {
		items = at.items
	}
	if len(items) == 0 {
		r.fault(at.at, "ok-exit is empty; write 0, or remove the key")
	}
	*to = make([]int, len(items))
	for i, item := range items {
		r.count(item, "exit status", &(*to)[i], 0, 255)
	}
}

// repeat reads a number of repetitions, or when there are enough.
func (r *reader) repeat(at node, to *stopwatt.Repeat) {
	if at.kind == scalar {
		r.repetitions(at, &to.Least)
		to.Most = to.Least
		return
	}
	whole(r, at, "repeat", repeatRows, to)
	if to.Most != 0 && to.Least > to.Most {
		r.fault(at.owner, "repeat has min %d above max %d; write max: %d, or a lower min", to.Least, to.Most, to.Least)
	}
}

func (r *reader) repetitions(at node, to *int) {
	r.count(at, "number of repetitions", to, 1, mostRepeated)
}

// output reads what becomes of a program's standard output.
func (r *reader) output(at node, to *stopwatt.Output) {
	if at.kind != mapping {
		var word string
		r.choice(at, "output", &word, "null", "pipe")
		to.Pipe = word == "pipe"
		return
	}
	whole(r, at, "output", outputRows, to)
	switch has, also := at.has("sha256"), at.has("file"); {
	case has && also:
		r.fault(at.owner, "output has both sha256 and file; remove one")
	case none(at, keysOf(outputRows), "sha256", "file"):
		r.fault(at.owner, "output does not say what it must be; write sha256: and 64 hexadecimal digits, or file: and a name")
	}
}
