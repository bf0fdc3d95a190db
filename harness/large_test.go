package harness_test

import (
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt/harness"
)

// Texts that are made to cost much are refused before they do.
func TestTextsThatWouldCostMuchAreRefused(t *testing.T) {
	const many = 1 << 20
	for name, test := range map[string]struct{ format, text, want string }{
		"a table with a million columns": {
			"csv", "workload,unit,value" + strings.Repeat(",c", many) + "\n", "has 1048579 columns; 200 is the most",
		},
		"a column with a long name": {
			"csv", "workload,unit,value," + strings.Repeat("c", many) + "\na,s,1,1\n", "is longer than 4096 bytes",
		},
		"a section with a long name": {
			"catch2", `<Catch><Section name="` + strings.Repeat("c", many) + `"><BenchmarkResults name="a">`, "is longer than 4096 bytes",
		},
		"a benchmark with a long name": {
			"json", `{"benchmark": "` + strings.Repeat("c", many) + `", "unit": "s", "value": 1}`, "is longer than 4096 bytes",
		},
		"a row with many counters": {
			"google-benchmark", `{"benchmarks": [{"name": "a"` + counters(300) + `}]}`, "benchmarks[0] has 301 fields; 200 is the most",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := harness.Read(test.format, []byte(test.text), harness.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error is %.200v", err)
			}
		})
	}
}

// counters are members of a JSON object.
func counters(n int) string {
	var text strings.Builder
	for i := range n {
		text.WriteString(`,"c` + strings.Repeat("c", i) + `":1`)
	}
	return text.String()
}

func TestSettingsThatABenchmarkPrintsAreBounded(t *testing.T) {
	var text strings.Builder
	for i := range 1000 {
		text.WriteString("k" + strings.Repeat("k", i) + ": " + strings.Repeat("v", 1000) + "\n")
	}
	text.WriteString("BenchmarkA 1 1 ns/op\n")
	if figure := onlyFigure(t, "go", text.String(), harness.Options{}); figure.Value != 1e-9 {
		t.Errorf("read %v", figure.Value)
	}
}
