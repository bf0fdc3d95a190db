package trial

import (
	"fmt"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
)

// steady says in words whether a drive came to rest: what was counted second by
// second, the last and incomplete second left out. Empty when it did, or when it is
// too short to tell.
func steady(result *stopwatt.DriveResult, warmup time.Duration) string {
	whole := int(result.Window.Duration() / max(result.Every, 1))
	var times, rates, latencies []float64
	for i, second := range result.Seconds[:min(whole, len(result.Seconds))] {
		times = append(times, (time.Duration(i) * result.Every).Seconds())
		rates = append(rates, float64(second.Requests))
		var latency stopwatt.Histogram
		_ = latency.UnmarshalBinary(second.Latency) // what cannot be read counts as none
		latencies = append(latencies, float64(latency.Quantile(0.5)))
	}
	for _, series := range []struct {
		what   string
		values []float64
	}{{"requests per second", rates}, {"the median latency", latencies}} {
		found := regression.Steady(times, series.values, stopwatt.SteadyRule{})
		switch found.State {
		case stopwatt.SteadyNever:
			return series.what + " never came to rest: no warm-up would have made this trial one of a steady server"
		case stopwatt.SteadyLate:
			longer := time.Duration(found.Longer * float64(time.Second))
			return fmt.Sprintf("%s came to rest only %s after the window began: a warmup of %s would have done, it was %s",
				series.what, longer, warmup+longer, warmup)
		}
	}
	return ""
}

// steadyRuns says in words whether the repetitions of a command came to rest.
func steadyRuns(walls []float64, warmup int) string {
	found := regression.Steady(counted(len(walls)), walls, stopwatt.SteadyRule{})
	switch found.State {
	case stopwatt.SteadyNever:
		return "the repetitions never came to rest"
	case stopwatt.SteadyLate:
		return fmt.Sprintf("the repetitions came to rest only after %d of %d: warmup: %d would have done, it was %d",
			found.From, len(walls), warmup+found.From, warmup)
	}
	return ""
}

// steadyParts says in words which benchmarks of a harness did not come to rest in
// their iterations.
func steadyParts(parts []stopwatt.Part) string {
	const few = 3
	var names []string
	for _, part := range parts {
		for _, series := range part.Repetitions {
			found := regression.Steady(counted(len(series.Values)), series.Values, stopwatt.SteadyRule{})
			if found.State == stopwatt.SteadyLate || found.State == stopwatt.SteadyNever {
				names = append(names, part.Case.Workload)
				break
			}
		}
	}
	switch {
	case len(names) == 0:
		return ""
	case len(names) > few:
		names = append(names[:few:few], fmt.Sprintf("%d more", len(names)-few))
	}
	return "the iterations did not come to rest at once: " + strings.Join(names, ", ")
}

// counted are the numbers from 0 up to n, as times.
func counted(n int) []float64 {
	times := make([]float64, n)
	for i := range times {
		times[i] = float64(i)
	}
	return times
}

// noted records a doubt that was found; an empty one is none.
func (r record) noted(doubt string) {
	if doubt != "" {
		r.Warnings = append(r.Warnings, doubt)
	}
}
