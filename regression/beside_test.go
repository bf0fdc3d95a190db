package regression

import (
	"math"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// The figures are those of R: qt(0.975, n-1) * sd / sqrt(n).
func TestMeanMargin(t *testing.T) {
	for _, row := range []struct {
		sd   float64
		n    int
		want float64
	}{
		{1, 1, 0},
		{1, 2, 8.984643},
		{1, 10, 0.7153569},
		{0.11, 10, 0.07868926},
		{math.NaN(), 10, 0},
	} {
		if got := MeanMargin(row.sd, row.n); math.Abs(got-row.want) > 1e-6 {
			t.Errorf("the mean of %d values with a spread of %g reaches %g to each side, want %g", row.n, row.sd, got, row.want)
		}
	}
}

func TestTwoMeansStandBesideEachOther(t *testing.T) {
	case1 := stopwatt.Case{Implementation: "go", Workload: "hello"}
	metric, _ := stopwatt.MetricNamed("time")
	summary := func(mean, sd float64, n int) stopwatt.Summary {
		return stopwatt.Summary{Mean: mean, SD: sd, N: n}
	}
	for _, row := range []struct {
		name       string
		base, head stopwatt.Summary
		verdict    stopwatt.Verdict
		known      bool
		low, high  float64 // 0: no bounds
	}{
		// By hand: relative errors 0.01/√10 each, 18 degrees, t = 2.100922, margin 0.00939561.
		{"both with ten trials", summary(10, 0.1, 10), summary(11, 0.11, 10), stopwatt.NotJudged, true, 1.1 * math.Exp(-0.00939561), 1.1 * math.Exp(0.00939561)},
		{"one trial has no interval", summary(10, 0, 1), summary(11, 0.11, 10), stopwatt.NotJudged, true, 0, 0},
		{"without spread the interval is a point", summary(10, 0, 5), summary(10, 0, 5), stopwatt.NotJudged, true, 1, 1},
		{"nothing at head is missing", summary(10, 0.1, 10), summary(0, 0, 0), stopwatt.Missing, false, 0, 0},
		{"nothing at base is new", summary(0, 0, 0), summary(10, 0.1, 10), stopwatt.New, false, 0, 0},
		{"nothing at all is missing", summary(0, 0, 0), summary(0, 0, 0), stopwatt.Missing, false, 0, 0},
		{"something against nothing has no ratio", summary(0, 0, 5), summary(10, 0.1, 10), stopwatt.NotJudged, false, 0, 0},
		{"what is negative has no ratio", summary(-1, 0.1, 5), summary(10, 0.1, 10), stopwatt.NotJudged, false, 0, 0},
	} {
		got := Beside(case1, metric, row.base, row.head)
		ratio := got.Estimate.Ratio
		if got.Verdict != row.verdict || ratio.Known != row.known || ratio.Bounded != (row.high > 0) {
			t.Errorf("%s: %+v", row.name, got)
			continue
		}
		if ratio.Bounded && (math.Abs(ratio.Low-row.low) > 1e-6 || math.Abs(ratio.High-row.high) > 1e-6) {
			t.Errorf("%s: %g … %g, want %g … %g", row.name, ratio.Low, ratio.High, row.low, row.high)
		}
	}
}

func TestMeanRatiosAreOfWhatIsKnown(t *testing.T) {
	metric, _ := stopwatt.MetricNamed("time")
	comparison := func(ratio float64) stopwatt.Comparison {
		return stopwatt.Comparison{Metric: metric, Estimate: stopwatt.Estimate{Ratio: stopwatt.Interval{Value: ratio, Known: ratio != 0}}}
	}
	means := MeanRatios([]stopwatt.Comparison{comparison(0.5), comparison(0), comparison(2)})
	if len(means) != 1 || means[0].Count != 2 || means[0].Arithmetic != 1.25 || math.Abs(means[0].Geometric-1) > 1e-12 {
		t.Errorf("the means of 0.5 and 2 are %+v", means)
	}
}
