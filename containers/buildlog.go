package containers

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A buildLog follows what a builder tells, BuildKit or the classic one, and
// remembers what is needed to explain a failure.
type buildLog struct {
	progress func(stopwatt.BuildStep) // never nil
	imageID  string
	steps    map[string]*buildStep // by digest
	failed   *buildStep            // the first step that failed by itself
	current  *buildStep            // of the classic builder, which does one at a time
}

// A buildStep is one step and the end of its output.
type buildStep struct {
	vertex
	output []byte
}

// keptOutput is how much of a step's output is kept while it goes on: thirty
// lines of any length that is shown, and more than that.
const keptOutput = 64 << 10

// newBuildLog tells progress, which may be nil, of each step.
func newBuildLog(progress func(stopwatt.BuildStep)) *buildLog {
	if progress == nil {
		progress = func(stopwatt.BuildStep) {}
	}
	return &buildLog{progress: progress, steps: map[string]*buildStep{}}
}

// take takes in one message of the engine. A message that it cannot understand
// costs progress or an explanation, never the build.
func (l *buildLog) take(m message) {
	switch {
	case m.ID == "moby.buildkit.trace":
		var trace []byte
		if json.Unmarshal(m.Aux, &trace) != nil {
			return
		}
		if status, err := parseStatus(trace); err == nil {
			l.takeStatus(status)
		}
	case m.Aux != nil:
		var result struct{ ID string }
		if json.Unmarshal(m.Aux, &result) == nil && result.ID != "" {
			l.imageID = result.ID
		}
	case m.Stream != "":
		l.takeClassic(m.Stream)
	}
}

// takeStatus takes in what BuildKit tells.
func (l *buildLog) takeStatus(status buildStatus) {
	for _, v := range status.vertices {
		l.takeVertex(v)
	}
	for _, log := range status.logs {
		if step := l.steps[log.vertex]; step != nil {
			step.append(log.text)
		}
	}
}

// takeVertex notes the state of a step and tells of its beginning and end.
func (l *buildLog) takeVertex(v vertex) {
	step := l.steps[v.digest]
	if step == nil {
		step = &buildStep{}
		l.steps[v.digest] = step
	}
	before := step.vertex
	step.vertex = v
	if v.failure != "" && l.failed == nil && !strings.Contains(v.failure, "context canceled") {
		l.failed = step
	}
	if before.started != v.started || before.completed != v.completed {
		l.tell(v)
	}
}

// tell counts the steps of the Dockerfile and tells of this one. BuildKit's own
// business, such as loading the Dockerfile, is not counted.
func (l *buildLog) tell(v vertex) {
	if internal(v) {
		return
	}
	told := stopwatt.BuildStep{Text: oneLine(v.name)}
	for _, step := range l.steps {
		if internal(step.vertex) {
			continue
		}
		told.Total++
		if step.completed {
			told.Done++
		}
	}
	l.progress(told)
}

// internal says that a step is BuildKit's own.
func internal(v vertex) bool { return strings.HasPrefix(v.name, "[internal]") }

// classicStep is how the classic builder announces a step, and classicNote what
// it says of itself amid a step's output.
var (
	classicStep = regexp.MustCompile(`^Step (\d+)/(\d+) : (.*)`)
	classicNote = regexp.MustCompile(`^( ---> |Removing intermediate container )`)
)

// takeClassic takes in output of the classic builder.
func (l *buildLog) takeClassic(text string) {
	found := classicStep.FindStringSubmatch(text)
	if found == nil {
		if l.current != nil && !classicNote.MatchString(text) {
			l.current.append([]byte(text))
		}
		return
	}
	l.current = &buildStep{vertex: vertex{name: strings.TrimSpace(found[3])}}
	done, _ := strconv.Atoi(found[1]) // digits, or the pattern would not match
	total, _ := strconv.Atoi(found[2])
	l.progress(stopwatt.BuildStep{Done: done - 1, Total: total, Text: oneLine(l.current.name)})
}

// append keeps the end of the output.
func (s *buildStep) append(text []byte) {
	s.output = append(s.output, text...)
	if len(s.output) > 2*keptOutput {
		s.output = append([]byte(nil), s.output[len(s.output)-keptOutput:]...)
	}
}

// explain says which step a build failed in, and shows its last 30 lines.
func (l *buildLog) explain(failure error) error {
	step := l.failed
	if step == nil {
		step = l.current
	}
	if step == nil {
		return failure
	}
	if step.failure != "" {
		failure = errors.New(oneLine(step.failure))
	}
	lines := tail(step.output, lastLines)
	if len(lines) == 0 {
		return fmt.Errorf("%s: %w", oneLine(step.name), failure)
	}
	return fmt.Errorf("%s: %w; its last lines:\n%s", oneLine(step.name), failure, strings.Join(lines, "\n"))
}
