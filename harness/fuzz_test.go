package harness_test

import (
	"errors"
	"math"
	"os"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/harness"
)

// fuzz feeds a format with whatever comes: it never panics, and what it reads is
// sound.
func fuzz(f *testing.F, format string) {
	for path, of := range resultFiles(f) {
		if of == format {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		harness.Guess("results", text)
		benchmarks, err := harness.Read(format, text, harness.Options{File: "results", Unit: "ns"})
		if err != nil {
			checkFaults(t, err)
			return
		}
		if len(benchmarks) == 0 {
			t.Fatal("neither a benchmark nor a fault")
		}
		for _, b := range benchmarks {
			checkBenchmark(t, b)
		}
	})
}

// checkFaults wants faults with places.
func checkFaults(t *testing.T, err error) {
	var faults stopwatt.Faults
	if !errors.As(err, &faults) || len(faults) == 0 {
		t.Fatalf("error is no fault: %v", err)
	}
	for _, fault := range faults {
		if fault.Message == "" || fault.File != "results" || fault.Line < 0 || fault.Line > 0 && fault.Column < 1 {
			t.Fatalf("fault is %+v", fault)
		}
	}
}

// checkBenchmark wants figures that the database takes.
func checkBenchmark(t *testing.T, b stopwatt.Benchmark) {
	seen := map[string]bool{}
	for _, figure := range b.Figures {
		metric := figure.Metric
		switch {
		case metric.Name == "" || metric.Unit == "" || metric.Better == "":
			t.Fatalf("metric is %+v", metric)
		case seen[metric.Name]:
			t.Fatalf("metric %s is there twice", metric.Name)
		case figure.Absent != "" && (figure.Value != 0 || figure.Values != nil):
			t.Fatalf("figure is absent and there: %+v", figure)
		}
		seen[metric.Name] = true
		for _, v := range append(figure.Values, figure.Value) {
			if math.IsNaN(v) || math.Abs(v) > 1e100 {
				t.Fatalf("%s is %v", metric.Name, v)
			}
		}
	}
}

func FuzzCatch2(f *testing.F)          { fuzz(f, "catch2") }
func FuzzCriterion(f *testing.F)       { fuzz(f, "criterion") }
func FuzzCSV(f *testing.F)             { fuzz(f, "csv") }
func FuzzGo(f *testing.F)              { fuzz(f, "go") }
func FuzzGoogleBenchmark(f *testing.F) { fuzz(f, "google-benchmark") }
func FuzzHyperfine(f *testing.F)       { fuzz(f, "hyperfine") }
func FuzzJMH(f *testing.F)             { fuzz(f, "jmh") }
func FuzzJSON(f *testing.F)            { fuzz(f, "json") }
func FuzzK6(f *testing.F)              { fuzz(f, "k6") }
func FuzzNumber(f *testing.F)          { fuzz(f, "number") }
func FuzzOha(f *testing.F)             { fuzz(f, "oha") }
func FuzzPytestBenchmark(f *testing.F) { fuzz(f, "pytest-benchmark") }
func FuzzSiege(f *testing.F)           { fuzz(f, "siege") }
func FuzzVegeta(f *testing.F)          { fuzz(f, "vegeta") }
func FuzzWrk(f *testing.F)             { fuzz(f, "wrk") }
