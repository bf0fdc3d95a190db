//go:build linux

package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// limit keeps promises up to a rate.
func limit(rate float64) func(float64) (stopwatt.Probe, error) {
	return func(tried float64) (stopwatt.Probe, error) {
		return stopwatt.Probe{Rate: tried, Kept: tried <= rate}, nil
	}
}

func TestASearchEndsWithinFivePercentOfTheLimit(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{1, 3, 63, 64, 65, 1000, 47_123, 900_000} {
		s := search{try: limit(rate)}
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
		if s.found.Rate > rate || s.found.Above <= rate || s.found.Above/s.found.Rate > nearEnough {
			t.Errorf("a limit of %v/s was found between %v and %v", rate, s.found.Rate, s.found.Above)
		}
		if len(s.found.Probes) > 40 {
			t.Errorf("%d probes for a limit of %v/s", len(s.found.Probes), rate)
		}
	}
}

func TestASearchWithoutALimit(t *testing.T) {
	t.Parallel()
	s := search{try: limit(1e9)}
	if err := s.run(); err != nil || s.found.Rate != highestRate || s.found.Above != 0 {
		t.Errorf("found %+v, %v", s.found, err)
	}
	s = search{try: limit(0)}
	if err := s.run(); err != nil || s.found.Rate != 0 || s.found.Above != lowestRate {
		t.Errorf("found %+v, %v", s.found, err)
	}
}

func TestASingleHiccupDoesNotEndASearch(t *testing.T) {
	t.Parallel()
	n := 0
	s := search{try: func(rate float64) (stopwatt.Probe, error) {
		n++
		return stopwatt.Probe{Rate: rate, Kept: rate <= 5000 && n%2 == 0}, nil
	}}
	if err := s.run(); err != nil || s.found.Rate < 5000/nearEnough || s.found.Rate > 5000 {
		t.Errorf("found %v, %v", s.found.Rate, err)
	}
}

func TestASearchEndsWithItsDriver(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for _, after := range []int{1, 3, 9} {
		n := 0
		s := search{try: func(rate float64) (stopwatt.Probe, error) {
			if n++; n == after {
				return stopwatt.Probe{}, gone
			}
			return stopwatt.Probe{Rate: rate, Kept: rate < 300}, nil
		}}
		if err := s.run(); !errors.Is(err, gone) {
			t.Errorf("after %d probes: %v", after, err)
		}
	}
}

func TestTheHighestRateIsFoundAndDrivenAt(t *testing.T) {
	t.Parallel()
	const each = 20 * time.Millisecond
	server := startServer(t, func(_ *testServer, c *testConn) {
		for c.question() != nil {
			time.Sleep(each) // four connections answer 200 times a second, at most
			c.say(okAnswer)
		}
	})
	order := orderFor(server.address())
	order.Load = stopwatt.Load{Users: 4, For: 100 * time.Millisecond, Timeout: 5 * time.Second,
		Find: &stopwatt.Find{Probe: 100 * time.Millisecond, While: []stopwatt.Promise{{Metric: "latency_p50", AtMost: 200 * time.Millisecond}}}}
	reports := say(t, order, "ready", "find", "drive")
	found := reports[1].Found
	if found == nil || found.Rate == 0 || found.Rate > 201 || len(found.Probes) < 3 {
		t.Fatalf("found %+v, %s", found, reports[1].Failure)
	}
	for _, probe := range found.Probes {
		if probe.Kept != (probe.Why == "") {
			t.Errorf("probe %+v", probe)
		}
	}
	if due := reports[3].Result.Due; due == 0 || due > 21 {
		t.Errorf("%d requests were due in 100ms at %v/s", due, found.Rate)
	}
}

func TestASearchThatCannotSucceedSaysWhy(t *testing.T) {
	t.Parallel()
	server := startServer(t, always("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"))
	order := orderFor(server.address())
	order.Load = stopwatt.Load{Users: 4, For: time.Millisecond, Timeout: time.Second,
		Find: &stopwatt.Find{Probe: time.Millisecond, While: []stopwatt.Promise{{Metric: "latency_p50", AtMost: time.Second}}}}
	if got := breach(drive(t, constantly(order, 1000)), order.Load); !strings.Contains(got, "status 500, expected 200") {
		t.Errorf("a probe says %q", got)
	}
	if reports := say(t, order, "drive"); !strings.Contains(reports[0].Failure, "has not been found yet") {
		t.Errorf("driving first: %+v", reports)
	}
	order.Load.Find = nil
	if reports := say(t, order, "find"); !strings.Contains(reports[0].Failure, "does not say what to find") {
		t.Errorf("finding nothing: %+v", reports)
	}
}

// constantly is the order at a constant rate.
func constantly(order stopwatt.DriveOrder, rate float64) stopwatt.DriveOrder {
	order.Load.Stages = []stopwatt.Stage{{From: rate, To: rate, For: order.Load.For}}
	return order
}

func TestPromisesAreHeldAgainstTheirLatency(t *testing.T) {
	t.Parallel()
	var latency stopwatt.Histogram
	for ns := int64(1e6); ns <= 100e6; ns += 1e6 {
		latency.Record(ns)
	}
	for i, metric := range stopwatt.Promised {
		want := []time.Duration{50500 * time.Microsecond, 50 * time.Millisecond, 90 * time.Millisecond, 99 * time.Millisecond, 100 * time.Millisecond, 100 * time.Millisecond}[i]
		if got := promised(&latency, metric); got < want || got > want+want/500 {
			t.Errorf("%s is %v, want %v", metric, got, want)
		}
	}
	load := stopwatt.Load{For: time.Second, Stages: []stopwatt.Stage{{From: 100, To: 100, For: time.Second}},
		Find: &stopwatt.Find{While: []stopwatt.Promise{{Metric: "latency_p90", AtMost: 91 * time.Millisecond}}}}
	result := stopwatt.DriveResult{Requests: 100, Due: 100, Latency: &latency, Window: stopwatt.Window{End: 1e9}}
	checks := []struct {
		change func()
		want   string
	}{
		{func() {}, ""},
		{func() { load.Find.While[0].AtMost = 80 * time.Millisecond }, "latency_p90 is 90"},
		{func() { result.Window.End = 2e9 }, "50/s were answered of 100/s"},
		{func() { result.Errors = map[string]int64{stopwatt.ErrorTimeout: 1} }, "1 of 100 requests failed"},
	}
	for _, check := range checks {
		check.change()
		if got := breach(result, load); !strings.HasPrefix(got, check.want) || (got == "") != (check.want == "") {
			t.Errorf("got %q, want %q", got, check.want)
		}
	}
}
