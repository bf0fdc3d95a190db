package orchestrator_test

import (
	"context"
	"fmt"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// A bench is a fake place for trials: a case whose implementation is called
// "broken" is invalid, all others take a second per round.
type bench struct {
	orders []trial.Order
	before func(order trial.Order) error // asked before each trial
}

func (b *bench) Run(ctx context.Context, order trial.Order) (stopwatt.Trial, error) {
	if b.before != nil {
		if err := b.before(order); err != nil {
			return stopwatt.Trial{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return stopwatt.Trial{}, err
	}
	b.orders = append(b.orders, order)
	result := stopwatt.Trial{PlannedTrial: order.Planned, Position: order.Position, Status: stopwatt.Valid, Started: time.Now()}
	if order.Implementation.Name == "broken" {
		result.Status, result.Reason = stopwatt.Invalid, "the server exited with 1\nits log"
		return result, nil
	}
	result.Measurements = []stopwatt.Measurement{{Metric: "time", Value: float64(order.Planned.Round)}}
	return result, nil
}

// audience counts what it is told.
type audience struct {
	done          int // that were done before
	begun, ended  int
	planned, runs int
	idles         int
	looks         int
	shares        int
	stopped       int
}

func (a *audience) Planned(run stopwatt.Run, done int) {
	a.done, a.planned, a.runs = done, run.Planned, a.runs+1
}
func (a *audience) Idle(stopwatt.IdleWindow)          { a.idles++ }
func (a *audience) Begins(stopwatt.PlannedTrial, int) { a.begun++ }
func (a *audience) DriverShare(stopwatt.DriverShare)  { a.shares++ }
func (a *audience) Stopped(string)                    { a.stopped++ }
func (a *audience) Judged(stopwatt.Judgement, int)    { a.looks++ }
func (a *audience) Ended(stopwatt.Trial)              { a.ended++ }

// suite has these implementations under one workload, and does not ask what the
// driver takes by itself.
func suite(rounds int, implementations ...string) stopwatt.Suite {
	s := stopwatt.Suite{
		Name:      "servers",
		Baseline:  implementations[0],
		Workloads: []stopwatt.Workload{{Name: "hello", HTTP: &stopwatt.HTTP{Port: 80}}},
		Plan:      stopwatt.PlanSettings{Rounds: rounds, Warmup: time.Second, WithoutNullServer: true},
	}
	for _, name := range implementations {
		s.Implementations = append(s.Implementations, stopwatt.Implementation{Name: name, Image: name})
	}
	return s
}

// order asks for all cases of a suite.
func order(s stopwatt.Suite) orchestrator.Order {
	images := map[string]stopwatt.Image{}
	for _, implementation := range s.Implementations {
		images[implementation.Name] = stopwatt.Image{ID: fmt.Sprintf("sha256:%x", implementation.Name)}
	}
	return orchestrator.Order{
		Cases: s.Cases(),
		Run: stopwatt.Run{
			Suite: s.Name, Project: "team/servers", Baseline: s.Baseline, Seed: 7, Rounds: s.Plan.Rounds,
			Settings: s, Images: images, Tool: "test",
			Machine: stopwatt.Machine{Name: "bench", Identity: stopwatt.MachineIdentity{ID: "1"}},
		},
	}
}

// house is an orchestrator with its fakes.
type house struct {
	store    *storagetest.Memory
	bench    *bench
	audience *audience
	recover  func(context.Context, stopwatt.Run) error
}

func newHouse() house {
	return house{store: &storagetest.Memory{}, bench: &bench{}, audience: &audience{}}
}

func (h house) run(ctx context.Context, order orchestrator.Order) (stopwatt.Run, error) {
	return orchestrator.Orchestrator{
		Store:    h.store,
		Bench:    func(stopwatt.Run) orchestrator.Trials { return h.bench },
		Audience: h.audience,
		Recover:  h.recover,
	}.Run(ctx, order)
}
