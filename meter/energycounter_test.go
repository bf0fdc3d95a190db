package meter

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The ranges of counters as kernels state them, in µJ.
const (
	spanIntel  = 262143328850 // 2^32 units of 61 µJ
	spanAMD    = 65532610987  // 2^32 units of 15 µJ
	spanSmall  = 16381005263  // 2^32 units of 3.8 µJ
	spanServer = 4294967295000000
)

// ms are nanoseconds.
const ms = 1_000_000

func TestStepsOfACounter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		span         int64
		from, to     int64
		milliseconds int64
		want         int64
		gap          string // a part of it; empty: there is none
	}{
		{"it rises", spanIntel, 1000, 2_501_000, 100, 2_500_000, ""},
		{"it stands", spanIntel, 1000, 1000, 100, 0, ""},
		{"it wraps: 1 J before the end, 1.5 J after", spanIntel, spanIntel - 1_000_000, 1_500_000, 100, 2_500_000, ""},
		{"it wraps exactly to 0", spanAMD, spanAMD, 0, 100, 0, ""},
		{"it rises in one step between two readings at once", spanIntel, 1000, 201_000, 0, 200_000, ""},
		{"it wraps and its range is not known", 0, spanIntel - 1_000_000, 1_500_000, 100, 0, "its range is not known"},
		{"it is reset in the middle of its range", spanIntel, 100_000_000_000, 5, 100, 0, "it was reset"},
		{"it goes back by a little", spanIntel, 1_000_000, 999_000, 100, 0, "it was reset"},
		{"a suspended machine reads 0 and then its old value", spanIntel, 0, 100_000_000_000, 100, 0, "more than 1000 W"},
		{"it wraps once in 40 s at 1 kW at most", spanAMD, spanAMD - 1_000_000, 1_000_000, 40_000, 2_000_000, ""},
		{"it may have wrapped twice in 70 s", spanAMD, 1_000_000, 2_000_000, 70_000, 0, "no reading for 70.0 s"},
		{"the smallest range goes round in 16 s at 1 kW", spanSmall, 1_000_000, 2_000_000, 17_000, 0, "more than once"},
		{"the largest range does not", spanServer, 1_000_000, 2_000_000, 3600_000, 1_000_000, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := counter{span: test.span, most: 1000e6, lump: 20e6}
			if used, gap := c.step(7*ms, test.from); used != 0 || gap != "" {
				t.Errorf("the first value used %d, %q", used, gap)
			}
			used, gap := c.step((7+test.milliseconds)*ms, test.to)
			if used != test.want || (gap == "") != (test.gap == "") || !strings.Contains(gap, test.gap) {
				t.Errorf("used %d, gap %q; want %d, %q", used, gap, test.want, test.gap)
			}
		})
	}
}

func TestACounterGoesOnFromTheValueAfterAGap(t *testing.T) {
	t.Parallel()
	c := counter{span: spanIntel, most: 1000e6, lump: 20e6}
	c.step(0, 100e9)
	if _, gap := c.step(100*ms, 50e6); gap == "" {
		t.Error("a reset is no gap")
	}
	if used, gap := c.step(200*ms, 51e6); used != 1e6 || gap != "" {
		t.Errorf("after a reset: %d, %q", used, gap)
	}
}

func TestAValueBeyondTheRangeIsNoValue(t *testing.T) {
	t.Parallel()
	for _, span := range []int64{spanIntel, spanAMD} {
		c := counter{span: span}
		if c.valid(span) != nil || c.valid(0) != nil {
			t.Errorf("a value within %d is refused", span)
		}
		if c.valid(span+1) == nil {
			t.Errorf("a value beyond %d is taken", span)
		}
	}
	if unknown := (counter{}); unknown.valid(1<<62) != nil {
		t.Error("without a known range a value is refused")
	}
}

// TestEveryStepThatIsPossibleIsCountedExactly draws a counter's life: whatever
// the range, the power and the pauses, the steps add up to what was used, less
// a unit a wrap.
func TestEveryStepThatIsPossibleIsCountedExactly(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 3))
		span := []int64{spanIntel, spanAMD, spanSmall}[random.IntN(3)]
		c := counter{span: span, most: 1000e6, lump: 20e6}
		value, at, truth, counted := random.Int64N(span+1), int64(0), int64(0), int64(0)
		c.step(at, value)
		for range 500 {
			pause := random.Int64N(10_000 * ms)
			used := int64(random.Float64() * 900e6 * float64(pause) / 1e9)
			at, truth, value = at+pause, truth+used, value+used
			if value > span {
				value -= span
			}
			step, gap := c.step(at, value)
			if gap != "" {
				t.Fatalf("seed %d: a possible step is a gap: %s", seed, gap)
			}
			counted += step
		}
		if counted != truth {
			t.Errorf("seed %d: counted %d µJ of %d", seed, counted, truth)
		}
	}
}

// TestNoStepIsNegativeOrImpossible draws values that no counter would give.
func TestNoStepIsNegativeOrImpossible(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 4))
	for range 200 {
		c := counter{span: []int64{0, spanIntel, spanSmall}[random.IntN(3)], most: 1000e6, lump: 20e6}
		at := int64(0)
		for range 100 {
			pause := random.Int64N(20_000 * ms)
			at += pause
			value := random.Int64() >> random.IntN(63)
			if c.valid(value) != nil {
				at -= pause
				continue
			}
			used, gap := c.step(at, value)
			if used < 0 || float64(used) > 20e6+1000e6*float64(pause)/1e9 || (gap != "" && used != 0) {
				t.Fatalf("%+v: used %d in %d ns, gap %q", c, used, pause, gap)
			}
		}
	}
}
