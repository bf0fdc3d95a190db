//go:build linux

package agent

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// How the highest rate is searched.
const (
	// firstRate is tried first. It is doubled as long as the promises are kept,
	// or halved as long as they are not, from lowestRate to highestRate.
	firstRate   = 64.0
	lowestRate  = 1.0
	highestRate = 1 << 20
	// The search ends when the rate that broke a promise is at most this much
	// above the one that kept them.
	nearEnough = 1.05
	// heldShare is the share of a rate's requests that must be answered within
	// the probe's own time for the rate to be held: else a queue grows, which a
	// longer probe would show.
	heldShare = 0.99
)

// find searches the highest rate at which the promises are kept, and has the
// conversation drive at that from now on.
//
// A rate keeps the promises when a probe does: every answer right, at least
// 99 % of the requests answered in the probe's time, every promised latency
// within its bound. One that does not is tried once more, for a single
// hiccup is no property of a rate. The rate is doubled until it fails, then the
// gap is halved, on a logarithmic scale, until it is 5 % wide. The answer is the
// highest that kept them; the truth lies between it and Above, as far as probes
// of this length can tell.
func (c *conversation) find(ctx context.Context) (stopwatt.DriveReport, error) {
	if c.order.Load.Find == nil {
		return stopwatt.DriveReport{}, fmt.Errorf("the order does not say what to find")
	}
	s := search{try: func(rate float64) (stopwatt.Probe, error) { return c.probe(ctx, rate) }}
	if err := s.run(); err != nil {
		return stopwatt.DriveReport{}, err
	}
	if s.found.Rate == 0 {
		last := s.found.Probes[len(s.found.Probes)-1]
		return stopwatt.DriveReport{}, fmt.Errorf("no rate keeps the promises: at %.3g/s, %s", last.Rate, last.Why)
	}
	load := &c.order.Load
	load.Stages = []stopwatt.Stage{{From: s.found.Rate, To: s.found.Rate, For: load.For}}
	return stopwatt.DriveReport{Found: &s.found}, nil
}

// A search is the procedure without a server.
type search struct {
	try   func(rate float64) (stopwatt.Probe, error)
	found stopwatt.Found
}

func (s *search) run() error {
	kept, err := s.keeps(firstRate)
	if err != nil {
		return err
	}
	rate := firstRate
	for step := map[bool]float64{true: 2, false: 0.5}[kept]; ; {
		rate *= step
		if rate > highestRate || rate < lowestRate {
			return nil // the limit lies beyond what is searched
		}
		now, err := s.keeps(rate)
		if err != nil {
			return err
		}
		if now != kept {
			break
		}
	}
	for s.found.Above/s.found.Rate > nearEnough {
		if _, err := s.keeps(math.Sqrt(s.found.Above * s.found.Rate)); err != nil {
			return err
		}
	}
	return nil
}

// keeps tells whether a rate keeps the promises, and narrows what is known.
func (s *search) keeps(rate float64) (bool, error) {
	const tries = 2
	for range tries {
		probe, err := s.try(rate)
		if err != nil {
			return false, err
		}
		s.found.Probes = append(s.found.Probes, probe)
		if probe.Kept {
			s.found.Rate = max(s.found.Rate, rate)
			return true, nil
		}
	}
	if s.found.Above == 0 || rate < s.found.Above {
		s.found.Above = rate
	}
	return false, nil
}

// probe drives at one rate and judges what comes of it.
func (c *conversation) probe(ctx context.Context, rate float64) (stopwatt.Probe, error) {
	order := c.order
	order.Load.For = max(order.Load.Find.Probe, time.Duration(minProbe/rate*float64(time.Second)))
	order.Load.Stages = []stopwatt.Stage{{From: rate, To: rate, For: order.Load.For}}
	// What is not answered by then has broken every promise.
	order.Load.Timeout = min(order.Load.Timeout, longestPromise(order.Load.Find.While)+time.Second)
	result, err := c.driver.Drive(ctx, order, c.bodyBytes...)
	if err != nil {
		return stopwatt.Probe{}, err
	}
	why := breach(result, order.Load)
	return stopwatt.Probe{Rate: rate, Kept: why == "", Why: why}, nil
}

// minProbe is how many requests a probe has at least: low rates are tried for
// longer.
const minProbe = 100

func longestPromise(promises []stopwatt.Promise) time.Duration {
	longest := time.Duration(0)
	for _, promise := range promises {
		longest = max(longest, promise.AtMost)
	}
	return longest
}

// breach says which promise a result breaks, or nothing.
func breach(result stopwatt.DriveResult, load stopwatt.Load) string {
	for _, kind := range slices.Sorted(slices.Values(stopwatt.ErrorKinds)) {
		if n := result.Errors[kind]; n > 0 {
			return fmt.Sprintf("%d of %d requests failed: %s", n, result.Due, result.FirstErrors[kind])
		}
	}
	rate := load.Rate()
	if held := float64(result.Requests) / max(result.Window.Duration().Seconds(), load.For.Seconds()); held < heldShare*rate {
		return fmt.Sprintf("%.4g/s were answered of %.4g/s", held, rate)
	}
	for _, promise := range load.Find.While {
		if found := promised(result.Latency, promise.Metric); found > promise.AtMost {
			return fmt.Sprintf("%s is %v, and may be %v", promise.Metric, found, promise.AtMost)
		}
	}
	return ""
}

// promised is the latency of this name.
func promised(latency *stopwatt.Histogram, metric string) time.Duration {
	shares := map[string]float64{"latency_p50": 0.5, "latency_p90": 0.9, "latency_p99": 0.99, "latency_p99.9": 0.999}
	switch share, quantile := shares[metric]; {
	case quantile:
		return time.Duration(latency.Quantile(share))
	case metric == "latency_mean":
		return time.Duration(latency.Mean())
	}
	return time.Duration(latency.Max())
}
