package trial

import (
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// drove is a result with so many requests in each second, all of them of this
// latency in microseconds.
func drove(t *testing.T, perSecond []int64, microseconds []int64) *stopwatt.DriveResult {
	t.Helper()
	result := &stopwatt.DriveResult{Every: time.Second, Window: stopwatt.Window{End: int64(len(perSecond)) * 1e9}}
	for i, requests := range perSecond {
		var latency stopwatt.Histogram
		latency.Record(microseconds[i] * 1000)
		encoded, err := latency.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		result.Seconds = append(result.Seconds, stopwatt.Second{Requests: requests, Latency: encoded})
	}
	return result
}

// around are n numbers near a level, each a little off.
func around(level int64, n int) []int64 {
	var all []int64
	for i := range n {
		all = append(all, level+level/200*int64(i%3-1))
	}
	return all
}

func TestADriveThatCameToRestLateSaysWhichWarmupWouldHaveDone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		of   *stopwatt.DriveResult
		says string
	}{
		{"steady", drove(t, around(1000, 30), around(900, 30)), ""},
		{"six slow seconds", drove(t, append(around(500, 6), around(1000, 24)...), around(900, 30)),
			"requests per second came to rest only 6s after the window began: a warmup of 8s would have done, it was 2s"},
		{"a rate that holds while latency falls", drove(t, around(1000, 30), append(around(5000, 5), around(900, 25)...)),
			"the median latency came to rest only 5s"},
		{"too short to tell", drove(t, append(around(500, 2), around(1000, 3)...), around(900, 5)), ""},
	} {
		if got := steady(row.of, 2*time.Second); !strings.HasPrefix(got, row.says) || row.says == "" && got != "" {
			t.Errorf("%s: %q", row.name, got)
		}
	}
}

func TestRepetitionsThatCameToRestLateSayWhichWarmupWouldHaveDone(t *testing.T) {
	t.Parallel()
	var walls []float64
	for i := range 40 {
		wall := 0.1 + 0.0002*float64(i%3)
		if i < 8 {
			wall *= 2
		}
		walls = append(walls, wall)
	}
	if got := steadyRuns(walls, 1); got != "the repetitions came to rest only after 8 of 40: warmup: 9 would have done, it was 1" {
		t.Errorf("%q", got)
	}
	if got := steadyRuns(walls[8:], 1); got != "" {
		t.Errorf("steady ones: %q", got)
	}
	late := stopwatt.Part{Case: stopwatt.Case{Workload: "w/late"}, Repetitions: []stopwatt.Repetitions{{Metric: "time", Values: walls}}}
	calm := stopwatt.Part{Case: stopwatt.Case{Workload: "w/calm"}, Repetitions: []stopwatt.Repetitions{{Metric: "time", Values: walls[8:]}}}
	if got := steadyParts([]stopwatt.Part{calm, late, calm}); got != "the iterations did not come to rest at once: w/late" {
		t.Errorf("%q", got)
	}
}
