package storagetest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// Memory is a database of runs that lives as long as the test. Its zero value
// is empty and ready.
type Memory struct {
	// Fail, where it is set, is asked before each call, with the method's name.
	// Its error becomes the call's.
	Fail func(method string) error

	mu      sync.Mutex
	runs    []*memoryRun // the ID of a run is its place here, from 1
	defined map[string]stopwatt.Metric
	changes map[string]map[string]stopwatt.ChangeSearch // by series and machine, the last ones
}

type memoryRun struct {
	run          stopwatt.Run
	trials       []stopwatt.Trial
	summaries    []stopwatt.Summary
	judgements   []stopwatt.Judgement
	calibrations []stopwatt.Calibration
}

func (m *Memory) enter(method string) error {
	if m.Fail == nil {
		return nil
	}
	return m.Fail(method)
}

func (m *Memory) at(id int64) (*memoryRun, error) {
	if id < 1 || id > int64(len(m.runs)) {
		return nil, fmt.Errorf("run %d: %w", id, storage.ErrNotFound)
	}
	return m.runs[id-1], nil
}

// Begin does what storage.Store.Begin does.
func (m *Memory) Begin(_ context.Context, run stopwatt.Run, fresh bool) (stopwatt.Run, []stopwatt.PlannedTrial, error) {
	if err := m.enter("Begin"); err != nil {
		return stopwatt.Run{}, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	stored, err := m.place(run, fresh)
	if err != nil {
		return stopwatt.Run{}, nil, err
	}
	var done []stopwatt.PlannedTrial
	for _, trial := range stored.trials {
		done = append(done, trial.PlannedTrial)
	}
	return stored.run, done, nil
}

func (m *Memory) place(run stopwatt.Run, fresh bool) (*memoryRun, error) {
	for _, r := range slices.Backward(m.runs) {
		if r.run.Key == run.Key {
			if r.run.PlanKey != run.PlanKey {
				return nil, fmt.Errorf("run %s is stored already, with another plan", run.Key)
			}
			r.reopen(run)
			return r, nil
		}
	}
	for _, r := range slices.Backward(m.runs) {
		if r.run.Status == stopwatt.Finished || !samePlan(r.run, run) {
			continue
		}
		if !fresh {
			r.reopen(run)
			return r, nil
		}
		r.run.Status = stopwatt.Aborted
	}
	run.ID = int64(len(m.runs) + 1)
	run.Status, run.Idle, run.DriverShares = stopwatt.Running, nil, nil
	m.runs = append(m.runs, &memoryRun{run: run})
	return m.runs[run.ID-1], nil
}

func (r *memoryRun) reopen(by stopwatt.Run) {
	if r.run.Status == stopwatt.Finished {
		return
	}
	r.run.Status, r.run.Ended = stopwatt.Running, time.Time{}
	if by.Pipeline != nil {
		r.run.Pipeline = by.Pipeline
	}
	labels := map[string]string{}
	maps.Copy(labels, r.run.Labels)
	maps.Copy(labels, by.Labels)
	r.run.Labels = labels
}

func samePlan(a, b stopwatt.Run) bool {
	return a.PlanKey == b.PlanKey && a.Project == b.Project && a.Suite == b.Suite && sameMachine(a.Machine, b.Machine)
}

func sameMachine(a, b stopwatt.Machine) bool {
	if a.Named || b.Named {
		return a.Named == b.Named && a.Name == b.Name
	}
	return storage.Fingerprint(a.Identity) == storage.Fingerprint(b.Identity)
}

// RunOfKey does what storage.Store.RunOfKey does.
func (m *Memory) RunOfKey(_ context.Context, key string) (stopwatt.Run, error) {
	if err := m.enter("RunOfKey"); err != nil {
		return stopwatt.Run{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range m.runs {
		if r.run.Key == key {
			return r.run, nil
		}
	}
	return stopwatt.Run{}, fmt.Errorf("run of key %s: %w", key, storage.ErrNotFound)
}

// Claim does what storage.Store.Claim does where there is one process.
func (m *Memory) Claim(context.Context, int64) (bool, error) { return true, m.enter("Claim") }

// SaveTrial does what storage.Store.SaveTrial does.
func (m *Memory) SaveTrial(_ context.Context, runID int64, trial stopwatt.Trial) error {
	if err := m.enter("SaveTrial"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return err
	}
	if err := m.check(trial); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.trials, func(t stopwatt.Trial) bool { return t.PlannedTrial == trial.PlannedTrial }) {
		r.trials = append(r.trials, trial)
	}
	return nil
}

// SaveNet does what storage.Store.SaveNet does.
func (m *Memory) SaveNet(_ context.Context, runID int64, trial stopwatt.PlannedTrial, figures []stopwatt.Measurement) error {
	if err := m.enter("SaveNet"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return err
	}
	if err := m.check(stopwatt.Trial{Measurements: figures}); err != nil {
		return err
	}
	i := slices.IndexFunc(r.trials, func(t stopwatt.Trial) bool { return t.PlannedTrial == trial })
	if i < 0 {
		return fmt.Errorf("trial %s, round %d: %w", trial.Case, trial.Round, storage.ErrNotFound)
	}
	among := func(metric string) bool {
		return slices.ContainsFunc(figures, func(f stopwatt.Measurement) bool { return f.Metric == metric })
	}
	stored := &r.trials[i] // whose slices may be the caller's
	stored.Measurements = slices.DeleteFunc(slices.Clone(stored.Measurements), func(m stopwatt.Measurement) bool { return among(m.Metric) })
	stored.Measurements = append(stored.Measurements, figures...)
	stored.Absent = slices.DeleteFunc(slices.Clone(stored.Absent), func(a stopwatt.Absence) bool { return among(a.Metric) })
	return nil
}

func notAFigure(value float64) bool { return math.IsNaN(value) || math.IsInf(value, 0) }

// SaveSummaries does what storage.Store.SaveSummaries does.
func (m *Memory) SaveSummaries(_ context.Context, runID int64, summaries []stopwatt.Summary) error {
	if err := m.enter("SaveSummaries"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return err
	}
	for _, summary := range summaries {
		if slices.ContainsFunc([]float64{summary.Mean, summary.SD, summary.Median, summary.Min, summary.Max}, notAFigure) {
			return fmt.Errorf("%s of %s is no figure", summary.Metric, summary.Case)
		}
		if err := m.know(summary.Metric, nil); err != nil {
			return err
		}
	}
	r.summaries = slices.Clone(summaries)
	return nil
}

// Finish does what storage.Store.Finish does.
func (m *Memory) Finish(_ context.Context, runID int64, status stopwatt.RunStatus, ended time.Time) error {
	if err := m.enter("Finish"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return err
	}
	r.run.Status, r.run.Ended = status, ended
	return nil
}

// Trials does what storage.Store.Trials does.
func (m *Memory) Trials(_ context.Context, runID int64) ([]stopwatt.Trial, error) {
	if err := m.enter("Trials"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return nil, err
	}
	trials := slices.Clone(r.trials)
	slices.SortStableFunc(trials, func(a, b stopwatt.Trial) int { return cmp.Compare(a.Position, b.Position) })
	for i := range trials {
		m.inOrder(&trials[i])
	}
	return trials, nil
}
