package stopwatt_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestCoverageOfSamples(t *testing.T) {
	t.Parallel()
	window := stopwatt.Window{Start: 100, End: 200}
	tests := []struct {
		name    string
		samples stopwatt.Samples
		window  stopwatt.Window
		want    float64
	}{
		{"readings from edge to edge cover all", stopwatt.Samples{Times: []int64{100, 150, 200}}, window, 1},
		{"those beside the window do not count twice", stopwatt.Samples{Times: []int64{50, 250}}, window, 1},
		{"nothing is known before the first reading", stopwatt.Samples{Times: []int64{120, 200}}, window, 0.8},
		{"nor after the last", stopwatt.Samples{Times: []int64{100, 150}}, window, 0.5},
		{"a gap is taken off", stopwatt.Samples{Times: []int64{100, 200}, Gaps: []stopwatt.Gap{{From: 110, To: 140}}}, window, 0.7},
		{"what lies outside of the window is none", stopwatt.Samples{Times: []int64{0, 300}, Gaps: []stopwatt.Gap{{From: 50, To: 110}, {From: 190, To: 250}}}, window, 0.8},
		{"gaps that overlap are taken off once", stopwatt.Samples{Times: []int64{100, 200}, Gaps: []stopwatt.Gap{{From: 130, To: 150}, {From: 110, To: 140}}}, window, 0.6},
		{"a gap within another too", stopwatt.Samples{Times: []int64{100, 200}, Gaps: []stopwatt.Gap{{From: 110, To: 150}, {From: 120, To: 130}}}, window, 0.6},
		{"a gap may be all", stopwatt.Samples{Times: []int64{100, 200}, Gaps: []stopwatt.Gap{{From: 0, To: 999}}}, window, 0},
		{"readings of another time cover nothing", stopwatt.Samples{Times: []int64{1, 50}}, window, 0},
		{"no reading covers nothing", stopwatt.Samples{}, window, 0},
		{"a window without length has no coverage", stopwatt.Samples{Times: []int64{100, 200}}, stopwatt.Window{Start: 150, End: 150}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.samples.Coverage(test.window); math.Abs(got-test.want) > 1e-12 {
				t.Errorf("coverage %g, want %g", got, test.want)
			}
		})
	}
}

func TestMeterOf(t *testing.T) {
	t.Parallel()
	for metric, want := range map[string]string{
		"energy_board": "board", "energy_board_gross": "board", "energy_cpu_per_request": "cpu", "power_psys": "psys",
		"energy_": "", "energy_board_": "", "power_board_gross": "", "time": "", "energy_Board": "",
	} {
		if got, ok := stopwatt.MeterOf(metric); got != want || ok != (want != "") {
			t.Errorf("MeterOf(%q) = %q, %v, want %q", metric, got, ok, want)
		}
	}
}

func TestEnergyMetersAreThoseThatCouldBeReadAndThoseWithNumbers(t *testing.T) {
	t.Parallel()
	results := stopwatt.Results{
		Run: stopwatt.Run{Meters: []stopwatt.Meter{{Name: "wall"}, {Name: "cpu", Absent: "only root may read it"}, {Name: "board", Absent: "since round 2"}}},
		Cases: []stopwatt.CaseResult{
			{Summaries: []stopwatt.Summary{{Metric: "time"}, {Metric: "energy_rack_gross"}}},
			{Summaries: []stopwatt.Summary{{Metric: "power_board"}, {Metric: "energy_rack"}}},
		},
	}
	var names []string
	for _, meter := range results.EnergyMeters() {
		names = append(names, meter.Name)
	}
	if diff := cmp.Diff([]string{"wall", "board", "rack"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestIdlePowersOfARun(t *testing.T) {
	t.Parallel()
	window := func(place stopwatt.IdlePlace, watts float64) stopwatt.IdleWindow {
		return stopwatt.IdleWindow{Place: place, Powers: []stopwatt.IdlePower{{Meter: "board", Watts: watts}}}
	}
	tests := []struct {
		name    string
		windows []stopwatt.IdleWindow
		watts   float64 // 0: there is none
		warned  bool
	}{
		{"none was measured", nil, 0, false},
		{"before and after", []stopwatt.IdleWindow{window(stopwatt.IdleBefore, 4), window(stopwatt.IdleAfter, 4.1)}, 4.05, false},
		{"an interrupted run has one", []stopwatt.IdleWindow{window(stopwatt.IdleBefore, 4)}, 4, true},
		{"a continued one has several before", []stopwatt.IdleWindow{window(stopwatt.IdleBefore, 4), window(stopwatt.IdleBefore, 9), window(stopwatt.IdleAfter, 4.1)}, 4.05, false},
		{"and one interrupted twice has none after", []stopwatt.IdleWindow{window(stopwatt.IdleBefore, 4), window(stopwatt.IdleBefore, 4.1)}, 4.05, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			powers := stopwatt.Run{Idle: test.windows}.IdlePowers()
			if len(powers) != min(len(test.windows), 1) {
				t.Fatalf("%+v", powers)
			}
			if len(powers) == 1 && (math.Abs(powers[0].Watts-test.watts) > 1e-12 || (len(powers[0].Warnings) > 0) != test.warned) {
				t.Errorf("%+v, want %g W", powers[0], test.watts)
			}
		})
	}
}

func TestFitForAMetric(t *testing.T) {
	t.Parallel()
	findings := []stopwatt.Finding{
		{Verdict: stopwatt.Doubtful}, {Verdict: stopwatt.Fit},
		{Verdict: stopwatt.Unfit, Metrics: []string{"energy_cpu", "energy_cpu_gross"}},
	}
	for metric, want := range map[string]bool{"time": true, "energy_board": true, "energy_cpu": false, "energy_cpu_gross": false} {
		if got := stopwatt.FitFor(findings, metric); got != want {
			t.Errorf("fit for %s: %v", metric, got)
		}
	}
	if stopwatt.FitFor(append(findings, stopwatt.Finding{Subject: "docker", Verdict: stopwatt.Unfit}), "time") {
		t.Error("fit, though what is unfit takes all figures away")
	}
}

func TestSamplesHaveBaseUnits(t *testing.T) {
	t.Parallel()
	for quantity, want := range map[stopwatt.Quantity]string{
		stopwatt.EnergyUsed: "1e+06 J", stopwatt.PowerDrawn: "1e+06 W", stopwatt.CPUUsed: "1e+09 s",
		"free": "1000 B", "bi": "1000 B/s", "cs": "1000 1/s", "r": "1000 1", "us": "1000 1",
	} {
		if by, unit := quantity.Base(); fmt.Sprint(by, " ", unit) != want {
			t.Errorf("%s: %v %s, want %s", quantity, by, unit, want)
		}
		if quantity.Share() != (quantity == "us") {
			t.Errorf("%s is taken for a share, or is none", quantity)
		}
	}
}
