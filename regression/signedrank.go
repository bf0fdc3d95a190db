package regression

import (
	"math"
	"slices"
	"sync"
)

// sameRatio is how far two log ratios may be from each other and still be tied. A
// hundred times what rounding leaves, and finer than any meter reads.
const sameRatio = 1e-12

// exactUpTo is the number of pairs up to which p is exact. Beyond, the normal
// approximation is wrong by 5 % of p at 0.001, by 1 % at 0.05.
const exactUpTo = 200

// signedRank is Wilcoxon's test of whether differences lie symmetrically round 0:
// how often, were they to, their positive ranks would add up to so much or more,
// and to so little or less.
//
// The p are exact: the distribution of the sum over all signs, given the ranks
// at hand, by convolution. Ties share their mean rank. Zeros are ranked and then
// left out (J. W. Pratt, Remarks on Zeros and Ties in the Wilcoxon Signed Rank
// Procedures, JASA 54, 1959). Wilcoxon leaves them out first, which can turn a
// result significant by moving a difference towards 0; counters and clocks that
// tick coarsely have many zeros.
func signedRank(differences []float64) (up, down float64) {
	ranks, positive, tied := doubledRanks(differences)
	if len(ranks) == 0 {
		return 1, 1
	}
	sum := 0
	for _, rank := range ranks {
		sum += rank
	}
	switch {
	case len(ranks) > exactUpTo:
		return normalTails(ranks, positive)
	case tied || len(ranks) < len(differences):
		below := cumulated(convolved(ranks, sum))
		return below[sum-positive], below[positive]
	}
	below := withoutTies(len(ranks)) // whose ranks are not doubled
	return below[(sum-positive)/2], below[positive/2]
}

// doubledRanks are twice the ranks of the magnitudes of all differences but zeros,
// so that mean ranks are whole; the sum of those of positive ones; and whether any
// are tied.
func doubledRanks(differences []float64) (ranks []int, positive int, tied bool) {
	sorted := slices.Clone(differences)
	slices.SortFunc(sorted, func(a, b float64) int { return compareFloats(math.Abs(a), math.Abs(b)) })
	for from := 0; from < len(sorted); {
		magnitude := math.Abs(sorted[from])
		to := from + 1
		for to < len(sorted) && tiedWith(magnitude, math.Abs(sorted[to])) {
			to++
		}
		for _, d := range sorted[from:to] {
			if magnitude <= sameRatio {
				break
			}
			ranks = append(ranks, from+to+1) // from+1 to to, their mean doubled
			if d > 0 {
				positive += from + to + 1
			}
		}
		tied = tied || to-from > 1
		from = to
	}
	return ranks, positive, tied
}

// tiedWith tells whether two magnitudes, the smaller first, share a rank. Infinite
// ones do.
func tiedWith(a, b float64) bool { return a == b || b-a <= sameRatio }

func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// convolved is the distribution of the sum of those ranks that get a positive
// sign, each with probability one half: at i the probability of the sum i. Up to
// 53 ranks every number is exact, being a multiple of 2^-53.
func convolved(ranks []int, sum int) []float64 {
	p := make([]float64, sum+1)
	p[0] = 1
	reached := 0
	for _, rank := range ranks {
		for i := reached; i >= 0; i-- {
			half := p[i] / 2
			p[i] = half
			p[i+rank] += half
		}
		reached += rank
	}
	return p
}

// cumulated turns the probabilities of sums into those of sums up to each.
func cumulated(p []float64) []float64 {
	for i := 1; i < len(p); i++ {
		p[i] = min(p[i]+p[i-1], 1)
	}
	return p
}

// noTies makes, for each number of pairs, the distribution without ties, once and
// when it is first asked for.
var noTies = func() (made [exactUpTo + 1]func() []float64) {
	for n := range made {
		made[n] = sync.OnceValue(func() []float64 { return rankSums(n) })
	}
	return made
}()

// rankSums is the cumulated distribution of the sum of positive ranks 1 to n.
func rankSums(n int) []float64 {
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = i + 1
	}
	return cumulated(convolved(ranks, n*(n+1)/2))
}

// withoutTies is the probability of every sum of positive ranks, or less, among n
// ranks that are not tied (F. Wilcoxon, Individual Comparisons by Ranking
// Methods, Biometrics Bulletin 1, 1945).
func withoutTies(n int) []float64 { return noTies[n]() }

// normalTails approximates both p by the normal distribution, with a correction
// for continuity of half a rank. The sum's variance is that of independent signs,
// which ties and zeros are accounted for in.
func normalTails(ranks []int, positive int) (up, down float64) {
	mean, variance := 0.0, 0.0
	for _, rank := range ranks {
		mean += float64(rank) / 2
		variance += float64(rank) * float64(rank) / 4
	}
	sd := math.Sqrt(variance)
	return normalBelow((mean - float64(positive) + 1) / sd), normalBelow((float64(positive) - mean + 1) / sd)
}

// normalBelow is how much of the normal distribution lies below z.
func normalBelow(z float64) float64 { return min(math.Erfc(-z/math.Sqrt2)/2, 1) }

// normalQuantile is the z that so much of the normal distribution lies below.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// walshAverages are the means of every difference with every other and with
// itself, sorted.
func walshAverages(differences []float64) []float64 {
	averages := make([]float64, 0, len(differences)*(len(differences)+1)/2)
	for i, a := range differences {
		for _, b := range differences[:i+1] {
			averages = append(averages, middle(a, b))
		}
	}
	slices.Sort(averages)
	return averages
}

// middle is the mean of two log ratios. Everything out of nothing and nothing out
// of everything cancel each other.
func middle(a, b float64) float64 {
	if math.IsInf(a, 0) && math.IsInf(b, 0) && a != b {
		return 0
	}
	return a/2 + b/2
}

// hodgesLehmann is the median of the Walsh averages: the shift that leaves the
// signed ranks balanced (J. L. Hodges, E. L. Lehmann, Estimates of Location Based on
// Rank Tests, Ann. Math. Stat. 34, 1963).
func hodgesLehmann(averages []float64) float64 {
	n := len(averages)
	return middle(averages[(n-1)/2], averages[n/2])
}

// A range of log ratios with the level, one-sided, that is attained: never more
// than the one asked for.
type bounds struct {
	low, high float64
	level     float64
	known     bool
}

// within tells whether they lie inside a threshold, a relative change in either
// direction.
func (b bounds) within(threshold float64) bool {
	limit := math.Log1p(threshold)
	return b.known && b.low > -limit && b.high < limit
}

// boundsAt inverts the signed-rank test: the shifts of n differences that it does
// not reject at a one-sided level, between Walsh averages (J. W. Tukey, The
// simplest signed-rank tests, Princeton, 1949). Ties make it no narrower than it
// must be, for its ends belong to it (G. E. Noether, Wilcoxon Confidence
// Intervals for Location Parameters in the Discrete Case, JASA 62, 1967). There
// are none when even n of one sign are no rarer than the level.
func boundsAt(averages []float64, n int, level float64) bounds {
	place, attained := criticalSum(n, level)
	if place < 0 {
		return bounds{}
	}
	return bounds{averages[place], averages[len(averages)-1-place], attained, true}
}

// criticalSum is the greatest sum of positive ranks that is as rare as level or
// rarer, and how rare it is; -1 when there is none.
func criticalSum(n int, level float64) (sum int, attained float64) {
	if n > exactUpTo {
		return criticalSumNormal(n, level)
	}
	below := withoutTies(n)
	// The first that is too frequent.
	at, _ := slices.BinarySearchFunc(below, level, func(p, level float64) int {
		if p <= level {
			return -1
		}
		return 1
	})
	if at == 0 || n == 0 {
		return -1, 0
	}
	return at - 1, below[at-1]
}

// criticalSumNormal is criticalSum by the normal approximation.
func criticalSumNormal(n int, level float64) (sum int, attained float64) {
	m := float64(n)
	mean, sd := m*(m+1)/4, math.Sqrt(m*(m+1)*(2*m+1)/24)
	sum = int(math.Floor(mean + normalQuantile(level)*sd - 0.5))
	if sum < 0 {
		return -1, 0
	}
	return sum, normalBelow((float64(sum) + 0.5 - mean) / sd)
}
