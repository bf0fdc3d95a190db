package templates_test

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

var update = flag.Bool("update", false, "write the table of inputs into docs/gitlab.md")

const guide = "../docs/gitlab.md"

var fenced = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func TestThePipelinesOfTheGuideKeepGitLabsRules(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	blocks := fenced.FindAllStringSubmatch(string(text), -1)
	if len(blocks) < 6 {
		t.Errorf("only %d blocks of YAML were found", len(blocks))
	}
	for _, block := range blocks {
		configuration, faults := files(t).assemble(block[1])
		for _, fault := range append(faults, configuration.judge()...) {
			t.Errorf("%s\n%s", fault, block[1])
		}
	}
}

// tableOfInputs is the component's header as the guide has it, in its order.
func tableOfInputs(t *testing.T) string {
	t.Helper()
	head, _, _ := strings.Cut(files(t)[component], "\n---\n")
	var header struct {
		Spec struct{ Inputs yaml.MapSlice }
	}
	if err := yaml.Unmarshal([]byte(head), &header); err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| input | default | meaning |\n| --- | --- | --- |\n")
	for _, entry := range header.Spec.Inputs {
		fields, ok := entry.Value.(map[string]any)
		if !ok {
			t.Fatalf("input %v is no mapping", entry.Key)
		}
		fmt.Fprintf(&table, "| `%v` | %s | %v |\n", entry.Key, asCode(fields["default"]), fields["description"])
	}
	return table.String()
}

// asCode is a default as a table shows it.
func asCode(value any) string {
	if value == "" {
		return "empty"
	}
	return "`" + inText(value) + "`"
}

func TestTheGuideListsEveryInput(t *testing.T) {
	const from, to = "<!-- inputs -->\n", "<!-- end of inputs -->"
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), from)
	table, after, ok := strings.Cut(rest, to)
	if !ok {
		t.Fatalf("%s lacks the marks of the table of inputs", guide)
	}
	want := "\n" + tableOfInputs(t) + "\n"
	if *update {
		if err := os.WriteFile(guide, []byte(before+from+want+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != want {
		t.Errorf("the table of inputs is not the template's; go test ./templates -update writes it:\n%s", want)
	}
}
