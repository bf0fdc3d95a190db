package regression

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCriticalSumsArePublishedOnes(t *testing.T) {
	t.Parallel()
	// Critical values of the signed-rank sum, by F. Wilcoxon and R. A. Wilcox, Some
	// Rapid Approximate Statistical Procedures, 1964: one-sided levels of 2.5 %, 1 %
	// and 0.5 %. There it is the sum whose probability is nearest to the level in a
	// few rows; these rows are those at or below it.
	rows := []struct {
		n    int
		sums [3]int
	}{
		{6, [3]int{0, -1, -1}}, {7, [3]int{2, 0, -1}}, {8, [3]int{3, 1, 0}}, {9, [3]int{5, 3, 1}},
		{10, [3]int{8, 5, 3}}, {11, [3]int{10, 7, 5}}, {12, [3]int{13, 9, 7}}, {13, [3]int{17, 12, 9}},
		{14, [3]int{21, 15, 12}}, {15, [3]int{25, 19, 15}}, {16, [3]int{29, 23, 19}}, {17, [3]int{34, 27, 23}},
		{18, [3]int{40, 32, 27}}, {19, [3]int{46, 37, 32}}, {20, [3]int{52, 43, 37}}, {25, [3]int{89, 76, 68}},
		{30, [3]int{137, 120, 109}},
	}
	for _, row := range rows {
		for i, level := range []float64{0.025, 0.01, 0.005} {
			if got, attained := criticalSum(row.n, level); got != row.sums[i] || attained > level {
				t.Errorf("%d pairs at %g: sum %d (%.5f), published %d", row.n, level, got, attained, row.sums[i])
			}
		}
	}
}

func TestSignedRankOfPublishedPairs(t *testing.T) {
	t.Parallel()
	// Hamilton depression scale before and after a tranquillizer: M. Hollander and
	// D. A. Wolfe, Nonparametric Statistical Methods, 1973, table 3.1: the sum of
	// positive ranks is 40, its p 0.019, the estimate 0.46.
	before := []float64{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30}
	after := []float64{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29}
	var differences []float64
	for i := range before {
		differences = append(differences, before[i]-after[i])
	}
	up, down := signedRank(differences)
	if up != 10.0/512 || down != 505.0/512 {
		t.Errorf("p %g and %g, want 10 and 505 of 512", up, down)
	}
	averages := walshAverages(differences)
	if got := hodgesLehmann(averages); math.Abs(got-0.46) > 1e-12 {
		t.Errorf("estimate %g, published 0.46", got)
	}
	// Their interval of 96.1 %.
	b := boundsAt(averages, len(differences), 0.0196)
	if math.Abs(b.low-0.010) > 1e-12 || math.Abs(b.high-0.786) > 1e-12 || math.Abs(b.level-10.0/512) > 1e-15 {
		t.Errorf("bounds %+v, published 0.010 to 0.786", b)
	}
}

// enumerated is signedRank by brute force: every choice of signs.
func enumerated(differences []float64) (up, down float64) {
	magnitude := func(i int) float64 { return math.Abs(differences[i]) }
	var ranks []float64
	seen := 0.0
	for i := range differences {
		smaller, equal := 0, 0
		for j := range differences {
			switch {
			case magnitude(j) < magnitude(i):
				smaller++
			case magnitude(j) == magnitude(i):
				equal++
			}
		}
		rank := float64(smaller) + float64(equal+1)/2
		if differences[i] != 0 {
			ranks = append(ranks, rank)
		}
		if differences[i] > 0 {
			seen += rank
		}
	}
	all := 1 << len(ranks)
	for signs := range all {
		sum := 0.0
		for i, rank := range ranks {
			if signs>>i&1 == 1 {
				sum += rank
			}
		}
		if sum >= seen {
			up += 1 / float64(all)
		}
		if sum <= seen {
			down += 1 / float64(all)
		}
	}
	return up, down
}

func TestSignedRankIsThatOfAllSigns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	for range 500 {
		differences := make([]float64, 1+random.IntN(11))
		coarse := random.IntN(2) == 0 // with many ties and zeros
		for i := range differences {
			if differences[i] = random.NormFloat64(); coarse {
				differences[i] = math.Round(2 * differences[i])
			}
		}
		up, down := signedRank(differences)
		wantUp, wantDown := enumerated(differences)
		if math.Abs(up-wantUp) > 1e-12 || math.Abs(down-wantDown) > 1e-12 {
			t.Fatalf("%v: p %g and %g, by all signs %g and %g", differences, up, down, wantUp, wantDown)
		}
	}
}

func TestSignedRankTurnsWithItsSigns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{1, 5, 12, 32, 300} {
		differences := make([]float64, n)
		turned := make([]float64, n)
		for i := range differences {
			differences[i] = random.NormFloat64() + 0.2
			turned[n-1-i] = -differences[i]
		}
		up, down := signedRank(differences)
		turnedUp, turnedDown := signedRank(turned)
		if up != turnedDown || down != turnedUp {
			t.Errorf("%d: %g and %g, turned %g and %g", n, up, down, turnedUp, turnedDown)
		}
	}
}

func TestSignedRankOfOddDifferences(t *testing.T) {
	t.Parallel()
	most := math.Inf(1)
	tests := []struct {
		name        string
		differences []float64
		up, down    float64
	}{
		{"none", nil, 1, 1},
		{"all zero", []float64{0, 0, 0}, 1, 1},
		{"one", []float64{1}, 0.5, 1},
		{"all the same", []float64{2, 2, 2, 2}, 1.0 / 16, 1},
		{"everything out of nothing", []float64{most, most, most}, 1.0 / 8, 1},
		{"infinite ones share a rank", []float64{most, -most}, 0.75, 0.75},
		{"a zero keeps its rank", []float64{0, 1, -2}, 0.75, 0.5},
		{"rounding is no difference", []float64{0.3, 0.1 + 0.2, -0.1 - 0.2, -0.3}, 11.0 / 16, 11.0 / 16},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if up, down := signedRank(test.differences); up != test.up || down != test.down {
				t.Errorf("p %g and %g, want %g and %g", up, down, test.up, test.down)
			}
		})
	}
}

func TestTheApproximationMeetsTheExactOne(t *testing.T) {
	t.Parallel()
	n := exactUpTo
	exact := withoutTies(n)
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = 2 * (i + 1)
	}
	for _, level := range []float64{0.05, 0.01, 0.001} {
		sum, attained := criticalSum(n, level)
		if _, down := normalTails(ranks, 2*sum); math.Abs(down/attained-1) > 0.06 {
			t.Errorf("p of the sum %d: %g, exact %g", sum, down, attained)
		}
		if near, _ := criticalSumNormal(n, level); math.Abs(float64(near-sum)) > 15 {
			t.Errorf("critical sum at %g: %d by approximation, %d exactly", level, near, sum)
		}
	}
	if last := exact[len(exact)-1]; math.Abs(last-1) > 1e-12 {
		t.Errorf("all sums together have probability %g", last)
	}
}

func TestBoundsHoldWhatTheTestDoesNotReject(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		n := 8 + random.IntN(25)
		differences := make([]float64, n)
		for i := range differences {
			differences[i] = random.NormFloat64()
		}
		b := boundsAt(walshAverages(differences), n, 0.005)
		for _, inside := range []bool{true, false} {
			step := 1e-9
			if !inside {
				step = -step
			}
			shifted := slices.Clone(differences)
			for i := range shifted {
				shifted[i] -= b.low + step
			}
			if up, _ := signedRank(shifted); (up > 0.005) != inside {
				t.Fatalf("n %d, shift %g: p %g, inside %t", n, b.low+step, up, inside)
			}
		}
	}
}

func TestBoundsNeedEnoughPairs(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]bool{0: false, 1: false, 7: false, 8: true, 300: true} {
		if got := boundsAt(walshAverages(make([]float64, n)), n, 0.005); got.known != want {
			t.Errorf("%d pairs at 0.005: %+v", n, got)
		}
	}
}

func BenchmarkSignedRank(b *testing.B) {
	random := rand.New(rand.NewPCG(4, 4))
	differences := make([]float64, 32)
	for i := range differences {
		differences[i] = random.NormFloat64()
	}
	b.ReportAllocs()
	for b.Loop() {
		signedRank(differences)
	}
}

func BenchmarkWalshAverages(b *testing.B) {
	random := rand.New(rand.NewPCG(4, 4))
	differences := make([]float64, 32)
	for i := range differences {
		differences[i] = random.NormFloat64()
	}
	for b.Loop() {
		walshAverages(differences)
	}
}
