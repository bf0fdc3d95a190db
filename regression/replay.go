package regression

import (
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// replayed is how many of the newest commits a series is searched at again, one by
// one, to know what was suspected and withdrawn on the way. What came to its end
// before that is no news.
const replayed = 100

// FollowChanges searches a series as it grew: at each of its newest hundred commits,
// so that what was suspected, confirmed and withdrawn since is known without having
// been kept. The control may have no points. The searches are those of the whole
// series, their change points followed.
func FollowChanges(series, control stopwatt.Series, rule stopwatt.ChangeRule) []stopwatt.ChangeSearch {
	positions := positionsOf(series)
	known := map[string][]stopwatt.ChangePoint{} // by machine
	var searches []stopwatt.ChangeSearch
	for _, position := range positions[max(len(positions)-replayed, 0):] {
		searches = FindChanges(until(series, position), rule)
		if len(control.Points) > 0 {
			searches = Withhold(searches, FindChanges(until(control, position), rule))
		}
		for i := range searches {
			machine := searches[i].Machine
			known[machine] = Follow(known[machine], searches[i])
			searches[i].ChangePoints = known[machine]
		}
	}
	return searches
}

// positionsOf are the commits of a series, each once, in the order of history.
func positionsOf(series stopwatt.Series) []int {
	var positions []int
	for _, point := range series.Points {
		positions = append(positions, point.Position)
	}
	slices.Sort(positions)
	return slices.Compact(positions)
}

// until is a series as it was when its newest commit was this one.
func until(series stopwatt.Series, position int) stopwatt.Series {
	series.Points = slices.DeleteFunc(slices.Clone(series.Points), func(p stopwatt.SeriesPoint) bool { return p.Position > position })
	return series
}
