package storagetest

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

func samplesComeBack(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	sampled, other, none := Trial(1, "go", "csv"), Trial(2, "go", "csv"), Trial(1, "rust", "csv")
	slices.Reverse(other.Samples)
	other.Samples[0].Values[0]++
	none.Samples = nil
	save(t, s, run.ID, sampled, other, none, Trial(1, "go", "csv"))
	for _, trial := range []stopwatt.Trial{sampled, other, none} {
		samples, err := s.Samples(t.Context(), run.ID, trial.PlannedTrial)
		if err != nil {
			t.Fatal(err)
		}
		same(t, samples, trial.Samples)
	}
	if _, err := s.Samples(t.Context(), run.ID, Trial(3, "go", "csv").PlannedTrial); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("samples of a trial that is not there: %v", err)
	}
}

func samplesWithoutTimes(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	short, twice := Trial(1, "go", "csv"), Trial(1, "go", "csv")
	short.Samples[0].Times = short.Samples[0].Times[1:]
	twice.Samples = append(twice.Samples, twice.Samples[0])
	for name, trial := range map[string]stopwatt.Trial{"without a time": short, "of one meter and quantity twice": twice} {
		if err := s.SaveTrial(t.Context(), run.ID, trial); err == nil {
			t.Errorf("samples %s were stored", name)
		}
	}
	if trials, err := s.Trials(t.Context(), run.ID); err != nil || len(trials) != 0 {
		t.Errorf("%d trials are stored, error %v", len(trials), err)
	}
}

func energyMetrics(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	want := []string{"cpu_server", "energy_board", "energy_board_gross", "energy_board_uncertainty", "energy_board_per_request", "power_board", "energy_cpu", "memory_peak"}
	trial, summaries := Trial(1, "go", "csv"), []stopwatt.Summary{}
	trial.Measurements, trial.Absent = nil, nil
	for i, metric := range slices.Backward(want) {
		trial.Measurements = append(trial.Measurements, stopwatt.Measurement{Metric: metric, Value: float64(-i)})
		trial.Absent = append(trial.Absent, stopwatt.Absence{Metric: metric, Reason: "none"})
		summaries = append(summaries, Summary("go", "csv", metric, float64(-i)))
	}
	trial.Absent = trial.Absent[:3]
	save(t, s, run.ID, trial)
	if err := s.SaveSummaries(t.Context(), run.ID, summaries); err != nil {
		t.Fatal(err)
	}
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	var measured, absent, counted, summarized []string
	for _, m := range trials[0].Measurements {
		measured = append(measured, m.Metric)
	}
	for _, a := range trials[0].Absent {
		absent = append(absent, a.Metric)
	}
	result := results(t, s, run.ID).Cases[0]
	for _, a := range result.Absent {
		counted = append(counted, a.Metric)
	}
	for _, s := range result.Summaries {
		summarized = append(summarized, s.Metric)
	}
	same(t, measured, want)
	same(t, absent, want[5:])
	same(t, counted, want[5:])
	same(t, summarized, want)
}

func idleComesBack(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	before, after := Idle(stopwatt.IdleBefore), Idle(stopwatt.IdleAfter)
	saveIdle(t, s, run.ID, after, before)
	same(t, results(t, s, run.ID).Run.Idle, []stopwatt.IdleWindow{before, after})
	stored, _ := begin(t, s, again(), false)
	same(t, stored.Idle, []stopwatt.IdleWindow{before, after})
}

func idleWhoseClockWasSetBack(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	before, again, after := Idle(stopwatt.IdleBefore), Idle(stopwatt.IdleBefore), Idle(stopwatt.IdleAfter)
	again.Started = before.Started.Add(-time.Hour)
	after.Started = before.Started.Add(-2 * time.Hour)
	saveIdle(t, s, run.ID, before, again, after)
	same(t, results(t, s, run.ID).Run.Idle, []stopwatt.IdleWindow{before, again, after})
}

func idleTwice(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	changed := Idle(stopwatt.IdleBefore)
	changed.Powers = nil
	saveIdle(t, s, run.ID, Idle(stopwatt.IdleBefore), changed)
	same(t, results(t, s, run.ID).Run.Idle, []stopwatt.IdleWindow{Idle(stopwatt.IdleBefore)})
}

func driverSharesComeBack(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	first, second := DriverShare("csv"), DriverShare("static")
	second.Started, second.Window, second.Measurements, second.Absent = first.Started.Add(time.Minute), stopwatt.Window{}, nil, nil
	second.Reason = "no request was answered"
	changed := first
	changed.Measurements = nil
	for _, share := range []stopwatt.DriverShare{second, first, changed} {
		if err := s.SaveDriverShare(t.Context(), run.ID, share); err != nil {
			t.Fatal(err)
		}
	}
	opts := cmpopts.EquateEmpty()
	if diff := cmp.Diff([]stopwatt.DriverShare{first, second}, results(t, s, run.ID).Run.DriverShares, opts); diff != "" {
		t.Error(diff)
	}
	stored, _ := begin(t, s, again(), false)
	if diff := cmp.Diff([]stopwatt.DriverShare{first, second}, stored.DriverShares, opts); diff != "" {
		t.Error(diff)
	}
	noFigure := DriverShare("other")
	noFigure.Measurements = []stopwatt.Measurement{{Metric: "driver_busy", Value: math.Inf(1)}}
	if err := s.SaveDriverShare(t.Context(), run.ID, noFigure); err == nil {
		t.Error("an infinite share was stored")
	}
}

func idleNotANumber(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	for _, power := range []stopwatt.IdlePower{
		{Meter: "board", Watts: math.NaN()},
		{Meter: "board", Watts: math.Inf(1)},
		{Meter: "board", Watts: 1, Error: math.NaN()},
		{Meter: "board", Watts: 1, Error: -1},
	} {
		idle := Idle(stopwatt.IdleBefore)
		idle.Powers = append(idle.Powers[1:], power)
		if err := s.SaveIdle(t.Context(), run.ID, idle); err == nil {
			t.Errorf("%g ± %g W was stored", power.Watts, power.Error)
		}
	}
	same(t, results(t, s, run.ID).Run.Idle, nil)
}

func saveIdle(t *testing.T, s Store, runID int64, windows ...stopwatt.IdleWindow) {
	t.Helper()
	for _, window := range windows {
		if err := s.SaveIdle(t.Context(), runID, window); err != nil {
			t.Fatal(err)
		}
	}
}

// changedMachine begins a run on a machine whose kernel is another, and more of
// which is known, since a run was begun there and left.
func changedMachine(t *testing.T, s Store) {
	first, _ := begin(t, s, Run(), false)
	later := again()
	later.PlanKey = "plan-2"
	later.Machine.Epoch.Kernel, later.Machine.Identity.Turbo, later.Machine.Name = "6.2.0", "off", "board-1b"
	second, _ := begin(t, s, later, false)
	same(t, second.Machine, later.Machine)
	before := results(t, s, first.ID).Run.Machine
	before.Name = first.Machine.Name // the latest is shown
	same(t, before, first.Machine)
	continuing := later
	continuing.Key, continuing.PlanKey = "k-3", first.PlanKey
	third, _ := begin(t, s, continuing, false)
	same(t, third.ID, first.ID)
}
