package trial

import (
	"fmt"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// saturated is the share of its threads' time above which a driver is no longer
// surely faster than what it drives: the rest is what the kernel wakes it for.
const saturated = 0.85

// driver records what the driver itself cost, how late it was, how long it took
// to connect, and what it counted second by second.
func (r record) driver(result *stopwatt.DriveResult) {
	busy := result.Busy()
	r.measured("driver_busy", busy)
	if busy > saturated {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the driver was busy %.0f %% of the time: it may have been the bottleneck", 100*min(busy, 1)))
	}
	r.measured("redirects", float64(result.Redirects))
	if result.Requests > 0 {
		r.measured("driver_cpu_request", result.CPU.Seconds()/float64(result.Requests))
	} else {
		r.absent("driver_cpu_request", "no request got a right answer")
	}
	r.few("driver_lag", result.Lag, "nothing happened that the driver could be late for")
	r.few("connect", result.Connect, "no connection was made within the window")
	if result.Connect != nil {
		r.measured("connections", float64(result.Connect.Count()))
	} else {
		r.absent("connections", "the driver does not tell")
	}
	r.Samples = append(r.Samples, course(result)...)
}

// few records a histogram's median, 99th percentile and maximum.
func (r record) few(name string, times *stopwatt.Histogram, otherwise string) {
	if times == nil || times.Count() == 0 {
		for _, end := range []string{"p50", "p99", "max"} {
			r.absent(name+"_"+end, otherwise)
		}
		return
	}
	r.measured(name+"_p50", seconds(times.Quantile(0.5)))
	r.measured(name+"_p99", seconds(times.Quantile(0.99)))
	r.measured(name+"_max", seconds(times.Max()))
}

const (
	// unheld is the share of a rate below which it was not held: what a constant
	// rate may miss by the edges of its window is less.
	unheld = 0.99
	// lagging is how many times the median service time the driver's own lag may
	// be at the 99th percentile. Above it, latency is in part the driver's.
	lagging = 1.0
)

// paced records what only an open load has.
func (r record) paced(load stopwatt.Load, found *stopwatt.Found, result *stopwatt.DriveResult) {
	if !load.Open() {
		return
	}
	rate := load.Rate()
	if found != nil {
		rate = found.Rate
		r.found(*found)
	}
	r.times("service", result.Service)
	r.measured("rate_ordered", rate)
	r.measured("requests_due", float64(result.Due))
	r.measured("requests_unsent", float64(result.Unsent))
	if held := float64(result.Requests) / max(result.Window.Duration().Seconds(), load.For.Seconds()); held < unheld*rate {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the rate was not held: %.4g/s were answered of %.4g/s, %d requests were never sent", held, rate, result.Unsent))
	}
	if result.Lag == nil || result.Service == nil || result.Service.Count() == 0 {
		return
	}
	if lag, service := result.Lag.Quantile(0.99), result.Service.Quantile(0.5); float64(lag) > lagging*float64(service) {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the driver fell behind: one request in a hundred was begun %v late or more, where half are served in %v", rounded(lag), rounded(service)))
	}
}

// rounded is a stretch of nanoseconds as people want to read it.
func rounded(ns int64) time.Duration { return time.Duration(ns).Round(10 * time.Microsecond) }

// found records what a search came to.
func (r record) found(found stopwatt.Found) {
	r.measured("rate_max", found.Rate)
	if found.Above > 0 {
		r.measured("rate_max_above", found.Above)
	} else {
		r.absent("rate_max_above", "no rate that was tried broke a promise")
	}
	r.measured("rate_probes", float64(len(found.Probes)))
}

// course is what was counted second by second, as samples. Each stands at the
// end of its second.
func course(result *stopwatt.DriveResult) []stopwatt.Samples {
	if len(result.Seconds) == 0 {
		return nil
	}
	columns := map[stopwatt.Quantity][]int64{}
	var times []int64
	for i, second := range result.Seconds {
		at := min(result.Window.Start+int64(i+1)*int64(result.Every), result.Window.End)
		times = append(times, max(at, result.Window.Start))
		var latency stopwatt.Histogram
		_ = latency.UnmarshalBinary(second.Latency) // what cannot be read counts as none
		for quantity, value := range map[stopwatt.Quantity]int64{
			stopwatt.RightAnswers:  second.Requests,
			stopwatt.WrongAnswers:  second.Errors,
			stopwatt.BytesReceived: second.BytesReceived,
			stopwatt.LatencyP50:    latency.Quantile(0.5),
			stopwatt.LatencyP99:    latency.Quantile(0.99),
		} {
			columns[quantity] = append(columns[quantity], value)
		}
	}
	var all []stopwatt.Samples
	for _, quantity := range stopwatt.Courses {
		all = append(all, stopwatt.Samples{Meter: "load", Quantity: quantity, Times: times, Values: columns[quantity]})
	}
	return all
}

// imageSize records the size of the server's image.
func (r record) imageSize(order Order) {
	if order.Implementation.Null {
		r.absent("image_size", "the null server is in the driver's own image")
		return
	}
	r.measured("image_size", float64(order.Image.Bytes))
}
