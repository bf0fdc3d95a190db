package containers

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"gitlab.com/stopwatt/stopwatt"
)

// field encodes a field that has a length.
func field(number protowire.Number, content string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), content))
}

// flag encodes a field that is a number.
func flag(number protowire.Number) string {
	return string(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), 1))
}

// traced is a message in which BuildKit tells something.
func traced(t *testing.T, status string) message {
	t.Helper()
	aux, err := json.Marshal([]byte(status))
	if err != nil {
		t.Fatal(err)
	}
	return message{ID: "moby.buildkit.trace", Aux: aux}
}

func TestStatusOfBuildKit(t *testing.T) {
	t.Parallel()
	text := field(1, field(1, "d")+field(2, "input")+field(3, "RUN x")+flag(4)+field(5, "time")+field(6, "time")+field(7, "exit code: 3")) +
		field(2, "a status that nobody needs") +
		field(3, field(1, "d")+field(2, "time")+flag(3)+field(4, "hello\n"))
	got, err := parseStatus([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := buildStatus{
		vertices: []vertex{{digest: "d", name: "RUN x", started: true, completed: true, failure: "exit code: 3"}},
		logs:     []vertexLog{{vertex: "d", text: []byte("hello\n")}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(buildStatus{}, vertex{}, vertexLog{})); diff != "" {
		t.Error(diff)
	}
	for n := range len(text) {
		if _, err := parseStatus([]byte(text[:n])); err != nil && !errors.Is(err, errTrace) {
			t.Errorf("torn at byte %d: %v", n, err)
		}
	}
}

func TestProgressOfBuildKit(t *testing.T) {
	t.Parallel()
	var told []stopwatt.BuildStep
	log := newBuildLog(func(s stopwatt.BuildStep) { told = append(told, s) })
	own, one, two := field(1, "0")+field(3, "[internal] load"), field(1, "1")+field(3, "[1/2] FROM x"), field(1, "2")+field(3, "[2/2] RUN \x1b[31my")
	started, completed := field(5, "time"), field(6, "time")
	for _, status := range []string{
		field(1, own+started) + field(1, one) + field(1, two),
		field(1, one+started) + field(1, own+started+completed),
		field(1, one+started+completed) + field(1, two+started),
		field(1, two+started), // told again, nothing new
		field(1, two+started+completed),
	} {
		log.take(traced(t, status))
	}
	want := []stopwatt.BuildStep{
		{Done: 0, Total: 2, Text: "[1/2] FROM x"},
		{Done: 1, Total: 2, Text: "[1/2] FROM x"},
		{Done: 1, Total: 2, Text: "[2/2] RUN y"},
		{Done: 2, Total: 2, Text: "[2/2] RUN y"},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Error(diff)
	}
}

func TestExplanationOfAFailure(t *testing.T) {
	t.Parallel()
	failure := errors.New("failed to solve")
	step := func(digest, name, err string) string {
		return field(1, field(1, digest)+field(3, name)+field(5, "t")+field(6, "t")+field(7, err))
	}
	output := func(digest, text string) string { return field(3, field(1, digest)+field(4, text)) }
	tests := []struct {
		name   string
		traces []string
		want   string
	}{
		{"nothing is known", nil, "failed to solve"},
		{"no output", []string{step("1", "RUN x", "exit code: 3")}, "RUN x: exit code: 3"},
		{"output of the step alone", []string{step("1", "RUN x", "") + step("2", "RUN y", ""), output("1", "of x\n") + output("2", "of y\nand"), output("2", " more\n"), step("2", "RUN y", "exit code: 3")},
			"RUN y: exit code: 3; its last lines:\nof y\nand more"},
		{"another step was interrupted by the failure", []string{step("1", "RUN x", "context canceled"), step("2", "RUN y", "exit code: 3")}, "RUN y: exit code: 3"},
		{"output that would command the terminal", []string{step("1", "RUN \x1b[2Jx", "exit \x1b[2J3"), output("1", "\x1b[2Jhello")}, "RUN x: exit 3; its last lines:\nhello"},
		{"what cannot be understood is passed over", []string{"\xff", step("1", "RUN x", "exit code: 3")}, "RUN x: exit code: 3"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			log := newBuildLog(nil)
			log.take(message{ID: "moby.buildkit.trace", Aux: json.RawMessage(`"no base64"`)})
			for _, trace := range test.traces {
				log.take(traced(t, trace))
			}
			if diff := cmp.Diff(test.want, log.explain(failure).Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOutputThatNeverEndsIsBounded(t *testing.T) {
	t.Parallel()
	var step buildStep
	for i := range 10000 {
		step.append(fmt.Appendf(nil, "line %d %s\n", i, strings.Repeat("x", 100)))
	}
	if len(step.output) > 2*keptOutput {
		t.Errorf("%d bytes are kept", len(step.output))
	}
	if last := tail(step.output, 1)[0]; !strings.HasPrefix(last, "line 9999 ") {
		t.Errorf("the last line is %q", last)
	}
}

func TestMessagesOfTheEngine(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, stream, want string
	}{
		{"nothing", "", ""},
		{"all is well", `{"status":"a"}{"aux":{"ID":"x"}}`, ""},
		{"an error within", `{"error":"boom","errorDetail":{"code":1}}{"status":"after"}`, "boom"},
		{"a stream that is torn", `{"status":"a"`, "read the engine's answer: unexpected EOF"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := readMessages(strings.NewReader(test.stream), func(message) {})
			if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
				t.Errorf("error %v; want %q", err, test.want)
			}
		})
	}
}

func FuzzStatus(f *testing.F) {
	f.Add([]byte(field(1, field(1, "d")+field(3, "x")+flag(4)) + field(3, field(1, "d")+field(4, "y"))))
	f.Fuzz(func(t *testing.T, text []byte) {
		status, err := parseStatus(text)
		if err != nil {
			return
		}
		log := newBuildLog(nil)
		log.takeStatus(status)
		if log.explain(errors.New("x")).Error() == "" {
			t.Error("no explanation")
		}
	})
}
