package regression

import (
	"cmp"
	"math"
	"slices"
)

const (
	// leastStretch is the fewest values that make a level: fewer cannot be told
	// from outliers in a row.
	leastStretch = 3
	// leastLevel is the fewest values of a level with a change before it and one
	// behind it. Five, for with one outlier in twenty a series of 500 has three or
	// four of them close together more often than not.
	leastLevel = 5
	// lenient is by how much the level of dividing exceeds that of merging.
	lenient = 10
	// noiseWeight is how many values the noise of the whole series counts for in
	// the variance of a stretch: a few values may be calm by chance.
	noiseWeight = 4
)

// A division is a search for the places where the level of values changes.
type division struct {
	values   []float64 // outliers drawn in, round 0, none beyond ±1
	unit     float64   // value = values[i]×unit + centre
	centre   float64
	sums     moments
	energies *energies
	prior    float64 // the autocorrelation that is taken before the values say any
	noise    float64 // standard deviation of a value round its level
	excess   float64 // by how much autocorrelation multiplies the variance of a mean
	family   float64 // how many independent tests the search amounts to
	smallest float64 // the smallest change that counts, relative to the level before it
	drift    bool    // whether the steps of a steady drift count
}

// A place is where values may be divided, and what speaks for it.
type place struct {
	from, at, to int // the stretches are values[from:at] and values[at:to]
	energy       float64
	variance     float64 // of a value round its level
	t, df, p     float64
	drift        bool // a straight line fits both stretches better than two levels
}

// newDivision makes ready for a search in finite values.
func newDivision(values []float64, prior float64) division {
	largest := largestOf(values)
	scaled := make([]float64, len(values))
	for i, x := range values {
		scaled[i] = x / largest
	}
	calmed := calm(scaled)
	middle := median(slices.Sorted(slices.Values(calmed)))
	for i := range calmed {
		calmed[i] -= middle
	}
	spread := largestOf(calmed)
	for i := range calmed {
		calmed[i] /= spread
	}
	return division{
		values:   calmed,
		unit:     spread * largest,
		centre:   middle * largest,
		sums:     momentsOf(calmed),
		energies: newEnergies(calmed),
		prior:    prior,
		excess:   excessOf(prior),
		family:   familyOf(len(values)),
	}
}

// largestOf is the largest distance from 0, or 1 when all are 0.
func largestOf(values []float64) float64 {
	largest := 0.0
	for _, x := range values {
		largest = max(largest, math.Abs(x))
	}
	if largest == 0 {
		return 1
	}
	return largest
}

// excessOf is by how much the variance of a mean of many values exceeds that of
// independent ones, for a process of the first order (G. E. P. Box, G. M. Jenkins, Time
// series analysis, 1970).
func excessOf(autocorrelation float64) float64 {
	return (1 + autocorrelation) / (1 - autocorrelation)
}

// familyOf is how many independent tests a search in n values amounts to: the
// level divided by the p that the best place of a series without change falls
// below so often. By simulation with independent normal values, at levels from
// 0.2 to 0.005, it is 5 for 20, 30 for 50, 100 for 100, 300 for 200 and 800 for
// 400 values; BenchmarkChangePoints prints it.
func familyOf(n int) float64 {
	return max(math.Pow(float64(n), 1.5)/10, 1)
}

// search finds the change points that are significant at the family-wise level,
// in order: it divides at a level that is far too lenient, and then merges what
// does not stand against its neighbours. Without the first, changes that hide
// each other would never be looked at; the second decides (compare Apache
// Otava's two steps, whose merge judges anew the wrong neighbour). The noise is
// heard between the cuts of a lenient division first, where no change disturbs it;
// and then, with that noise allowed for, of a strict one, which cuts less out of
// it.
func (d *division) search(level float64) []place {
	candidates := d.candidates()
	for _, hearing := range []float64{lenient * level, level} {
		noise, r := noiseOf(d.values, d.cuts(candidates, hearing), d.prior, d.drift)
		d.noise, d.excess = noise, excessOf(r)
	}
	return d.merge(d.placed(d.cuts(candidates, lenient*level)), level)
}

// candidates are the best places of all seeded intervals, the largest energy
// first.
func (d *division) candidates() []place {
	var found []place
	for _, span := range seeded(len(d.values), 2*leastStretch) {
		found = append(found, d.best(span[0], span[1]))
	}
	slices.SortStableFunc(found, func(a, b place) int { return cmp.Compare(b.energy, a.energy) })
	return found
}

// seeded are the intervals that are searched: for each length, from the whole
// down to least by factors of √2, enough to overlap by half (S. Kovács, P.
// Bühlmann, H. Li, A. Munk, Seeded binary segmentation, Biometrika 110, 2023).
// Together they are about n·log n long, and a change anywhere is, in one of
// them, the only change.
func seeded(n, least int) [][2]int {
	var spans [][2]int
	for length := float64(n); length >= float64(least); length /= math.Sqrt2 {
		count := 2*int(math.Ceil(float64(n)/length-1e-9)) - 1
		shift := (float64(n) - length) / float64(max(count-1, 1))
		for i := range count {
			from := int(float64(i) * shift)
			to := min(int(math.Ceil(float64(i)*shift+length)), n)
			spans = append(spans, [2]int{from, to})
		}
	}
	return spans
}

// best is the place of the largest energy in values[from:to], of which there
// are at least two stretches.
func (d *division) best(from, to int) place {
	profile := d.energies.profile(from, to)
	k := leastStretch
	for i := k; i <= to-from-leastStretch; i++ {
		if profile[i] > profile[k] {
			k = i
		}
	}
	return d.tested(place{from: from, at: from + k, to: to, energy: profile[k]})
}

// cuts are the places that divide the values at this level, in order.
func (d *division) cuts(candidates []place, level float64) []int {
	var standing []place
	for _, c := range candidates {
		if c = d.tested(c); d.stands(c, level) {
			standing = append(standing, c)
		}
	}
	cuts := d.divide(0, len(d.values), standing, level)
	slices.Sort(cuts)
	return cuts
}

// divide cuts values[from:to] at the place of the largest energy, of those
// candidates whose intervals lie there and of the whole stretch, and goes on to
// both sides of it. The whole stretch is tested as a series of its own: a level
// too many is merged again, while one that is missed weakens its neighbours.
func (d *division) divide(from, to int, candidates []place, level float64) []int {
	if to-from < 2*leastStretch {
		return nil
	}
	var inside []place
	for _, c := range candidates {
		if c.from >= from && c.to <= to {
			inside = append(inside, c)
		}
	}
	best := d.best(from, to)
	stands := d.stands(best, level*d.family/familyOf(to-from))
	switch {
	case len(inside) > 0 && (inside[0].energy > best.energy || !stands):
		best = inside[0]
	case !stands:
		return nil
	}
	return slices.Concat([]int{best.at}, d.divide(from, best.at, inside, level), d.divide(best.at, to, inside, level))
}

// tested judges whether the levels of both stretches of a place differ, by
// Student's test with the variance and the degrees of freedom that
// autocorrelation leaves.
func (d *division) tested(c place) place {
	m, n := float64(c.at-c.from), float64(c.to-c.at)
	left, right := d.sums.squares(c.from, c.at), d.sums.squares(c.at, c.to)
	c.drift = d.sums.squaresOfLine(c.from, c.to) < left+right
	c.df = max((m+n)/d.excess-2, 1)
	c.variance = max((left+right)/(m+n-2), weighted(left+right, m+n-2, d.noise*d.noise))
	of := max(c.variance, weighted(left, m-1, c.variance))/m + max(c.variance, weighted(right, n-1, c.variance))/n
	difference := d.sums.mean(c.at, c.to) - d.sums.mean(c.from, c.at)
	if difference == 0 {
		c.t, c.p = 0, 1
		return c
	}
	c.t = difference / max(math.Sqrt(of*d.excess), math.Abs(difference)/mostT)
	c.p = studentTail(c.t, c.df)
	return c
}

// weighted is the variance of a sum of squares with so many degrees of freedom,
// with another variance counted in as so many values more as noiseWeight says.
func weighted(squares, df, variance float64) float64 {
	return (squares + noiseWeight*variance) / (df + noiseWeight)
}

// mostT bounds t where no noise at all is left, so that it stays a number.
const mostT = 1e6

// rarest is the chance that of m+n values in random order the m smallest come
// first, or last.
func rarest(m, n float64) float64 {
	all, _ := math.Lgamma(m + n + 1)
	a, _ := math.Lgamma(m + 1)
	b, _ := math.Lgamma(n + 1)
	return min(2*math.Exp(a+b-all), 1)
}

// stands tells whether a place is a change at the family-wise level.
func (d *division) stands(c place, level float64) bool {
	before, after := d.sums.mean(c.from, c.at), d.sums.mean(c.at, c.to)
	large := math.Abs(after-before)*d.unit >= d.smallest*math.Abs(before*d.unit+d.centre)
	return d.chance(c) <= level && large && (d.drift || !c.drift)
}

// placed judges every cut between its neighbours.
func (d *division) placed(cuts []int) []place {
	places := make([]place, len(cuts))
	for i, cut := range cuts {
		places[i].at = cut
	}
	d.settle(places)
	return places
}

// settle judges anew every place whose neighbours are not those that it was
// judged between, and puts it where the energy of its two stretches is largest.
// That may move the neighbours of others, so it is done until nothing moves, or
// often enough; what is left then is judged where it stands.
func (d *division) settle(places []place) {
	for round := range settleRounds {
		moved := false
		for i, c := range places {
			from, to := d.between(places, i)
			if c.from == from && c.to == to {
				continue
			}
			places[i] = d.best(from, to)
			if round == settleRounds-1 {
				places[i] = d.tested(place{from: from, at: c.at, to: to, energy: d.energies.profile(from, to)[c.at-from]})
			}
			moved = moved || places[i].at != c.at
		}
		if !moved {
			return
		}
	}
}

// settleRounds bounds the moving to and fro of neighbours; two rounds nearly
// always do.
const settleRounds = 6

// between are the places before and behind the i-th.
func (d *division) between(places []place, i int) (from, to int) {
	to = len(d.values)
	if i > 0 {
		from = places[i-1].at
	}
	if i < len(places)-1 {
		to = places[i+1].at
	}
	return from, to
}

// merge removes the place of the largest p again and again until all stand, and
// then the weaker of two that are a flight of stairs up a slope. After each, the
// two that have become neighbours are judged anew: i−1 and i.
func (d *division) merge(places []place, level float64) []place {
	for {
		weakest := d.weakest(places, level)
		if weakest < 0 {
			weakest = d.stair(places)
		}
		if weakest < 0 {
			return places
		}
		places = slices.Delete(places, weakest, weakest+1)
		d.settle(places)
	}
}

// chance is the family-wise p of a place. It is never smaller than the chance of
// its order alone: what noise is really distributed like, nobody knows.
func (d *division) chance(c place) float64 {
	return min(max(c.p*d.family, rarest(float64(c.at-c.from), float64(c.to-c.at))), 1)
}

// stair is the index of the weaker of two neighbours with steps in the same
// direction, over both of which a straight line does as well as three levels;
// -1 when there are none such. Three levels and their two places are three
// parameters more than a line has, which must be worth their logarithm each (G.
// Schwarz, Estimating the dimension of a model, Ann. Stat. 6, 1978).
func (d *division) stair(places []place) int {
	if d.drift {
		return -1
	}
	for i := 1; i < len(places); i++ {
		a, b := places[i-1], places[i]
		steps := d.sums.squares(a.from, a.at) + d.sums.squares(a.at, b.at) + d.sums.squares(b.at, b.to)
		worth := 3 * math.Log(float64(b.to-a.from)) * max(a.variance, b.variance)
		if a.t*b.t < 0 || d.sums.squaresOfLine(a.from, b.to) > steps+worth {
			continue
		}
		if a.p > b.p {
			return i - 1
		}
		return i
	}
	return -1
}

// shortLived tells whether a place begins or ends a level that was left again
// too soon: that was a disturbance. A level at the very end may yet last.
func (d *division) shortLived(c place) bool {
	return c.from > 0 && c.at-c.from < leastLevel || c.to < len(d.values) && c.to-c.at < leastLevel
}

// weakest is the index of the place that falls first: of those that do not
// stand the one of the largest p; -1 when all stand.
func (d *division) weakest(places []place, level float64) int {
	at := -1
	for i, c := range places {
		stands := d.stands(c, level) && !d.shortLived(c)
		if !stands && (at < 0 || c.p > places[at].p) {
			at = i
		}
	}
	return at
}
