package regression

import (
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Searched is how many of the newest commits are searched at each of them. What lies
// further back than these is old, and changes no more.
const Searched = 1000

// edge is how many commits at the beginning of what is searched may hide a change
// that was found when more before it were seen.
const edge = 100

// replayed is how many of the newest commits a series is searched at again, one by
// one, to know what was suspected and withdrawn on the way. What came to its end
// before that is no news.
const replayed = 100

// FollowChanges searches a series as it grew: at each of its newest hundred commits,
// so that what was suspected, confirmed and withdrawn since is known without having
// been kept. The control may have no points. The searches are those of the whole
// series, their change points followed. Of a series of more than Searched commits
// only the newest are searched so; those before are searched once, as a whole.
func FollowChanges(series, control stopwatt.Series, rule stopwatt.ChangeRule) []stopwatt.ChangeSearch {
	positions := positionsOf(series)
	if len(positions) <= Searched {
		return replay(series, control, positions, rule)
	}
	positions = positions[len(positions)-Searched:]
	newest := replay(from(series, positions[0]), from(control, positions[0]), positions, rule)
	whole := FindChanges(series, rule)
	if len(control.Points) > 0 {
		whole = Withhold(whole, FindChanges(control, rule))
	}
	for i := range whole {
		at := slices.IndexFunc(newest, func(s stopwatt.ChangeSearch) bool { return s.Machine == whole[i].Machine })
		if at >= 0 {
			whole[i].ChangePoints = joined(whole[i], newest[at])
		}
	}
	return whole
}

// joined are the change points of a whole series: its own where the newest commits do
// not reach, and those of the newest commits.
func joined(whole, newest stopwatt.ChangeSearch) []stopwatt.ChangePoint {
	before := len(whole.Points) - len(newest.Points)
	old := slices.DeleteFunc(slices.Clone(whole.ChangePoints), func(c stopwatt.ChangePoint) bool { return c.Index >= before+edge })
	fresh := slices.Clone(newest.ChangePoints)
	for i := range fresh {
		fresh[i].Index, fresh[i].IndexLow, fresh[i].IndexHigh = fresh[i].Index+before, fresh[i].IndexLow+before, fresh[i].IndexHigh+before
	}
	return together(old, fresh)
}

// CarryOver adds to a search, which began at a newer commit than there are, the change
// points that were known before and lie further back than it can see, as they were told.
func CarryOver(known []stopwatt.ChangePoint, search stopwatt.ChangeSearch) stopwatt.ChangeSearch {
	index := map[string]int{}
	for i, p := range search.Points {
		index[p.SHA] = i
	}
	var old []stopwatt.ChangePoint
	for _, c := range known {
		i, seen := index[c.First.SHA]
		if !seen {
			i = -1
		}
		if i < edge {
			c.Index = i
			old = append(old, c)
		}
	}
	search.ChangePoints = together(old, search.ChangePoints)
	for i := range search.ChangePoints {
		search.ChangePoints[i].Index = max(search.ChangePoints[i].Index, 0)
	}
	return search
}

// together are old change points and those of the newest commits. Where both found
// one, the newest say how it is; it is not withdrawn for lying at their beginning. The
// order is that of history.
func together(old, newest []stopwatt.ChangePoint) []stopwatt.ChangePoint {
	hides := func(c stopwatt.ChangePoint) func(stopwatt.ChangePoint) bool {
		return func(o stopwatt.ChangePoint) bool {
			same := o.First.SHA == c.First.SHA || overlap(o, c)
			return same && (o.Shift > 0) == (c.Shift > 0)
		}
	}
	var all []stopwatt.ChangePoint
	found := slices.DeleteFunc(slices.Clone(newest), func(c stopwatt.ChangePoint) bool { return c.State == stopwatt.Withdrawn })
	for _, c := range old {
		if !slices.ContainsFunc(found, hides(c)) {
			all = append(all, c)
		}
	}
	kept := len(all)
	for _, c := range newest {
		if c.State != stopwatt.Withdrawn || !slices.ContainsFunc(all[:kept], hides(c)) {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(a, b stopwatt.ChangePoint) int { return a.Index - b.Index })
	return all
}

// replay searches a series at each of its newest commits.
func replay(series, control stopwatt.Series, positions []int, rule stopwatt.ChangeRule) []stopwatt.ChangeSearch {
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

// from is a series without the commits before this one.
func from(series stopwatt.Series, position int) stopwatt.Series {
	series.Points = slices.DeleteFunc(slices.Clone(series.Points), func(p stopwatt.SeriesPoint) bool { return p.Position < position })
	return series
}
