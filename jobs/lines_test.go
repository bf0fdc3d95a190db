package jobs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLinesAreThoseOfTheNames(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what, text                 string
		implementations, workloads map[string]int
	}{
		{"a suite in blocks", "suite: s\nimplementations:\n  go: {image: a}\n  # a remark\n  rust:\n    image: b\nworkloads:\n\n  static:\n    http: {}\n",
			map[string]int{"go": 3, "rust": 5}, map[string]int{"static": 9}},
		{"a suite in one line", "{suite: s, implementations: {go: {}, rust: {}}, workloads: {a: {}}}",
			map[string]int{"go": 1, "rust": 1}, map[string]int{"a": 1}},
		{"Windows' ends of lines and a mark of byte order", "\xef\xbb\xbfsuite: s\r\nworkloads:\r\n  a: {}\r\n", map[string]int{}, map[string]int{"a": 3}},
		{"a key that is written twice", "workloads:\n  a: {}\n  a: {}\n", map[string]int{}, map[string]int{"a": 2}},
		{"no mapping", "workloads: [a, b]\n", map[string]int{}, map[string]int{}},
		{"no YAML", "a: [", map[string]int{}, map[string]int{}},
		{"nothing", "", map[string]int{}, map[string]int{}},
	} {
		implementations, workloads := Lines([]byte(row.text))
		if diff := cmp.Diff([]map[string]int{row.implementations, row.workloads}, []map[string]int{implementations, workloads}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.what, diff)
		}
	}
}

func TestTheNameOfASuiteIsReadWhateverElseIsWrong(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ what, text, want string }{
		{"a suite", "suite: s\n", "s"},
		{"a suite with faults", "suite: web-servers\nplan: {rounds: twelve}\nunknown: [1]\n", "web-servers"},
		{"a name that is none", "suite: [a]\n", ""},
		{"a name that no suite may have", "suite: '<!-- a'\n", ""},
		{"no name", "plan: {}\n", ""},
		{"no YAML", "suite: s # the servers\r\na: [", "s"},
		{"no YAML that names one elsewhere", "# suite: a\nx: [\n  suite: b\n", ""},
		{"no YAML, and a name that no suite may have", "suite: '<!-- a'\na: [", ""},
		{"nothing", "", ""},
	} {
		if name := Name([]byte(row.text)); name != row.want {
			t.Errorf("%s: %q, want %q", row.what, name, row.want)
		}
	}
}
