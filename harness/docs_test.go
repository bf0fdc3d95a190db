package harness_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt/harness"
)

// document is the page that says how results are read.
func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../docs/harness.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheDocumentNamesEveryFormat(t *testing.T) {
	text := document(t)
	for _, name := range harness.Names() {
		if !strings.Contains(text, "\n| `"+name+"` |") {
			t.Errorf("docs/harness.md has no row for %s", name)
		}
	}
}

func TestTheDocumentsExamplesAreReadAsItSays(t *testing.T) {
	want := map[string]string{
		"json": `nestedAdd depth=100
  time [s, less] 3e-08 of [3e-08 3.1e-08 2.9e-08]
  collisions [1, less] 4
`,
		"csv": `cpustrain machine=Ryzen 5 3600 implementation=cwa
  time [s, less] 2.392
cpustrain machine=Ryzen 5 3600 implementation=pahi
  time [s, less] 0.0177
`,
	}
	examples := regexp.MustCompile("(?s)<!-- example: (\\w+) -->\n```\\w+\n(.*?)```").FindAllStringSubmatch(document(t), -1)
	if len(examples) != len(want) {
		t.Fatalf("there are %d examples, want %d", len(examples), len(want))
	}
	for _, example := range examples {
		benchmarks, err := harness.Read(example[1], []byte(example[2]), harness.Options{})
		if err != nil || show(benchmarks) != want[example[1]] {
			t.Errorf("%s is read as\n%s%v", example[1], show(benchmarks), err)
		}
	}
}
