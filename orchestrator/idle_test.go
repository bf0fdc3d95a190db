package orchestrator_test

import (
	"context"
	"math"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// metered is a bench whose every trial takes a second at 10 W.
type metered struct{}

func (metered) Run(_ context.Context, order trial.Order) (stopwatt.Trial, error) {
	window := stopwatt.Window{Start: 1, End: 1 + int64(time.Second)}
	figures, absent := stopwatt.Energy{Meter: "board", Gross: 10e6}.Figures(order.Idle[0], window, stopwatt.Work{Per: stopwatt.RightAnswer, Count: 100})
	return stopwatt.Trial{
		PlannedTrial: order.Planned, Position: order.Position, Status: stopwatt.Valid, Started: time.Now(), Window: window,
		Measurements: append(figures, stopwatt.Measurement{Metric: "requests", Value: 100}), Absent: absent,
	}, nil
}

func TestNetEnergyIsFreedFromTheIdlePowerBeforeAndAfter(t *testing.T) {
	h := newHouse()
	watts := map[stopwatt.IdlePlace]float64{stopwatt.IdleBefore: 4, stopwatt.IdleAfter: 6}
	began := time.Now()
	run, err := orchestrator.Orchestrator{
		Store:    h.store,
		Bench:    func(stopwatt.Run) orchestrator.Trials { return metered{} },
		Audience: h.audience,
		Idle: func(_ context.Context, place stopwatt.IdlePlace) (stopwatt.IdleWindow, error) {
			began = began.Add(time.Second)
			return stopwatt.IdleWindow{Place: place, Started: began, Powers: []stopwatt.IdlePower{{Meter: "board", Watts: watts[place], Error: 0.1}}}, nil
		},
	}.Run(t.Context(), order(suite(2, "go", "rust")))
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Idle) != 2 || h.audience.idles != 2 {
		t.Fatalf("idle windows %v, told %d", run.Idle, h.audience.idles)
	}
	results, err := h.store.Results(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for metric, want := range map[string]float64{"energy_board": 5, "energy_board_gross": 10, "energy_board_per_request": 0.05} {
		summary, ok := results.Cases[0].Summary(metric)
		if !ok || math.Abs(summary.Mean-want) > 1e-9 {
			t.Errorf("%s is %v, want %v: 10 J less a second at the mean of 4 and 6 W", metric, summary.Mean, want)
		}
	}
	// What lies between the two idle powers makes the net energy uncertain.
	if summary, _ := results.Cases[0].Summary("energy_board_uncertainty"); summary.Mean < 1 {
		t.Errorf("uncertainty %v J, want at least half of the drift: 1 J", summary.Mean)
	}
	trials, err := h.store.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range trials {
		if net, _ := trial.Value("energy_board"); math.Abs(net-5) > 1e-9 {
			t.Errorf("the stored trial says %v J net, its summary 5", net)
		}
	}
}
