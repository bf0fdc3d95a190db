package jobs

import (
	"fmt"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

var servers = stopwatt.Suite{
	Implementations: []stopwatt.Implementation{{Name: "go"}, {Name: "rust"}, {Name: "rust-arena"}},
	Workloads:       []stopwatt.Workload{{Name: "csv"}, {Name: "static"}},
}

func TestSelect(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		globs []string
		want  string
	}{
		{"no globs choose all", nil, "go/csv rust/csv rust-arena/csv go/static rust/static rust-arena/static"},
		{"one case", []string{"go/csv"}, "go/csv"},
		{"all workloads of one", []string{"rust/*"}, "rust/csv rust/static"},
		{"a beginning", []string{"rust*/csv"}, "rust/csv rust-arena/csv"},
		{"some characters", []string{"[a-q]*/s?atic"}, "go/static"},
		{"the suite's order, and no case twice", []string{"*/static", "go/*", "go/static"}, "go/csv go/static rust/static rust-arena/static"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cases, err := Select(servers, test.globs)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Trim(fmt.Sprint(cases), "[]"); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestSelectTakesAWorkloadWithAllItsParams(t *testing.T) {
	t.Parallel()
	suite := stopwatt.Suite{
		Implementations: []stopwatt.Implementation{{Name: "go"}},
		Workloads:       []stopwatt.Workload{{Name: "fib/n=20"}, {Name: "fib/n=25"}, {Name: "json"}},
	}
	for glob, want := range map[string]string{
		"go/fib":      "go/fib/n=20 go/fib/n=25",
		"go/fib/n=25": "go/fib/n=25",
		"go/*/n=2?":   "go/fib/n=20 go/fib/n=25",
		"*/*":         "go/fib/n=20 go/fib/n=25 go/json",
	} {
		cases, err := Select(suite, []string{glob})
		if got := strings.Trim(fmt.Sprint(cases), "[]"); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", glob, got, err, want)
		}
	}
}

func TestSelectSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	const there = "implementations go, rust, rust-arena; workloads csv, static"
	for _, test := range []struct{ name, glob, want string }{
		{"nothing matches", "zig/*", `case "zig/*" matches nothing; there are: ` + there},
		{"half of it matches", "go/json", `case "go/json" matches nothing; there are: ` + there},
		{"no workload", "go", `case "go" names no workload; write IMPLEMENTATION/WORKLOAD, like "go/*"`},
		{"nothing", "", `case "" names no workload; write IMPLEMENTATION/WORKLOAD, like "/*"`},
		{"malformed", "go/[", `case "go/[" is malformed; write * for any text, ? for any character, [a-c] for one of some`},
		{"malformed behind what does not match", "zig/x[", `case "zig/x[" is malformed; write * for any text, ? for any character, [a-c] for one of some`},
		{"a terminal's escape", "\x1b[2J/x", `case "\x1b[2J/x" is malformed; write * for any text, ? for any character, [a-c] for one of some`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			cases, err := Select(servers, []string{"go/csv", test.glob})
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, %v, want %s", cases, err, test.want)
			}
		})
	}
}
