package report

import (
	"bytes"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// shares are what the driver took by itself under three loads.
func shares() stopwatt.Run {
	energy := stopwatt.EnergyMetrics("board")[energyPerRequest].Name
	return stopwatt.Run{
		Meters: []stopwatt.Meter{{Name: "board"}, {Name: "cpu", Absent: "masked"}},
		DriverShares: []stopwatt.DriverShare{
			{Workload: "csv", Measurements: []stopwatt.Measurement{{Metric: "driver_cpu_request", Value: 12.5e-6}, {Metric: "throughput", Value: 48_000}, {Metric: energy, Value: 180e-6}}},
			{Workload: "static", Measurements: []stopwatt.Measurement{{Metric: "driver_cpu_request", Value: 7e-6}}, Absent: []stopwatt.Absence{{Metric: energy, Reason: "too short"}}},
			{Workload: "slow", Reason: "no request was answered"},
		},
	}
}

func TestWhatTheDriverTookByItselfIsToldInOneNote(t *testing.T) {
	t.Parallel()
	many, names := shares(), []string{}
	for _, name := range strings.Fields("a b c d e f g h") {
		share := many.DriverShares[1]
		share.Workload = name
		many.DriverShares, names = append(many.DriverShares, share), append(names, name)
	}
	for _, row := range []struct {
		name      string
		run       stopwatt.Run
		workloads []string
		want      string
	}{
		{"where nothing was measured nothing is said", stopwatt.Run{}, []string{"csv"}, ""},
		{"of workloads that are not shown nothing is said", shares(), []string{"other"}, ""},
		{"with a meter its energy is told", shares(), []string{"csv"},
			"The driver by itself, against a server that costs next to nothing: csv 12.5 µs of CPU and 180 µJ net of board a request, at 48,000/s."},
		{"several follow each other, and a failure has its reason", shares(), []string{"static", "slow"},
			"The driver by itself, against a server that costs next to nothing: static 7.00 µs of CPU a request; slow not measured: no request was answered."},
		{"of many the first are told", many, names,
			"The driver by itself, against a server that costs next to nothing: " + strings.Repeat("X 7.00 µs of CPU a request; ", 6) + "2 more workloads in results.json."},
	} {
		want := row.want
		for _, name := range names {
			want = strings.Replace(want, "X", name, 1)
		}
		if got := driverNote(row.run, row.workloads); got != want {
			t.Errorf("%s:\n got %s\nwant %s", row.name, got, want)
		}
	}
}

func TestEveryFormTellsWhatTheDriverTookByItself(t *testing.T) {
	t.Parallel()
	results, trials := servers(2)
	c := contrastOf(results, DefaultMetrics(results))
	results.Run.DriverShares = shares().DriverShares
	results.Run.DriverShares[0].Workload = c.Workloads[0].Workload
	forms := map[string]func(w *bytes.Buffer) error{
		"12.5 µs of CPU":                  func(w *bytes.Buffer) error { return Terminal(w, results.Run, c, Options{}) },
		"12.5 µs of CPU ":                 func(w *bytes.Buffer) error { return Markdown(w, results.Run, c, Options{}) },
		"<h2 id=\"driver\">The driver":    func(w *bytes.Buffer) error { return HTML(w, results, c, nil) },
		`"driver_cpu_request": 0.0000125`: func(w *bytes.Buffer) error { return JSON(w, results, trials) },
	}
	for want, write := range forms {
		var out bytes.Buffer
		if err := write(&out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
