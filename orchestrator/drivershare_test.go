package orchestrator_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// sharing is a suite whose driver is measured by itself too.
func sharing(workloads ...stopwatt.Workload) stopwatt.Suite {
	s := suite(1, "go", "rust")
	s.Plan.WithoutNullServer, s.Workloads = false, workloads
	return s
}

// users is a workload of so many users for a time.
func users(name string, length time.Duration) stopwatt.Workload {
	return stopwatt.Workload{Name: name, HTTP: &stopwatt.HTTP{Port: 80}, Load: stopwatt.Load{Users: 4, For: length}}
}

func ofNull(orders []trial.Order) []trial.Order {
	return slices.DeleteFunc(slices.Clone(orders), func(o trial.Order) bool { return !o.Implementation.Null })
}

func TestWhichLoadsTheDriverIsMeasuredUnderByItself(t *testing.T) {
	t.Parallel()
	with := func(name string, change func(w *stopwatt.Workload)) stopwatt.Workload {
		w := users(name, time.Second)
		change(&w)
		return w
	}
	s := sharing(
		users("short", time.Second),
		users("long", time.Hour),
		with("counted", func(w *stopwatt.Workload) { w.Load.For, w.Load.Requests = 0, 1e6 }),
		with("ramp", func(w *stopwatt.Workload) {
			w.Load.For, w.Load.Stages = time.Minute, []stopwatt.Stage{{From: 0, To: 200, For: time.Minute}}
		}),
		with("found", func(w *stopwatt.Workload) { w.Load.Find = &stopwatt.Find{} }),
		with("tool", func(w *stopwatt.Workload) { w.Load.Tool = &stopwatt.Tool{} }),
		with("encrypted", func(w *stopwatt.Workload) { w.HTTP = &stopwatt.HTTP{Port: 443, TLS: &stopwatt.TLS{}} }),
		with("socket", func(w *stopwatt.Workload) { w.HTTP = &stopwatt.HTTP{Socket: "/run/s"} }),
		stopwatt.Workload{Name: "program", Command: &stopwatt.Command{}},
	)
	h := newHouse()
	run, err := h.run(t.Context(), order(s))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]stopwatt.Load{
		"short":   {Users: 4, For: time.Second},
		"long":    {Users: 4, For: 2 * time.Second},
		"counted": {Users: 4, For: 2 * time.Second},
		"ramp":    {Users: 4, For: 2 * time.Second, Stages: []stopwatt.Stage{{From: 100, To: 100, For: 2 * time.Second}}},
	}
	asked := ofNull(h.bench.orders)
	for _, one := range asked {
		load := one.Workload.Load
		if expected, has := want[one.Workload.Name]; !has || load.Users != expected.Users || load.For != expected.For || load.Requests != 0 || !slices.Equal(load.Stages, expected.Stages) {
			t.Errorf("%s was driven by %+v, want %+v", one.Workload.Name, load, expected)
		}
	}
	if len(asked) != len(want) || len(run.DriverShares) != len(want) || h.audience.shares != len(want) {
		t.Errorf("%d trials of the null server, %d shares, %d told; want %d", len(asked), len(run.DriverShares), h.audience.shares, len(want))
	}
	if !h.bench.orders[0].Implementation.Null {
		t.Error("the driver was not measured before the first round")
	}
	results, err := h.store.Results(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(results.Run.DriverShares) != len(want) || len(results.Cases) != len(s.Cases()) {
		t.Errorf("%d shares and %d cases are stored; want %d and %d", len(results.Run.DriverShares), len(results.Cases), len(want), len(s.Cases()))
	}
	for _, result := range results.Cases {
		if result.Valid != 1 {
			t.Errorf("%s has %d trials, want 1", result.Case, result.Valid)
		}
	}
}

func TestWhenTheDriverIsNotMeasuredByItself(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		change func(o *orchestrator.Order)
	}{
		{"the suite does without", func(o *orchestrator.Order) { o.Run.Settings.Plan.WithoutNullServer = true }},
		{"the machine is calibrated", func(o *orchestrator.Order) {
			o.Comparing = &orchestrator.Comparing{Pairs: o.Cases, Calibrating: true}
		}},
		{"none of its cases was chosen", func(o *orchestrator.Order) { o.Cases = o.Cases[:0] }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			h, wanted := newHouse(), order(sharing(users("hello", time.Second)))
			row.change(&wanted)
			if _, err := h.run(t.Context(), wanted); err != nil {
				t.Fatal(err)
			}
			if asked := ofNull(h.bench.orders); len(asked) != 0 {
				t.Errorf("%d trials of the null server", len(asked))
			}
		})
	}
}

func TestTheDriverIsMeasuredByItselfOnceWhereARunGoesOn(t *testing.T) {
	t.Parallel()
	h, wanted := newHouse(), order(sharing(users("one", time.Second), users("two", time.Second)))
	gone := errors.New("the engine is gone")
	h.bench.before = func(o trial.Order) error {
		if o.Implementation.Null && o.Workload.Name == "two" {
			return gone
		}
		return nil
	}
	if _, err := h.run(t.Context(), wanted); !errors.Is(err, gone) {
		t.Fatalf("error %v, want %v", err, gone)
	}
	h.bench.before = nil
	run, err := h.run(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range ofNull(h.bench.orders) {
		names = append(names, one.Workload.Name)
	}
	if !slices.Equal(names, []string{"one", "two"}) || len(run.DriverShares) != 2 {
		t.Errorf("the null server was driven under %v, %d shares; want one and two, once each", names, len(run.DriverShares))
	}
}
