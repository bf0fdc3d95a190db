//go:build linux

package agent

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// dueTimes are when the requests of all threads come due, in order.
func dueTimes(load stopwatt.Load, seed uint64, threads int) []int64 {
	var all []int64
	for thread := range threads {
		for s := newSchedule(load, seed, thread, threads); !s.over(); s.advance() {
			all = append(all, s.due())
		}
	}
	slices.Sort(all)
	return all
}

func steps(rates ...float64) stopwatt.Load {
	var load stopwatt.Load
	for _, rate := range rates {
		load.Stages = append(load.Stages, stopwatt.Stage{From: rate, To: rate, For: time.Second})
	}
	return load
}

func TestAConstantRateIsDueAtEqualGaps(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{1, 3, 1000, 33_333, 250_000} {
		for _, threads := range []int{1, 2, 3} {
			due := dueTimes(steps(rate), 0, threads)
			if len(due) != int(rate) {
				t.Errorf("%v/s for a second on %d threads: %d requests", rate, threads, len(due))
			}
			for n, at := range due {
				if want := float64(n) / rate * 1e9; math.Abs(float64(at)-want) > 1 {
					t.Fatalf("%v/s on %d threads: request %d is due at %d ns, want %.1f", rate, threads, n, at, want)
				}
			}
		}
	}
}

func TestStepsAndRamps(t *testing.T) {
	t.Parallel()
	ramp := stopwatt.Load{Stages: []stopwatt.Stage{
		{From: 100, To: 100, For: time.Second},
		{From: 100, To: 500, For: 2 * time.Second},
		{From: 500, To: 0, For: time.Second},
		{From: 0, To: 0, For: time.Second},
		{From: 0, To: 200, For: time.Second},
	}}
	due := dueTimes(ramp, 0, 2)
	if len(due) != 100+600+250+100 {
		t.Fatalf("%d requests", len(due))
	}
	for until, want := range map[time.Duration]int{ // the integral of the rate
		time.Second: 100, 2 * time.Second: 300, 3 * time.Second: 700, 3500 * time.Millisecond: 888,
		4 * time.Second: 950, 5 * time.Second: 950, 5500 * time.Millisecond: 975,
	} {
		got, _ := slices.BinarySearch(due, int64(until))
		if got < want-1 || got > want+1 {
			t.Errorf("after %v %d requests were due, want %d", until, got, want)
		}
	}
	if !slices.IsSorted(due) || due[0] != 0 {
		t.Errorf("the first is due at %d", due[0])
	}
}

// The distance of an empirical distribution of n values from the true one is
// above 1.63/√n once in a hundred times (Kolmogorov's limit distribution).
// Seeds are fixed, so that this test always says the same.
func TestDrawnGapsAreAPoissonProcess(t *testing.T) {
	t.Parallel()
	for _, threads := range []int{1, 2, 4} {
		load := steps(20_000)
		load.Poisson = true
		due := dueTimes(load, 7, threads)
		n := len(due)
		if math.Abs(float64(n)-20_000) > 4*math.Sqrt(20_000) {
			t.Errorf("%d threads: %d requests, want 20000 with a standard deviation of 141", threads, n)
		}
		gaps, last := make([]float64, n), int64(0)
		for i, at := range due {
			gaps[i], last = float64(at-last)/1e9*20_000, at
		}
		slices.Sort(gaps)
		distance := 0.0
		for i, gap := range gaps {
			f := 1 - math.Exp(-gap)
			distance = max(distance, math.Abs(f-float64(i)/float64(n)), math.Abs(float64(i+1)/float64(n)-f))
		}
		if distance > 1.63/math.Sqrt(float64(n)) {
			t.Errorf("%d threads: the gaps lie %.4f from an exponential distribution", threads, distance)
		}
	}
}

func TestARampOfDrawnGapsFollowsItsRate(t *testing.T) {
	t.Parallel()
	load := stopwatt.Load{Poisson: true, Stages: []stopwatt.Stage{{From: 0, To: 20_000, For: time.Second}}}
	due := dueTimes(load, 3, 2)
	half, _ := slices.BinarySearch(due, int64(500*time.Millisecond))
	if math.Abs(float64(len(due))-10_000) > 400 || math.Abs(float64(half)-2500) > 200 {
		t.Errorf("%d requests, %d of them in the first half; want 10000 and 2500", len(due), half)
	}
}

func TestTheSameSeedDrawsTheSame(t *testing.T) {
	t.Parallel()
	load := steps(1000)
	load.Poisson = true
	if !slices.Equal(dueTimes(load, 5, 2), dueTimes(load, 5, 2)) || slices.Equal(dueTimes(load, 5, 2), dueTimes(load, 6, 2)) {
		t.Error("gaps do not depend on the seed alone")
	}
}

func TestWhatIsLeftOfAScheduleIsCounted(t *testing.T) {
	t.Parallel()
	s := newSchedule(steps(100), 0, 0, 1)
	for range 30 {
		s.advance()
	}
	if n := s.rest(); n != 70 || !s.over() || s.due() != math.MaxInt64 {
		t.Errorf("%d are left, over: %v", n, s.over())
	}
}

func TestAMixChoosesByWeightOrInOrder(t *testing.T) {
	t.Parallel()
	order := stopwatt.DriveOrder{Data: &stopwatt.Data{Columns: []string{"n"}, Rows: [][]string{{"a"}, {"b"}, {"c"}}}}
	questions := []question{
		{weight: 1, rows: [][]byte{{'x'}}},
		{weight: 3, rows: [][]byte{{'a'}, {'b'}, {'c'}}},
	}
	drawn := func(m mix, n int) string {
		var text []byte
		for range n {
			number, request := m.draw()
			text = append(text, byte('0'+number), request[0])
		}
		return string(text)
	}
	order.InOrder = true
	if got := drawn(newMix(order, questions, 0, 1), 7); got != "0x1a0x1b0x1c0x" {
		t.Errorf("in order: %s", got)
	}
	if got := drawn(newMix(order, questions[1:], 1, 2), 4); got != "0b0a0c0b" {
		t.Errorf("rows in order, the second of two threads: %s", got)
	}
	order.InOrder, order.Data.Random = false, true
	m, counts := newMix(order, questions, 0, 1), map[string]int{}
	for range 12_000 {
		number, request := m.draw()
		counts[fmt.Sprintf("%d%s", number, request)]++
	}
	for what, want := range map[string]int{"0x": 3000, "1a": 3000, "1b": 3000, "1c": 3000} {
		if math.Abs(float64(counts[what]-want)) > 250 {
			t.Errorf("%s was drawn %d times, want about %d: %v", what, counts[what], want, counts)
		}
	}
}
