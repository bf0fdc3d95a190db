package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestMetersSideBySide(t *testing.T) {
	t.Parallel()
	results := first(metered(10))
	c := metersOf(results)
	gross := c
	gross.Gross = true
	for file, write := range map[string]func(*bytes.Buffer) error{
		"meters.txt":       func(b *bytes.Buffer) error { return Meters(b, results.Run, c, Options{}) },
		"meters-gross.txt": func(b *bytes.Buffer) error { return Meters(b, results.Run, gross, Options{Unit: "kJ"}) },
		"meters.md":        func(b *bytes.Buffer) error { return MetersMarkdown(b, results.Run, c, Options{}) },
		"meters.json":      func(b *bytes.Buffer) error { return MetersJSON(b, results.Run, c) },
		"meters-none.txt": func(b *bytes.Buffer) error {
			return Meters(b, results.Run, stopwatt.MeterContrast{}, Options{})
		},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			if err := write(&out); err != nil {
				t.Fatal(err)
			}
			golden(t, file, out.Bytes())
		})
	}
}

func TestMetersRefuseAUnitOfTime(t *testing.T) {
	t.Parallel()
	err := Meters(&bytes.Buffer{}, stopwatt.Run{}, stopwatt.MeterContrast{}, Options{Unit: "ms"})
	if err == nil || !strings.Contains(err.Error(), `unit "ms" fits none`) {
		t.Errorf("error %v", err)
	}
}

func TestMetersAreNeverWiderThanAskedAndStayText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	for range 40 {
		run, c := randomMeters(random)
		width := []int{0, 60, 120}[random.IntN(3)]
		var text, markdown, encoded bytes.Buffer
		if err := Meters(&text, run, c, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		narrow(t, text.String(), max(width, 80-20*min(width, 1)))
		if err := MetersMarkdown(&markdown, run, c, Options{}); err != nil {
			t.Fatal(err)
		}
		plainMarkdown(t, markdown.String())
		if err := MetersJSON(&encoded, run, c); err != nil || !json.Valid(encoded.Bytes()) {
			t.Fatalf("%v, no JSON: %s", err, encoded.String())
		}
	}
}

// randomMeters makes a run and a contrast of meters whose names and sources try
// to be more than text.
func randomMeters(random *rand.Rand) (stopwatt.Run, stopwatt.MeterContrast) {
	name := hostileNames(random)
	run := stopwatt.Run{Suite: name(), Meters: []stopwatt.Meter{{Name: name(), Absent: name()}}}
	c := stopwatt.MeterContrast{Comparable: 3, Gross: random.IntN(2) == 0}
	var powers []stopwatt.IdlePower
	for range 2 + random.IntN(3) {
		meter := name()
		c.Meters = append(c.Meters, stopwatt.Meter{Name: meter, Source: name()})
		powers = append(powers, stopwatt.IdlePower{Meter: meter, Watts: random.ExpFloat64(), Warnings: []string{name()}})
	}
	run.Idle = []stopwatt.IdleWindow{{Powers: powers}, {Powers: powers}}
	for range 1 + random.IntN(3) {
		block := stopwatt.MeterWorkload{Workload: name()}
		for i := range 1 + random.IntN(5) {
			row := stopwatt.MeterRow{Implementation: fmt.Sprint(name(), i), Result: stopwatt.CaseResult{Valid: random.IntN(2000), Invalid: 1}}
			row.Result.Reasons = []stopwatt.ReasonCount{{Reason: name(), Count: 1}}
			for m, metric := range c.Metrics() {
				if random.IntN(3) > 0 {
					row.Result.Summaries = append(row.Result.Summaries, stopwatt.Summary{Metric: metric.Name, N: 1 + random.IntN(3), Mean: 1e6 * random.NormFloat64(), SD: random.ExpFloat64()})
				} else {
					row.Result.Absent = append(row.Result.Absent, stopwatt.AbsenceCount{Metric: metric.Name, Reason: name(), Count: 1})
				}
				if m > 0 {
					row.Ratios = append(row.Ratios, stopwatt.Ratio{Value: random.ExpFloat64(), Known: random.IntN(2) == 0})
				}
			}
			block.Rows = append(block.Rows, row)
		}
		block.Swaps = []stopwatt.Swap{{Implementations: [2]string{name(), name()}, Meters: [2]string{c.Meters[0].Name, c.Meters[1].Name}, Near: true}}
		c.Workloads = append(c.Workloads, block)
	}
	return run, c
}
