package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// gridsText writes grids for a terminal of 80 columns.
func gridsText(t *testing.T, results stopwatt.Results, metrics []stopwatt.Metric, o Options) string {
	t.Helper()
	g, err := GridsOf(results.Run, contrastOf(results, metrics), o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := g.Terminal(&out, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// imported are figures that somebody else has published.
func imported() stopwatt.Results {
	results := types()
	results.Run.Imported, results.Run.Machine = true, stopwatt.Machine{Name: "AMD Ryzen 7 3700U", Named: true}
	results.Run.Source, results.Run.Baseline = "rholang-types.csv", "imperative"
	return results
}

func TestGrids(t *testing.T) {
	t.Parallel()
	seconds, _ := stopwatt.MetricNamed("time")
	single := []stopwatt.Metric{seconds}
	good, _ := servers(10)
	bad := first(hostile())
	one := harnessed()
	one.Metrics = nil
	one.Cases, one.Run.Settings.Workloads = one.Cases[:1], one.Run.Settings.Workloads[:1]
	for _, test := range []struct {
		file    string
		results stopwatt.Results
		metrics []stopwatt.Metric
		options Options
	}{
		{"grids-types-value.txt", imported(), single, Options{}},
		{"grids-types-value-ns.txt", imported(), single, Options{Unit: "ns"}},
		{"grids-types-ratio.txt", imported(), single, Options{As: AsRatio}},
		{"grids-types-times.txt", imported(), single, Options{As: AsTimes}},
		{"grids-types-percent-transposed.txt", imported(), single, Options{As: AsPercent, Transpose: true}},
		{"grids-servers-value.txt", good, DefaultMetrics(good)[:3], Options{}},
		{"grids-one-workload.txt", one, DefaultMetrics(one), Options{}},
		{"grids-hostile-value.txt", bad, DefaultMetrics(bad)[:2], Options{}},
	} {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			text := gridsText(t, test.results, test.metrics, test.options)
			for line := range strings.Lines(text) {
				if width(strings.TrimRight(line, "\n")) > 80 {
					t.Errorf("wider than the terminal: %s", line)
				}
			}
			golden(t, test.file, []byte(text))
		})
	}
}

func TestGridsInOtherForms(t *testing.T) {
	t.Parallel()
	seconds, _ := stopwatt.MetricNamed("time")
	for name, results := range map[string]stopwatt.Results{"types": imported(), "hostile": first(hostile())} {
		g, err := GridsOf(results.Run, contrastOf(results, []stopwatt.Metric{seconds}), Options{As: AsRatio})
		if err != nil {
			t.Fatal(err)
		}
		for file, write := range map[string]func(*bytes.Buffer) error{
			"md":   func(b *bytes.Buffer) error { return g.Markdown(b) },
			"csv":  func(b *bytes.Buffer) error { return g.CSV(b) },
			"json": func(b *bytes.Buffer) error { return g.JSON(b) },
			"html": func(b *bytes.Buffer) error { return g.HTML(b) },
		} {
			t.Run(name+"."+file, func(t *testing.T) {
				t.Parallel()
				var out bytes.Buffer
				if err := write(&out); err != nil {
					t.Fatal(err)
				}
				golden(t, fmt.Sprintf("grids-%s.%s", name, file), out.Bytes())
			})
		}
	}
}

func TestGridsInCSVAndJSONHoldTheSameNumbers(t *testing.T) {
	t.Parallel()
	seconds, _ := stopwatt.MetricNamed("time")
	results := imported()
	g, err := GridsOf(results.Run, contrastOf(results, []stopwatt.Metric{seconds}), Options{As: AsPercent})
	if err != nil {
		t.Fatal(err)
	}
	var lines, document bytes.Buffer
	if err := g.CSV(&lines); err != nil {
		t.Fatal(err)
	}
	if err := g.JSON(&document); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&lines).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Grids []struct {
			Rows []struct{ Values []*float64 }
		}
	}
	if err := json.Unmarshal(document.Bytes(), &read); err != nil {
		t.Fatal(err)
	}
	for r, row := range read.Grids[0].Rows {
		for v, value := range row.Values {
			want := ""
			if value != nil {
				want = exact(*value)
			}
			if got := records[r+1][3+v]; got != want {
				t.Errorf("row %d, column %d: %s in CSV, %s in JSON", r, v, got, want)
			}
		}
	}
	if got := records[4][len(records[4])-1]; got != "" {
		t.Errorf("600 ns against 0 is %s in CSV", got)
	}
}

func TestMachinesSideBySide(t *testing.T) {
	t.Parallel()
	seconds, _ := stopwatt.MetricNamed("time")
	c := stopwatt.MachineContrast{
		Implementation: "pahi", Baseline: "cwa", Metric: seconds, Implementations: []string{"cwa", "pahi-no-cache", "pahi"},
		Runs: []stopwatt.Run{
			{Suite: "wasm", ID: 4, Machine: stopwatt.Machine{Name: "Ryzen 5 3600", Named: true}, Imported: true, Source: "pahi.csv"},
			{Suite: "wasm", ID: 5, Machine: stopwatt.Machine{Name: "Intel Xeon E5-1650", Named: true}, Imported: true, Source: "pahi.csv"},
		},
		Arithmetic: stopwatt.Ratio{Value: 0.05, Known: true}, Geometric: stopwatt.Ratio{Value: 0.0358, Known: true}, Times: stopwatt.Ratio{Value: 1 / 54.4, Known: true}, Count: 4,
	}
	for _, block := range []struct {
		workload string
		rows     [][]float64
	}{{"cpustrain", [][]float64{{2.392, 0.0386, 0.0177}, {7.652, 0.0993, 0.0537}}}, {"bigjson", [][]float64{{0.257, 0.0494, 0.0204}, {0.9355, 0.1354, 0.1014}}}} {
		out := stopwatt.MachineBlock{Workload: block.workload}
		for i, values := range block.rows {
			row := stopwatt.MachineRow{Machine: c.Runs[i].Machine.Name, Ratio: stopwatt.Ratio{Value: values[2] / values[0], Known: true}}
			for k, value := range values {
				of := stopwatt.Case{Implementation: c.Implementations[k], Workload: block.workload}
				row.Results = append(row.Results, stopwatt.CaseResult{Case: of, Valid: 1, Summaries: []stopwatt.Summary{summaryOf(of, "time", []float64{value})}})
			}
			out.Rows = append(out.Rows, row)
		}
		c.Workloads = append(c.Workloads, out)
	}
	g, err := GridsByMachine(c, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for file, write := range map[string]func(*bytes.Buffer) error{
		"machines.txt": func(b *bytes.Buffer) error { return g.Terminal(b, Options{}) },
		"machines.md":  func(b *bytes.Buffer) error { return g.Markdown(b) },
		"machines.csv": func(b *bytes.Buffer) error { return g.CSV(b) },
	} {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		golden(t, file, out.Bytes())
	}
	if _, err := GridsByMachine(c, Options{Unit: "J"}); err == nil {
		t.Error("joules of a time were taken")
	}
}
