package regression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// process draws n values of a normal process of the first order with mean 0,
// standard deviation 1 and this autocorrelation; a share of them are outliers, ten
// to thirty standard deviations up.
func process(r *rand.Rand, n int, autocorrelation, outliers float64) []float64 {
	values := make([]float64, n)
	last := r.NormFloat64()
	for i := range values {
		last = autocorrelation*last + math.Sqrt(1-autocorrelation*autocorrelation)*r.NormFloat64()
		values[i] = last
		if r.Float64() < outliers {
			values[i] += 10 + 20*r.Float64()
		}
	}
	return values
}

// scaled turns values round 0 into values round 1 with this relative noise, those
// from at on higher by step.
func scaled(values []float64, sd float64, at int, step float64) []float64 {
	for i := range values {
		values[i] = 1 + sd*values[i]
		if i >= at {
			values[i] *= 1 + step
		}
	}
	return values
}

// seriesOf makes a series of one machine and epoch from values, a commit each.
func seriesOf(values []float64) stopwatt.Series {
	series := stopwatt.Series{Metric: "time"}
	for i, v := range values {
		series.Points = append(series.Points, stopwatt.SeriesPoint{Position: i + 1, SHA: fmt.Sprint("c", i), Run: int64(i + 1), Value: v, N: 1})
	}
	return series
}

// changesOf searches values by the default rule.
func changesOf(values []float64) stopwatt.ChangeSearch {
	return FindChanges(seriesOf(values), stopwatt.ChangeRule{})[0]
}

func isConfirmed(c stopwatt.ChangePoint) bool { return c.State == stopwatt.Confirmed }

// stationary are kinds of noise without any change, and in how many of a hundred
// series of 500 points a point may be confirmed.
var stationary = []struct {
	name                      string
	autocorrelation, outliers float64
}{
	{"independent", 0, 0},
	{"independent with one outlier in twenty", 0, 0.05},
	{"autocorrelated by 0.15", 0.15, 0},
	{"autocorrelated by 0.3", 0.3, 0},
	{"autocorrelated by 0.3 with one outlier in a hundred", 0.3, 0.01},
	{"autocorrelated by 0.3 with one outlier in twenty", 0.3, 0.05},
}

// confirmedWithoutChange is the share of stationary series of 500 points in which a point
// is suspected, and in which one is confirmed.
func confirmedWithoutChange(seed uint64, series int, autocorrelation, outliers float64) (suspected, confirmed float64) {
	r := rand.New(rand.NewPCG(seed, 6))
	for range series {
		found := changesOf(scaled(process(r, 500, autocorrelation, outliers), 0.01, 500, 0)).ChangePoints
		if len(found) > 0 {
			suspected++
		}
		if slices.ContainsFunc(found, isConfirmed) {
			confirmed++
		}
	}
	return suspected / float64(series), confirmed / float64(series)
}

func TestStationarySeriesConfirmHardlyAPoint(t *testing.T) {
	t.Parallel()
	for _, test := range stationary {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			suspected, confirmed := confirmedWithoutChange(500, 200, test.autocorrelation, test.outliers)
			if confirmed > 0.03 || suspected > 0.08 {
				t.Errorf("%.1f %% of the series confirm a point, want 5 at most and in this sample 3; %.1f %% suspect one, want 8", 100*confirmed, 100*suspected)
			}
		})
	}
}

// steps are series with one step of three in a hundred at a noise of one.
var steps = []struct {
	name            string
	before, after   int
	autocorrelation float64
	outliers        float64
	placed          float64 // at least this share within one commit
	confirmed       float64 // at least this share there, and confirmed
}{
	{"10 points on each side", 10, 10, 0, 0, 0.9, 0.9},
	{"30 points before it, 10 behind", 30, 10, 0, 0, 0.9, 0.9},
	{"490 points before it, 10 behind", 490, 10, 0, 0, 0.9, 0.9},
	{"10 points before it, 490 behind", 10, 490, 0, 0, 0.9, 0.9},
	{"250 points on each side", 250, 250, 0, 0, 0.9, 0.9},
	{"100 points before it, 10 behind, with one outlier in twenty", 100, 10, 0, 0.05, 0.85, 0.8},
	{"10 points on each side, autocorrelated by 0.3", 10, 10, 0.3, 0, 0.8, 0.75},
	{"100 points before it, 10 behind, autocorrelated by 0.3", 100, 10, 0.3, 0, 0.85, 0.85},
}

// placing is the share of series with a step whose change point lies within one
// commit of it, and the share where that one is confirmed.
func placing(seed uint64, series, before, after int, autocorrelation, outliers float64) (placed, confirmed float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	for range series {
		values := scaled(process(r, before+after, autocorrelation, outliers), 0.01, before, 0.03)
		for _, c := range changesOf(values).ChangePoints {
			if c.Index < before-1 || c.Index > before+1 {
				continue
			}
			placed++
			if isConfirmed(c) {
				confirmed++
			}
			break
		}
	}
	return placed / float64(series), confirmed / float64(series)
}

func TestAStepIsPlacedWithinOneCommit(t *testing.T) {
	t.Parallel()
	for _, test := range steps {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			placed, confirmed := placing(3, 400, test.before, test.after, test.autocorrelation, test.outliers)
			if placed < test.placed || confirmed < test.confirmed {
				t.Errorf("%.1f %% of the steps are placed within one commit, want %g; %.1f %% confirmed there, want %g", 100*placed, 100*test.placed, 100*confirmed, 100*test.confirmed)
			}
		})
	}
}

// The interval of the shift must hold the true one about as often as it says;
// that of the place more often, for it is an interval of whole commits.
func TestIntervalsHoldTheTruth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(95, 1))
	found, ratio, place := 0, 0, 0
	for range 300 {
		values := scaled(process(r, 60, 0.2, 0), 0.01, 35, 0.03)
		for _, c := range changesOf(values).ChangePoints {
			found++
			if c.Ratio.Low <= 1.03 && c.Ratio.High >= 1.03 {
				ratio++
			}
			if c.IndexLow <= 35 && c.IndexHigh >= 35 {
				place++
			}
		}
	}
	if found < 285 || float64(ratio) < 0.92*float64(found) || float64(place) < 0.92*float64(found) {
		t.Errorf("of %d change points the interval of the ratio holds the truth in %d and that of the place in %d, want 95 in 100", found, ratio, place)
	}
}

// Alarms over the whole life of a series: searched again with every commit, a
// series is looked at 490 times.
func everConfirmed(seed uint64, series int, autocorrelation, outliers float64) float64 {
	r := rand.New(rand.NewPCG(seed, 490))
	ever := 0
	for range series {
		values := process(r, 500, autocorrelation, outliers)
		for n := 10; n <= 500; n += 5 {
			if slices.ContainsFunc(changesOf(values[:n]).ChangePoints, isConfirmed) {
				ever++
				break
			}
		}
	}
	return float64(ever) / float64(series)
}

// unseen is the seed of what the documents state: none of the constants was chosen
// by looking at its series, as some were by those of the tests.
const unseen = 20_000

// BenchmarkChangePoints prints false alarms, power and the family of a search,
// as the documents state them.
func BenchmarkChangePoints(b *testing.B) {
	for _, test := range stationary {
		suspected, confirmed := confirmedWithoutChange(unseen, 2000, test.autocorrelation, test.outliers)
		ever := everConfirmed(unseen, 200, test.autocorrelation, test.outliers)
		fmt.Printf("no change, 500 points, %s: suspected in %.2f %%, confirmed in %.2f %%; confirmed at any of 99 looks in %.1f %%\n", test.name, 100*suspected, 100*confirmed, 100*ever)
	}
	for _, test := range steps {
		placed, confirmed := placing(unseen, 2000, test.before, test.after, test.autocorrelation, test.outliers)
		fmt.Printf("a step of 3 %% at 1 %% noise, %s: placed within one commit in %.1f %%, confirmed in %.1f %%\n", test.name, 100*placed, 100*confirmed)
	}
	for _, n := range []int{20, 50, 100, 200, 400} {
		fmt.Printf("%d points: the smallest p in twenty is 0.05 ÷ %.0f; 0.05 ÷ %.0f is taken\n", n, 0.05/smallestInTwenty(n), familyOf(n))
	}
}

// smallestInTwenty is the p that the best place of independent noise falls below
// in one series of twenty.
func smallestInTwenty(n int) float64 {
	r := rand.New(rand.NewPCG(20, uint64(n)))
	ps := make([]float64, 1000)
	for i := range ps {
		d := newDivision(process(r, n, 0, 0), priorOfRuns)
		d.noise, d.excess = noiseOf(d.values, nil, priorOfRuns, false)
		d.excess = excessOf(d.excess)
		ps[i] = 1
		for _, c := range d.candidates() {
			ps[i] = min(ps[i], c.p)
		}
	}
	slices.Sort(ps)
	return ps[len(ps)/20]
}

// BenchmarkFindChanges tells what a search takes. With a change in every 50
// points; it grows as n·log² n.
func BenchmarkFindChanges(b *testing.B) {
	for _, n := range []int{100, 500, 1000, 10000} {
		values := process(rand.New(rand.NewPCG(1, 1)), n, 0.2, 0.01)
		for i := range values {
			values[i] += float64(4 * (i / 50 % 2))
		}
		series := seriesOf(values)
		b.Run(fmt.Sprintf("points=%d", n), func(b *testing.B) {
			for b.Loop() {
				FindChanges(series, stopwatt.ChangeRule{})
			}
		})
		flat := seriesOf(process(rand.New(rand.NewPCG(1, 1)), n, 0.2, 0.01))
		b.Run(fmt.Sprintf("flat,points=%d", n), func(b *testing.B) {
			for b.Loop() {
				FindChanges(flat, stopwatt.ChangeRule{})
			}
		})
	}
}
