package storage_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

func TestMeasuredRunsAreThoseThatStandInHistory(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	store := func(key string, status stopwatt.RunStatus, change func(*stopwatt.Run)) int64 {
		run := storagetest.Run()
		run.Key, run.PlanKey, run.Profile = key, key, ""
		run.Checkout.Dirty, run.Checkout.Default, run.Checkout.Commit.SHA = false, true, "sha of "+key
		change(&run)
		stored, _, err := s.Begin(t.Context(), run, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.SaveTrial(t.Context(), stored.ID, storagetest.Trial(1, "go", "csv")); err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(t.Context(), stored.ID, status, time.Now()); err != nil {
			t.Fatal(err)
		}
		return stored.ID
	}
	plain := store("plain", stopwatt.Finished, func(*stopwatt.Run) {})
	against := store("against", stopwatt.Finished, func(r *stopwatt.Run) { r.Against.Commit.SHA = "the base" })
	for key, change := range map[string]func(*stopwatt.Run){
		"dirty":    func(r *stopwatt.Run) { r.Checkout.Dirty = true },
		"branch":   func(r *stopwatt.Run) { r.Checkout.Default = false },
		"imported": func(r *stopwatt.Run) { r.Imported = true },
		"short":    func(r *stopwatt.Run) { r.Profile = "short" },
		"other":    func(r *stopwatt.Run) { r.Suite = "other" },
	} {
		store(key, stopwatt.Finished, change)
	}
	store("aborted", stopwatt.Aborted, func(*stopwatt.Run) {})

	runs, err := s.Measured(t.Context(), storage.SeriesQuery{Suite: storagetest.Run().Suite})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || runs[0].ID != plain || runs[1].ID != against || runs[1].Against != "the base" || runs[0].SHA != "sha of plain" || runs[0].Ended.IsZero() {
		t.Fatalf("measured are %+v", runs)
	}
	cases, err := s.MeasuredCases(t.Context(), []int64{plain})
	if err != nil || !slices.Equal(cases[plain], []stopwatt.Case{{Implementation: "go", Workload: "csv"}}) || len(cases) != 1 {
		t.Errorf("measured cases are %v, %v", cases, err)
	}
}

func TestACommitIsKnownByWhatWasMeasured(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	run, _ := begin(t, s, "k")
	want := storagetest.Run().Checkout.Commit
	got, err := s.Commit(t.Context(), run.Project, want.SHA)
	if err != nil || got.Subject != want.Subject || got.Author != want.Author || !got.Time.Equal(want.Time) {
		t.Errorf("the commit is %+v, want %+v (%v)", got, want, err)
	}
	if _, err := s.Commit(t.Context(), run.Project, "another"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}
