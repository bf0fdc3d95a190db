package harness_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/harness"
)

// TestFilesOfRealShapesReadAsTheirToolsMeanThem keeps the shapes that were once
// refused or read wrongly: what is read of them, figure by figure.
func TestFilesOfRealShapesReadAsTheirToolsMeanThem(t *testing.T) {
	const jmh = `[{"benchmark": "b", "mode": "avgt", "threads": 1, "primaryMetric": {"score": 2, "scoreUnit": "s/op"}, "secondaryMetrics": {%s}}]`
	for name, test := range map[string]struct {
		format, file, text string
		want               []string
	}{
		"names that end as a GOMAXPROCS does, on one processor": {"go", "r", "BenchmarkA 1 1 ns/op\nBenchmarkB/utf-8 1 2 ns/op\nBenchmarkB/utf-16 1 3 ns/op\n",
			[]string{"A time 1e-09 s less", "B/utf-8 time 2e-09 s less", "B/utf-16 time 3e-09 s less"}},
		"names that end as a GOMAXPROCS does, with -cpu 1,2": {"go", "r", "BenchmarkC 1 4 ns/op\nBenchmarkA-8 1 1 ns/op\nBenchmarkA-8-2 1 2 ns/op\n",
			[]string{"C time 4e-09 s less", "A-8 time 1e-09 s less", "A-8/gomaxprocs=2 time 2e-09 s less"}},
		"events between the go command's own words": {"go", "r", "go: downloading m v1\n{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"BenchmarkA \\t\"}\n# p\n{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\" 1\\t 2 ns/op\\n\"}\n",
			[]string{"A time 2e-09 s less"}},
		"two units of time in a line": {"go", "r", "BenchmarkA 1 1 ns/op 2 ms/op 3 MB/s 4 B/s\n",
			[]string{"A time 1e-09 s less", "A ms/op 0.002 s less", "A B/s 3e+06 B/s more", "A go_B/s 4 B/s more"}},
		"a result without ns/op behind what the benchmark printed": {"go", "r", "BenchmarkA\nhello\n       1\t         7 B/op\t 2 allocs/op\n",
			[]string{"A B/op 7 B less", "A allocs/op 2 1 less"}},
		"words with a colon that a benchmark printed": {"go", "r", "BenchmarkA 1 1 ns/op\nseed: 5\nBenchmarkA 1 3 ns/op\n",
			[]string{"A time 2e-09 s less"}},
		"settings at the head that change": {"go", "r", "toolchain: a\nBenchmarkA 1 1 ns/op\ntoolchain: b\nBenchmarkA 1 3 ns/op\n",
			[]string{"A/toolchain=a time 1e-09 s less", "A/toolchain=b time 3e-09 s less"}},
		"words that begin as a benchmark does": {"go", "r", "Benchmarks 10 passed\nBenchmarkA 1 1 ns/op\n",
			[]string{"A time 1e-09 s less"}},
		"a profiler's dot in another encoding": {"jmh", "r", fmt.Sprintf(jmh, `"?gc.count": {"score": 3, "scoreUnit": "counts"}, "Â·gc.alloc.rate": {"score": 1, "scoreUnit": "MB/sec"}`),
			[]string{"b time 2 s less", "b gc.count 3 1 less", "b gc.alloc.rate 1.048576e+06 B/s neither"}},
		"an auxiliary counter that is named time": {"jmh", "r", fmt.Sprintf(jmh, `"time": {"score": 3, "scoreUnit": "s/op"}`),
			[]string{"b time 2 s less", "b jmh_time 3 s less"}},
		"a benchmark with one thread and with two": {"jmh", "r", `[{"benchmark": "b", "mode": "avgt", "threads": 1, "primaryMetric": {"score": 2, "scoreUnit": "s/op"}},
			{"benchmark": "b", "mode": "avgt", "threads": 2, "primaryMetric": {"score": 3, "scoreUnit": "s/op"}}]`,
			[]string{"b/threads=1 time 2 s less", "b/threads=2 time 3 s less"}},
		"the one parameter of old versions": {"hyperfine", "r", `{"results": [{"command": "a", "mean": 1, "parameter": "5"}, {"command": "a", "mean": 2, "parameter": "6"}]}`,
			[]string{"a/parameter=5 time 1 s less", "a/parameter=6 time 2 s less"}},
		"a character that no database keeps": {"hyperfine", "r", `{"results": [{"command": "a\u0000", "mean": 1}]}`,
			[]string{"a\uFFFD time 1 s less"}},
		"a sample of old versions": {"criterion", ".criterion/a/new/sample.json", `[[10, 20], [1000, 2000]]`,
			[]string{"a time 1e-07 s less"}},
		"a measurement that is no time": {"criterion", "r", "a                       time:   [1.0000 cycles 2.0000 cycles 3.0000 cycles]\n",
			[]string{"a measured 2 cycles neither"}},
		"a counter that is named time_cpu": {"google-benchmark", "r", `{"benchmarks": [{"name": "a", "real_time": 1, "cpu_time": 2, "time_unit": "s", "time_cpu": 3}]}`,
			[]string{"a time 1 s less", "a time_cpu 2 s less", "a google-benchmark_time_cpu 3 1 neither"}},
	} {
		t.Run(name, func(t *testing.T) {
			if guess := harness.Guess(test.file, []byte(test.text)); guess != test.format {
				t.Errorf("guessed %q", guess)
			}
			benchmarks, err := harness.Read(test.format, []byte(test.text), harness.Options{File: test.file})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, figuresOf(benchmarks)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// figuresOf writes each figure in a line: benchmark, metric, value, unit, better.
func figuresOf(benchmarks []stopwatt.Benchmark) []string {
	var lines []string
	for _, b := range benchmarks {
		for _, f := range b.Figures {
			lines = append(lines, fmt.Sprintf("%s %s %v %s %s", b.Label(), f.Metric.Name, f.Value, f.Metric.Unit, f.Metric.Better))
		}
	}
	return lines
}

func TestTheChangeToAnotherRunIsNoTime(t *testing.T) {
	text := `{"mean": {"point_estimate": -0.02}, "median": {"point_estimate": -0.03}}`
	_, err := harness.Read("criterion", []byte(text), harness.Options{File: "criterion/a/change/estimates.json"})
	if err == nil || !strings.Contains(err.Error(), "is the change to another run, not a time") {
		t.Errorf("error is %v", err)
	}
}

func TestUTF16ThatHoldsNULIsNoText(t *testing.T) {
	_, err := harness.Read("number", []byte("\xFF\xFE1\x00\x00\x00"), harness.Options{File: "r"})
	if err == nil || err.Error() != "r: is no text; write UTF-8" {
		t.Errorf("error is %v", err)
	}
}

func TestOneNameInTwoUnitsIsToldApart(t *testing.T) {
	text := `{"benchmark": "%s", "metric": "get", "unit": "%s", "better": "%s", "value": 1}` + "\n"
	all := fmt.Sprintf(text, "a", "1/s", "more") + fmt.Sprintf(text, "b", "s", "less") + fmt.Sprintf(text, "c", "s", "more") + fmt.Sprintf(text, "d", "ops/s", "more")
	benchmarks, err := harness.Read("json", []byte(all), harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"a get 1 1/s more", "b json_get 1 s less", "c json_get_s_more 1 s more", "d get 1 1/s more"}
	if diff := cmp.Diff(want, figuresOf(benchmarks)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(benchmarks[0].Notes) != 0 || len(benchmarks[1].Notes) != 1 {
		t.Errorf("notes are %q and %q", benchmarks[0].Notes, benchmarks[1].Notes)
	}
}
