package regression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// alike draws rounds of the same against the same, a minute each, with a standard
// deviation of a trial, and an effect on what comes first, on every second hour,
// and on the last round against the first.
func alike(random *rand.Rand, rounds int, sigma, first, hour, drift float64) []stopwatt.Pair {
	start := time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC)
	var pairs []stopwatt.Pair
	for i := range rounds {
		pair := stopwatt.Pair{Round: i + 1, HeadFirst: random.IntN(2) == 0, At: start.Add(time.Duration(i) * time.Minute), Requests: 1e6}
		level := drift * float64(i) / float64(rounds-1)
		if pair.At.Hour()%2 == 1 {
			level += hour
		}
		a, b := level+first+sigma*random.NormFloat64(), level+sigma*random.NormFloat64()
		if !pair.HeadFirst {
			a, b = b, a
		}
		pair.Head, pair.Base = math.Exp(a), math.Exp(b)
		pairs = append(pairs, pair)
	}
	return pairs
}

func TestCalibrate(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		sigma              float64
		first, hour, drift float64
		matters            string
	}{
		{"a quiet machine", 0.01, 0, 0, 0, ""},
		{"what comes first takes longer", 0.01, 0.02, 0, 0, "order "},
		{"every second hour is slower", 0.01, 0, 0.03, 0, "hours "},
		{"it gets slower and slower", 0.01, 0, 0, 0.1, "hours drift "},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(9, uint64(i)))
			trials := of("go", "time", alike(random, 300, test.sigma, test.first, test.hour, test.drift))
			c := Calibrate(stopwatt.Adaptive(12, 32), "web-servers", []stopwatt.PairedTrials{trials})
			one := c.Cases[0]
			matters := ""
			for i, effect := range []stopwatt.Effect{one.Order, one.Hours, one.Drift} {
				if effect.P < 0.001 {
					matters += []string{"order ", "hours ", "drift "}[i]
				}
			}
			if matters != test.matters {
				t.Errorf("%q matters, want %q: %+v", matters, test.matters, one)
			}
			near := func(what string, got, want, slack float64) {
				if math.Abs(got-want) > slack {
					t.Errorf("%s %g, want %g", what, got, want)
				}
			}
			near("order", one.Order.Ratio, math.Exp(test.first), 0.004)
			near("drift", one.Drift.Ratio, math.Exp(test.drift), 0.008)
			if test.first == 0 {
				near("sd of a pair", one.PairSD, test.sigma*math.Sqrt2, 0.002)
				near("spread", one.Spread, test.sigma*math.Sqrt2, 0.002)
			}
			if one.N != 300 || one.Alarms.Of != 25 || c.Alarms != one.Alarms {
				t.Errorf("%d pairs, alarms %+v of the case, %+v of all", one.N, one.Alarms, c.Alarms)
			}
			if want := time.Date(2026, 11, 30, 12, 59, 0, 0, time.UTC); !c.Taken.Equal(want) {
				t.Errorf("taken %s", c.Taken)
			}
		})
	}
}

func TestTheSmallestVisibleChangeIsSeenFourTimesOutOfFive(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(10, 10))
	p, family := stopwatt.Fixed(20), 10
	var calibrated []stopwatt.PairedTrials
	for i := range family {
		calibrated = append(calibrated, of(fmt.Sprint(i), "time", alike(random, 400, 0.01, 0, 0, 0)))
	}
	calibration := Calibrate(p, "s", calibrated)
	smallest := 0.0 // on average: one calibration's is good to a twentieth
	for _, one := range calibrated {
		smallest += calibration.Smallest(one.Case, "time") / float64(family)
	}
	const runs = 1000
	seen, reported := 0, 0.0
	for range runs {
		_, judgement := experiment{logNormal, 0.01, smallest, family, 1e-9, p, 1}.run(random)
		step := judgement.Comparisons[0].Steps[0]
		if step.Rejected {
			seen++
		}
		reported += step.Estimate.Smallest / runs
	}
	if share := float64(seen) / runs; math.Abs(share-power) > 0.05 {
		t.Errorf("a change of %.4f is seen in %.3f of the runs, want %.1f", smallest, share, power)
	}
	if math.Abs(reported/smallest-1) > 0.1 {
		t.Errorf("runs report %.4f as the smallest change on average, calibration %.4f", reported, smallest)
	}
}

func TestFalseAlarmsAreAsFrequentAsTheLevelSays(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 11))
	for _, noise := range []noise{logNormal, outliers, bimodal, drifting} {
		draw := noise.draw(0.01, random)
		pairs := measure(nil, stopwatt.Wanted{First: 1, Last: 12000}, draw, 0, random)
		alarms := falseAlarms(collect(pairs, 1, math.MaxInt).logs)
		// Of twelve pairs the exact level nearest below 5 % is 4.25 %.
		if alarms.Of != 1000 || alarms.Low > 0.0425 || alarms.High < 0.0425 {
			t.Errorf("%s: %+v", noise.name, alarms)
		}
	}
}

func TestCalibrateOfOddPairs(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	identical := of("a", "time")
	identical.Identical = true
	trials := []stopwatt.PairedTrials{
		identical,
		of("b", "time"),
		of("c", "time", []stopwatt.Pair{{Round: 1, Base: 1, Head: 2}}),
		of("d", "time", []stopwatt.Pair{{Round: 1, Base: 1, Head: nan}, {Round: 2, Base: 0, Head: 1}, {Round: 3, Base: 0, Head: 0}}),
		of("e", "time", series(1, 30, 1, 0)),
	}
	c := Calibrate(stopwatt.Adaptive(12, 32), "s", trials)
	if len(c.Cases) != 4 {
		t.Fatalf("%d cases, want all but the identical one", len(c.Cases))
	}
	for i, n := range []int{0, 1, 2, 30} {
		one := c.Cases[i]
		for what, v := range map[string]float64{"sd": one.PairSD, "spread": one.Spread, "smallest": one.Smallest,
			"order": one.Order.Ratio, "hours": one.Hours.Ratio, "drift": one.Drift.Ratio, "p": one.Order.P + one.Hours.P + one.Drift.P} {
			if !finite(v) {
				t.Errorf("%s: %s is %g", one.Case, what, v)
			}
		}
		if one.N != n || one.Smallest != 0 {
			t.Errorf("%s: %+v", one.Case, one)
		}
	}
	if got := c.Smallest(stopwatt.Case{Implementation: "z", Workload: "w"}, "time"); got != 0 {
		t.Errorf("a case that was not calibrated has %g", got)
	}
}

func TestPublishedIntervalsAndTails(t *testing.T) {
	t.Parallel()
	// Wilson's interval: R. G. Newcombe, Two-sided confidence intervals for the single
	// proportion, Statistics in Medicine 17, 1998, table I.
	for _, row := range []struct {
		count, of int
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}, {0, 0, 0, 1}} {
		if got := shareOf(row.count, row.of); math.Abs(got.Low-row.low) > 0.00005 || math.Abs(got.High-row.high) > 0.00005 {
			t.Errorf("%d of %d: %+v, published %g to %g", row.count, row.of, got, row.low, row.high)
		}
	}
	// χ² at 5 %, as in every table.
	for degrees, x := range map[int]float64{1: 3.841, 2: 5.991, 3: 7.815, 4: 9.488, 10: 18.307, 23: 35.172} {
		if got := chiSquareAbove(x, degrees); math.Abs(got-0.05) > 0.0001 {
			t.Errorf("χ² above %g with %d degrees: %g", x, degrees, got)
		}
	}
	for degrees, value := range map[int]float64{11: 2.201, 19: 2.093, 31: 2.040} {
		if got := studentAbove(0.025, degrees); math.Abs(got-value) > 0.001 {
			t.Errorf("t of %d degrees: %g, published %g", degrees, got, value)
		}
	}
	// Kruskal and Wallis's own example of bottle caps made by three machines, 1952: H
	// 5.656.
	groups := [][]float64{{340, 345, 330, 342, 338}, {339, 333, 344}, {347, 343, 349, 355}}
	if got := kruskalWallis(groups); math.Abs(got-math.Exp(-5.656/2)) > 0.0005 {
		t.Errorf("p %g, published H of 5.656", got)
	}
}
