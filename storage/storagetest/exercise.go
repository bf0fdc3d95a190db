// Package storagetest holds what a database of runs must be able to do, and an
// in-memory one that can do it.
//
// It does not test SQL: package storage's own tests do.
package storagetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
)

// A Store is what the exercise is for.
type Store interface {
	Begin(ctx context.Context, run stopwatt.Run, fresh bool) (stopwatt.Run, []stopwatt.PlannedTrial, error)
	SaveTrial(ctx context.Context, runID int64, trial stopwatt.Trial) error
	SaveNet(ctx context.Context, runID int64, trial stopwatt.PlannedTrial, figures []stopwatt.Measurement) error
	SaveSummaries(ctx context.Context, runID int64, summaries []stopwatt.Summary) error
	Finish(ctx context.Context, runID int64, status stopwatt.RunStatus, ended time.Time) error
	Results(ctx context.Context, runID int64) (stopwatt.Results, error)
	Trials(ctx context.Context, runID int64) ([]stopwatt.Trial, error)
	Samples(ctx context.Context, runID int64, trial stopwatt.PlannedTrial) ([]stopwatt.Samples, error)
	SaveIdle(ctx context.Context, runID int64, idle stopwatt.IdleWindow) error
	SaveDriverShare(ctx context.Context, runID int64, share stopwatt.DriverShare) error
	SaveJudgement(ctx context.Context, runID int64, judgement stopwatt.Judgement) error
	Judgement(ctx context.Context, runID int64) (stopwatt.Judgement, error)
	SaveChanges(ctx context.Context, project, suite string, series stopwatt.Series, searches []stopwatt.ChangeSearch) error
	Changes(ctx context.Context, project, suite string, series stopwatt.Series) ([]stopwatt.ChangeSearch, error)
	SaveCalibration(ctx context.Context, runID int64, calibration stopwatt.Calibration) error
	Calibration(ctx context.Context, project, suite string, machine stopwatt.Machine) (stopwatt.Calibration, error)
}

// Exercise puts a store through what a run asks of it. open returns an empty
// one each time.
func Exercise(t *testing.T, open func(t *testing.T) Store) {
	for name, test := range map[string]func(*testing.T, Store){
		"a run comes back whole":                              runComesBack,
		"a run without git has no commit":                     outsideGit,
		"a run against a base comes back whole":               againstABase,
		"a run of a pipeline comes back whole":                ofPipeline,
		"a run belongs to the pipeline that continues it":     continuedInAPipeline,
		"base and head of a case come back apart":             baseAndHead,
		"an imported run comes back whole":                    importedRun,
		"a named machine is no other":                         namedMachine,
		"a trial comes back whole":                            trialComesBack,
		"a trial comes back with its parts":                   partsComeBack,
		"parts are cases of their own, and no trials":         partsAreCases,
		"a trial with a bad part is refused whole":            badParts,
		"repetitions that are no figures are refused":         badRepetitions,
		"a metric that is defined is known from then on":      definedMetric,
		"a metric of two units or directions is refused":      metricOfTwoUnits,
		"the last judgement of a run comes back whole":        judgementComesBack,
		"an imported run gets no verdict":                     noVerdictOfImports,
		"the last calibration of a machine comes back whole":  calibrationComesBack,
		"the last search of a series comes back":              changesComeBack,
		"a trial saved twice is there once":                   savedTwice,
		"a trial that is measured once more is another":       anotherAttempt,
		"a trial's samples come back apart from it":           samplesComeBack,
		"a trial of samples without their times is refused":   samplesWithoutTimes,
		"energy metrics stand behind the CPU times":           energyMetrics,
		"the driver's shares come back, the first of each":    driverSharesComeBack,
		"idle windows come back, those before first":          idleComesBack,
		"idle windows of a clock that was set back":           idleWhoseClockWasSetBack,
		"an idle window saved twice is there once":            idleTwice,
		"an idle power of NaN is refused":                     idleNotANumber,
		"a machine that changed is still the same":            changedMachine,
		"a trial that measured NaN is refused":                notANumber,
		"a summary of NaN is refused":                         notASummary,
		"a trial of an unknown metric is refused":             unknownMetric,
		"a trial of one metric twice is refused":              metricTwice,
		"a trial of no run is refused":                        unknownRun,
		"net figures replace a stored trial's own":            netReplaces,
		"net figures that are none are refused":               netRefused,
		"an unfinished run is continued":                      continued,
		"an aborted run is continued":                         abortedContinued,
		"a finished run is not continued":                     finishedNotContinued,
		"a fresh run leaves the unfinished one aborted":       freshRun,
		"another machine begins its own run":                  anotherMachine,
		"a run begun again with its key is the same":          sameKey,
		"a key of another plan is refused":                    keyOfAnotherPlan,
		"results count trials and reasons":                    countsAndReasons,
		"results count the trials that carry a warning":       countsWarnings,
		"results stand in the order of the suite":             suiteOrder,
		"summaries saved again replace the former":            replacedSummaries,
		"two runs do not mix":                                 twoRuns,
		"foreign text that is no text does not stop a result": foreignText,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

// anotherAttempt is a pair's side that failed, and the same measured once more.
func anotherAttempt(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	failed, again := Trial(1, "go", "csv"), Trial(1, "go", "csv")
	failed.Status, failed.Reason = stopwatt.Invalid, "the server exited with 1"
	again.Attempt, again.Position = 1, 2
	save(t, s, run.ID, failed, again, again)
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if len(trials) != 2 || trials[0].Attempt != 0 || trials[1].Attempt != 1 || trials[1].Status != stopwatt.Valid {
		t.Errorf("%d trials, %+v", len(trials), trials)
	}
	if err := s.SaveNet(t.Context(), run.ID, again.PlannedTrial, []stopwatt.Measurement{{Metric: "energy_board", Value: 7}}); err != nil {
		t.Error(err)
	}
	if _, done := begin(t, s, Run(), false); len(done) != 2 || done[1] != again.PlannedTrial {
		t.Errorf("done: %v", done)
	}
}

func begin(t *testing.T, s Store, run stopwatt.Run, fresh bool) (stopwatt.Run, []stopwatt.PlannedTrial) {
	t.Helper()
	stored, done, err := s.Begin(t.Context(), run, fresh)
	if err != nil {
		t.Fatal(err)
	}
	return stored, done
}

func save(t *testing.T, s Store, runID int64, trials ...stopwatt.Trial) {
	t.Helper()
	for _, trial := range trials {
		if err := s.SaveTrial(t.Context(), runID, trial); err != nil {
			t.Fatal(err)
		}
	}
}

func finish(t *testing.T, s Store, runID int64, status stopwatt.RunStatus) {
	t.Helper()
	if err := s.Finish(t.Context(), runID, status, ended); err != nil {
		t.Fatal(err)
	}
}

func results(t *testing.T, s Store, runID int64) stopwatt.Results {
	t.Helper()
	r, err := s.Results(t.Context(), runID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// same fails the test unless both are equal; times where they name one instant.
func same[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(sameHistogram)); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
}

// sameHistogram compares what was recorded, to the precision of the buckets.
func sameHistogram(a, b *stopwatt.Histogram) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, errX := a.MarshalBinary()
	y, errY := b.MarshalBinary()
	return errX == nil && errY == nil && string(x) == string(y)
}

var ended = time.Date(2026, 3, 4, 6, 0, 0, 0, time.UTC)

func runComesBack(t *testing.T, s Store) {
	run := Run()
	stored, done := begin(t, s, run, false)
	if stored.ID == 0 || len(done) != 0 {
		t.Errorf("a new run got ID %d and %d trials", stored.ID, len(done))
	}
	finish(t, s, stored.ID, stopwatt.Finished)
	run.ID, run.Status, run.Ended = stored.ID, stopwatt.Finished, ended
	same(t, results(t, s, stored.ID).Run, run)
}

func outsideGit(t *testing.T, s Store) {
	run := Run()
	run.Checkout = stopwatt.Checkout{}
	stored, _ := begin(t, s, run, false)
	same(t, stored.Checkout, stopwatt.Checkout{})
}

func trialComesBack(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	second, first := Trial(2, "go", "csv"), Trial(1, "rust", "csv")
	first.Status, first.Reason, first.Latency = stopwatt.Invalid, "container exited (137, out of memory)", nil
	first.Measurements, first.Absent, first.Warnings, first.Samples = nil, nil, nil, nil
	save(t, s, run.ID, second, first)
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, trials, []stopwatt.Trial{first, withoutSamples(second)})
}

func withoutSamples(trial stopwatt.Trial) stopwatt.Trial {
	trial.Samples = nil
	return trial
}

func savedTwice(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	changed := Trial(1, "go", "csv")
	changed.Measurements, changed.Samples = []stopwatt.Measurement{{Metric: "time", Value: 9}}, nil
	save(t, s, run.ID, Trial(1, "go", "csv"), changed)
	trials, err := s.Trials(t.Context(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	same(t, trials, []stopwatt.Trial{withoutSamples(Trial(1, "go", "csv"))})
}

func notANumber(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		trial := Trial(1, "go", "csv")
		trial.Measurements = []stopwatt.Measurement{{Metric: "time", Value: value}}
		if err := s.SaveTrial(t.Context(), run.ID, trial); err == nil {
			t.Errorf("%g was stored", value)
		}
	}
	if trials, err := s.Trials(t.Context(), run.ID); err != nil || len(trials) != 0 {
		t.Errorf("%d trials are stored, error %v", len(trials), err)
	}
}

func notASummary(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	if err := s.SaveSummaries(t.Context(), run.ID, []stopwatt.Summary{Summary("go", "csv", "time", math.NaN())}); err == nil {
		t.Error("it was stored")
	}
}

func unknownMetric(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	measured, absent := Trial(1, "go", "csv"), Trial(1, "go", "csv")
	measured.Measurements = []stopwatt.Measurement{{Metric: "swiftness", Value: 1}}
	absent.Absent = []stopwatt.Absence{{Metric: "swiftness", Reason: "no such thing"}}
	for _, trial := range []stopwatt.Trial{measured, absent} {
		if err := s.SaveTrial(t.Context(), run.ID, trial); err == nil {
			t.Errorf("it was stored: %+v", trial)
		}
	}
}

func metricTwice(t *testing.T, s Store) {
	run, _ := begin(t, s, Run(), false)
	trial := Trial(1, "go", "csv")
	trial.Measurements = []stopwatt.Measurement{{Metric: "time", Value: 1}, {Metric: "time", Value: 2}}
	if err := s.SaveTrial(t.Context(), run.ID, trial); err == nil {
		t.Error("it was stored")
	}
}

func unknownRun(t *testing.T, s Store) {
	_, errResults := s.Results(t.Context(), 4711)
	_, errTrials := s.Trials(t.Context(), 4711)
	_, errJudgement := s.Judgement(t.Context(), 4711)
	_, errSamples := s.Samples(t.Context(), 4711, Trial(1, "go", "csv").PlannedTrial)
	for call, err := range map[string]error{
		"SaveTrial":       s.SaveTrial(t.Context(), 4711, Trial(1, "go", "csv")),
		"SaveNet":         s.SaveNet(t.Context(), 4711, Trial(1, "go", "csv").PlannedTrial, nil),
		"SaveSummaries":   s.SaveSummaries(t.Context(), 4711, nil),
		"Finish":          s.Finish(t.Context(), 4711, stopwatt.Finished, ended),
		"Results":         errResults,
		"Trials":          errTrials,
		"Samples":         errSamples,
		"Judgement":       errJudgement,
		"SaveJudgement":   s.SaveJudgement(t.Context(), 4711, Judgement()),
		"SaveCalibration": s.SaveCalibration(t.Context(), 4711, Calibration()),
		"SaveIdle":        s.SaveIdle(t.Context(), 4711, Idle(stopwatt.IdleBefore)),
		"SaveDriverShare": s.SaveDriverShare(t.Context(), 4711, DriverShare("csv")),
	} {
		if !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: %v", call, err)
		}
	}
}

// again is the same command, given again: its run has another key and seed.
func again() stopwatt.Run {
	run := Run()
	run.Key, run.Seed, run.Started = "k-2", 7, run.Started.Add(time.Hour)
	return run
}

func continued(t *testing.T, s Store) {
	first, _ := begin(t, s, Run(), false)
	invalid := Trial(1, "rust", "csv")
	invalid.Position, invalid.Status, invalid.Reason = 2, stopwatt.Invalid, "wrong answers"
	save(t, s, first.ID, Trial(1, "go", "csv"), invalid)
	stored, done := begin(t, s, again(), false)
	same(t, stored, first)
	same(t, done, []stopwatt.PlannedTrial{Trial(1, "go", "csv").PlannedTrial, invalid.PlannedTrial})
}

func abortedContinued(t *testing.T, s Store) {
	first, _ := begin(t, s, Run(), false)
	finish(t, s, first.ID, stopwatt.Aborted)
	stored, _ := begin(t, s, again(), false)
	same(t, stored, first)
	same(t, results(t, s, first.ID).Run.Status, stopwatt.Running)
}

func finishedNotContinued(t *testing.T, s Store) {
	first, _ := begin(t, s, Run(), false)
	save(t, s, first.ID, Trial(1, "go", "csv"))
	finish(t, s, first.ID, stopwatt.Finished)
	second, done := begin(t, s, again(), false)
	if second.ID == first.ID || second.Key != "k-2" || second.Seed != 7 || len(done) != 0 {
		t.Errorf("began %+v with %d trials", second, len(done))
	}
}

func freshRun(t *testing.T, s Store) {
	first, _ := begin(t, s, Run(), false)
	save(t, s, first.ID, Trial(1, "go", "csv"))
	second, done := begin(t, s, again(), true)
	if second.ID == first.ID || len(done) != 0 {
		t.Errorf("began %+v with %d trials", second, len(done))
	}
	same(t, results(t, s, first.ID).Run.Status, stopwatt.Aborted)
	third, _ := begin(t, s, func() stopwatt.Run { r := again(); r.Key = "k-3"; return r }(), false)
	same(t, third.ID, second.ID)
}

func anotherMachine(t *testing.T, s Store) {
	first, _ := begin(t, s, Run(), false)
	elsewhere := again()
	elsewhere.Machine.Identity.ID = "2e"
	second, _ := begin(t, s, elsewhere, false)
	if second.ID == first.ID {
		t.Error("the run of another machine was continued")
	}
}

func sameKey(t *testing.T, s Store) {
	first, _ := begin(t, s, Run(), false)
	save(t, s, first.ID, Trial(1, "go", "csv"))
	finish(t, s, first.ID, stopwatt.Finished)
	stored, done := begin(t, s, Run(), true)
	same(t, stored.ID, first.ID)
	same(t, stored.Status, stopwatt.Finished)
	same(t, len(done), 1)
}

func keyOfAnotherPlan(t *testing.T, s Store) {
	begin(t, s, Run(), false)
	other := Run()
	other.PlanKey = "plan-2"
	if _, _, err := s.Begin(t.Context(), other, false); err == nil {
		t.Error("it was taken")
	}
}

func twoRuns(t *testing.T, s Store) {
	first, _ := begin(t, s, Run(), false)
	other := again()
	other.PlanKey = "plan-2"
	second, _ := begin(t, s, other, false)
	errs := make(chan error)
	for _, run := range []stopwatt.Run{first, second} {
		go func() {
			for round := range run.ID + 4 {
				if err := s.SaveTrial(t.Context(), run.ID, Trial(int(round)+1, "go", "csv")); err != nil {
					errs <- fmt.Errorf("run %d: %w", run.ID, err)
					return
				}
			}
			errs <- s.SaveSummaries(t.Context(), run.ID, []stopwatt.Summary{Summary("go", "csv", "time", float64(run.ID))})
		}()
	}
	if err := errors.Join(<-errs, <-errs); err != nil {
		t.Fatal(err)
	}
	for _, run := range []stopwatt.Run{first, second} {
		result := results(t, s, run.ID).Cases[0]
		same(t, result.Valid, int(run.ID)+4)
		same(t, result.Summaries[0].Mean, float64(run.ID))
	}
}

func foreignText(t *testing.T, s Store) {
	run := Run()
	run.Command, run.Checkout.Commit.Subject = "stopwatt run a\x00b", "broken \xff subject"
	run.Settings.Implementations[0].Env = map[string]string{"ODD": "a\x00b\\u0000"}
	stored, _ := begin(t, s, run, false)
	trial := Trial(1, "go", "csv")
	trial.Status, trial.Reason = stopwatt.Invalid, "log says \x00\xff'; DROP SCHEMA stopwatt CASCADE; --"
	trial.Warnings = []string{"\x00"}
	odd := stopwatt.Metric{Name: "odd \xff\x00", Unit: "\x00", Better: stopwatt.Neither}
	trial.Defines = []stopwatt.Metric{odd}
	trial.Parts = []stopwatt.Part{part("go", "csv/\x00\xff", stopwatt.Measurement{Metric: odd.Name, Value: 1})}
	save(t, s, stored.ID, trial)
	if got := results(t, s, stored.ID).Cases[0].Invalid; got != 1 {
		t.Errorf("%d invalid trials are stored", got)
	}
}
