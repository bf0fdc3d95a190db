package regression

import (
	"math"
	"slices"
)

const (
	// filterReach is how far to each side the running median looks. Three, so
	// that up to three values in a row that stand out are outliers and four are a
	// level.
	filterReach = 3
	// scaleReach is how far to each side the spread round the running median is
	// taken: near enough to follow a machine that grows noisier, far enough for a
	// stable figure.
	scaleReach = 20
	// outlierAt is how many standard deviations from the running median a value
	// is an outlier (Hampel's identifier: F. R. Hampel, The influence curve and its
	// role in robust estimation, JASA 69, 1974, with 3 there). Four, for the
	// running median of few values is itself uncertain.
	outlierAt = 4
)

// calm draws outliers in: a value further from the running median than the
// spread round it allows is moved to where it just would be allowed.
func calm(values []float64) []float64 {
	middle := make([]float64, len(values))
	rest := make([]float64, len(values))
	for i, x := range values {
		middle[i] = medianNear(values, i, filterReach)
		rest[i] = math.Abs(x - middle[i])
	}
	calmed := make([]float64, len(values))
	for i, x := range values {
		reach := outlierAt * spreadNear(rest, i)
		calmed[i] = min(max(x, middle[i]-reach), middle[i]+reach)
	}
	return calmed
}

// spreadNear is the standard deviation of the normal distribution whose
// distances have the median of those near i; where most are 0, as in series
// of few different values, that whose distances have their mean (B. Iglewicz, D.
// C. Hoaglin, How to detect and handle outliers, ASQC, 1993).
func spreadNear(distances []float64, i int) float64 {
	if m := medianNear(distances, i, scaleReach); m > 0 {
		return 1.4826 * m
	}
	near := distances[max(i-scaleReach, 0):min(i+scaleReach+1, len(distances))]
	sum := 0.0
	for _, d := range near {
		sum += d
	}
	return 1.2533 * sum / float64(len(near))
}

// medianNear is the median of the values up to reach from i.
func medianNear(values []float64, i, reach int) float64 {
	var room [2*scaleReach + 1]float64
	near := append(room[:0], values[max(i-reach, 0):min(i+reach+1, len(values))]...)
	slices.Sort(near)
	return median(near)
}

const (
	// priorOfRuns is what is taken for the autocorrelation of a series before it
	// says anything itself: runs on one machine share its state.
	priorOfRuns = 0.2
	// priorOfSeconds is the same for what follows each other within a trial: 0.75
	// was measured for requests in 300 ms on a noisy machine.
	priorOfSeconds = 0.6
	// priorWeight is how many values the series must have to be believed as much
	// as the prior. Twenty values alone tell 0 from 0.4 as often as not.
	priorWeight = 50
	// mostAutocorrelation bounds what is allowed for. What moves as a random walk
	// has no levels: with 0.95 a step must be six times as large as without to be
	// seen.
	mostAutocorrelation = 0.95
)

// farDistances are distances at which two values are taken as independent: of an
// autocorrelation of 0.3 less than 0.03 is left.
var farDistances = [...]int{3, 4, 5}

// noiseOf estimates the standard deviation of a value round its level, and the
// autocorrelation of a value with the next, from differences within the
// stretches between cuts: the squares of differences have the mean 2σ²(1−r) for
// neighbours, and 2σ² for values far apart (compare J. von Neumann, Distribution
// of the ratio of the mean square successive difference to the variance, Ann.
// Math. Stat. 12, 1941). Unlike what is left when levels are subtracted,
// differences do not shrink when there are cuts too many.
func noiseOf(values []float64, cuts []int, prior float64, slopes bool) (deviation, autocorrelation float64) {
	near, far := squaredDifference(values, cuts, 1, slopes), 0.0
	for _, distance := range farDistances {
		far += squaredDifference(values, cuts, distance, slopes) / float64(len(farDistances))
	}
	if near == 0 || far == 0 {
		return 0, 0
	}
	n := float64(len(values))
	r := ((1-near/far)*n + prior*priorWeight) / (n + priorWeight)
	r = min(max(r, 0), mostAutocorrelation)
	return math.Sqrt(near / 2 / (1 - r)), r
}

// squaredDifference is the mean square of the differences of values at this
// distance with no cut between; 0 when there are none. With slopes it is taken
// round the mean difference between two cuts: a slope there is no noise.
func squaredDifference(values []float64, cuts []int, distance int, slopes bool) float64 {
	squares, n, from := 0.0, 0, 0
	for _, to := range slices.Concat(cuts, []int{len(values)}) {
		sum, square, count := 0.0, 0.0, max(to-from-distance, 0)
		for i := from + distance; i < to; i++ {
			d := values[i] - values[i-distance]
			sum += d
			square += d * d
		}
		if slopes && count > 0 {
			square -= sum * sum / float64(count)
		}
		squares, n, from = squares+square, n+count, to
	}
	return max(squares, 0) / float64(max(n, 1))
}
