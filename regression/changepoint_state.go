package regression

import (
	"cmp"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// judge gives every change point of a search its state, by this rule:
//
//   - withheld, where the machine's epoch changed within its span;
//   - confirmed, when its family-wise p is at most what rule.Confirm says for so
//     many points, and of the commits from it to the next change point at least
//     rule.Later lie nearer to the new level than to the old, outliers as they were
//     measured; and as many before it the other way;
//   - else suspected.
func judge(search *stopwatt.ChangeSearch, rule stopwatt.ChangeRule) {
	level := min(rule.Suspect, rule.Confirm*confirmedAt/float64(len(search.Points)))
	for i := range search.ChangePoints {
		c := &search.ChangePoints[i]
		before := search.Points[c.Index-c.Before.N : c.Index]
		after := search.Points[c.Index : c.Index+c.After.N]
		lasts := nearer(before, c.Before, c.After) >= rule.Later && nearer(after, c.After, c.Before) >= rule.Later
		c.State = stopwatt.Suspected
		if c.P <= level && lasts {
			c.State = stopwatt.Confirmed
		}
		if slices.ContainsFunc(search.Boundaries, func(b stopwatt.EpochBoundary) bool {
			return b.Index >= c.IndexLow && b.Index <= c.IndexHigh
		}) {
			c.State, c.Withheld = stopwatt.Withheld, stopwatt.EpochChanged
		}
	}
}

// confirmedAt is how many points the series has that rule.Confirm is said of.
const confirmedAt = 500

// nearer counts the points that lie nearer to one level than to another.
func nearer(points []stopwatt.SeriesPoint, to, than stopwatt.Level) int {
	count := 0
	for _, p := range points {
		if math.Abs(p.Value-to.Mean) < math.Abs(p.Value-than.Mean) {
			count++
		}
	}
	return count
}

// Withhold withholds the change points of searches that lie where the control
// shifted on the same machine: where its change points, whatever their state, may
// lie among the same commits. What then changed beside the machine shows in the
// relation to the control, see Relate.
func Withhold(searches, control []stopwatt.ChangeSearch) []stopwatt.ChangeSearch {
	held := slices.Clone(searches)
	for i := range held {
		held[i].ChangePoints = slices.Clone(held[i].ChangePoints)
		for _, of := range control {
			if of.Machine == held[i].Machine {
				withhold(held[i].ChangePoints, of.ChangePoints)
			}
		}
	}
	return held
}

func withhold(points, control []stopwatt.ChangePoint) {
	for i := range points {
		if slices.ContainsFunc(control, func(c stopwatt.ChangePoint) bool { return overlap(points[i], c) }) {
			points[i].State, points[i].Withheld = stopwatt.Withheld, stopwatt.ControlShifted
		}
	}
}

// overlap tells whether two change points may lie at the same commit.
func overlap(a, b stopwatt.ChangePoint) bool {
	return a.Past.Position < b.Reached.Position && b.Past.Position < a.Reached.Position
}

// Follow carries change points on when commits have been added: known are those
// that Follow returned before, of the same series and machine, none at first. A
// change point is the same when it has the same direction and may lie at the same
// commit. By this rule:
//
//   - what is found for the first time has the state that the search gives it;
//   - what was confirmed stays so for as long as it is found at all;
//   - what is no longer found is withdrawn, and kept as it was last seen;
//   - what was withdrawn and is found again has the state that the search gives.
//
// Since tells when each state was first reached. The order is that of history.
func Follow(known []stopwatt.ChangePoint, search stopwatt.ChangeSearch) []stopwatt.ChangePoint {
	if len(search.Points) == 0 {
		return known
	}
	newest := commitOf(search.Points[len(search.Points)-1])
	matched := make([]bool, len(known))
	var points []stopwatt.ChangePoint
	for _, c := range search.ChangePoints {
		if i := sameAs(c, known, matched); i >= 0 {
			matched[i] = true
			c = continued(known[i], c)
		}
		points = append(points, dated(c, newest))
	}
	for i, c := range known {
		if !matched[i] {
			c.State = stopwatt.Withdrawn
			points = append(points, dated(c, newest))
		}
	}
	slices.SortStableFunc(points, func(a, b stopwatt.ChangePoint) int {
		return cmp.Compare(a.First.Position, b.First.Position)
	})
	return points
}

// sameAs is the index of the known change point that c is, the nearest of
// several; -1 when it is none of them.
func sameAs(c stopwatt.ChangePoint, known []stopwatt.ChangePoint, matched []bool) int {
	at := -1
	for i, k := range known {
		if matched[i] || !overlap(c, k) || (c.Shift > 0) != (k.Shift > 0) {
			continue
		}
		if at < 0 || distance(c, k) < distance(c, known[at]) {
			at = i
		}
	}
	return at
}

// distance is how many commits lie between two change points.
func distance(a, b stopwatt.ChangePoint) int {
	d := a.First.Position - b.First.Position
	return max(d, -d)
}

// continued is a change point as it is found now, with what it was.
func continued(known, now stopwatt.ChangePoint) stopwatt.ChangePoint {
	now.Since = known.Since
	now.Since.Withdrawn = stopwatt.CommitPlace{}
	if known.State == stopwatt.Confirmed && now.State == stopwatt.Suspected {
		now.State = stopwatt.Confirmed
	}
	return now
}

// dated notes when a change point reached its state, unless that is known.
func dated(c stopwatt.ChangePoint, newest stopwatt.CommitPlace) stopwatt.ChangePoint {
	none := stopwatt.CommitPlace{}
	if c.State != stopwatt.Withdrawn {
		c.Since.Suspected = cmp.Or(c.Since.Suspected, newest)
	}
	switch {
	case c.State == stopwatt.Confirmed && c.Since.Confirmed == none:
		c.Since.Confirmed = newest
	case c.State == stopwatt.Withdrawn && c.Since.Withdrawn == none:
		c.Since.Withdrawn = newest
	}
	return c
}
