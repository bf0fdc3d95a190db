package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestWhatCheckForeseesOfEnergy(t *testing.T) {
	http := &stopwatt.HTTP{Port: 8080}
	suite := stopwatt.Suite{
		Implementations: []stopwatt.Implementation{{Name: "go"}},
		Workloads: []stopwatt.Workload{
			{Name: "long", HTTP: http, Load: stopwatt.Load{Users: 4, For: 18 * time.Second}},
			{Name: "short", HTTP: http, Load: stopwatt.Load{Users: 4, For: 900 * time.Millisecond}},
			{Name: "counted", HTTP: http, Load: stopwatt.Load{Users: 4, Requests: 1000}},
			{Name: "command", Command: &stopwatt.Command{}},
		},
	}
	board := stopwatt.Meter{Name: "board", Renewal: 140 * time.Millisecond}
	// 2000 requests took 1.8 s: the 4000 that are ordered now take twice as long.
	earlier := history{run: 7, of: map[stopwatt.Case]past{
		{Implementation: "go", Workload: "counted"}: {window: 1800 * time.Millisecond, requests: 2000},
		{Implementation: "go", Workload: "command"}: {window: 6 * time.Second},
	}}
	const begins = "board renews its value every 140ms: a window of 7.0 s has the 50 renewals that are needed"
	for name, test := range map[string]struct {
		workloads string
		meter     stopwatt.Meter
		earlier   history
		want      []string
	}{
		"a window that is long enough": {"long", board, earlier, []string{
			"board renews its value every 140ms: the shortest window, of go/long (18 s), has 128 renewals, enough (50 needed)"}},
		"one that is told too short": {"long short", board, earlier, []string{begins,
			"go/short (0.9 s) would have 6 renewals of board, 50 needed: say for: 8s; its energy will be absent"}},
		"one that an earlier run makes known": {"counted", board, earlier, []string{begins,
			"go/counted (3.6 s) would have 25 renewals of board, 50 needed: raise requests to 2200 or say for: 8s; its energy will be absent"}},
		"a command that was too quick": {"command", board, earlier, []string{begins,
			"go/command (6.0 s) would have 42 renewals of board, 50 needed: let what it runs last longer; its energy will be absent"}},
		"requests without an earlier run": {"long counted", board, history{lack: "no run is stored yet"}, []string{
			"board renews its value every 140ms: the shortest window, of go/long (18 s), has 128 renewals, enough (50 needed)",
			"board: how long the windows of 1 case last (go/counted) is not known before they are measured: no run is stored yet"}},
		"a case that the earlier run has not": {"counted", board, history{run: 7}, []string{begins,
			"board: how long the windows of 1 case last (go/counted) is not known before they are measured: the latest run on this machine has none of them"}},
		"a meter whose renewal is not known": {"long", stopwatt.Meter{Name: "lab"}, earlier, []string{
			"lab: how often it renews its value is known only when it is read; 50 renewals in a window are needed"}},
		"a meter that cannot be read": {"long", stopwatt.Meter{Name: "cpu", Absent: "there is no RAPL"}, earlier, []string{
			"cpu: its energy will be absent: there is no RAPL"}},
	} {
		t.Run(name, func(t *testing.T) {
			var cases []stopwatt.Case
			for _, workload := range strings.Fields(test.workloads) {
				cases = append(cases, stopwatt.Case{Implementation: "go", Workload: workload})
			}
			if diff := cmp.Diff(test.want, foresee(suite, cases, []stopwatt.Meter{test.meter}, test.earlier)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestRequestsAreRoundedUpToTwoDigits(t *testing.T) {
	for n, want := range map[float64]int{0.3: 1, 7: 7, 7.1: 8, 99: 99, 101: 110, 119_001: 120_000} {
		if got := roundUp(n); got != want {
			t.Errorf("%g: %d, want %d", n, got, want)
		}
	}
}

func TestWhatASuiteJudgesIsWhatAMachineMustBeFitFor(t *testing.T) {
	file := stopwatt.MachineFile{Meters: []stopwatt.MeterSetting{{Name: "board"}}}
	for name, test := range map[string]struct {
		judge stopwatt.Judge
		want  []string
	}{
		"a suite that does not say":        {stopwatt.Judge{}, []string{"time", "energy_board"}},
		"a suite that judges CPU time":     {stopwatt.Judge{Metrics: []stopwatt.Threshold{{Metric: "cpu_server"}}}, []string{"cpu_server"}},
		"a suite that judges gross energy": {stopwatt.Judge{Metrics: []stopwatt.Threshold{{Metric: "time"}, {Metric: "energy_cpu_gross"}}}, []string{"time", "energy_cpu_gross"}},
	} {
		if diff := cmp.Diff(test.want, judged(test.judge, file)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
