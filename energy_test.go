package stopwatt_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

func TestEveryMetricOfAMeterIsKnownByItsName(t *testing.T) {
	t.Parallel()
	for _, meter := range []string{"board", "cpu", "rack-2", "x"} {
		for _, want := range stopwatt.EnergyMetrics(meter) {
			got, known := stopwatt.MetricNamed(want.Name)
			if !known || got != want {
				t.Errorf("%s is known as %+v, %v", want.Name, got, known)
			}
		}
	}
	for _, name := range []string{"energy_", "power_", "energy", "energy_a_b", "energy_board_", "energy_board_gross_gross",
		"power_board_gross", "energy_Board", "energy_2", "power_-", "Energy_board", "energy_" + strings.Repeat("a", 33)} {
		if metric, known := stopwatt.MetricNamed(name); known {
			t.Errorf("%q is taken for %+v", name, metric)
		}
	}
}

// window lasts ten seconds.
var window = stopwatt.Window{Start: 5e9, End: 15e9}

// requests are so many right answers.
func requests(n int64) stopwatt.Work { return stopwatt.Work{Per: stopwatt.RightAnswer, Count: n} }

func TestFigures(t *testing.T) {
	t.Parallel()
	const absent = "no reading"
	idle := stopwatt.IdlePower{Meter: "board", Watts: 4.2, Error: 0.02}
	tests := []struct {
		name   string
		energy stopwatt.Energy
		idle   stopwatt.IdlePower
		window stopwatt.Window
		work   stopwatt.Work
		want   map[string]float64
		absent map[string]string
	}{
		{"140 J in 10 s over an idle of 4.2 W", stopwatt.Energy{Meter: "board", Gross: 140e6}, idle, window, requests(1000),
			map[string]float64{"energy_board": 98, "energy_board_gross": 140, "energy_board_uncertainty": 0.2, "energy_board_per_request": 0.098, "power_board": 14}, nil},
		{"less than idle is negative, and not 0", stopwatt.Energy{Meter: "board", Gross: 41e6}, idle, window, requests(10),
			map[string]float64{"energy_board": -1, "energy_board_gross": 41, "energy_board_uncertainty": 0.2, "energy_board_per_request": -0.1, "power_board": 4.1}, nil},
		{"no idle power leaves the gross energy", stopwatt.Energy{Meter: "board", Gross: 140e6}, stopwatt.IdlePower{Meter: "board", Absent: "not measured"}, window, requests(10),
			map[string]float64{"energy_board_gross": 140, "power_board": 14},
			map[string]string{"energy_board": "no idle power: not measured", "energy_board_uncertainty": "no idle power: not measured", "energy_board_per_request": "no idle power: not measured"}},
		{"no right answer has no energy per request", stopwatt.Energy{Meter: "board", Gross: 140e6}, idle, window, requests(0),
			map[string]float64{"energy_board": 98, "energy_board_gross": 140, "energy_board_uncertainty": 0.2, "power_board": 14},
			map[string]string{"energy_board_per_request": "no request got a right answer"}},
		{"a command's energy is that of a repetition", stopwatt.Energy{Meter: "board", Gross: 140e6}, idle, window, stopwatt.Work{Per: stopwatt.OneRun, Count: 49},
			map[string]float64{"energy_board": 98, "energy_board_gross": 140, "energy_board_uncertainty": 0.2, "energy_board_per_repetition": 2, "power_board": 14}, nil},
		{"what cannot be counted has no energy per piece", stopwatt.Energy{Meter: "board", Gross: 140e6}, idle, window, stopwatt.Work{},
			map[string]float64{"energy_board": 98, "energy_board_gross": 140, "energy_board_uncertainty": 0.2, "power_board": 14}, nil},
		{"an absent energy has no figure at all", stopwatt.Energy{Meter: "board", Absent: absent}, idle, window, requests(10), map[string]float64{},
			map[string]string{"energy_board": absent, "energy_board_gross": absent, "energy_board_uncertainty": absent, "energy_board_per_request": absent, "power_board": absent}},
		{"a window without length", stopwatt.Energy{Meter: "x", Gross: 1}, idle, stopwatt.Window{Start: 1, End: 1}, requests(10), map[string]float64{},
			map[string]string{"energy_x": "the window has no length", "energy_x_gross": "the window has no length", "energy_x_uncertainty": "the window has no length",
				"energy_x_per_request": "the window has no length", "power_x": "the window has no length"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			figures, absences := test.energy.Figures(test.idle, test.window, test.work)
			got := map[string]float64{}
			for _, figure := range figures {
				got[figure.Metric] = math.Round(figure.Value*1e9) / 1e9
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("figures (-want +got):\n%s", diff)
			}
			var reasons map[string]string
			for _, absence := range absences {
				if reasons == nil {
					reasons = map[string]string{}
				}
				reasons[absence.Metric] = absence.Reason
			}
			if diff := cmp.Diff(test.absent, reasons); diff != "" {
				t.Errorf("absent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestBracket(t *testing.T) {
	t.Parallel()
	idle := func(watts, error float64) stopwatt.IdlePower {
		return stopwatt.IdlePower{Meter: "board", Watts: watts, Error: error, Over: 30 * time.Second}
	}
	absent := stopwatt.IdlePower{Meter: "board", Absent: "no reading"}
	tests := []struct {
		name        string
		early, late stopwatt.IdlePower
		watts       float64
		error       float64
		warning     string // a part of it; empty: none
	}{
		{"two that are alike", idle(4, 0.03), idle(4, 0.04), 4, 0.025, ""},
		{"a drift of 1 % widens the uncertainty", idle(4, 0), idle(4.04, 0), 4.02, 0.02, ""},
		{"a drift of 10 % is a warning", idle(4, 0), idle(4.4, 0), 4.2, 0.2, "from 4 W to 4.4 W (+10.0 %)"},
		{"a drift downwards is one too", idle(4, 0), idle(3.6, 0), 3.8, 0.2, "(-10.0 %)"},
		{"the second could not be measured", idle(4, 0.03), absent, 4, 0.03, "before the first round only: no reading"},
		{"the first could not be measured", absent, idle(4, 0.03), 4, 0.03, "after the last round only: no reading"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			joined := stopwatt.Bracket([]stopwatt.IdlePower{test.early}, []stopwatt.IdlePower{test.late})
			if len(joined) != 1 || joined[0].Meter != "board" || joined[0].Absent != "" {
				t.Fatalf("%+v", joined)
			}
			if got := joined[0]; math.Abs(got.Watts-test.watts) > 1e-9 || math.Abs(got.Error-test.error) > 1e-9 {
				t.Errorf("%g ± %g W, want %g ± %g", got.Watts, got.Error, test.watts, test.error)
			}
			warnings := strings.Join(joined[0].Warnings, "; ")
			if (warnings == "") != (test.warning == "") || !strings.Contains(warnings, test.warning) {
				t.Errorf("warnings %q, want %q", warnings, test.warning)
			}
		})
	}
	covered := idle(4, 0)
	covered.Warnings = []string{"readings cover 96.0 % of the window"}
	if got := stopwatt.Bracket([]stopwatt.IdlePower{covered}, []stopwatt.IdlePower{idle(4, 0)}); !slices.Equal(got[0].Warnings, []string{"idle power of board: readings cover 96.0 % of the window"}) {
		t.Errorf("the warnings do not name their meter: %q", got[0].Warnings)
	}
	if got := stopwatt.Bracket([]stopwatt.IdlePower{absent}, nil); got[0].Absent != "no reading" {
		t.Errorf("a meter that never gave a number has one: %+v", got)
	}
	if got := stopwatt.Bracket([]stopwatt.IdlePower{absent}, []stopwatt.IdlePower{absent}); got[0].Absent == "" || len(got[0].Warnings) > 0 {
		t.Errorf("a meter that never gave a number has one: %+v", got)
	}
}

func TestUnitsOfMeters(t *testing.T) {
	t.Parallel()
	want := map[stopwatt.MeterUnit]int64{"J": 1e6, "mJ": 1e3, "µJ": 1, "Wh": 3.6e9, "kWh": 3.6e12, "W": 1e6, "mW": 1e3}
	for _, unit := range stopwatt.MeterUnits {
		if unit.Micro() != want[unit] {
			t.Errorf("1 %s is %d µJ or µW, want %d", unit, unit.Micro(), want[unit])
		}
		if unit.Energy() != (unit != "W" && unit != "mW") {
			t.Errorf("%s is taken for the wrong quantity", unit)
		}
	}
	if stopwatt.MeterUnit("kW").Micro() != 0 {
		t.Error("an unknown unit has a size")
	}
}
