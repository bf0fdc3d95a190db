package storagetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// Judgement is one of Run: a case that regressed, one that cannot be compared,
// and one whose metric a harness has defined.
func Judgement() stopwatt.Judgement {
	seconds, _ := stopwatt.MetricNamed("time")
	estimate := stopwatt.Estimate{
		N: 12, Base: 5, Head: 5.25, Ratio: stopwatt.Interval{Value: 1.05, Known: true, Low: 1.04, High: 1.06, Bounded: true, Confidence: 0.95},
		Worse: 0.000244140625, Better: 1, Smallest: 0.01,
	}
	found := estimate
	found.Ratio.Value = 1.07
	return stopwatt.Judgement{
		Procedure: stopwatt.Adaptive(12, 32), Family: 3, Look: 1,
		Comparisons: []stopwatt.Comparison{
			{
				Case: stopwatt.Case{Implementation: "rust", Workload: "csv"}, Metric: seconds, Verdict: stopwatt.Regressed, Estimate: estimate, Found: &found,
				Family: 3, Look: 1, Threshold: 0.03, Doubts: []stopwatt.Doubt{{Kind: stopwatt.ThresholdRaised, Have: 0.01, Need: 0.03}},
				Steps: []stopwatt.Step{{Look: 1, Estimate: found, Side: stopwatt.Regressed, Rank: 1, Level: 0.05 / 3, Rejected: true, Threshold: 0.03, Outcome: stopwatt.OutcomeSuspected}},
			},
			{
				Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Metric: seconds, Verdict: stopwatt.Missing,
				Estimate: stopwatt.Estimate{Worse: 1, Better: 1}, Family: 3, Threshold: 0.03,
			},
			{
				Case: stopwatt.Case{Implementation: "go", Workload: "static/sort"}, Metric: score, Verdict: stopwatt.Undecided,
				Estimate: stopwatt.Estimate{N: 1, Worse: 0.5, Better: 1}, Family: 3, Threshold: 0.05, More: 20,
			},
		},
		Wanted: []stopwatt.Wanted{{Case: stopwatt.Case{Implementation: "go", Workload: "static/sort"}, First: 13, Last: 20}},
	}
}

// Calibration is one of the machine of Run.
func Calibration() stopwatt.Calibration {
	seconds, _ := stopwatt.MetricNamed("time")
	return stopwatt.Calibration{
		Suite: "web-servers", Taken: time.Date(2026, 3, 4, 5, 30, 0, 0, time.UTC), Alarms: stopwatt.Share{Count: 1, Of: 40, Low: 0.004, High: 0.13},
		Cases: []stopwatt.CaseCalibration{
			{
				Case: stopwatt.Case{Implementation: "rust", Workload: "csv"}, Metric: seconds, N: 200, PairSD: 0.02, Spread: 0.019, Smallest: 0.015,
				Alarms: stopwatt.Share{Count: 1, Of: 20, High: 0.2}, Order: stopwatt.Effect{Ratio: 1.001, P: 0.4}, Hours: stopwatt.Effect{P: 1}, Drift: stopwatt.Effect{Ratio: 1, P: 0.9},
			},
			{Case: stopwatt.Case{Implementation: "go", Workload: "csv"}, Metric: score, Alarms: stopwatt.Share{High: 1}},
		},
	}
}

func judgementComesBack(t *testing.T, s Store) {
	run, _ := begin(t, s, againstBase(), false)
	if _, err := s.Judgement(t.Context(), run.ID); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("before anything was said: %v", err)
	}
	first, second := Judgement(), Judgement()
	second.Look, second.Wanted = 2, nil
	slices.Reverse(second.Comparisons)
	for _, judgement := range []stopwatt.Judgement{first, first, second, second} {
		if err := s.SaveJudgement(t.Context(), run.ID, judgement); err != nil {
			t.Fatal(err)
		}
		last, err := s.Judgement(t.Context(), run.ID)
		if err != nil {
			t.Fatal(err)
		}
		same(t, last, judgement)
	}
}

func noVerdictOfImports(t *testing.T, s Store) {
	run, _ := begin(t, s, imported(), false)
	if err := s.SaveJudgement(t.Context(), run.ID, Judgement()); err == nil {
		t.Error("it got one")
	}
}

func calibrationComesBack(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	find := func(project, suite string, machine stopwatt.Machine) (stopwatt.Calibration, error) {
		return s.Calibration(t.Context(), project, suite, machine)
	}
	if _, err := find(run.Project, run.Suite, run.Machine); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("before any: %v", err)
	}
	early, late := Calibration(), Calibration()
	late.Taken, late.Cases = early.Taken.Add(time.Hour), late.Cases[:1]
	for _, calibration := range []stopwatt.Calibration{late, early, early} {
		if err := s.SaveCalibration(t.Context(), run.ID, calibration); err != nil {
			t.Fatal(err)
		}
	}
	last, err := find(run.Project, run.Suite, run.Machine)
	if err != nil {
		t.Fatal(err)
	}
	same(t, last, late)
	other := run.Machine
	other.Identity.ID = "2e"
	_, ofProject := find("other", run.Suite, run.Machine)
	_, ofSuite := find(run.Project, "other", run.Machine)
	_, ofMachine := find(run.Project, run.Suite, other)
	for of, err := range map[string]error{"project": ofProject, "suite": ofSuite, "machine": ofMachine} {
		if !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("of another %s: %v", of, err)
		}
	}
}

// Search is one of a series on the machine of a fingerprint, that found a change.
func Search(fingerprint string) stopwatt.ChangeSearch {
	place := func(position int, sha string) stopwatt.CommitPlace {
		return stopwatt.CommitPlace{Position: position, SHA: sha}
	}
	return stopwatt.ChangeSearch{
		Machine: fingerprint, Noise: 0.01, Autocorrelation: 0.2, Family: 31, Boundaries: []stopwatt.EpochBoundary{{Index: 3, From: "e1", To: "e2"}},
		Points: []stopwatt.SeriesPoint{{Position: 1, SHA: "c1", Value: 5, N: 10, Machine: fingerprint}},
		ChangePoints: []stopwatt.ChangePoint{{
			State: stopwatt.Suspected, Index: 12, IndexLow: 11, IndexHigh: 13, First: place(12, "c12"), Past: place(10, "c10"), Reached: place(13, "c13"),
			Before: stopwatt.Level{N: 12, Mean: 5, SD: 0.1}, After: stopwatt.Level{N: 4, Mean: 5.25, SD: 0.1}, Shift: 0.25, ShiftLow: 0.2, ShiftHigh: 0.3,
			Ratio: stopwatt.Interval{Value: 1.05, Known: true, Low: 1.04, High: 1.06, Bounded: true, Confidence: 0.95}, P: 0.003,
			Evidence: stopwatt.ChangeEvidence{Energy: 0.4, T: 5, DF: 14, P: 0.0001}, Since: stopwatt.ChangeHistory{Suspected: place(15, "c15")},
		}},
	}
}

// Sought is the series that Search is of.
func Sought() stopwatt.Series {
	return stopwatt.Series{Case: stopwatt.Case{Implementation: "rust", Workload: "csv"}, Metric: "time"}
}

func changesComeBack(t *testing.T, s Store) {
	run := Run()
	changes := func(series stopwatt.Series) []stopwatt.ChangeSearch {
		searches, err := s.Changes(t.Context(), run.Project, run.Suite, series)
		if err != nil {
			t.Fatal(err)
		}
		return searches
	}
	same(t, changes(Sought()), nil)
	relation := Sought()
	relation.Against = "go"
	short := Sought()
	short.Profile = "short"
	early, late, other, withdrawn := Search("f1"), Search("f1"), Search("f2"), Search("f1")
	late.ChangePoints[0].State = stopwatt.Confirmed
	withdrawn.ChangePoints = nil
	for _, step := range []struct {
		series   stopwatt.Series
		searches []stopwatt.ChangeSearch
	}{
		{Sought(), []stopwatt.ChangeSearch{early, other}},
		{relation, []stopwatt.ChangeSearch{withdrawn}},
		{short, []stopwatt.ChangeSearch{withdrawn}},
		{Sought(), []stopwatt.ChangeSearch{late}},
		{Sought(), []stopwatt.ChangeSearch{late}},
	} {
		if err := s.SaveChanges(t.Context(), run.Project, run.Suite, step.series, step.searches); err != nil {
			t.Fatal(err)
		}
	}
	late.Points, other.Points, withdrawn.Points = nil, nil, nil
	same(t, changes(Sought()), []stopwatt.ChangeSearch{late, other})
	same(t, changes(relation), []stopwatt.ChangeSearch{withdrawn})
	same(t, changes(short), []stopwatt.ChangeSearch{withdrawn})
	unknown := Sought()
	unknown.Metric = "swiftness"
	if err := s.SaveChanges(t.Context(), run.Project, run.Suite, unknown, nil); err == nil {
		t.Error("a series of an unknown metric was stored")
	}
}
