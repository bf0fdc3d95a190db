package jobs

import (
	"io/fs"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"gitlab.com/stopwatt/stopwatt"
)

func TestStarterIsASuiteThatPasses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		found Found
		want  string // suite, baseline, port, implementations
	}{
		{"two folders", Found{"servers", []FoundFolder{{"go", 0}, {"rust", 3000}}}, "servers go 3000 go=go rust=rust"},
		{"nothing", Found{"servers", nil}, "servers server 8080 server=registry.example.org/team/server:1.0"},
		{"the suite's own folder", Found{"servers", []FoundFolder{{".", 80}}}, "servers servers 80 servers=."},
		{"names that need quotes", Found{"my suite: #1", []FoundFolder{{"a b", 1}, {"{c}", 1}, {"1", 1}, {"null", 1}, {"é", 1}, {"-d", 1}}},
			"my-suite-1 a-b 1 a-b=a b c={c} 1=1 null=null my-suite-1=é d=-d"},
		{"names that are no names", Found{"", []FoundFolder{{"é", 0}}}, "suite server 8080 server=é"},
		{"one name in two folders", Found{"s", []FoundFolder{{"a/go", 1}, {"b/go", 1}, {"../go", 1}}}, "s go 1 go=a/go go-2=b/go go-3=../go"},
		{"a folder that no suite can name", Found{"s", []FoundFolder{{"a\nb", 1}, {`a\b`, 1}, {"/a", 1}}}, "s server 8080 server=registry.example.org/team/server:1.0"},
		{"a folder that cannot be seen", Found{"s", []FoundFolder{{"\U000a9d40", 0}}}, "s s 8080 s=\U000a9d40"},
		{"a long name", Found{strings.Repeat("a", 70), nil}, strings.Repeat("a", 60) + " server 8080 server=registry.example.org/team/server:1.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			text := Starter(test.found)
			suite, err := Read("stopwatt.yml", text, everywhere{}, Options{Profile: "short"})
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if got := told(suite); got != test.want {
				t.Errorf("got  %s\nwant %s\n%s", got, test.want, text)
			}
		})
	}
}

// everywhere are files of which each name exists: a Dockerfile is a file, all
// others are folders.
type everywhere struct{}

func (everywhere) ReadFile(name string) ([]byte, error) { return nil, fs.ErrNotExist }

func (everywhere) Stat(name string) (fs.FileInfo, error) {
	files := fstest.MapFS{"folder/Dockerfile": {}}
	if strings.HasSuffix(name, "Dockerfile") {
		return files.Stat("folder/Dockerfile")
	}
	return files.Stat("folder")
}

// told is what a starter decides: suite, baseline, port, implementations.
func told(suite stopwatt.Suite) string {
	words := []string{suite.Name, suite.Baseline, strconv.Itoa(suite.Workloads[0].HTTP.Port)}
	for _, implementation := range suite.Implementations {
		from := implementation.Image
		if implementation.Build != nil {
			from = implementation.Build.Context
		}
		words = append(words, implementation.Name+"="+from)
	}
	return strings.Join(words, " ")
}

func TestStarterReadsWell(t *testing.T) {
	t.Parallel()
	golden(t, "testdata/starter.yml", string(Starter(Found{"servers", []FoundFolder{{"go", 8080}, {"rust", 0}}})))
	golden(t, "testdata/starter-ports.yml", string(Starter(Found{"servers", []FoundFolder{{"go", 8080}, {"rust", 3000}}})))
	golden(t, "testdata/starter-empty.yml", string(Starter(Found{"servers", nil})))
}

func TestExposed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, dockerfile string
		want             int
	}{
		{"a port", "FROM a\nEXPOSE 8080\n", 8080},
		{"lower case and a protocol", "from a\nexpose 80/tcp", 80},
		{"the first of several", "FROM a\nEXPOSE 1 2\nEXPOSE 3\n", 1},
		{"UDP is no port for HTTP", "FROM a\nEXPOSE 53/udp 80/TCP\n", 80},
		{"a range", "FROM a\nEXPOSE 8000-8010\n", 8000},
		{"a continued line with a comment in it", "FROM a\nEXPOSE \\\n# why\n  8080\n", 8080},
		{"a continued last line", "FROM a\nEXPOSE 80 \\", 80},
		{"CRLF", "FROM a\r\nEXPOSE 80\r\n", 80},
		{"the last stage", "FROM a AS b\nEXPOSE 1\nFROM c\nEXPOSE 2\n", 2},
		{"a stage that inherits it", "FROM a AS b\nEXPOSE 1\nFROM b\nRUN c\n", 1},
		{"a comment", "FROM a\n# EXPOSE 80\n", 0},
		{"a variable", "ARG PORT=80\nFROM a\nEXPOSE $PORT\n", 0},
		{"no such port", "FROM a\nEXPOSE 70000 0\n", 0},
		{"none", "FROM a\n", 0},
		{"nothing", "", 0},
		{"a lone backslash", "\\\n\\", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if port, ok := Exposed([]byte(test.dockerfile)); port != test.want || ok != (test.want != 0) {
				t.Errorf("got %d, %t, want %d", port, ok, test.want)
			}
		})
	}
}

func FuzzExposed(f *testing.F) {
	f.Add([]byte("FROM a\nEXPOSE \\\n 80/tcp"))
	f.Fuzz(func(t *testing.T, dockerfile []byte) {
		if port, ok := Exposed(dockerfile); ok != (port >= 1 && port <= 65535) {
			t.Errorf("port %d, %t", port, ok)
		}
	})
}

func FuzzStarter(f *testing.F) {
	f.Add("servers", "go", "../rust", 80)
	f.Fuzz(func(t *testing.T, suite, one, other string, port int) {
		port &= 0xffff
		text := Starter(Found{suite, []FoundFolder{{one, port}, {other, 0}}})
		if _, err := Read("stopwatt.yml", text, everywhere{}, Options{}); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	})
}

func TestStarterPipelineQuotesOddPaths(t *testing.T) {
	for path, want := range map[string]string{
		"stopwatt.yml":           "      suite: stopwatt.yml\n",
		"a bench/stopwatt.yml":   "      suite: \"a bench/stopwatt.yml\"\n",
		"true\n- x/stopwatt.yml": `      suite: "true\n- x/stopwatt.yml"` + "\n",
		"1/stopwatt.yml":         "      suite: \"1/stopwatt.yml\"\n",
		"bench/arm/stopwatt.yml": "      suite: bench/arm/stopwatt.yml\n",
	} {
		if text := string(StarterPipeline(path)); !strings.Contains(text, want) {
			t.Errorf("the pipeline of %q lacks %q:\n%s", path, want, text)
		}
	}
}
