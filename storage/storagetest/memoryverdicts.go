package storagetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// SaveJudgement does what storage.Store.SaveJudgement does.
func (m *Memory) SaveJudgement(_ context.Context, runID int64, judgement stopwatt.Judgement) error {
	if err := m.enter("SaveJudgement"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return err
	}
	if r.run.Imported {
		return errors.New("it is imported, and gets no verdict")
	}
	if n := len(r.judgements); n == 0 || !reflect.DeepEqual(r.judgements[n-1], judgement) {
		r.judgements = append(r.judgements, judgement)
	}
	return nil
}

// Judgement does what storage.Store.Judgement does.
func (m *Memory) Judgement(_ context.Context, runID int64) (stopwatt.Judgement, error) {
	if err := m.enter("Judgement"); err != nil {
		return stopwatt.Judgement{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return stopwatt.Judgement{}, err
	}
	if len(r.judgements) == 0 {
		return stopwatt.Judgement{}, fmt.Errorf("judgement of run %d: %w", runID, storage.ErrNotFound)
	}
	return r.judgements[len(r.judgements)-1], nil
}

// SaveCalibration does what storage.Store.SaveCalibration does.
func (m *Memory) SaveCalibration(_ context.Context, runID int64, calibration stopwatt.Calibration) error {
	if err := m.enter("SaveCalibration"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, err := m.at(runID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(r.calibrations, func(c stopwatt.Calibration) bool { return c.Taken.Equal(calibration.Taken) }) {
		r.calibrations = append(r.calibrations, calibration)
	}
	return nil
}

// Calibration does what storage.Store.Calibration does.
func (m *Memory) Calibration(_ context.Context, project, suite string, machine stopwatt.Machine) (stopwatt.Calibration, error) {
	if err := m.enter("Calibration"); err != nil {
		return stopwatt.Calibration{}, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []stopwatt.Calibration
	for _, r := range m.runs {
		if r.run.Project == project && r.run.Suite == suite && sameMachine(r.run.Machine, machine) {
			all = append(all, r.calibrations...)
		}
	}
	if len(all) == 0 {
		return stopwatt.Calibration{}, fmt.Errorf("calibration of suite %s: %w", suite, storage.ErrNotFound)
	}
	return slices.MaxFunc(all, func(a, b stopwatt.Calibration) int { return a.Taken.Compare(b.Taken) }), nil
}

// seriesNamed is what tells series apart.
func seriesNamed(project, suite string, s stopwatt.Series) string {
	return fmt.Sprintf("%q %q %q %q %q %q", project, suite, s.Case, s.Metric, s.Against, s.Profile)
}

// SaveChanges does what storage.Store.SaveChanges does.
func (m *Memory) SaveChanges(_ context.Context, project, suite string, series stopwatt.Series, searches []stopwatt.ChangeSearch) error {
	if err := m.enter("SaveChanges"); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.know(series.Metric, nil); err != nil {
		return err
	}
	name := seriesNamed(project, suite, series)
	if m.changes == nil {
		m.changes = map[string]map[string]stopwatt.ChangeSearch{}
	}
	if m.changes[name] == nil {
		m.changes[name] = map[string]stopwatt.ChangeSearch{}
	}
	for _, search := range searches {
		search.Points = nil
		m.changes[name][search.Machine] = search
	}
	return nil
}

// Changes does what storage.Store.Changes does.
func (m *Memory) Changes(_ context.Context, project, suite string, series stopwatt.Series) ([]stopwatt.ChangeSearch, error) {
	if err := m.enter("Changes"); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var searches []stopwatt.ChangeSearch
	of := m.changes[seriesNamed(project, suite, series)]
	for _, machine := range slices.Sorted(maps.Keys(of)) {
		searches = append(searches, of[machine])
	}
	return searches, nil
}
