package regression

import (
	"fmt"
	"slices"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// cropped is a search of eight points with a change at the third and the sixth.
func cropped() stopwatt.ChangeSearch {
	var search stopwatt.ChangeSearch
	for i := range 8 {
		search.Points = append(search.Points, stopwatt.SeriesPoint{Position: i + 1, Value: float64(i)})
	}
	for _, at := range []int{2, 5} {
		search.ChangePoints = append(search.ChangePoints, stopwatt.ChangePoint{Index: at, IndexLow: at - 1, IndexHigh: at + 2})
	}
	search.Boundaries = []stopwatt.EpochBoundary{{Index: 4}}
	return search
}

func TestCropShowsAStretchAndKeepsWhatWasFound(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name        string
		first, last int
		points      int
		changes     string // Index, IndexLow, IndexHigh of each
		boundaries  string
	}{
		{"all", 1, 8, 8, "[2 1 4][5 4 7]", "[4]"},
		{"the end", 5, 8, 4, "[1 0 3]", "[0]"},
		{"the beginning", 1, 4, 4, "[2 1 3]", ""},
		{"the change's first commit alone", 6, 6, 1, "[0 0 0]", ""},
		{"nothing", 9, 12, 0, "", ""},
	} {
		got := Crop(cropped(), func(p stopwatt.SeriesPoint) bool { return row.first <= p.Position && p.Position <= row.last })
		changes, boundaries := "", ""
		for _, c := range got.ChangePoints {
			changes += fmt.Sprint([]int{c.Index, c.IndexLow, c.IndexHigh})
			if at := got.Points[c.Index].Value; at != 2 && at != 5 {
				t.Errorf("%s: the change stands at %v", row.name, got.Points[c.Index])
			}
		}
		for _, b := range got.Boundaries {
			boundaries += fmt.Sprint([]int{b.Index})
		}
		if len(got.Points) != row.points || changes != row.changes || boundaries != row.boundaries {
			t.Errorf("%s: %d points, changes %s, boundaries %s", row.name, len(got.Points), changes, boundaries)
		}
	}
}

func TestLatestLeavesOneRunOfACommitOnEachMachine(t *testing.T) {
	t.Parallel()
	got := Latest(stopwatt.Series{Points: []stopwatt.SeriesPoint{
		{SHA: "a", Machine: "board", Run: 1}, {SHA: "a", Machine: "desk", Run: 2}, {SHA: "a", Machine: "board", Run: 4}, {SHA: "b", Machine: "board", Run: 3},
	}})
	var runs []int64
	for _, p := range got.Points {
		runs = append(runs, p.Run)
	}
	if !slices.Equal(runs, []int64{2, 4, 3}) {
		t.Errorf("runs %v are left, want 2, 4, 3", runs)
	}
}
