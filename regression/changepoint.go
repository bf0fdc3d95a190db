package regression

import (
	"cmp"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// FindChanges searches a series for the places where its level changed, on each
// machine apart, in the order in which the machines first appear in history. It
// is deterministic and draws nothing at random.
//
// The method is E-divisive's: the values are divided where the energy distance
// of both sides is largest (Matteson and James, 2014), in intervals of all
// lengths (Kovács et al., 2023), and what does not stand against its neighbours is
// merged again. Significance is Student's, for values with outliers drawn in and
// autocorrelation allowed for, times the number of tests that the search amounts
// to. A place that a straight line explains better than a step is drift: no
// commit did it, and it is not found.
//
// At least three commits must lie on each side. A change that coincides with
// another epoch of the machine is withheld. It takes about n·log² n steps. How
// often it errs is told in docs/changes.md.
func FindChanges(series stopwatt.Series, rule stopwatt.ChangeRule) []stopwatt.ChangeSearch {
	rule = withDefaults(rule)
	var searches []stopwatt.ChangeSearch
	for _, points := range byMachine(series.Points) {
		searches = append(searches, findChanges(points, rule))
	}
	return searches
}

// withDefaults fills in what the rule leaves open.
func withDefaults(rule stopwatt.ChangeRule) stopwatt.ChangeRule {
	rule.Suspect = cmp.Or(rule.Suspect, 0.05)
	rule.Confirm = cmp.Or(rule.Confirm, 0.002)
	rule.Later = cmp.Or(rule.Later, 5)
	return rule
}

// byMachine parts the points that have a number by machine, in the order of
// history.
func byMachine(points []stopwatt.SeriesPoint) [][]stopwatt.SeriesPoint {
	sorted := slices.Clone(points)
	slices.SortStableFunc(sorted, func(a, b stopwatt.SeriesPoint) int {
		return cmp.Or(cmp.Compare(a.Position, b.Position), cmp.Compare(a.Run, b.Run))
	})
	var parts [][]stopwatt.SeriesPoint
	index := map[string]int{}
	for _, p := range sorted {
		if !(math.Abs(p.Value) <= largestValue) { // NaN too
			continue
		}
		i, known := index[p.Machine]
		if !known {
			i = len(parts)
			index[p.Machine] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], p)
	}
	return parts
}

// largestValue is the largest that is taken for a number: differences of larger
// ones may be infinite.
const largestValue = 1e300

// pooled makes one point of all those of a commit: the median of their values,
// their trials added up, and all else from the first run.
func pooled(points []stopwatt.SeriesPoint) []stopwatt.SeriesPoint {
	var pools []stopwatt.SeriesPoint
	for from, to := 0, 0; from < len(points); from = to {
		pool := points[from]
		pool.N = 0
		var values []float64
		for to = from; to < len(points) && points[to].Position == pool.Position; to++ {
			values = append(values, points[to].Value)
			pool.N += points[to].N
		}
		slices.Sort(values)
		pool.Value = median(values)
		pools = append(pools, pool)
	}
	return pools
}

// findChanges searches the points of one machine.
func findChanges(points []stopwatt.SeriesPoint, rule stopwatt.ChangeRule) stopwatt.ChangeSearch {
	search := stopwatt.ChangeSearch{Machine: points[0].Machine, Points: pooled(points)}
	search.Boundaries = boundariesOf(search.Points)
	d := newDivision(valuesOf(search.Points), priorOfRuns)
	d.smallest = rule.Smallest
	for _, c := range d.search(rule.Suspect) {
		search.ChangePoints = append(search.ChangePoints, d.changePoint(c, search.Points))
	}
	search.Noise = d.noise * d.unit
	search.Autocorrelation = (d.excess - 1) / (d.excess + 1)
	search.Family = d.family
	judge(&search, rule)
	return search
}

func valuesOf(points []stopwatt.SeriesPoint) []float64 {
	values := make([]float64, len(points))
	for i, p := range points {
		values[i] = p.Value
	}
	return values
}

// boundariesOf are the places where the epoch changes.
func boundariesOf(points []stopwatt.SeriesPoint) []stopwatt.EpochBoundary {
	var boundaries []stopwatt.EpochBoundary
	for i := 1; i < len(points); i++ {
		if from, to := points[i-1].Epoch, points[i].Epoch; from != to {
			boundaries = append(boundaries, stopwatt.EpochBoundary{Index: i, From: from, To: to})
		}
	}
	return boundaries
}

// changePoint tells a place in the words and units of the series.
func (d *division) changePoint(c place, points []stopwatt.SeriesPoint) stopwatt.ChangePoint {
	low, high := d.span(c)
	point := stopwatt.ChangePoint{
		Index: c.at, IndexLow: low, IndexHigh: high,
		First: commitOf(points[c.at]), Past: commitOf(points[low-1]), Reached: commitOf(points[high]),
		Before: d.level(c.from, c.at), After: d.level(c.at, c.to),
		P: d.chance(c),
		Evidence: stopwatt.ChangeEvidence{
			Energy: c.energy * d.unit, T: c.t, DF: c.df, P: c.p,
		},
	}
	point.Shift = point.After.Mean - point.Before.Mean
	reach := studentQuantile(0.05, c.df) * math.Abs(point.Shift/c.t)
	point.ShiftLow, point.ShiftHigh = point.Shift-reach, point.Shift+reach
	point.Ratio = ratioOfLevels(point.Before, point.After, reach)
	return point
}

func commitOf(p stopwatt.SeriesPoint) stopwatt.CommitPlace {
	return stopwatt.CommitPlace{Position: p.Position, SHA: p.SHA}
}

// level sums up a stretch, in the unit of the series.
func (d *division) level(from, to int) stopwatt.Level {
	values := make([]float64, to-from)
	for i := range values {
		values[i] = d.values[from+i]*d.unit + d.centre
	}
	s := describe(values)
	return stopwatt.Level{N: s.N, Mean: s.Mean, SD: s.SD}
}

// ratioOfLevels is after ÷ before with an interval; reach is half the interval of
// their difference. It is Fieller's (Some problems in interval estimation, Journal of
// the Royal Statistical Society B 16, 1954): the ratios that a test at this level does
// not tell from the levels'. So it leaves out 1 where, and only where, the difference
// leaves out 0. Where before is not told from 0 there is none.
func ratioOfLevels(before, after stopwatt.Level, reach float64) stopwatt.Interval {
	ratio := RatioOf(after.Mean, before.Mean)
	if !ratio.Known || before.Mean == 0 {
		return stopwatt.Interval{Value: ratio.Value, Known: ratio.Known}
	}
	m, n := float64(before.N), float64(after.N)
	half := reach / math.Sqrt(1/m+1/n) / math.Abs(before.Mean)
	g := half * half / m // how near to 0 before is
	if !(g < 1) {
		return stopwatt.Interval{Value: ratio.Value, Known: true}
	}
	width := half * math.Sqrt((1-g)/n+ratio.Value*ratio.Value/m)
	return stopwatt.Interval{
		Value: ratio.Value, Known: true, Bounded: true, Confidence: 0.95,
		Low: max((ratio.Value-width)/(1-g), 0), High: (ratio.Value + width) / (1 - g),
	}
}

// likelyWithin is by how many variances the sum of squares at the true place of
// a change exceeds that at the best one, at most, in 95 of 100 cases (B. E.
// Hansen, Sample splitting and threshold estimation, Econometrica 68, 2000,
// table I).
const likelyWithin = 7.35

// span is from where to where a change lies with 95 % confidence.
func (d *division) span(c place) (low, high int) {
	least := math.Inf(1)
	for k := c.from + leastStretch; k <= c.to-leastStretch; k++ {
		least = min(least, d.sums.squares(c.from, k)+d.sums.squares(k, c.to))
	}
	low, high = c.at, c.at
	for k := c.from + leastStretch; k <= c.to-leastStretch; k++ {
		if d.sums.squares(c.from, k)+d.sums.squares(k, c.to) <= least+likelyWithin*c.variance*d.excess {
			low, high = min(low, k), max(high, k)
		}
	}
	return low, high
}
