package regression

import (
	"math"
	"math/rand/v2"
	"testing"
)

// energyByHand is the scaled energy distance of two samples, all pairs added up.
func energyByHand(left, right []float64) float64 {
	mean := func(a, b []float64) float64 {
		sum := 0.0
		for _, x := range a {
			for _, y := range b {
				sum += math.Abs(x - y)
			}
		}
		return sum / float64(len(a)*len(b))
	}
	m, n := float64(len(left)), float64(len(right))
	return m * n / (m + n) * (2*mean(left, right) - mean(left, left) - mean(right, right))
}

func TestProfileIsTheEnergyOfAllPairs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	tied := make([]float64, 40)
	for i := range tied {
		tied[i] = float64(r.IntN(4))
	}
	tests := []struct {
		name   string
		values []float64
	}{
		{"noise", process(r, 50, 0, 0)},
		{"noise with outliers", process(r, 50, 0, 0.2)},
		{"few different values", tied},
		{"one value", make([]float64, 20)},
		{"two values", []float64{1, 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			e := newEnergies(test.values)
			n := len(test.values)
			for _, span := range [][2]int{{0, n}, {n / 3, n}, {0, n}, {n / 4, n/4 + 2}} {
				from, to := span[0], min(span[1], n)
				for k, got := range e.profile(from, to)[:to-from] {
					if want := energyByHand(test.values[from:from+k], test.values[from+k:to]); k > 0 && math.Abs(got-want) > 1e-9 {
						t.Fatalf("place %d of values[%d:%d]: energy %g, by hand %g", k, from, to, got, want)
					}
				}
			}
		})
	}
}

func TestStudentTail(t *testing.T) {
	t.Parallel()
	// Abramowitz and Stegun, table 26.10: t that is exceeded on both sides with
	// probability 1−A.
	tests := []struct{ p, df, t float64 }{
		{0.05, 1, 12.706}, {0.05, 2, 4.303}, {0.05, 5, 2.571}, {0.05, 30, 2.042}, {0.05, 120, 1.980},
		{0.01, 1, 63.657}, {0.01, 10, 3.169}, {0.001, 4, 8.610}, {0.001, 60, 3.460}, {0.5, 3, 0.765},
	}
	for _, test := range tests {
		if got := studentTail(test.t, test.df); math.Abs(got-test.p) > 0.0005*math.Max(test.p, 0.1) {
			t.Errorf("t = %g, %g degrees of freedom: p %.5f, tabled %g", test.t, test.df, got, test.p)
		}
		if got := studentQuantile(test.p, test.df); math.Abs(got-test.t) > 0.0006 {
			t.Errorf("p = %g, %g degrees of freedom: t %.4f, tabled %g", test.p, test.df, got, test.t)
		}
	}
	if got := studentTail(40, 1000); got <= 0 || got > 1e-200 {
		t.Errorf("far out the tail is %g, want a very small number above 0", got)
	}
	if studentTail(0, 5) != 1 || studentTail(-2, 5) != studentTail(2, 5) {
		t.Error("the tail of both sides is 1 at 0 and alike on both sides")
	}
}
