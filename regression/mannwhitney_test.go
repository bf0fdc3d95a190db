package regression

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/perf/benchmath"
)

func TestMannWhitneyAgreesWithBenchmath(t *testing.T) {
	t.Parallel()
	// Without ties alone: with them benchmath has p that no choice of ranks gives,
	// 0 for (1 1 1 1 2 4) against (−2 −1 −1 0 1).
	random := rand.New(rand.NewPCG(5, 5))
	for range 200 {
		a, b := normal(random, 4+random.IntN(9), 1), normal(random, 4+random.IntN(9), 0)
		up, down := mannWhitney(a, b)
		if got, want := min(2*min(up, down), 1), byBenchmath(a, b); math.Abs(got-want) > 1e-9 {
			t.Errorf("%v against %v: p = %g, benchmath has %g", a, b, got, want)
		}
	}
}

// normal draws values round a mean, of standard deviation 1.
func normal(random *rand.Rand, n int, mean float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = mean + random.NormFloat64()
	}
	return values
}

func byBenchmath(a, b []float64) float64 {
	return benchmath.AssumeNothing.Compare(
		benchmath.NewSample(slices.Clone(a), &benchmath.DefaultThresholds),
		benchmath.NewSample(slices.Clone(b), &benchmath.DefaultThresholds)).P
}

func TestMannWhitneyIsThatOfAllChoices(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		a, b := normal(random, 1+random.IntN(5), 1), normal(random, 1+random.IntN(5), 0)
		for _, values := range [][]float64{a, b} {
			for i := range values {
				values[i] = math.Round(values[i])
			}
		}
		up, down := mannWhitney(a, b)
		wantUp, wantDown := chosen(a, b)
		if math.Abs(up-wantUp) > 1e-9 || math.Abs(down-wantDown) > 1e-9 {
			t.Errorf("%v against %v: p %g and %g, by all choices %g and %g", a, b, up, down, wantUp, wantDown)
		}
	}
}

// chosen is mannWhitney by brute force: wins, ties counted half, of every choice of
// as many values as a has.
func chosen(a, b []float64) (up, down float64) {
	all := slices.Concat(a, b)
	wins := func(first func(i int) bool) (count float64) {
		for i, x := range all {
			for j, y := range all {
				switch {
				case !first(i) || first(j):
				case x > y:
					count++
				case x == y:
					count += 0.5
				}
			}
		}
		return count
	}
	seen, choices := wins(func(i int) bool { return i < len(a) }), 0.0
	for set := range uint(1) << len(all) {
		if bits.OnesCount(set) != len(a) {
			continue
		}
		choices++
		count := wins(func(i int) bool { return set>>i&1 == 1 })
		if count >= seen {
			up++
		}
		if count <= seen {
			down++
		}
	}
	return up / choices, down / choices
}

func TestMannWhitneyOfPublishedValues(t *testing.T) {
	t.Parallel()
	// Permeability of membranes: M. Hollander and D. A. Wolfe, Nonparametric
	// Statistical Methods, 1973, table 4.1: the rank sum of the first is W = 35 above
	// its least, p 0.1272 one-sided, the shift 0.305.
	term := []float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46}
	early := []float64{1.15, 0.88, 0.90, 0.74, 1.21}
	up, _ := mannWhitney(term, early)
	if math.Abs(up-0.1272) > 0.00005 {
		t.Errorf("p %g, published 0.1272", up)
	}
}

func TestCriticalCountsArePublishedOnes(t *testing.T) {
	t.Parallel()
	// Critical values of U at 5 % two-sided, as in every table since Mann and Whitney.
	for sizes, want := range map[[2]int]int{
		{3, 3}: -1, {4, 4}: 0, {5, 5}: 2, {6, 7}: 6, {8, 8}: 13, {10, 10}: 23, {12, 12}: 37, {15, 15}: 64, {20, 20}: 127,
	} {
		if got, attained := criticalCount(sizes[0], sizes[1], 0.025); got != want || attained > 0.025 {
			t.Errorf("%d against %d: U %d (%.4f), published %d", sizes[0], sizes[1], got, attained, want)
		}
	}
	exact, _ := criticalCount(50, 50, 0.025)
	if near, _ := criticalCount(50, 51, 0.025); near < exact || near > exact+40 {
		t.Errorf("U of 50 against 51 is %d by approximation, of 50 against 50 exactly %d", near, exact)
	}
}

func TestMannWhitneyOfMany(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 6))
	a, b := make([]float64, 60), make([]float64, 45)
	for i := range a {
		a[i] = math.Round(4 * random.NormFloat64())
	}
	for i := range b {
		b[i] = math.Round(4*random.NormFloat64() + 1)
	}
	up, down := mannWhitney(a, b)
	want := byBenchmath(a, b)
	if got := 2 * min(up, down); math.Abs(got-want) > 0.02*want {
		t.Errorf("p = %g, benchmath has %g", got, want)
	}
	if up, down := mannWhitney(make([]float64, 80), make([]float64, 80)); up != 1 || down != 1 {
		t.Errorf("all the same: %g and %g", up, down)
	}
}
