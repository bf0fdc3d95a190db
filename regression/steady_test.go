package regression

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// seconds are 0, 1, 2, …
func seconds(n int) []float64 { return curve(n, func(i float64) float64 { return i }) }

func TestSteady(t *testing.T) {
	t.Parallel()
	warming := curve(60, func(i float64) float64 { return 1000 * (1 - 0.5*math.Exp(-i/4)) })
	spike := jittered(10, levels(60, 1000))
	spike[30] = 200
	stall := jittered(10, slices.Concat(levels(20, 1000), levels(6, 300), levels(40, 1000)))
	gaps := jittered(10, slices.Concat(levels(15, 500), levels(45, 1000)))
	gaps[3], gaps[40] = math.NaN(), math.Inf(1)
	sawtooth := jittered(10, curve(100, func(i float64) float64 { return 1000 + 150*math.Mod(i, 5) }))
	tests := []struct {
		name     string
		values   []float64
		want     stopwatt.SteadyState
		from, to int // where the steady state may begin
	}{
		{"steady from the first second", jittered(10, levels(60, 1000)), stopwatt.SteadyAtOnce, 0, 0},
		{"constant", levels(60, 1000), stopwatt.SteadyAtOnce, 0, 0},
		{"only zeros", levels(60, 0), stopwatt.SteadyAtOnce, 0, 0},
		{"a quarter of the time at half the speed", jittered(10, slices.Concat(levels(15, 500), levels(45, 1000))), stopwatt.SteadyLate, 15, 15},
		{"with gaps, which keep their places", gaps, stopwatt.SteadyLate, 15, 15},
		{"faster and faster, then steady", jittered(10, warming), stopwatt.SteadyLate, 5, 16},
		{"slower for good after three quarters", jittered(10, slices.Concat(levels(45, 1000), levels(15, 800))), stopwatt.SteadyNever, 0, 0},
		{"ever slower", jittered(10, curve(60, func(i float64) float64 { return 1000 - 8*i })), stopwatt.SteadyNever, 0, 0},
		{"a difference within the tolerance", jittered(2, slices.Concat(levels(15, 980), levels(45, 1000))), stopwatt.SteadyAtOnce, 0, 0},
		{"one second that stands out", spike, stopwatt.SteadyAtOnce, 0, 0},
		{"a stall of six seconds in the middle", stall, stopwatt.SteadyAtOnce, 0, 0},
		{"a pattern that repeats", sawtooth, stopwatt.SteadyAtOnce, 0, 0},
		{"too few to tell", levels(9, 1000), stopwatt.SteadyUnknown, 0, 0},
		{"nothing", nil, stopwatt.SteadyUnknown, 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Steady(seconds(len(test.values)), test.values, stopwatt.SteadyRule{})
			if got.State != test.want || got.From < test.from || got.From > test.to || got.Longer != float64(got.From) {
				t.Errorf("%+v, want %s from %d to %d, and as many seconds longer", got, test.want, test.from, test.to)
			}
		})
	}
}

func TestSteadyCountsTimeNotValues(t *testing.T) {
	t.Parallel()
	values := jittered(1e-3, slices.Concat(levels(12, 2), levels(60, 1)))
	times := make([]float64, len(values)) // when each repetition began
	for i := 1; i < len(times); i++ {
		times[i] = times[i-1] + values[i-1]
	}
	got := Steady(times, values, stopwatt.SteadyRule{})
	if got.State != stopwatt.SteadyLate || got.From != 12 || math.Abs(got.Longer-24) > 0.1 {
		t.Errorf("%+v, want late from the 12th, 24 s longer", got)
	}
	if math.Abs(got.First.Mean-2) > 0.01 || math.Abs(got.Last.Mean-1) > 0.01 {
		t.Errorf("levels %+v and %+v, want 2 and 1", got.First, got.Last)
	}
	if short := Steady(times[:20], values, stopwatt.SteadyRule{}); short.N != 20 {
		t.Errorf("of 20 times and more values %d were looked at", short.N)
	}
}

// restless is the share of stationary series that are called late or never.
func restless(series, n int, sd, autocorrelation, outliers float64) float64 {
	r := rand.New(rand.NewPCG(uint64(n), 9))
	called := 0
	for range series {
		values := scaled(process(r, n, autocorrelation, outliers), sd, n, 0)
		if s := Steady(seconds(n), values, stopwatt.SteadyRule{}).State; s == stopwatt.SteadyLate || s == stopwatt.SteadyNever {
			called++
		}
	}
	return float64(called) / float64(series)
}

// unrest are kinds of stationary noise: a warning there cries wolf.
var unrest = func() (kinds [][2]float64) {
	for _, autocorrelation := range []float64{0, 0.3, 0.6, 0.8} {
		for _, outliers := range []float64{0, 0.02} {
			kinds = append(kinds, [2]float64{autocorrelation, outliers})
		}
	}
	return kinds
}()

func TestSteadyCriesNoWolf(t *testing.T) {
	t.Parallel()
	for _, kind := range unrest {
		for _, n := range []int{10, 20, 60, 300} {
			for _, sd := range []float64{0.03, 0.25} { // a quiet machine, and the noisiest that was seen
				t.Run(fmt.Sprintf("%d values, sd %g, autocorrelation %g, outliers %g", n, sd, kind[0], kind[1]), func(t *testing.T) {
					t.Parallel()
					share := restless(200, n, sd, kind[0], kind[1])
					t.Logf("%g %%", 100*share)
					if share > 0.01 {
						t.Errorf("%g %% of stationary series are called late or never", 100*share)
					}
				})
			}
		}
	}
}

func TestSteadySeesWhatMatters(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(4, 4))
	seen := 0
	for range 200 {
		values := scaled(process(r, 60, 0.3, 0.01), 0.02, 0, 0)
		for i := range values[:12] {
			values[i] *= 0.8
		}
		if Steady(seconds(60), values, stopwatt.SteadyRule{}).State == stopwatt.SteadyLate {
			seen++
		}
	}
	if seen < 190 {
		t.Errorf("of 200 trials that began with twelve seconds at four fifths of their speed %d are called late, want 190", seen)
	}
}
