package storage_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// TestWhatASearchFindsCanBeStored searches series whose figures are extreme: a
// division by a spread of nothing must not keep a search from being stored.
func TestWhatASearchFindsCanBeStored(t *testing.T) {
	t.Parallel()
	s := open(t, embeddedtest.ForTest(t))
	for name, level := range map[string]func(i int) float64{
		"a step without noise": func(i int) float64 { return float64(1 + i/20) },
		"a step from nothing":  func(i int) float64 { return float64(i / 20) },
		"a huge step":          func(i int) float64 { return 1e-90 + 1e90*float64(i/20) },
		"nothing":              func(int) float64 { return 0 },
		"a trend":              func(i int) float64 { return float64(i) },
	} {
		series := storagetest.Sought()
		series.Case.Workload = name
		for i := range 40 {
			series.Points = append(series.Points, stopwatt.SeriesPoint{Position: i + 1, SHA: fmt.Sprint("c", i), Value: level(i), N: 1, Machine: "f"})
		}
		found := regression.FindChanges(series, stopwatt.ChangeRule{})
		if err := s.SaveChanges(t.Context(), "p", "s", series, found); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		searches, err := s.Changes(t.Context(), "p", "s", series)
		if diff := cmp.Diff(found, searches, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(stopwatt.ChangeSearch{}, "Points")); err != nil || diff != "" {
			t.Errorf("%s: error %v %s", name, err, diff)
		}
	}
}
