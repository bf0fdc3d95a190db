package storage_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// variedTrials are trials of each kind: with parts, repetitions, absences, metrics of
// their own, invalid, and of a second attempt.
func variedTrials() []stopwatt.Trial {
	plainOne, parted, failed, again := storagetest.Trial(1, "go", "csv"), storagetest.Trial(1, "rust", "csv"), storagetest.Trial(2, "go", "csv"), storagetest.Trial(2, "go", "csv")
	parted.Position, failed.Position, again.Position = 2, 3, 4
	parted.Repetitions = []stopwatt.Repetitions{{Metric: "time", Values: []float64{1, 2, 3}}}
	parted.Defines = []stopwatt.Metric{{Name: "allocations \x00", Unit: "1", Better: stopwatt.Less}}
	parted.Parts = []stopwatt.Part{
		{Case: stopwatt.Case{Implementation: "rust", Workload: "csv/small"}, Measurements: []stopwatt.Measurement{{Metric: "allocations \x00", Value: 7}}},
		{Case: stopwatt.Case{Implementation: "rust", Workload: "csv/large"}, Absent: []stopwatt.Absence{{Metric: "time", Reason: "it ended"}}, Repetitions: []stopwatt.Repetitions{{Metric: "time"}}},
	}
	failed.Status, failed.Reason, failed.Warnings, failed.Latency, failed.Samples = stopwatt.Invalid, "it was killed \x00", nil, nil, nil
	again.Attempt = 1
	return []stopwatt.Trial{plainOne, parted, failed, again}
}

func TestTrialsSavedTogetherAreAsThoseSavedAlone(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	alone, together := commitRun(1), commitRun(2)
	one, _, err := s.Begin(t.Context(), alone, false)
	if err != nil {
		t.Fatal(err)
	}
	all, _, err := s.Begin(t.Context(), together, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, trial := range variedTrials() {
		if err := s.SaveTrial(t.Context(), one.ID, trial); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.SaveTrial(t.Context(), all.ID, variedTrials()[2]); err != nil { // as where an import was begun before
		t.Fatal(err)
	}
	for range 2 { // the second time nothing is left to do
		if err := s.SaveTrials(t.Context(), all.ID, append(variedTrials(), variedTrials()[0])); err != nil {
			t.Fatal(err)
		}
	}
	want, err := s.Trials(t.Context(), one.ID)
	if err != nil || len(want) != 4 {
		t.Fatalf("%d trials, error %v", len(want), err)
	}
	got, err := s.Trials(t.Context(), all.ID)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.AllowUnexported(stopwatt.Histogram{})); err != nil || diff != "" {
		t.Error(err, diff)
	}
	for _, trial := range want {
		before, err := s.Samples(t.Context(), one.ID, trial.PlannedTrial)
		if err != nil {
			t.Fatal(err)
		}
		after, err := s.Samples(t.Context(), all.ID, trial.PlannedTrial)
		if diff := cmp.Diff(before, after); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

func TestOfTrialsSavedTogetherNoneIsSavedWhenOneIsNoFigure(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	run, _ := begin(t, s, "k-1")
	trials := variedTrials()
	trials[3].Measurements[0].Value = 2e100
	if err := s.SaveTrials(t.Context(), run.ID, trials); err == nil {
		t.Error("no error")
	}
	if stored, err := s.Trials(t.Context(), run.ID); err != nil || len(stored) != 0 {
		t.Errorf("%d trials, error %v", len(stored), err)
	}
}

// ingested are the trials of one run: 60 cases, 30 rounds, 12 metrics, and three
// quantities sampled ten times a second for ten seconds.
func ingested() []stopwatt.Trial {
	var trials []stopwatt.Trial
	metrics := []string{"time", "throughput", "latency_p50", "latency_p90", "latency_p99", "cpu_server",
		"memory_peak", "memory_rest", "energy_board_gross", "energy_board", "energy_cpu_gross", "energy_cpu"}
	for round := 1; round <= 30; round++ {
		for n := range 60 {
			trial := storagetest.Trial(round, fmt.Sprintf("i%d", n%6), fmt.Sprintf("w%d", n/6))
			trial.Position, trial.Absent, trial.Latency, trial.Samples, trial.Measurements = len(trials)+1, nil, nil, nil, nil
			for i, metric := range metrics {
				trial.Measurements = append(trial.Measurements, stopwatt.Measurement{Metric: metric, Value: float64(n*100 + i)})
			}
			for _, quantity := range []stopwatt.Quantity{stopwatt.PowerDrawn, stopwatt.CPUUsed, "memory"} {
				one := stopwatt.Samples{Meter: "board", Quantity: quantity}
				for i := range 100 {
					one.Times, one.Values = append(one.Times, int64(i)*1e8), append(one.Values, int64(i*round))
				}
				trial.Samples = append(trial.Samples, one)
			}
			trials = append(trials, trial)
		}
	}
	return trials
}

// BenchmarkIngest prints how fast a run is stored, beside bare CopyFrom of the very
// same rows into the same tables.
func BenchmarkIngest(b *testing.B) {
	s := openBench(b, embeddedtest.ForTest(b))
	dsn := embeddedtest.ForTest(b)
	bare := openBench(b, dsn)
	conn, err := pgx.Connect(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	trials := ingested()
	var ours, theirs, single time.Duration
	n := 0
	for b.Loop() {
		n++
		run := commitRun(n)
		stored, _, err := s.Begin(b.Context(), run, false)
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		if err := s.SaveTrials(b.Context(), stored.ID, trials); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(began)
		theirs += copyBare(b, bare, conn, run, trials)
		if n == 1 {
			run.Key, run.PlanKey = "single", "single"
			if stored, _, err = s.Begin(b.Context(), run, false); err != nil {
				b.Fatal(err)
			}
			began = time.Now()
			for _, trial := range trials {
				if err := s.SaveTrial(b.Context(), stored.ID, trial); err != nil {
					b.Fatal(err)
				}
			}
			single = time.Since(began)
		}
	}
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "of-CopyFrom")
	b.ReportMetric(theirs.Seconds()/float64(n)/single.Seconds(), "of-CopyFrom-one-by-one")
	b.ReportMetric(ours.Seconds()/float64(n)*1e3, "ms/run")
}

// openBench is open for a benchmark.
func openBench(b *testing.B, dsn string) *storage.Store {
	b.Helper()
	s, err := storage.Open(b.Context(), dsn)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

// copyBare is how long bare CopyFrom takes for the rows of trials.
func copyBare(b *testing.B, s *storage.Store, conn *pgx.Conn, run stopwatt.Run, trials []stopwatt.Trial) time.Duration {
	b.Helper()
	stored, _, err := s.Begin(b.Context(), run, false)
	if err != nil {
		b.Fatal(err)
	}
	rows, err := s.NewBareRows(b.Context(), stored.ID, trials)
	if err != nil {
		b.Fatal(err)
	}
	began := time.Now()
	if err := rows.Copy(b.Context(), conn); err != nil {
		b.Fatal(err)
	}
	return time.Since(began)
}
