package harness_test

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/harness"
)

func TestUnitsBecomeBaseUnitsAtTheDoor(t *testing.T) {
	for _, test := range []struct {
		unit   string
		value  string
		want   float64
		base   string
		better stopwatt.Better
	}{
		{"ns", "30", 3e-8, "s", stopwatt.Less},
		{"ns/op", "30", 3e-8, "s", stopwatt.Less},
		{"µs", "2", 2e-6, "s", stopwatt.Less}, // U+00B5
		{"μs", "2", 2e-6, "s", stopwatt.Less}, // U+03BC
		{"us", "2", 2e-6, "s", stopwatt.Less},
		{"ms/op", "2", 2e-3, "s", stopwatt.Less},
		{"s", "2", 2, "s", stopwatt.Less},
		{"min", "2", 120, "s", stopwatt.Less},
		{"B", "7", 7, "B", stopwatt.Less},
		{"KB", "7", 7000, "B", stopwatt.Less},
		{"kB", "7", 7000, "B", stopwatt.Less},
		{"KiB", "7", 7168, "B", stopwatt.Less},
		{"MB", "7", 7e6, "B", stopwatt.Less},
		{"MiB", "1", 1048576, "B", stopwatt.Less},
		{"B/op", "7", 7, "B", stopwatt.Less},
		{"ops/s", "7", 7, "1/s", stopwatt.More},
		{"ops/ms", "7", 7000, "1/s", stopwatt.More},
		{"ops/min", "120", 2, "1/s", stopwatt.More},
		{"MB/s", "1", 1e6, "B/s", stopwatt.More},
		{"MiB/sec", "1", 1048576, "B/s", stopwatt.More},
		{"allocs/op", "3", 3, "1", stopwatt.Less},
		{"1", "3", 3, "1", stopwatt.Neither},
		{"%", "50", 0.5, "1", stopwatt.Neither},
		{"mJ", "5", 5e-3, "J", stopwatt.Less},
		{"J/s", "5", 5, "W", stopwatt.Less},
		{"GHz", "2", 2e9, "1/s", stopwatt.More},
		{"furlongs", "3", 3, "furlongs", stopwatt.Neither},
		{"ns/fortnight", "3", 3, "ns/fortnight", stopwatt.Neither},
		{"smoots/s", "3", 3, "smoots/s", stopwatt.Neither},
	} {
		t.Run(test.unit, func(t *testing.T) {
			text := fmt.Sprintf(`{"benchmark": "b", "metric": "m", "unit": %q, "value": %s}`, test.unit, test.value)
			figure := onlyFigure(t, "json", text, harness.Options{})
			if figure.Value != test.want || figure.Metric.Unit != test.base || figure.Metric.Better != test.better {
				t.Errorf("%s %s is %v %s, %s; want %v %s, %s", test.value, test.unit,
					figure.Value, figure.Metric.Unit, figure.Metric.Better, test.want, test.base, test.better)
			}
		})
	}
}

// onlyFigure reads a text that holds one figure.
func onlyFigure(t *testing.T, format, text string, options harness.Options) stopwatt.Figure {
	t.Helper()
	benchmarks, err := harness.Read(format, []byte(text), options)
	if err != nil {
		t.Fatal(err)
	}
	if len(benchmarks) != 1 || len(benchmarks[0].Figures) != 1 {
		t.Fatalf("read %v", benchmarks)
	}
	return benchmarks[0].Figures[0]
}

func TestAnUnknownUnitIsKeptAndNoted(t *testing.T) {
	for format, text := range map[string]string{
		"json": `{"benchmark": "b", "metric": "m", "unit": "smoots", "value": 1}`,
		"go":   "BenchmarkB 1 1 smoots\n",
		"csv":  "workload,metric,unit,value\nb,m,smoots,1\n",
	} {
		benchmarks, err := harness.Read(format, []byte(text), harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(benchmarks[0].Notes, " "); !strings.Contains(notes, `"smoots"`) {
			t.Errorf("%s: notes are %q", format, notes)
		}
	}
}

func TestWhatIsNoNumberIsAbsentAndTheOthersStand(t *testing.T) {
	for _, test := range []struct{ value, absent string }{
		{"NaN", "is NaN"},
		{`"NaN"`, "is NaN"},
		{"Infinity", "is Infinity"},
		{"-Infinity", "is -Infinity"},
		{`"+INF"`, "is +INF"},
		{"1e999", "is 1e999, more than any measurement"},
		{"-1e200", "is -1e200, more than any measurement"},
		{"null", "is null"},
		{"0", ""},
		{"-0.5", ""},
		{"1e-320", ""},
	} {
		t.Run(test.value, func(t *testing.T) {
			text := fmt.Sprintf(`[{"benchmark": "b", "metric": "m", "unit": "1", "value": %s},
				{"benchmark": "b", "metric": "other", "unit": "1", "value": 7}]`, test.value)
			benchmarks, err := harness.Read("json", []byte(text), harness.Options{})
			if err != nil {
				t.Fatal(err)
			}
			figures := benchmarks[0].Figures
			if figures[0].Absent != test.absent || figures[1].Value != 7 {
				t.Errorf("figures are %+v", figures)
			}
		})
	}
}

func TestWhatIsWrongIsAFaultWithItsPlace(t *testing.T) {
	for name, test := range map[string]struct{ format, text, want string }{
		"an empty file":                  {"jmh", " \r\n", "r: is empty"},
		"another format":                 {"jmh", `{"results": []}`, "r:1:1: is an object; want JMH's list of results"},
		"no benchmark":                   {"jmh", `[]`, "r: holds no benchmark; is it cut off, or of another format?"},
		"binary":                         {"go", "Benchmark\x00", "r: is no text; write UTF-8"},
		"JSON that is cut off":           {"hyperfine", "{\"results\": [\n{\"command\": \"a", "r:2:15: the text ends in the middle of a JSON value; is it cut off?"},
		"JSON that goes on":              {"vegeta", "{}\n{}", "r:2:1: a second JSON value begins here; want one"},
		"a field that is missing":        {"hyperfine", "{\"results\": [\n{\"command\": \"a\", \"mean\": 1},\n{\"command\": \"b\"}]}", `r:3:1: results[1] has no "mean"`},
		"a text for a number":            {"hyperfine", `{"results": [{"command": "a", "mean": "fast"}]}`, "r:1:39: results[0].mean is a text; want a number"},
		"an object for a number":         {"pytest-benchmark", `{"benchmarks": [{"fullname": "a", "stats": {"mean": {}}}]}`, "benchmarks[0].stats.mean is an object; want a number"},
		"a name twice in an object":      {"oha", `{"summary": {}, "summary": {}}`, `r:1:17: the name "summary" is there twice`},
		"a benchmark twice":              {"hyperfine", `{"results": [{"command": "a", "mean": 1}, {"command": "a", "mean": 2}]}`, `r: benchmark "a" is there twice; give one of them another name`},
		"a metric twice":                 {"json", `[{"benchmark": "a", "unit": "s", "value": 1}, {"benchmark": "a", "unit": "ms", "value": 1}]`, `benchmark "a" has the metric "time" twice`},
		"a metric in another unit":       {"json", `{"benchmark": "a", "metric": "time", "unit": "MiB", "value": 1}`, `the metric time is measured in s, not in "B"; name it otherwise`},
		"a metric in another direction":  {"json", `{"benchmark": "a", "metric": "time", "unit": "s", "better": "more", "value": 1}`, "of the metric time, less is better, not more; name it otherwise"},
		"an unknown key":                 {"json", `{"benchmark": "a", "unit": "s", "valu": 1}`, `valu unknown key "valu"; there are`},
		"no number at all":               {"json", `{"benchmark": "a", "unit": "s"}`, `has neither a number under "value" nor any under "values"`},
		"no unit":                        {"json", `{"benchmark": "a", "metric": "m", "value": 1}`, `has no "unit"`},
		"no direction":                   {"json", `{"benchmark": "a", "unit": "s", "better": "faster", "value": 1}`, `better "faster" is no direction; write less, more or neither`},
		"deep nesting":                   {"json", strings.Repeat("[", 100_000), "r:1:102: values are nested more than 100 deep"},
		"deep elements":                  {"catch2", "<Catch>" + strings.Repeat("<a>", 1000), "elements are nested more than 100 deep"},
		"no JSON":                        {"k6", "<html>", `r:1:1: "<html>" is no JSON`},
		"a line of go that is cut off":   {"go", "BenchmarkA-8 100 12 ns/op\nBenchmarkB-8 100 12", "r:2:1: missing units"},
		"a name of go that is cut off":   {"go", "BenchmarkA-8 100 12 ns/op\nBenchmarkB-8 ", "r:2:1: missing iteration count"},
		"no result of go":                {"go", "PASS\n", "r: holds no benchmark"},
		"XML that is cut off":            {"catch2", "<Catch2TestRun>\n<TestCase", "r:2:10: XML syntax error on line 2: unexpected EOF"},
		"XML of something else":          {"catch2", "<html></html>", "r:1:1: begins with <html>; want Catch2's <Catch2TestRun>"},
		"a benchmark without mean":       {"catch2", "<Catch><BenchmarkResults name=\"b\">\n</BenchmarkResults></Catch>", `r:1:8: benchmark "b" has no <mean>; was the run broken off?`},
		"two numbers":                    {"number", "1\n2\n", "r:1:1: want one number and nothing else; here are 2 words"},
		"no number":                      {"number", "fast", `r:1:1: "fast" is no number`},
		"Go's own number":                {"number", "0x10", `"0x10" is no number`},
		"siege that is cut off":          {"siege", "Transactions: 5 hits\nElapsed time: 1.00 secs\n", `has no "Failed transactions"; is siege's summary cut off?`},
		"wrk that is cut off":            {"wrk", "  5 requests in 1.00s, 1.00KB read\n", `is wrk's summary cut off?`},
		"a unit that is no time":         {"google-benchmark", `{"benchmarks": [{"name": "a", "real_time": 1, "cpu_time": 1, "time_unit": "kg"}]}`, `benchmarks[0].time_unit "kg" is no unit of time`},
		"a column that is missing":       {"csv", "workload,value\na,1\n", `r:1:1: has no column "unit"`},
		"a column that is there twice":   {"csv", "workload,unit,value,value\n", `r:1:1: the column "value" is there twice`},
		"a row that is too short":        {"csv", "workload,unit,value\na,s\n", "r:2:1: has 2 columns; the first line has 3"},
		"a row without a number":         {"csv", "workload,unit,value\na,s,fast\n", `r:2:1: "fast" in the column value is no number`},
		"a row that is there twice":      {"csv", "workload,unit,value\na,s,1\na,s,2\n", `r:3:1: time of "a" stands in line 2 already; a column "repetition" tells repetitions apart`},
		"a quotation mark":               {"csv", "workload,unit,value\n\"a,s,1\n", "extraneous or missing \" in quoted-field"},
		"samples without iterations":     {"criterion", `{"iters": [1, 2], "times": [5]}`, "has 1 times of 2 iters"},
		"a line of libtest, cut off":     {"criterion", "test a ... bench:  12", "r:1:1: is cut off"},
		"a summary that stands twice":    {"siege", "Transactions: 5 hits\nTransactions: 6 hits\n", "r:2:1: a second summary begins here; want one"},
		"a metric of k6 without values":  {"k6", `{"metrics": {"vus": 3}}`, "metrics.vus is a number; want an object with a metric's values"},
		"a second fault and a third one": {"csv", "workload,unit,value\na,s,x\nb,s,y\n", `r:3:1: "y" in the column value is no number`},
	} {
		t.Run(name, func(t *testing.T) {
			benchmarks, err := harness.Read(test.format, []byte(test.text), harness.Options{File: "r"})
			var faults stopwatt.Faults
			if !errors.As(err, &faults) || benchmarks != nil {
				t.Fatalf("read %v, %v; want faults", benchmarks, err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("faults are\n%v\nwant\n%s", err, test.want)
			}
		})
	}
}

func TestAFileLargerThanTheBoundIsAFault(t *testing.T) {
	_, err := harness.Read("number", make([]byte, harness.MaxBytes+1), harness.Options{File: "r"})
	if err == nil || err.Error() != "r: is larger than 64 MiB" {
		t.Errorf("error is %v", err)
	}
}

func TestTheNumberOfFaultsIsBounded(t *testing.T) {
	text := "workload,unit,value\n" + strings.Repeat("a,s,x\n", 10_000)
	_, err := harness.Read("csv", []byte(text), harness.Options{})
	var faults stopwatt.Faults
	if !errors.As(err, &faults) || len(faults) != 20 {
		t.Errorf("there are %d faults, want 20", len(faults))
	}
}

func TestEncodingsAndLineEndsChangeNothing(t *testing.T) {
	plain := "goos: linux\npkg: a/b\nBenchmarkA/n=5-8 \t 100 \t 12.5 ns/op\nPASS\n"
	want, err := harness.Read("go", []byte(plain), harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	units := utf16.Encode([]rune("\ufeff" + plain))
	little, big := make([]byte, 0), make([]byte, 0)
	for _, u := range units {
		little, big = append(little, byte(u), byte(u>>8)), append(big, byte(u>>8), byte(u))
	}
	for name, text := range map[string][]byte{
		"a byte order mark":     []byte("\ufeff" + plain),
		"CRLF":                  []byte(strings.ReplaceAll(plain, "\n", "\r\n")),
		"UTF-16, little endian": little,
		"UTF-16, big endian":    big,
	} {
		got, err := harness.Read("go", text, harness.Options{})
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, err, diff)
		}
		if guess := harness.Guess("results", text); guess != "go" {
			t.Errorf("%s: guessed %q", name, guess)
		}
	}
}

func TestWhatAProgramSaysBeforeItsJSONIsSkipped(t *testing.T) {
	text := "Benchmark 1: true\n  Time (mean ± σ): 0.6 ms\n[warn] outliers\n{\n  \"results\": [{\"command\": \"true\", \"mean\": 1}]}\n"
	if guess := harness.Guess("out", []byte(text)); guess != "hyperfine" {
		t.Errorf("guessed %q", guess)
	}
	if figure := onlyFigure(t, "hyperfine", text, harness.Options{}); figure.Value != 1 {
		t.Errorf("read %v", figure)
	}
}

func TestNamesAreStrippedAndMayNotCollide(t *testing.T) {
	text := `{"results": [{"command": "rholangn.ParBench.nestedAdd", "mean": 1}, {"command": "rholang.ParBench.nestedSort", "mean": 1}]}`
	options := harness.Options{File: "r", Strip: regexp.MustCompile(`^rholangn?\.ParBench\.`)}
	benchmarks, err := harness.Read("hyperfine", []byte(text), options)
	if err != nil {
		t.Fatal(err)
	}
	if benchmarks[0].Name != "nestedAdd" || benchmarks[1].Name != "nestedSort" {
		t.Errorf("names are %q and %q", benchmarks[0].Name, benchmarks[1].Name)
	}
	options.Strip = regexp.MustCompile(`\.nested.*|^rholangn?`)
	_, err = harness.Read("hyperfine", []byte(text), options)
	want := `r: benchmarks "rholangn.ParBench.nestedAdd" and "rholang.ParBench.nestedSort" would both be named ".ParBench"; strip less of their names`
	if err == nil || err.Error() != want {
		t.Errorf("error is %v", err)
	}
}

func TestRepeatedLinesOfGoAreIterations(t *testing.T) {
	figure := onlyFigure(t, "go", "BenchmarkA 1 30 ns/op\nBenchmarkA 1 40 ns/op\n", harness.Options{})
	if diff := cmp.Diff([]float64{3e-8, 4e-8}, figure.Values); diff != "" || figure.Value != 3.5e-8 {
		t.Errorf("read %v (-want +got)\n%s", figure.Value, diff)
	}
}

func TestSettingsOfGoAreParametersWhereTheyDiffer(t *testing.T) {
	text := "goos: linux\npkg: a\nBenchmarkA 1 1 ns/op\npkg: b\nBenchmarkA 1 2 ns/op\n"
	benchmarks, err := harness.Read("go", []byte(text), harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []stopwatt.Param{{Name: "pkg", Value: "b"}}
	if len(benchmarks) != 2 || cmp.Diff(want, benchmarks[1].Params) != "" {
		t.Errorf("read %+v", benchmarks)
	}
}

func TestDirectionsOfGoAreThoseOfItsUnitLines(t *testing.T) {
	figure := onlyFigure(t, "go", "Unit smoots better=higher\nBenchmarkA 1 1 smoots\n", harness.Options{})
	if figure.Metric.Better != stopwatt.More {
		t.Errorf("better is %s", figure.Metric.Better)
	}
}

func TestOldGoogleBenchmarkAggregatesAreNoRepetitions(t *testing.T) {
	row := `{"name": "A%s", "iterations": 9, "real_time": %d, "cpu_time": 1, "time_unit": "ms"}`
	var rows []string
	for suffix, time := range map[string]int{"": 10, "_mean": 90, "_median": 91, "_stddev": 92} {
		rows = append(rows, fmt.Sprintf(row, suffix, time))
	}
	benchmarks, err := harness.Read("google-benchmark", []byte(`{"benchmarks": [`+strings.Join(rows, ",")+`]}`), harness.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(benchmarks) != 1 || benchmarks[0].Figures[0].Value != 0.01 || len(benchmarks[0].Figures[0].Values) != 1 {
		t.Errorf("read %+v", benchmarks)
	}
}

func TestSiegeInMillisecondsIsToldByItsConcurrency(t *testing.T) {
	const form = `{"transactions": 1000, "availability": 100.00, "elapsed_time": 10.00, "data_transferred": 1.00, "response_time": %s,
		"transaction_rate": 100.00, "throughput": 0.10, "concurrency": 2.00, "failed_transactions": 0, "longest_transaction": %s, "shortest_transaction": 0}`
	for written, longest := range map[string]string{"0.02": "0.05", "20.00": "50.00"} {
		benchmarks, err := harness.Read("siege", fmt.Appendf(nil, form, written, longest), harness.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range benchmarks[0].Figures {
			want, looked := map[string]float64{"latency_mean": 0.02, "latency_max": 0.05}[f.Metric.Name]
			if looked && math.Abs(f.Value-want) > 1e-9 {
				t.Errorf("%s: %s is %v", written, f.Metric.Name, f.Value)
			}
		}
	}
}

func TestAnUnknownFormatNamesTheKnownOnes(t *testing.T) {
	_, err := harness.Read("jhm", []byte("[]"), harness.Options{})
	if err == nil || !strings.Contains(err.Error(), `there is no format "jhm"; there are catch2, criterion`) {
		t.Errorf("error is %v", err)
	}
}
