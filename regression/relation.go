package regression

import (
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Relate makes the series of one implementation's values divided by another's,
// run by run: what the machine did to both cancels. Points that have no
// counterpart in the same run, or no ratio (see RatioOf), are left out. A run that
// has several points of a commit counts with the last.
func Relate(of, against stopwatt.Series) stopwatt.Series {
	relation := stopwatt.Series{Case: of.Case, Metric: of.Metric, Profile: of.Profile, Against: against.Case.Implementation}
	counterparts := map[measured]stopwatt.SeriesPoint{}
	for _, p := range against.Points {
		counterparts[measuredIn(p)] = p
	}
	for _, p := range of.Points {
		other, has := counterparts[measuredIn(p)]
		ratio := RatioOf(p.Value, other.Value)
		if !has || !ratio.Known {
			continue
		}
		p.Value, p.N = ratio.Value, min(p.N, other.N)
		relation.Points = append(relation.Points, p)
	}
	return relation
}

// measured names what two points must share to be compared.
type measured struct {
	run      int64
	position int
	machine  string
}

func measuredIn(p stopwatt.SeriesPoint) measured { return measured{p.Run, p.Position, p.Machine} }

// OrderChanges are the places where the order of a relation's implementations
// changed: its level lay on one side of 1 with 95 % confidence, and then on the
// other. Where levels between are on neither side, the change may lie anywhere
// from the first of their change points to the last.
func OrderChanges(relation stopwatt.ChangeSearch) []stopwatt.OrderChange {
	points := relation.ChangePoints
	if len(points) == 0 {
		return nil
	}
	excess := excessOf(relation.Autocorrelation)
	before, left := ratioLevel(points[0].Before, excess), 0
	var changes []stopwatt.OrderChange
	for i, c := range points {
		level := ratioLevel(c.After, excess)
		was, is := sideOf(before), sideOf(level)
		if was != 0 && is == -was {
			changes = append(changes, stopwatt.OrderChange{
				First: c.First, Past: points[left].Past, Reached: c.Reached,
				Before: before, After: level,
				State: leastCertain(points[left : i+1]),
			})
		}
		if is != 0 {
			before, left = level, i+1
		}
	}
	return changes
}

// ratioLevel is a level of ratios with its 95 % interval.
func ratioLevel(level stopwatt.Level, excess float64) stopwatt.Interval {
	n := float64(level.N)
	reach := studentQuantile(0.05, max(n/excess-1, 1)) * level.SD * math.Sqrt(excess/n)
	return stopwatt.Interval{
		Value: level.Mean, Known: true, Bounded: true, Confidence: 0.95,
		Low: level.Mean - reach, High: level.Mean + reach,
	}
}

// sideOf is 1 for what lies above 1, −1 for what lies below, and 0 where that is
// not certain.
func sideOf(ratio stopwatt.Interval) int {
	switch {
	case ratio.Low > 1:
		return 1
	case ratio.High < 1:
		return -1
	}
	return 0
}

// leastCertain is the least certain of the states of change points.
func leastCertain(points []stopwatt.ChangePoint) stopwatt.ChangeState {
	order := []stopwatt.ChangeState{stopwatt.Withdrawn, stopwatt.Withheld, stopwatt.Suspected, stopwatt.Confirmed}
	least := len(order) - 1
	for _, c := range points {
		least = min(least, slices.Index(order, c.State))
	}
	return order[max(least, 0)]
}
