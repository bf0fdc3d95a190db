package report

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
)

const sec = int64(time.Second)

// drawn lists the points of a course as time, value, and whether it is broken.
func drawn(c course) [][3]float64 {
	var points [][3]float64
	for _, p := range c.points {
		broken := 0.0
		if p.broken {
			broken = 1
		}
		points = append(points, [3]float64{p.at, p.value, broken})
	}
	return points
}

func TestCoursesOfSamples(t *testing.T) {
	t.Parallel()
	window := stopwatt.Window{Start: 100 * sec, End: 110 * sec}
	at := func(seconds ...int64) []int64 {
		var times []int64
		for _, s := range seconds {
			times = append(times, window.Start+s*sec)
		}
		return times
	}
	watts := func(values ...int64) []int64 {
		for i := range values {
			values[i] *= 1e6
		}
		return values
	}
	tests := []struct {
		name    string
		samples stopwatt.Samples
		columns int
		want    [][3]float64
	}{
		{"no sample has no course", stopwatt.Samples{}, 10, nil},
		{"power is as it was read", stopwatt.Samples{Quantity: stopwatt.PowerDrawn, Times: at(0, 5, 10), Values: watts(4, 6, 5)}, 100,
			[][3]float64{{0, 4, 0}, {5, 6, 0}, {10, 5, 0}}},
		{"energy becomes the mean power between two readings", stopwatt.Samples{Quantity: stopwatt.EnergyUsed, Times: at(0, 2, 6), Values: watts(0, 8, 28)}, 100,
			[][3]float64{{1, 4, 0}, {4, 5, 0}}},
		{"CPU time becomes CPUs", stopwatt.Samples{Quantity: stopwatt.CPUUsed, Times: at(0, 2), Values: []int64{7e9, 10e9}}, 100, [][3]float64{{1, 1.5, 0}}},
		{"a column is the mean of its readings", stopwatt.Samples{Quantity: stopwatt.PowerDrawn, Times: at(0, 1, 2, 8, 9), Values: watts(1, 2, 3, 7, 9)}, 2,
			[][3]float64{{1, 2, 0}, {8.5, 8, 0}}},
		{"the longer of two stretches counts for more", stopwatt.Samples{Quantity: stopwatt.EnergyUsed, Times: at(0, 1, 4), Values: watts(0, 8, 20)}, 2,
			[][3]float64{{2, 5, 0}}},
		{"a gap breaks the line", stopwatt.Samples{Quantity: stopwatt.PowerDrawn, Times: at(1, 2, 6, 7), Values: watts(1, 2, 3, 4), Gaps: []stopwatt.Gap{{From: at(2)[0], To: at(6)[0]}}}, 100,
			[][3]float64{{1, 1, 0}, {2, 2, 0}, {6, 3, 1}, {7, 4, 0}}},
		{"of a counter the gap itself is not drawn", stopwatt.Samples{Quantity: stopwatt.EnergyUsed, Times: at(0, 2, 4, 6), Values: watts(0, 2, 2, 6), Gaps: []stopwatt.Gap{{From: at(2)[0], To: at(4)[0]}}}, 100,
			[][3]float64{{1, 1, 0}, {5, 2, 1}}},
		{"what is far outside of the window is not shown", stopwatt.Samples{Quantity: stopwatt.PowerDrawn, Times: at(-5, 3, 20), Values: watts(1, 2, 3)}, 100,
			[][3]float64{{3, 2, 0}}},
		{"times that do not rise are left out", stopwatt.Samples{Quantity: stopwatt.PowerDrawn, Times: at(3, 3, 2, 4), Values: watts(1, 9, 9, 2)}, 100,
			[][3]float64{{3, 1, 0}, {4, 2, 0}}},
		{"times without a value too", stopwatt.Samples{Quantity: stopwatt.PowerDrawn, Times: at(3, 4), Values: watts(1)}, 100, [][3]float64{{3, 1, 0}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := courseOf("x", test.samples, window, test.columns)
			if diff := cmp.Diff(test.want, drawn(got), cmpopts.EquateApprox(0, 1e-9), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestCoursesKeepTheMeanAndNoMorePointsThanColumns(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 9))
	for range 50 {
		window := stopwatt.Window{Start: random.Int64N(1e15), End: 0}
		window.End = window.Start + 1 + random.Int64N(100*sec)
		s := stopwatt.Samples{Quantity: stopwatt.EnergyUsed}
		total := int64(0)
		for at := window.Start; len(s.Times) < 5000 && at < window.End; at += 1 + random.Int64N(1+(window.End-window.Start)/500) {
			s.Times, s.Values = append(s.Times, at), append(s.Values, total)
			total += random.Int64N(1e6)
			if random.IntN(20) == 0 {
				s.Gaps = append(s.Gaps, stopwatt.Gap{From: at, To: at + random.Int64N(sec)})
			}
		}
		columns := 1 + random.IntN(200)
		c := courseOf("x", s, window, columns)
		if len(c.points) > columns {
			t.Fatalf("%d points in %d columns", len(c.points), columns)
		}
		for i, p := range c.points {
			if math.IsNaN(p.value) || p.value < c.low || p.value > c.high || i > 0 && p.at <= c.points[i-1].at {
				t.Fatalf("point %d is %+v, from %g to %g", i, p, c.low, c.high)
			}
		}
		if gaps := gapsShown([]stopwatt.Samples{s}, window, columns); len(gaps) > columns+1 {
			t.Fatalf("%d gaps in %d columns", len(gaps), columns)
		}
	}
}

func TestTimeChartMarksTheWindowAndItsGaps(t *testing.T) {
	t.Parallel()
	window := stopwatt.Window{Start: 0, End: 10 * sec}
	s := stopwatt.Samples{
		Meter: "board", Quantity: stopwatt.PowerDrawn, Times: []int64{0, sec, 4 * sec, 10 * sec}, Values: []int64{1e6, 2e6, 4e6, 3e6},
		Gaps: []stopwatt.Gap{{From: sec, To: 4 * sec, Reason: "EAGAIN"}},
	}
	chart := timeChartOf("id", "power", unit{name: "W", size: 1}, window, []subject{{"board", "", s}, {"cpu", "", stopwatt.Samples{}}})
	if chart == nil || len(chart.Lines) != 1 || len(chart.Legend) != 1 {
		t.Fatalf("%+v", chart)
	}
	// 10.6 s are 360 wide: the window begins at 0.3 s and ends at 10.3 s.
	if start, end := number(t, chart.Start), number(t, chart.End); abs(start-10.2) > 0.1 || abs(end-349.8) > 0.1 {
		t.Errorf("the window is drawn from %g to %g", start, end)
	}
	if len(chart.Gaps) != 1 || abs(number(t, chart.Gaps[0].X)-44.2) > 0.1 || abs(number(t, chart.Gaps[0].W)-101.9) > 0.1 || chart.Gaps[0].Why != "board: EAGAIN" {
		t.Errorf("gaps %+v", chart.Gaps)
	}
	if want := "M10.2 96.5h0L44.2 69M146 14h0L349.8 41.5"; chart.Lines[0].Path != want {
		t.Errorf("path %s, want %s", chart.Lines[0].Path, want)
	}
	if want := "board: 1.00 to 4.00 W; no reading: board: EAGAIN."; chart.Summary != want {
		t.Errorf("in words %q", chart.Summary)
	}
}

func TestTimeChartsOfNothingAreNotDrawn(t *testing.T) {
	t.Parallel()
	s := stopwatt.Samples{Meter: "board", Quantity: stopwatt.PowerDrawn, Times: []int64{5}, Values: []int64{5}}
	for name, window := range map[string]stopwatt.Window{"no length": {Start: 5, End: 5}, "backwards": {Start: 5, End: 1}, "elsewhere": {Start: 500, End: 600}} {
		if got := coursesOf("id", []stopwatt.Samples{s}, window, stopwatt.Trial{}); got != nil {
			t.Errorf("a window with %s: %+v", name, got)
		}
	}
}

func TestSmallChartsAreOfWhatChanges(t *testing.T) {
	t.Parallel()
	window := stopwatt.Window{Start: 0, End: 10 * sec}
	column := func(name string, values ...int64) stopwatt.Samples {
		return stopwatt.Samples{Meter: "vmstat", Quantity: stopwatt.Quantity(name), Times: []int64{0, 5 * sec, 10 * sec}, Values: values}
	}
	got := coursesOf("id", []stopwatt.Samples{
		column("r", 1000, 3000, 2000), column("swpd", 0, 0, 0), column("free", 4<<30*1000, 5<<30*1000, 4<<30*1000),
		column("bi", 0, 1024_000, 2048_000), column("cs", 25_450_000, 1000, 1000), column("us", 31, 880, 400), column("st", 0, 0, 0),
	}, window, stopwatt.Trial{})
	var names []string
	for _, small := range got.Small {
		names = append(names, small.Name+" "+small.Range)
	}
	want := []string{"r 1 to 3", "free 4.00 GiB to 5.00 GiB", "bi 0 B to 2.00 KiB/s", "cs 1.00/s to 25,450/s", "us 3.10 % to 88.0 %"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.Still != "swpd 0 B, st 0 %" {
		t.Errorf("what did not change: %s", got.Still)
	}
}

func TestTheFirstTrialOfEachCaseAndMarkedOnesAreDrawn(t *testing.T) {
	t.Parallel()
	var trials []stopwatt.Trial
	for i := range 500 {
		trial := stopwatt.Trial{Position: i + 1, Status: stopwatt.Valid, Samples: []stopwatt.Samples{{}}}
		trial.Case = stopwatt.Case{Implementation: strings.Repeat("x", i%12), Workload: "hello"}
		trials = append(trials, trial)
	}
	trials[0].Samples = nil
	trials[450].Warnings = []string{"hot"}
	trials[499].Status = stopwatt.Invalid
	got := drawnTrials(trials)
	if len(got) != mostDrawn || got[0] || !got[450] || !got[499] {
		t.Errorf("%d drawn: %v", len(got), got)
	}
	for i := 1; i <= 12; i++ {
		if !got[i] {
			t.Errorf("the first trial of case %d is not drawn", i)
		}
	}
}

func TestPagesOfManyTrialsAreBounded(t *testing.T) {
	t.Parallel()
	results, trials := metered(1)
	results.Cases = results.Cases[:0]
	var many []stopwatt.Trial
	for i := range 300 {
		trial := trials[i%len(trials)]
		trial.Position = i + 1
		many = append(many, trial)
	}
	page := pageOf(t, stopwatt.Results{Run: stopwatt.Run{Settings: stopwatt.Suite{Implementations: []stopwatt.Implementation{{Name: "x"}}}}}, many)
	if n := strings.Count(page, `<tr class="courses">`); n != mostDrawn {
		t.Errorf("%d trials are drawn", n)
	}
	if limit := 40<<10*mostDrawn + 1<<10*len(many); len(page) > limit {
		t.Errorf("a page of %d bytes, more than %d", len(page), limit)
	}
}
