package regression

import (
	"cmp"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Calibrate says what pairs of the same against the same, A/A, tell of a machine.
// The smallest visible changes are those of a run that judges as many comparisons
// together, by the last look of a procedure; identical and new ones count for
// nothing. The pairs of every comparison are taken in the order of their rounds.
func Calibrate(p stopwatt.Procedure, suite string, trials []stopwatt.PairedTrials) stopwatt.Calibration {
	calibration := stopwatt.Calibration{Suite: suite}
	family := begin(p, trials).judgement.Family
	alarms := 0
	stretches := 0
	for _, t := range trials {
		if t.Identical || t.New {
			continue
		}
		one := calibrateCase(p, family, t)
		calibration.Cases = append(calibration.Cases, one)
		alarms, stretches = alarms+one.Alarms.Count, stretches+one.Alarms.Of
		for _, pair := range t.Pairs {
			if pair.At.After(calibration.Taken) {
				calibration.Taken = pair.At
			}
		}
	}
	calibration.Alarms = shareOf(alarms, stretches)
	return calibration
}

// calibrateCase is Calibrate of one case and one metric.
func calibrateCase(p stopwatt.Procedure, family int, t stopwatt.PairedTrials) stopwatt.CaseCalibration {
	ordered := slices.SortedFunc(slices.Values(t.Pairs), func(a, b stopwatt.Pair) int { return cmp.Compare(a.Round, b.Round) })
	pairs := pairsOf(ordered, 1, math.MaxInt)
	c := stopwatt.CaseCalibration{Case: t.Case, Metric: t.Metric, N: pairs.n(), Spread: pairs.spread()}
	c.Alarms = falseAlarms(pairs.logs)
	if limited := finiteOf(pairs.logs); len(limited) > 1 {
		c.PairSD = describe(limited).SD
	}
	c.Smallest = smallestAt(p, family, c.Spread)
	c.Order = orderEffect(ordered)
	levels, hours := levelsOf(ordered)
	c.Hours, c.Drift = hourEffect(levels, hours), driftEffect(levels)
	return c
}

func finiteOf(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !finite(v) })
}

// falseAlarms counts the stretches of pairs that an exact test calls different.
func falseAlarms(logs []float64) stopwatt.Share {
	alarms, stretches := 0, 0
	for stretch := range slices.Chunk(logs, stopwatt.AlarmRounds) {
		if len(stretch) < stopwatt.AlarmRounds {
			break
		}
		stretches++
		if up, down := signedRank(stretch); 2*min(up, down) <= stopwatt.AlarmLevel {
			alarms++
		}
	}
	return shareOf(alarms, stretches)
}

// shareOf is a share with its interval at 95 % (E. B. Wilson, Probable Inference, the
// Law of Succession, and Statistical Inference, JASA 22, 1927).
func shareOf(count, of int) stopwatt.Share {
	s := stopwatt.Share{Count: count, Of: of, High: 1}
	if of == 0 {
		return s
	}
	z, n := -normalQuantile((1-confidence)/2), float64(of)
	p := float64(count) / n
	center := (p + z*z/(2*n)) / (1 + z*z/n)
	half := z / (1 + z*z/n) * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	s.Low, s.High = max(center-half, 0), min(center+half, 1)
	return s
}

// smallestAt is the change, relative, that the last look of a procedure shows with
// probability power, when a pair has this spread; 0 when it shows none, or any.
func smallestAt(p stopwatt.Procedure, family int, spread float64) float64 {
	if len(p.Looks) == 0 || family == 0 {
		return 0
	}
	last := p.Looks[len(p.Looks)-1]
	sum, attained := criticalSum(last.Rounds, last.Suspect/float64(family))
	if sum < 0 {
		return 0
	}
	errors := studentAbove(attained, last.Rounds-1) + normalQuantile(power)
	return math.Expm1(errors * spread / math.Sqrt(float64(last.Rounds)))
}

// orderEffect compares the trials that came first in their pairs with those that
// came second.
func orderEffect(pairs []stopwatt.Pair) stopwatt.Effect {
	byOrder := slices.Clone(pairs)
	for i, pair := range byOrder {
		if !pair.HeadFirst {
			byOrder[i].Base, byOrder[i].Head = pair.Head, pair.Base
		}
	}
	logs := finiteOf(collect(byOrder, 1, math.MaxInt).logs)
	if len(logs) == 0 {
		return stopwatt.Effect{P: 1}
	}
	up, down := signedRank(logs)
	return stopwatt.Effect{Ratio: math.Exp(hodgesLehmann(walshAverages(logs))), P: min(2*min(up, down), 1)}
}

// levelsOf are the logarithms of the pairs' geometric means, and the hours of the
// day that they began in. Pairs without two positive values have none.
func levelsOf(pairs []stopwatt.Pair) (levels []float64, hours []int) {
	for _, pair := range pairs {
		if level := (math.Log(pair.Base) + math.Log(pair.Head)) / 2; finite(level) {
			levels, hours = append(levels, level), append(hours, pair.At.Hour())
		}
	}
	return levels, hours
}

// leastOfHour is how many pairs an hour must have to be compared with others. Five,
// as the approximation of the test's distribution asks for.
const leastOfHour = 5

// hourEffect compares the hours of the day by the ranks of their levels (W. H.
// Kruskal, W. A. Wallis, Use of Ranks in One-Criterion Variance Analysis, JASA 47,
// 1952). It takes pairs as independent, so a slow drift shows here as well.
func hourEffect(levels []float64, hours []int) stopwatt.Effect {
	groups := map[int][]float64{}
	for i, level := range levels {
		groups[hours[i]] = append(groups[hours[i]], level)
	}
	var fit [][]float64
	for hour := range 24 {
		if len(groups[hour]) >= leastOfHour {
			fit = append(fit, groups[hour])
		}
	}
	if len(fit) < 2 {
		return stopwatt.Effect{P: 1}
	}
	fastest, slowest := math.Inf(1), math.Inf(-1)
	for _, group := range fit {
		fastest, slowest = min(fastest, medianOf(group)), max(slowest, medianOf(group))
	}
	return stopwatt.Effect{Ratio: math.Exp(slowest - fastest), P: kruskalWallis(fit)}
}

// kruskalWallis is p by the χ² approximation, with the correction for ties.
func kruskalWallis(groups [][]float64) float64 {
	all := slices.Concat(groups...)
	n, between, within := float64(len(all)), 0.0, 0.0
	for _, group := range groups {
		sum := 0.0
		for _, v := range group {
			rank := meanRank(all, v) - (n+1)/2
			sum += rank
			within += rank * rank
		}
		between += sum * sum / float64(len(group))
	}
	if within == 0 {
		return 1
	}
	return chiSquareAbove((n-1)*between/within, len(groups)-1)
}

// meanRank is the rank of a value among all.
func meanRank(all []float64, v float64) float64 {
	smaller, equal := 0, 0
	for _, other := range all {
		switch {
		case other < v:
			smaller++
		case other == v:
			equal++
		}
	}
	return float64(smaller) + float64(equal+1)/2
}

// chiSquareAbove is how much of the χ² distribution lies above x, by its finite
// series (M. Abramowitz, I. A. Stegun, Handbook of Mathematical Functions, 1964,
// 26.4.4 and 26.4.5).
func chiSquareAbove(x float64, degrees int) float64 {
	sum, term, from := math.Exp(-x/2), math.Exp(-x/2), 2
	if degrees%2 == 1 {
		sum, term, from = math.Erfc(math.Sqrt(x/2)), math.Sqrt(2/(math.Pi*x))*math.Exp(-x/2), 1
	}
	if x <= 0 {
		return 1
	}
	for k := from; k < degrees; k += 2 {
		term *= x / float64(k)
		sum += term
	}
	return min(sum, 1)
}

// leastOfDrift is how many pairs it takes to speak of a drift: what the normal
// approximation of Kendall's statistic asks for.
const leastOfDrift = 10

// driftEffect tells whether levels rise or fall from pair to pair (H. B. Mann,
// Nonparametric Tests Against Trend, Econometrica 13, 1945), and how far from the
// first to the last, by the median of all slopes (P. K. Sen, Estimates of the
// Regression Coefficient Based on Kendall's Tau, JASA 63, 1968).
func driftEffect(levels []float64) stopwatt.Effect {
	n := float64(len(levels))
	if n < leastOfDrift {
		return stopwatt.Effect{P: 1}
	}
	var slopes []float64
	rising := 0.0
	for j, later := range levels {
		for i, earlier := range levels[:j] {
			slopes = append(slopes, (later-earlier)/float64(j-i))
			rising += float64(cmp.Compare(later, earlier))
		}
	}
	effect := stopwatt.Effect{Ratio: math.Exp(medianOf(slopes) * (n - 1)), P: 1}
	if sd := math.Sqrt(kendallVariance(levels)); sd > 0 {
		effect.P = min(2*normalBelow(-(math.Abs(rising)-1)/sd), 1)
	}
	return effect
}

// kendallVariance is that of the number of rising less falling pairs of values, ties
// among them.
func kendallVariance(levels []float64) float64 {
	n := float64(len(levels))
	variance := n * (n - 1) * (2*n + 5)
	sorted := slices.Sorted(slices.Values(levels))
	for from := 0; from < len(sorted); {
		to := from
		for to < len(sorted) && sorted[to] == sorted[from] {
			to++
		}
		tied := float64(to - from)
		variance -= tied * (tied - 1) * (2*tied + 5)
		from = to
	}
	return variance / 18
}
