package regression

import (
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// intervalLevel is the confidence of the intervals of means.
const intervalLevel = 0.95

// MeanMargin is how far the 95 % interval of a mean of n values reaches to each side
// (Student, The Probable Error of a Mean, Biometrika 6, 1908); 0 for fewer than two
// values, of which nothing is known.
func MeanMargin(sd float64, n int) float64 {
	if n < 2 || !finite(sd) {
		return 0
	}
	return studentQuantile(1-intervalLevel, float64(n-1)) * sd / math.Sqrt(float64(n))
}

// Beside lays the means of head and base beside each other, case by case, for
// reading: two runs, or two implementations of one. There is no verdict, for a machine
// is not the same at two times, and implementations are not each other's change.
//
// The interval is that of Welch (The Generalization of "Student's" Problem, Biometrika
// 34, 1947) of the logarithms, whose standard errors are relative ones. It needs two
// trials on each side.
func Beside(of stopwatt.Case, metric stopwatt.Metric, base, head stopwatt.Summary) stopwatt.Comparison {
	c := stopwatt.Comparison{
		Case: of, Metric: metric, Verdict: stopwatt.NotJudged,
		Estimate: stopwatt.Estimate{N: min(base.N, head.N), Base: base.Mean, Head: head.Mean},
		Doubts:   []stopwatt.Doubt{{Kind: stopwatt.NotPaired, Have: float64(head.N), Need: float64(base.N)}},
	}
	switch {
	case head.N == 0:
		c.Verdict, c.Doubts = stopwatt.Missing, nil
		return c
	case base.N == 0:
		c.Verdict, c.Doubts = stopwatt.New, nil
		return c
	}
	ratio := RatioOf(head.Mean, base.Mean)
	c.Estimate.Ratio = stopwatt.Interval{Value: ratio.Value, Known: ratio.Known}
	if !ratio.Known || base.Mean <= 0 || head.Mean <= 0 || base.N < 2 || head.N < 2 {
		return c
	}
	margin := welchMargin(relativeVariance(base), relativeVariance(head), base.N, head.N)
	c.Estimate.Ratio.Low, c.Estimate.Ratio.High = ratio.Value*math.Exp(-margin), ratio.Value*math.Exp(margin)
	c.Estimate.Ratio.Bounded, c.Estimate.Ratio.Confidence = finite(c.Estimate.Ratio.High), intervalLevel
	return c
}

// welchMargin is how far the interval of a difference of two means reaches to each
// side, from the squared standard errors of both.
func welchMargin(a, b float64, n, m int) float64 {
	if a+b == 0 {
		return 0
	}
	degrees := (a + b) * (a + b) / (a*a/float64(n-1) + b*b/float64(m-1))
	return studentQuantile(1-intervalLevel, degrees) * math.Sqrt(a+b)
}

// relativeVariance is the squared standard error of a mean, relative to it.
func relativeVariance(s stopwatt.Summary) float64 {
	share := s.SD / s.Mean
	return share * share / float64(s.N)
}

// A RatioMean is the means of the ratios of comparisons of one metric.
type RatioMean struct {
	Metric                stopwatt.Metric
	Arithmetic, Geometric float64
	Count                 int
}

// MeanRatios are the means of all ratios that are known, metric by metric, in the
// order in which the metrics come.
func MeanRatios(comparisons []stopwatt.Comparison) []RatioMean {
	var means []RatioMean
	for _, c := range comparisons {
		ratio := c.Estimate.Ratio
		if !ratio.Known || ratio.Value <= 0 {
			continue
		}
		i := slices.IndexFunc(means, func(m RatioMean) bool { return m.Metric.Name == c.Metric.Name })
		if i < 0 {
			means, i = append(means, RatioMean{Metric: c.Metric}), len(means)
		}
		means[i].Arithmetic += ratio.Value
		means[i].Geometric += math.Log(ratio.Value)
		means[i].Count++
	}
	for i := range means {
		n := float64(means[i].Count)
		means[i].Arithmetic, means[i].Geometric = means[i].Arithmetic/n, math.Exp(means[i].Geometric/n)
	}
	return means
}
