package regression

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// nile is the yearly flow of the Nile at Aswan, 1871 to 1970, in 10⁸ m³ (G. W.
// Cobb, The problem of the Nile, Biometrika 65, 1978): it fell in 1899, when the
// dam was begun.
var nile = []float64{
	1120, 1160, 963, 1210, 1160, 1160, 813, 1230, 1370, 1140, 995, 935, 1110, 994, 1020, 960, 1180, 799, 958, 1140,
	1100, 1210, 1150, 1250, 1260, 1220, 1030, 1100, 774, 840, 874, 694, 940, 833, 701, 916, 692, 1020, 1050, 969,
	831, 726, 456, 824, 702, 1120, 1100, 832, 764, 821, 768, 845, 864, 862, 698, 845, 744, 796, 1040, 759,
	781, 865, 845, 944, 984, 897, 822, 1010, 771, 676, 649, 846, 812, 742, 801, 1040, 860, 874, 848, 890,
	744, 749, 838, 1050, 918, 986, 797, 923, 975, 815, 1020, 906, 901, 1170, 912, 746, 919, 718, 714, 740,
}

// levels repeats each level so many times.
func levels(times int, of ...float64) []float64 {
	var values []float64
	for _, level := range of {
		values = append(values, slices.Repeat([]float64{level}, times)...)
	}
	return values
}

// jittered adds normal noise.
func jittered(sd float64, values []float64) []float64 {
	r := rand.New(rand.NewPCG(5, 2))
	for i := range values {
		values[i] += sd * r.NormFloat64()
	}
	return values
}

// curve is what f says of 0 to n−1.
func curve(n int, f func(float64) float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = f(float64(i))
	}
	return values
}

func TestFindChangesInSeriesWithKnownAnswers(t *testing.T) {
	t.Parallel()
	spiked := jittered(1, levels(60, 100, 105))
	spiked[20], spiked[21], spiked[80] = 900, 700, -400
	tests := []struct {
		name   string
		values []float64
		want   []int // indices
	}{
		{"the Nile fell in 1899", nile, []int{28}},
		{"eleven values that halve, as Otava's tests have them", []float64{1.02, 0.95, 0.99, 1.00, 1.12, 0.90, 0.50, 0.51, 0.48, 0.48, 0.55}, []int{6}},
		{"eleven values that fall by a tenth, as Otava's tests have them", []float64{2.02, 2.03, 2.01, 2.04, 1.82, 1.85, 1.79, 1.81, 1.80, 1.76, 1.78}, []int{4}},
		{"up and down every ten commits", jittered(1, levels(10, 100, 105, 100, 105, 100, 105, 100, 105)), []int{10, 20, 30, 40, 50, 60, 70}},
		{"two steps up", jittered(1, levels(40, 100, 104, 108)), []int{40, 80}},
		{"a step behind outliers", spiked, []int{60}},
		{"a counter that counts one more", levels(30, 7, 8), []int{30}},
		{"nothing becomes something", slices.Concat(levels(20, 0), levels(8, 1)), []int{20}},
		{"negative values", jittered(1, levels(20, -100, -105)), []int{20}},
		{"large values", levels(20, 1e299, -1e299), []int{20}},
		{"small values", levels(20, 1e-300, 2e-300), []int{20}},
		{"a hair's breadth on a large level", jittered(1e-3, levels(30, 1e9, 1e9+0.01)), []int{30}},
		{"four commits and back are no level", jittered(1, slices.Concat(levels(40, 100), levels(4, 120), levels(40, 100))), nil},
		{"constant", levels(50, 3), nil},
		{"only zeros", levels(50, 0), nil},
		{"a steady rise is no step", jittered(1, curve(200, func(i float64) float64 { return 100 + i/2 })), nil},
		{"a slow fall is no step", jittered(1, curve(200, func(i float64) float64 { return 100 - i/50 })), nil},
		{"seasons are no steps", jittered(1, curve(200, func(i float64) float64 { return 100 + 10*math.Sin(i/6) })), nil},
		{"two values", []float64{1, 2}, nil},
		{"five values", levels(5, 1), nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []int
			for _, c := range changesOf(test.values).ChangePoints {
				got = append(got, c.Index)
				if math.IsNaN(c.Shift) || math.IsInf(c.Shift, 0) || math.IsNaN(c.P) || math.IsInf(c.Evidence.T, 0) {
					t.Errorf("a figure is no number: %+v", c)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("change points (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAChangePointTellsItsFigures(t *testing.T) {
	t.Parallel()
	c := changesOf(nile).ChangePoints[0]
	if c.State != stopwatt.Confirmed || c.IndexLow < 26 || c.IndexHigh > 32 {
		t.Errorf("%s, from %d to %d, want confirmed round 28", c.State, c.IndexLow, c.IndexHigh)
	}
	// Means and standard deviations of both stretches, as published by Cobb: 1098 and 850.
	if math.Abs(c.Before.Mean-1098) > 2 || math.Abs(c.After.Mean-850) > 2 || c.Before.N != 28 || c.After.N != 72 {
		t.Errorf("levels %+v and %+v, want 1098 of 28 and 850 of 72", c.Before, c.After)
	}
	if c.Shift >= 0 || !(c.ShiftLow < c.Shift && c.Shift < c.ShiftHigh && c.ShiftHigh < 0) {
		t.Errorf("shift %g from %g to %g, want below 0 with certainty", c.Shift, c.ShiftLow, c.ShiftHigh)
	}
	if r := c.Ratio; !r.Known || !r.Bounded || r.Low > 850./1098 || r.High < 850./1098 || r.High >= 1 {
		t.Errorf("ratio %+v, want one that holds 0.774 and not 1", r)
	}
	if c.P > 1e-4 || c.Evidence.T > -4 || c.Evidence.Energy <= 0 {
		t.Errorf("p %g of %+v, want far below chance", c.P, c.Evidence)
	}
}

// The noise of a series that grew threefold is that of its high level, and was taken
// to be the low one's, too: a change that is certain was told as −64 … +487 %.
func TestARatioLeavesOutNoChangeWhereTheShiftDoes(t *testing.T) {
	t.Parallel()
	noise := rand.New(rand.NewPCG(3, 1))
	told := 0
	for range 300 {
		var values []float64
		for i := range 20 {
			level := 40.0
			if i >= 8 {
				level = 130
			}
			values = append(values, level*math.Exp(0.35*noise.NormFloat64()))
		}
		for _, c := range changesOf(values).ChangePoints {
			if !c.Ratio.Bounded {
				continue
			}
			told++
			if certain := c.ShiftLow > 0 || c.ShiftHigh < 0; certain != (c.Ratio.Low > 1 || c.Ratio.High < 1) {
				t.Errorf("shift %g … %g, ratio %g … %g", c.ShiftLow, c.ShiftHigh, c.Ratio.Low, c.Ratio.High)
			}
		}
	}
	if told < 50 {
		t.Errorf("%d change points were told", told)
	}
}

func TestALevelOfZeroHasNoRatio(t *testing.T) {
	t.Parallel()
	for _, c := range changesOf(levels(20, 0, 1)).ChangePoints {
		if c.Ratio.Known || c.Shift != 1 {
			t.Errorf("ratio %+v and shift %g, want none and 1", c.Ratio, c.Shift)
		}
	}
}

// After a merge both neighbours are judged anew, the one before and the one
// behind; every place that is left is judged between the two that are left
// beside it.
func TestEveryPlaceStandsBetweenItsNeighbours(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(8, 8))
	merges := 0
	for range 100 {
		values := process(r, 120, 0.2, 0.01)
		level := 0.0
		for i := range values {
			if r.IntN(15) == 0 {
				level = 3 * r.NormFloat64()
			}
			values[i] += level
		}
		d := newDivision(values, priorOfRuns)
		places := d.search(0.05)
		merges += len(d.cuts(d.candidates(), lenient*0.05)) - len(places)
		for i, c := range places {
			if from, to := d.between(places, i); c.from != from || c.to != to {
				t.Fatalf("place %d at %d is judged from %d to %d, its neighbours are %d and %d", i, c.at, c.from, c.to, from, to)
			}
		}
	}
	if merges < 10 {
		t.Errorf("only %d places were merged: this test shows nothing", merges)
	}
}

func TestPointsOfACommitArePooled(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	point := func(position int, run int64, value float64) stopwatt.SeriesPoint {
		return stopwatt.SeriesPoint{Position: position, SHA: "c", Time: at, Run: run, Value: value, N: 10}
	}
	series := stopwatt.Series{Points: []stopwatt.SeriesPoint{
		point(9, 4, 5), point(2, 7, 30), point(2, 1, 10), point(2, 3, 20), point(4, 2, math.NaN()), point(5, 2, math.Inf(1)),
	}}
	got := FindChanges(series, stopwatt.ChangeRule{})[0].Points
	pooled := point(2, 1, 20)
	pooled.N = 30
	if diff := cmp.Diff([]stopwatt.SeriesPoint{pooled, point(9, 4, 5)}, got); diff != "" {
		t.Errorf("points (-want +got):\n%s", diff)
	}
	if series.Points[0].Position != 9 {
		t.Error("the points that were given are sorted in place")
	}
}

func TestAChangeLiesAmongTheCommitsThatWereNotMeasured(t *testing.T) {
	t.Parallel()
	series := seriesOf(jittered(0.1, levels(15, 100, 110)))
	for i := range series.Points {
		series.Points[i].Position = 10 * (i + 1)
	}
	c := FindChanges(series, stopwatt.ChangeRule{})[0].ChangePoints[0]
	want := [3]stopwatt.CommitPlace{{Position: 150, SHA: "c14"}, {Position: 160, SHA: "c15"}, {Position: 160, SHA: "c15"}}
	if got := [3]stopwatt.CommitPlace{c.Past, c.First, c.Reached}; got != want {
		t.Errorf("past, first, reached: %v, want %v", got, want)
	}
}

func TestMachinesAndEpochs(t *testing.T) {
	t.Parallel()
	values := jittered(1, levels(20, 100, 110))
	tests := []struct {
		name           string
		change         func(i int, p *stopwatt.SeriesPoint)
		searches       int
		boundaries     []int
		states         []stopwatt.ChangeState
		wantedWithheld stopwatt.WithheldFor
	}{
		{"one machine", func(int, *stopwatt.SeriesPoint) {}, 1, nil, []stopwatt.ChangeState{stopwatt.Confirmed}, ""},
		{"another machine starts a new series", func(i int, p *stopwatt.SeriesPoint) {
			if i >= 20 {
				p.Machine = "b"
			}
		}, 2, nil, nil, ""},
		{"two machines in turn are two series with a change each", func(i int, p *stopwatt.SeriesPoint) {
			p.Machine = string(rune('a' + i%2))
		}, 2, nil, []stopwatt.ChangeState{stopwatt.Confirmed, stopwatt.Confirmed}, ""},
		{"an epoch that begins with the change withholds it", func(i int, p *stopwatt.SeriesPoint) {
			if i >= 20 {
				p.Epoch = "new kernel"
			}
		}, 1, []int{20}, []stopwatt.ChangeState{stopwatt.Withheld}, stopwatt.EpochChanged},
		{"an epoch that begins elsewhere is a boundary", func(i int, p *stopwatt.SeriesPoint) {
			if i >= 10 {
				p.Epoch = "new kernel"
			}
		}, 1, []int{10}, []stopwatt.ChangeState{stopwatt.Confirmed}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			series := seriesOf(values)
			for i := range series.Points {
				test.change(i, &series.Points[i])
			}
			searches := FindChanges(series, stopwatt.ChangeRule{})
			if len(searches) != test.searches {
				t.Fatalf("%d series, want %d", len(searches), test.searches)
			}
			var boundaries []int
			var states []stopwatt.ChangeState
			for _, search := range searches {
				for _, b := range search.Boundaries {
					boundaries = append(boundaries, b.Index)
				}
				for _, c := range search.ChangePoints {
					states = append(states, c.State)
					if c.Withheld != test.wantedWithheld {
						t.Errorf("withheld for %q, want %q", c.Withheld, test.wantedWithheld)
					}
				}
			}
			if diff := cmp.Diff(test.boundaries, boundaries); diff != "" {
				t.Errorf("boundaries (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.states, states); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheRuleIsKept(t *testing.T) {
	t.Parallel()
	values := jittered(1, slices.Concat(levels(40, 100), levels(8, 104)))
	tests := []struct {
		name string
		rule stopwatt.ChangeRule
		want []stopwatt.ChangeState
	}{
		{"by default it is confirmed", stopwatt.ChangeRule{}, []stopwatt.ChangeState{stopwatt.Confirmed}},
		{"too few commits behind it", stopwatt.ChangeRule{Later: 9}, []stopwatt.ChangeState{stopwatt.Suspected}},
		{"just enough of them", stopwatt.ChangeRule{Later: 8}, []stopwatt.ChangeState{stopwatt.Confirmed}},
		{"too weak to confirm", stopwatt.ChangeRule{Confirm: 1e-30}, []stopwatt.ChangeState{stopwatt.Suspected}},
		{"too weak to suspect", stopwatt.ChangeRule{Suspect: 1e-30}, nil},
		{"smaller than what counts", stopwatt.ChangeRule{Smallest: 0.06}, nil},
		{"larger than what counts", stopwatt.ChangeRule{Smallest: 0.02}, []stopwatt.ChangeState{stopwatt.Confirmed}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []stopwatt.ChangeState
			for _, c := range FindChanges(seriesOf(values), test.rule)[0].ChangePoints {
				got = append(got, c.State)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoPointsNoSearch(t *testing.T) {
	t.Parallel()
	for _, values := range [][]float64{nil, {math.NaN()}} {
		if got := FindChanges(seriesOf(values), stopwatt.ChangeRule{}); got != nil {
			t.Errorf("%v gives %+v, want nothing", values, got)
		}
	}
}

// One level that a division misses weakens both its neighbours, and once a merge
// of 10,000 points went on from there until nothing was left.
func TestManyLevelsAreNotMergedAway(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 0))
	values := process(r, 10000, 0, 0)
	for i := range values {
		values[i] += float64(i / 12 % 2 * 7)
	}
	if got := len(changesOf(values).ChangePoints); got < 825 {
		t.Errorf("%d of 833 change points are found", got)
	}
}
