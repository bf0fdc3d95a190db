package jobs

import (
	"regexp"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

var harnessRows = append(programRows(func(h *stopwatt.Harness) *stopwatt.Program { return &h.Program }, "1h"), []row[stopwatt.Harness]{
	{word{key: "format", kind: "text", example: "format: " + stopwatt.HarnessFormats[0], doc: "How its results are written: `" + strings.Join(stopwatt.HarnessFormats, "`, `") + "`. See [harness.md](harness.md)."},
		func(r *reader, at node, to *stopwatt.Harness) {
			r.choice(at, "format", &to.Format, stopwatt.HarnessFormats...)
		}},
	{word{key: "results", kind: "text", absent: "its standard output", doc: "The file in the container that it writes its results to: an absolute path, below `/tmp` unless the implementation is `writable`."},
		func(r *reader, at node, to *stopwatt.Harness) { r.text(at, "results", &to.Results, isInContainer) }},
	{word{key: "unit", kind: "text", absent: "no unit", doc: "Of the format `number`: the number's unit, like `ns` or `1/s`."},
		func(r *reader, at node, to *stopwatt.Harness) { r.text(at, "unit", &to.Unit, isLine) }},
	{word{key: "metric", kind: "text", absent: "what the unit tells", doc: "Of the format `number`: the name of what the number counts."},
		func(r *reader, at node, to *stopwatt.Harness) { r.text(at, "metric", &to.Metric, isName) }},
	{word{key: "better", kind: "text", absent: "what the unit tells", doc: "Of the format `number`: `less`, `more` or `neither`."},
		func(r *reader, at node, to *stopwatt.Harness) {
			var word string
			r.choice(at, "better", &word, string(stopwatt.Less), string(stopwatt.More), string(stopwatt.Neither))
			to.Better = stopwatt.Better(word)
		}},
	{word{key: "names", kind: "[names]", absent: "as the harness writes them", doc: "What its benchmarks are called here."},
		func(r *reader, at node, to *stopwatt.Harness) { whole(r, at, "names", namesRows, to) }},
}...)

var namesRows = []row[stopwatt.Harness]{
	{word{key: "strip", kind: "text", example: "strip: and a regular expression", doc: "A regular expression ([RE2](https://github.com/google/re2/wiki/Syntax)): whatever it matches is taken out of each name. Two benchmarks of one name make the trial invalid."},
		func(r *reader, at node, to *stopwatt.Harness) { r.text(at, "strip", &to.Strip, isExpression) }},
}

// isExpression checks a regular expression.
func isExpression(text string) string {
	if _, err := regexp.Compile(text); err != nil {
		return "it is no regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	return isSomething(text)
}

// isInContainer checks a path in a container.
func isInContainer(text string) string {
	if !strings.HasPrefix(text, "/") || strings.ContainsRune(text, 0) {
		return "write an absolute path of the container, like /tmp/results.json"
	}
	return ""
}

// numberOnly checks that nothing is said of a number where the format is another.
func (r *reader) numberOnly(at node, harness stopwatt.Harness) {
	if harness.Format == "number" || harness.Format == "" {
		return
	}
	for _, e := range at.entries {
		if slices.Contains([]string{"unit", "metric", "better"}, e.key) {
			r.fault(e.at, "%s is of the format number, and %s tells its own; remove it", e.key, harness.Format)
		}
	}
}
