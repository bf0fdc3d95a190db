package harness_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/harness"
)

// read reads a text that is right.
func read(t *testing.T, format, text string) []stopwatt.Benchmark {
	t.Helper()
	benchmarks, err := harness.Read(format, []byte(text), harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return benchmarks
}

func TestColumnsOfACSVSayWhoseTheFiguresAre(t *testing.T) {
	table := "workload,machine,implementation,unit,value\nfib,a,go,s,1\nfib,a,rust,s,2\nfib,b,go,s,3\n"
	sheets, err := harness.Lay([]harness.Results{{File: "t.csv", Format: "csv", Machine: "other", Benchmarks: read(t, "csv", table)}})
	if err != nil {
		t.Fatal(err)
	}
	var cases []string
	for _, sheet := range sheets {
		for _, trial := range sheet.Trials {
			cases = append(cases, sheet.Machine+": "+trial.Case.String())
		}
	}
	want := []string{"a: go/fib", "a: rust/fib", "b: go/fib"}
	if diff := cmp.Diff(want, cases); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestABenchmarkIsATrialWithItsIterations(t *testing.T) {
	text := `[{"benchmark": "fib", "params": {"n": 30, "m": "x"}, "unit": "ms", "values": [1, 3]},
		{"benchmark": "fib", "params": {"n": 30, "m": "x"}, "metric": "smell", "unit": "1", "value": "NaN"}]`
	sheets, err := harness.Lay([]harness.Results{{Format: "json", Implementation: "go", Machine: "m", Benchmarks: read(t, "json", text)}})
	if err != nil {
		t.Fatal(err)
	}
	want := stopwatt.Trial{
		PlannedTrial: stopwatt.PlannedTrial{Round: 1, Case: stopwatt.Case{Implementation: "go", Workload: "fib/n=30,m=x"}, Revision: stopwatt.Head},
		Position:     1,
		Status:       stopwatt.Valid,
		Measurements: []stopwatt.Measurement{{Metric: "time", Value: 0.002}},
		Repetitions:  []stopwatt.Repetitions{{Metric: "time", Values: []float64{0.001, 0.003}}},
		Absent:       []stopwatt.Absence{{Metric: "smell", Reason: "is NaN"}},
		Defines:      []stopwatt.Metric{{Name: "smell", Unit: "1", Better: stopwatt.Neither, What: "As json reports it."}},
	}
	if diff := cmp.Diff([]stopwatt.Trial{want}, sheets[0].Trials); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestACaseThatTwoFilesHaveIsAnError(t *testing.T) {
	b := read(t, "number", "1")
	b[0].Name = "fib"
	_, err := harness.Lay([]harness.Results{
		{File: "a.txt", Implementation: "go", Benchmarks: b},
		{File: "b.txt", Implementation: "go", Benchmarks: b},
	})
	if err == nil || err.Error() != "b.txt: go/fib is there already, in a.txt" {
		t.Errorf("error is %v", err)
	}
}
