package trial

import (
	"fmt"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// happened is the error that an agent tells of another time than that in which it was
// asked and answered, by the same clock, here.
func (b Bench) happened(asked int64, window stopwatt.Window) error {
	if b.Monotonic == nil || b.Elsewhere != nil {
		return nil // that clock cannot be read here
	}
	if answered := b.now(); window.Start < asked || window.End < window.Start || window.End > answered {
		return fmt.Errorf("its window of %v does not lie in the %v in which it was measured", window.Duration(), time.Duration(answered-asked))
	}
	return nil
}

// What CPU time of a container may remain that the timer does not tell of, before that is
// doubtful: what reading the counters and waking up costs.
const (
	untoldShare = 0.05
	untoldOnce  = 50 * time.Millisecond
	untoldEach  = time.Millisecond // repetition
)

// untold marks a trial whose container used CPU time that neither its programs, as the
// kernel counted them when they ended, nor the timer itself account for: then something
// else worked in it, perhaps in a program's place.
func (r record) untold(used int64, result *stopwatt.TimeResult) {
	told := result.Aside
	for _, once := range result.Repetitions {
		told += once.User + once.System
	}
	bound := told + int64(untoldShare*float64(told)) + int64(untoldOnce) + int64(len(result.Repetitions))*int64(untoldEach)
	if used > bound {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the container used %v of CPU of which its programs account for %v: something else worked in it, or works on when a program has ended",
			time.Duration(used).Round(time.Millisecond), time.Duration(told).Round(time.Millisecond)))
	}
}

// known is what was measured from outside while a harness measured itself.
type known struct {
	wall time.Duration
	cpu  time.Duration // of its container; 0: not known
	// apart says that what it tells lay one behind the other. Requests do not.
	apart bool
}

// beyond marks a trial whose harness tells of more time than its program ran, or of more
// CPU time than its container used: what it tells it says of itself, and this much can be
// known better.
func (r record) beyond(benchmarks []stopwatt.Benchmark, known known) {
	for _, b := range benchmarks {
		for _, figure := range b.Figures {
			what, most := "its program ran", known.wall
			if slices.Contains(ofCPU, figure.Metric.Name) {
				what, most = "its container used of CPU", known.cpu
			}
			if figure.Metric.Unit != "s" || figure.Absent != "" || most == 0 {
				continue
			}
			if told := known.told(figure); told > most.Seconds() {
				r.Warnings = append(r.Warnings, fmt.Sprintf("the harness tells of %.4g s of %s, and %s %.4g s", told, figure.Metric.Name, what, most.Seconds()))
				return
			}
		}
	}
}

// ofCPU are the metrics of harnesses that are CPU time, of as many cores as there are.
var ofCPU = []string{"time_user", "time_system", "time_cpu"}

// told is how many seconds a figure accounts for at least.
func (k known) told(figure stopwatt.Figure) float64 {
	if !k.apart || len(figure.Values) == 0 {
		return figure.Value
	}
	sum := 0.0
	for _, value := range figure.Values {
		sum += value
	}
	return sum
}
