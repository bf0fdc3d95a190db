package meter

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// rapl is an instrument of so many counters.
func rapl(counters int) instrument {
	from := instrument{renewal: raplRenewal, read: func([]int64) error { return nil }}
	for range counters {
		from.counters = append(from.counters, counter{span: spanAMD, most: 1000e6, lump: 20e6})
	}
	return from
}

// ina is an instrument that renews its power every 140 ms.
var ina = instrument{renewal: 140 * time.Millisecond, read: func([]int64) error { return nil }}

// plug is one whose kilowatt-hours are asked for, and that does not say how
// often it renews them.
var plug = instrument{counters: countersOf(stopwatt.KilowattHours), read: func([]int64) error { return nil }, slow: true}

// program is one that prints joules.
var program = instrument{counters: countersOf(stopwatt.Joules), listen: func(func(int64, int64, error)) {}}

// A life is what happens to a track: readings at times in ms.
type life struct{ *track }

func begin(from instrument) life { return life{newTrack(from, 100*time.Millisecond, func() {})} }

// says feeds a reading.
func (l life) says(milliseconds int64, values ...int64) {
	copy(l.raw, values)
	_ = l.add(milliseconds*ms, nil)
}

// fails feeds a reading that gave nothing.
func (l life) fails(milliseconds int64, reason string) {
	_ = l.add(milliseconds*ms, errors.New(reason))
}

// at is the mark of an edge that was read at this time.
func at(milliseconds int64) mark { return mark{first: milliseconds * ms, last: milliseconds * ms} }

// from is a window in ms.
func from(start, end int64) stopwatt.Window {
	return stopwatt.Window{Start: start * ms, End: end * ms}
}

// steady says a counter's value every 100 ms, at 10 W from the given µJ on:
// 1 J a reading.
func (l life) steady(start, end, value int64) {
	for at := start; at <= end; at += 100 {
		l.says(at, (value+(at-start)*10_000)%(spanAMD+1))
	}
}

func TestEnergyOfACounter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		live   func(l life)
		before mark
		after  mark
		window stopwatt.Window
		want   int64  // µJ
		absent string // a part of the reason; empty: there is a number
	}{
		{"10 W for 10 s", func(l life) { l.steady(0, 12000, 5) }, at(1000), at(11000), from(1000, 11000), 100e6, ""},
		{"a window between the readings", func(l life) { l.steady(0, 12000, 5) }, at(1000), at(11000), from(1003, 10990), 99870000, ""},
		{"it wraps meanwhile", func(l life) { l.steady(0, 12000, spanAMD-30e6) }, at(1000), at(11000), from(1000, 11000), 99999999, ""},
		{"50 ms are enough", func(l life) { l.steady(0, 1000, 5) }, at(500), at(550), from(500, 550), 500000, ""},
		{"49 ms are not", func(l life) { l.steady(0, 1000, 5) }, at(500), at(549), from(500, 549), 0,
			"it renewed its value 49 times in 0.049 s, and 50 are needed: let the load last 0.05 s or more, or make 1.02 times the requests"},
		{"readings fail in the middle, and the counter goes on", func(l life) {
			l.steady(0, 3000, 5)
			l.fails(3100, "EAGAIN")
			l.steady(9000, 12000, 5+90e6)
		}, at(1000), at(11000), from(1000, 11000), 100e6, ""},
		{"no reading for longer than it takes to go round", func(l life) {
			l.steady(0, 3000, 5)
			l.steady(70000, 72000, 5+700e6)
		}, at(1000), at(71000), from(1000, 71000), 0, "may have gone round more than once"},
		{"it is reset", func(l life) { l.steady(0, 5000, 5e9); l.steady(5100, 12000, 0) }, at(1000), at(11000), from(1000, 11000), 0, "it was reset"},
		{"it was reset before the window", func(l life) { l.steady(0, 500, 5e9); l.steady(600, 12000, 0) }, at(1000), at(11000), from(1000, 11000), 100e6, ""},
		{"it is reset after the window", func(l life) { l.steady(0, 11500, 5e9); l.steady(11600, 12000, 0) }, at(1000), at(11000), from(1000, 11000), 100e6, ""},
		{"a value beyond its range is no reading", func(l life) {
			l.steady(0, 5000, 5)
			l.says(5050, spanAMD+7)
			l.steady(5100, 12000, 5+51e6)
		}, at(1000), at(11000), from(1000, 11000), 100e6, ""},
		{"it stands still", func(l life) {
			for at := int64(0); at <= 12000; at += 100 {
				l.says(at, 777)
			}
		}, at(1000), at(11000), from(1000, 11000), 0, "its counter stood still for 10.0 s"},
		{"the start's edge was not read", func(l life) { l.steady(0, 12000, 5) }, mark{}, at(11000), from(1000, 11000), 0, "it was not read at the window's start"},
		{"the end's edge was not read", func(l life) { l.steady(0, 12000, 5) }, at(1000), mark{}, from(1000, 11000), 0, "it was not read at the window's end"},
		{"it could not be read at the end", func(l life) { l.steady(0, 12000, 5) }, at(1000), mark{reason: "EAGAIN"}, from(1000, 11000), 0, "it could not be read at the window's end: EAGAIN"},
		{"the edges were read 200 ms late", func(l life) { l.steady(0, 12000, 5) }, at(1200), at(11200), from(1000, 11000), 0, "it was read 200 ms from the window's start"},
		{"the edge before the window was read twice, the second time near it", func(l life) { l.steady(0, 12000, 5) },
			mark{first: 100 * ms, last: 999 * ms}, mark{first: 11001 * ms, last: 12000 * ms}, from(1000, 11000), 100e6, ""},
		{"it never gave a reading", func(l life) { l.fails(100, "ENODATA") }, at(1000), at(11000), from(1000, 11000), 0, "it gave no reading; the last failure: ENODATA"},
		{"nobody read it at all", func(l life) {}, at(1000), at(11000), from(1000, 11000), 0, "it gave no reading"},
		{"a window without length", func(l life) { l.steady(0, 12000, 5) }, at(1000), at(1000), from(1000, 1000), 0, "the window has no length"},
		{"a window that ends before it starts", func(l life) { l.steady(0, 12000, 5) }, at(1000), at(900), from(1000, 900), 0, "the window has no length"},
		{"a window before the first reading", func(l life) { l.steady(5000, 12000, 5) }, at(1000), at(4000), from(1000, 4000), 0, "cover 0.0 % of the window"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := begin(rapl(1))
			test.live(l)
			judge(t, l.energy(test.before, test.after, test.window), test.want, test.absent)
		})
	}
}

// judge compares an energy, to a µJ.
func judge(t *testing.T, got stopwatt.Energy, want int64, absent string) {
	t.Helper()
	if (got.Absent == "") != (absent == "") || !strings.Contains(got.Absent, absent) {
		t.Errorf("absent %q, want %q", got.Absent, absent)
	}
	if distance(got.Gross, want) > 1 && got.Absent == "" {
		t.Errorf("%d µJ, want %d", got.Gross, want)
	}
	if got.Absent != "" && len(got.Warnings) > 0 {
		t.Errorf("an absent energy has doubts: %q", got.Warnings)
	}
}

func TestASumIsReadAsAWhole(t *testing.T) {
	t.Parallel()
	l := begin(rapl(2))
	for at := int64(0); at <= 12000; at += 100 {
		if at == 5000 {
			l.fails(at, "package-1 did not answer")
			continue
		}
		l.says(at, (spanAMD-20e6+at*10_000)%(spanAMD+1), 7+at*5_000)
	}
	judge(t, l.energy(at(1000), at(11000), from(1000, 11000)), 150e6-1, "")
	l.says(12100, 5, 7) // one wrapped in time, the other was reset
	l.says(12200, 6, 8)
	judge(t, l.energy(at(1000), at(12200), from(1000, 12200)), 0, "it was reset")
	if want := []stopwatt.Gap{{From: 12000 * ms, To: 12100 * ms, Reason: l.gaps[0].Reason}}; cmp.Diff(want, l.gaps) != "" {
		t.Errorf("gaps %+v", l.gaps)
	}
}

func TestEnergyOfASensor(t *testing.T) {
	t.Parallel()
	every := func(l life, start, end, microwatts int64) {
		for at := start; at <= end; at += 140 {
			l.says(at, microwatts+at%2) // which no noise would do, but a constant is suspect
		}
	}
	tests := []struct {
		name    string
		live    func(l life)
		window  stopwatt.Window
		want    int64
		absent  string
		doubt   string
		covered float64
	}{
		{"14 W for 10 s", func(l life) { every(l, 0, 12000, 14e6) }, from(1000, 11000), 140e6, "", "in all of 71 readings", 1},
		{"a rising power is cut at the window's edges", func(l life) {
			for at := int64(0); at <= 12000; at += 140 {
				l.says(at+140, at*1000) // 1 W a second, read when its stretch has passed
			}
		}, from(1000, 11000), 60e6, "", "", 1},
		{"7 s have 50 renewals", func(l life) { every(l, 0, 9000, 14e6) }, from(1000, 8000), 98e6, "", "", 1},
		{"6 s have not", func(l life) { every(l, 0, 9000, 14e6) }, from(1000, 7000), 0,
			"it renewed its value 42 times in 6 s, and 50 are needed: let the load last 7 s or more, or make 1.17 times the requests", "", 1},
		{"one reading fails now and then", func(l life) {
			for at := int64(0); at <= 12000; at += 140 {
				if at%700 == 0 {
					l.fails(at, "EAGAIN")
				} else {
					l.says(at, 14e6+at)
				}
			}
		}, from(1000, 11000), 140e6 + 61400, "", "", 1}, // each value is of 140 ms before
		{"no reading for 450 ms of 10 s", func(l life) {
			every(l, 0, 5000, 14e6)
			l.fails(5200, "ENODATA")
			every(l, 5350, 12000, 14e6)
		}, from(1000, 11000), 140e6, "", "readings cover 95.5 % of the window; the last failure: ENODATA", 0.955},
		{"no reading for 550 ms of 10 s", func(l life) {
			every(l, 0, 5000, 14e6)
			l.fails(5200, "ENODATA")
			every(l, 5450, 12000, 14e6)
		}, from(1000, 11000), 0, "its readings cover 94.5 % of the window, and 95 % are needed; the last failure: ENODATA", "", 0.945},
		{"sampling ends before it could tell of the window's end", func(l life) { every(l, 0, 10500, 14e6) }, from(1000, 11000), 0, "its readings cover 9", "", 0.936},
		{"it never gave a reading", func(l life) { l.fails(0, "EAGAIN") }, from(1000, 11000), 0, "it gave no reading; the last failure: EAGAIN", "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := begin(ina)
			test.live(l)
			energy := l.energy(mark{}, mark{}, test.window) // it needs no edge: neighbours do
			if math.Abs(energy.Coverage-test.covered) > 0.004 {
				t.Errorf("covered %.4f, want %.3f", energy.Coverage, test.covered)
			}
			if distance(energy.Gross, test.want) > 1000 {
				t.Errorf("%d µJ, want %d", energy.Gross, test.want)
			}
			judge(t, energy, energy.Gross, test.absent)
			if doubts := strings.Join(energy.Warnings, "; "); !strings.Contains(doubts, test.doubt) {
				t.Errorf("doubts %q, want %q", doubts, test.doubt)
			}
		})
	}
}

func TestAValueThatComesAgainTooSoonIsTheSame(t *testing.T) {
	t.Parallel()
	l := begin(ina)
	l.says(1000, 14e6)
	l.says(1020, 14e6) // an edge: the chip has not renewed it
	l.says(1160, 14e6) // it must have: the same power again
	l.says(1180, 15e6) // an edge, and it has just been renewed
	want := []int64{(1000 - 140) * ms, (1160 - 140) * ms, (1170 - 70) * ms}
	if diff := cmp.Diff(want, l.times); diff != "" {
		t.Errorf("samples speak of (-want +got):\n%s", diff)
	}
}

func TestAPowerThatNoMachineHasIsNoReadingOfAnyMeter(t *testing.T) {
	t.Parallel()
	for name, from := range map[string]instrument{
		"asked over HTTP":     {counters: countersOf(stopwatt.Watts), read: func([]int64) error { return nil }, slow: true},
		"printed by programs": {counters: countersOf(stopwatt.Watts), listen: func(func(int64, int64, error)) {}},
	} {
		l := begin(from)
		for second, microwatts := range []int64{14e6, 0, 4294967295000e6, 15e6, mostPower + 1, 16e6} {
			l.says(int64(second)*1000, microwatts)
		}
		if diff := cmp.Diff([]int64{14e6, 15e6, 16e6}, l.values); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestAMeterThatDoesNotSayHowOftenItRenewsIsWatched(t *testing.T) {
	t.Parallel()
	live := func(step int64) life { // steps of 0.0001 kWh, so many ms apart
		l := begin(plug)
		for at := int64(0); at <= 60000; at += 100 {
			l.says(at, at/step*360e6)
		}
		return l
	}
	energy := live(1000).energy(at(2000), at(57000), from(2000, 57000))
	judge(t, energy, 55*360e6, "")
	if energy.Renewals != 55 {
		t.Errorf("%d renewals", energy.Renewals)
	}
	judge(t, live(1500).energy(at(3000), at(57000), from(3000, 57000)), 0, "it renewed its value 36 times in 54 s, and 50 are needed: let the load last 75 s")
	judge(t, live(100000).energy(at(3000), at(57000), from(3000, 57000)), 0, "its value never changed in 54.0 s")
	judge(t, live(1000).energy(at(1200), at(57000), from(2000, 57000)), 55*360e6, "") // within a step of the edge
	judge(t, live(1000).energy(at(800), at(57000), from(2000, 57000)), 0, "it was read 1200 ms from the window's start")
}

func TestAProgramsLinesMustStandOnBothSidesOfAnEdge(t *testing.T) {
	t.Parallel()
	l := begin(program)
	line := func(milliseconds, value int64) { l.heard(milliseconds*ms, value, nil) }
	for at := int64(0); at <= 60000; at += 1000 {
		line(at, at*8_000)
	}
	judge(t, l.energy(mark{}, mark{}, from(2500, 57700)), (57700-2500)*8_000, "")
	judge(t, l.energy(mark{}, mark{}, from(2500, 60100)), 0, "it said nothing near the window's end")
	l.heard(60500*ms, 0, errors.New("its program ended (exit status 1)"))
	judge(t, l.energy(mark{}, mark{}, from(2500, 60100)), 0, "it said nothing near the window's end; the last failure: its program ended")
	line(64000, 64000*8_000)
	judge(t, l.energy(mark{}, mark{}, from(2500, 60100)), 0, "it said nothing near the window's end")

	watts := begin(instrument{listen: program.listen})
	for at := int64(0); at <= 60000; at += 1000 {
		watts.heard(at*ms, 12e6, nil)
	}
	if energy := watts.energy(mark{}, mark{}, from(2500, 57700)); distance(energy.Gross, 662400000) > 1 || energy.Renewals != 55 || len(energy.Warnings) != 1 {
		t.Errorf("12 W for 55.2 s: %+v", energy)
	}

	burst := begin(program)
	for i := range int64(5) { // out of a buffer, in the same millisecond
		burst.heard(1000*ms+i*1000, i*1e6, nil)
	}
	burst.heard(2000*ms, 10e6, nil)
	if diff := cmp.Diff([]int64{4e6, 10e6}, burst.values); diff != "" {
		t.Errorf("of a burst the last line counts (-want +got):\n%s", diff)
	}
}

func TestAProgramThatEndedIsTheReasonAndNotAShortWindow(t *testing.T) {
	t.Parallel()
	const ended = `; the last failure: its program ended (exit status 7): "cable pulled"`
	for unit, wants := range map[stopwatt.MeterUnit][2]string{
		stopwatt.Watts:  {"its readings cover 29.0 % of the window, and 95 % are needed" + ended, "its readings cover 0.0 % of the window, and 95 % are needed" + ended},
		stopwatt.Joules: {"it said nothing near the window's end" + ended, "it said nothing near the window's start" + ended},
	} {
		l := begin(instrument{counters: countersOf(unit), listen: func(func(int64, int64, error)) {}})
		for at := int64(0); at <= 4000; at += 100 {
			l.says(at, 14e6+at)
		}
		l.fails(4050, `its program ended (exit status 7): "cable pulled"`)
		judge(t, l.energy(at(1000), at(5000), from(2840, 6840)), 0, wants[0])
		judge(t, l.energy(at(7000), at(11000), from(7000, 11000)), 0, wants[1])
	}
}

func TestACounterOfJoulesCannotTellMillijoules(t *testing.T) {
	t.Parallel()
	platform := func(watts int64) life {
		l := begin(instrument{renewal: raplRenewal, read: rapl(1).read, counters: []counter{{span: spanServer, most: 5000e6, lump: 100e6}}})
		for at := int64(0); at <= 2000; at += 100 {
			l.says(at, at*watts/1000*1e6)
		}
		return l
	}
	judge(t, platform(200).energy(at(500), at(1500), from(500, 1500)), 200e6, "")
	judge(t, platform(20).energy(at(500), at(1500), from(500, 1500)), 0, "it counts in steps of 1 J, and 50 of them are needed: 20 J were used")
	judge(t, platform(1).energy(at(500), at(600), from(500, 600)), 0, "its counter stood still for 0.1 s")
}

// TestTheWholeIsTheSumOfItsParts divides windows at random: what two parts used
// is what the whole did.
func TestTheWholeIsTheSumOfItsParts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 5))
		sensor, cumulative, total := begin(ina), begin(rapl(1)), random.Int64N(spanAMD)
		for at := int64(0); at < 20000; at += 1 + random.Int64N(250) {
			sensor.says(at, 3e6+random.Int64N(20e6))
			total = (total + random.Int64N(4e6)) % (spanAMD + 1)
			cumulative.says(at, total)
		}
		start, middle, end := 1000+random.Int64N(5000), 6000+random.Int64N(5000), 11000+random.Int64N(5000)
		for name, l := range map[string]life{"sensor": sensor, "counter": cumulative} {
			whole, all := l.used(from(start, end))
			first, one := l.used(from(start, middle))
			second, other := l.used(from(middle, end))
			if math.Abs(whole-first-second) > 1e-3 || all != one+other || whole < 0 {
				t.Errorf("seed %d, %s: %f is not %f + %f; %d is not %d + %d", seed, name, whole, first, second, all, one, other)
			}
		}
	}
}

func TestSamplesAreThoseOfTheWindowAndTheirNeighbours(t *testing.T) {
	t.Parallel()
	l := begin(rapl(1))
	l.steady(0, 3000, 5)
	want := stopwatt.Samples{Quantity: stopwatt.EnergyUsed, Times: []int64{1000 * ms, 1100 * ms, 1200 * ms, 1300 * ms}, Values: []int64{0, 1e6, 2e6, 3e6}}
	if diff := cmp.Diff(want, l.samples(from(1050, 1250))); diff != "" {
		t.Errorf("a counter's (-want +got):\n%s", diff)
	}
	sensor := begin(ina)
	sensor.says(140, 1e6)
	sensor.fails(300, "ENODATA")
	sensor.says(700, 2e6)
	want = stopwatt.Samples{Quantity: stopwatt.PowerDrawn, Times: []int64{0, 560 * ms}, Values: []int64{1e6, 2e6}, Gaps: []stopwatt.Gap{{To: 560 * ms, Reason: "ENODATA"}}}
	if diff := cmp.Diff(want, sensor.samples(from(10, 500))); diff != "" {
		t.Errorf("a sensor's (-want +got):\n%s", diff)
	}
	if got := begin(ina).samples(from(0, 1)); len(got.Times) != 0 {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestRecentPower(t *testing.T) {
	t.Parallel()
	l := begin(rapl(1))
	if _, ok := l.recent(0); ok {
		t.Error("nothing was read, and it has a power")
	}
	l.steady(0, 3000, 5)
	if watts, ok := l.recent(3100 * ms); !ok || math.Abs(watts-10) > 1e-9 {
		t.Errorf("%g W, %v; want 10", watts, ok)
	}
	if _, ok := l.recent(4000 * ms); ok {
		t.Error("a power of a second ago is given as now")
	}
	l.says(3100, 0) // a reset
	if _, ok := l.recent(3150 * ms); ok {
		t.Error("a counter that was just reset has a power")
	}
}

func TestErrorOfMeans(t *testing.T) {
	t.Parallel()
	if got := errorOf([]float64{4, 5, 6, 5}); math.Abs(got-math.Sqrt(2.0/3/4)) > 1e-12 {
		t.Errorf("standard error %g", got)
	}
	if got := errorOf([]float64{4}); got != 0 {
		t.Errorf("of one value %g", got)
	}
}
