package regression

import (
	"math"
	"slices"
)

// exactUnpairedUpTo is the number of values of both sides together up to which p
// is exact. Beyond, the normal approximation is right to three digits at p = 0.001.
const exactUnpairedUpTo = 100

// mannWhitney is the test of whether values of one sample tend to be greater than
// those of another: how often, were they alike, the ranks of the first would add up
// to so much or more, and to so little or less (H. B. Mann, D. R. Whitney, On a
// Test of Whether one of Two Random Variables is Stochastically Larger than the
// Other, Ann. Math. Stat. 18, 1947). It is exact, over all ways to deal the ranks at
// hand; ties share their mean rank.
func mannWhitney(a, b []float64) (up, down float64) {
	ranks, sum := jointRanks(a, b)
	if len(ranks) > exactUnpairedUpTo {
		return dealtNormal(ranks, len(a), sum)
	}
	p := dealt(ranks, len(a))
	for i, probability := range p {
		if i >= sum {
			up += probability
		}
		if i <= sum {
			down += probability
		}
	}
	return min(up, 1), min(down, 1)
}

// jointRanks are twice the ranks of all values together, and the sum of those of a.
func jointRanks(a, b []float64) (ranks []int, sumOfA int) {
	type value struct {
		v   float64
		inA bool
	}
	var all []value
	for _, v := range a {
		all = append(all, value{v, true})
	}
	for _, v := range b {
		all = append(all, value{v, false})
	}
	slices.SortFunc(all, func(x, y value) int { return compareFloats(x.v, y.v) })
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].v == all[from].v {
			to++
		}
		for _, v := range all[from:to] {
			ranks = append(ranks, from+to+1)
			if v.inA {
				sumOfA += from + to + 1
			}
		}
		from = to
	}
	return ranks, sumOfA
}

// dealt is the distribution of the sum of k of the ranks, each choice as probable
// as any other: at i the probability of the sum i.
func dealt(ranks []int, k int) []float64 {
	sum := 0
	for _, rank := range ranks {
		sum += rank
	}
	// chosen[j][i] is the probability that, of the ranks so far, j are chosen and
	// add up to i, when each is chosen with probability k ÷ n.
	chosen := make([][]float64, k+1)
	for j := range chosen {
		chosen[j] = make([]float64, sum+1)
	}
	chosen[0][0] = 1
	share, reached := float64(k)/float64(len(ranks)), 0
	for _, rank := range ranks {
		for j := k; j >= 0; j-- {
			for i := reached; i >= 0; i-- {
				p := chosen[j][i]
				chosen[j][i] = p * (1 - share)
				if j < k {
					chosen[j+1][i+rank] += p * share
				}
			}
		}
		reached += rank
	}
	return normalized(chosen[k])
}

// normalized divides probabilities by their sum.
func normalized(p []float64) []float64 {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// dealtNormal approximates both p by the normal distribution, with a correction
// for continuity of half a rank; the variance is that of the ranks at hand, ties
// among them.
func dealtNormal(ranks []int, k, sum int) (up, down float64) {
	n := float64(len(ranks))
	mean, squares := n+1, 0.0 // of doubled ranks
	for _, rank := range ranks {
		squares += (float64(rank) - mean) * (float64(rank) - mean)
	}
	if squares == 0 {
		return 1, 1
	}
	sd := math.Sqrt(squares / n * float64(k) * (n - float64(k)) / (n - 1))
	above := float64(sum) - float64(k)*mean
	return normalBelow((1 - above) / sd), normalBelow((1 + above) / sd)
}

// criticalCount is the greatest count of pairs of values in which the first is
// greater that is as rare as level or rarer, and how rare it is; -1 when there is
// none. Without ties that count is the sum of ranks less its least.
func criticalCount(a, b int, level float64) (count int, attained float64) {
	ranks := make([]int, a+b)
	for i := range ranks {
		ranks[i] = i + 1
	}
	least := a * (a + 1) / 2
	if a+b > exactUnpairedUpTo {
		mean, sd := float64(a*b)/2, math.Sqrt(float64(a*b)*float64(a+b+1)/12)
		count = int(math.Floor(mean + normalQuantile(level)*sd - 0.5))
		return max(count, -1), normalBelow((float64(count) + 0.5 - mean) / sd)
	}
	count = -1
	sum := 0.0
	for i, p := range dealt(ranks, a)[least:] {
		if sum += p; sum > level {
			break
		}
		count, attained = i, sum
	}
	return count, attained
}
