package storagetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// Samples does what storage.Store.Samples does.
func (m *Memory) Samples(_ context.Context, runID int64, planned stopwatt.PlannedTrial) ([]stopwatt.Samples, error) {
	if err := m.enter("Samples"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return nil, err
	}
	for _, trial := range r.trials {
		if trial.PlannedTrial == planned {
			return trial.Samples, nil
		}
	}
	return nil, fmt.Errorf("trial %s, round %d: %w", planned.Case, planned.Round, storage.ErrNotFound)
}

// SaveIdle does what storage.Store.SaveIdle does.
func (m *Memory) SaveIdle(_ context.Context, runID int64, idle stopwatt.IdleWindow) error {
	if err := m.enter("SaveIdle"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return err
	}
	for _, power := range idle.Powers {
		if power.Absent == "" && (notAFigure(power.Watts) || notAFigure(power.Error) || power.Error < 0) {
			return fmt.Errorf("idle power of %s is %g ± %g W, which is no figure", power.Meter, power.Watts, power.Error)
		}
	}
	if err := checkSamples(idle.Samples); err != nil {
		return err
	}
	if slices.ContainsFunc(r.run.Idle, func(w stopwatt.IdleWindow) bool { return w.Started.Equal(idle.Started) }) {
		return nil
	}
	windows := append(slices.Clone(r.run.Idle), idle)                                                                                // what was read before stays as it is
	slices.SortStableFunc(windows, func(a, b stopwatt.IdleWindow) int { return -strings.Compare(string(a.Place), string(b.Place)) }) // before, after
	r.run.Idle = windows
	return nil
}

// SaveDriverShare does what storage.Store.SaveDriverShare does.
func (m *Memory) SaveDriverShare(_ context.Context, runID int64, share stopwatt.DriverShare) error {
	if err := m.enter("SaveDriverShare"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return err
	}
	for _, figure := range share.Measurements {
		if notAFigure(figure.Value) {
			return fmt.Errorf("%s of the driver is %g, which is no figure", figure.Metric, figure.Value)
		}
	}
	if slices.ContainsFunc(r.run.DriverShares, func(s stopwatt.DriverShare) bool { return s.Workload == share.Workload }) {
		return nil
	}
	shares := append(slices.Clone(r.run.DriverShares), share) // what was read before stays as it is
	slices.SortStableFunc(shares, func(a, b stopwatt.DriverShare) int { return a.Started.Compare(b.Started) })
	r.run.DriverShares = shares
	return nil
}

// checkSamples refuses what the database would refuse.
func checkSamples(samples []stopwatt.Samples) error {
	for i, s := range samples {
		if len(s.Times) != len(s.Values) {
			return fmt.Errorf("samples of %s, %s: %d times and %d values", s.Meter, s.Quantity, len(s.Times), len(s.Values))
		}
		if slices.ContainsFunc(samples[:i], func(o stopwatt.Samples) bool { return o.Meter == s.Meter && o.Quantity == s.Quantity }) {
			return fmt.Errorf("samples of %s, %s, are there twice", s.Meter, s.Quantity)
		}
	}
	return nil
}
