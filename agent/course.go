//go:build linux

package agent

import (
	"math"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	// longestCourse bounds how many seconds are kept one by one: ten minutes.
	// A load that is to last longer is kept in longer parts.
	longestCourse = 600
	// courseRoom is how many bytes of encoded histograms a course has room for
	// at once, and secondRoom for one: most seconds take less than 2 KiB.
	courseRoom = 64 << 10
	secondRoom = 2 << 10
)

// A course is what one thread counted, second by second. Its memory is made
// before load is driven, and grows by doubling.
type course struct {
	every   int64
	edge    int64 // when the current second ends, ns of CLOCK_MONOTONIC
	last    counts
	latency stopwatt.Histogram // of the current second
	seconds []keptSecond
	encoded []byte // their histograms
}

// counts are what is counted besides latencies.
type counts struct{ requests, errors, sent, received int64 }

// A keptSecond is a second that is over.
type keptSecond struct {
	counts
	from, to int // of its histogram in encoded
}

func newCourse(load stopwatt.Load) *course {
	every := time.Second
	if load.For > longestCourse*time.Second {
		every = (load.For/longestCourse + time.Second).Truncate(time.Second)
	}
	return &course{
		every:   int64(every),
		seconds: make([]keptSecond, 0, longestCourse),
		encoded: make([]byte, 0, courseRoom),
	}
}

// begin says when the first second begins.
func (c *course) begin(now int64) { c.edge = now + c.every }

// turn ends all seconds that are over, the current one with what was counted so
// far, and adds its latencies to all. A load by requests may last longer than
// there is room for: then the last second is as long as the rest.
func (c *course) turn(now int64, so counts, all *stopwatt.Histogram) {
	for now >= c.edge && len(c.seconds) < longestCourse-1 {
		c.keep(so, all)
		c.edge += c.every
	}
	if now >= c.edge {
		c.edge = math.MaxInt64
	}
}

// keep ends the current second.
func (c *course) keep(so counts, all *stopwatt.Histogram) {
	second := keptSecond{counts: so.less(c.last), from: len(c.encoded)}
	if c.latency.Count() > 0 {
		all.Merge(&c.latency)
		c.encoded, _ = c.latency.AppendBinary(c.encoded) // it cannot fail
		c.latency = stopwatt.Histogram{}
	}
	second.to = len(c.encoded)
	c.seconds = append(c.seconds, second)
	c.last = so
}

func (c counts) less(other counts) counts {
	return counts{c.requests - other.requests, c.errors - other.errors, c.sent - other.sent, c.received - other.received}
}

// seconds adds up the courses of all threads.
func seconds(courses []*course) []stopwatt.Second {
	longest := 0
	for _, c := range courses {
		longest = max(longest, len(c.seconds))
	}
	all := make([]stopwatt.Second, longest)
	for i := range all {
		var latency stopwatt.Histogram
		for _, c := range courses {
			if i < len(c.seconds) {
				c.addTo(&all[i], &latency, i)
			}
		}
		if latency.Count() > 0 {
			all[i].Latency, _ = latency.AppendBinary(make([]byte, 0, secondRoom)) // it cannot fail
		}
	}
	return all
}

// addTo adds the i-th second to one of several threads'.
func (c *course) addTo(to *stopwatt.Second, latency *stopwatt.Histogram, i int) {
	second := c.seconds[i]
	to.Requests += second.requests
	to.Errors += second.errors
	to.BytesSent += second.sent
	to.BytesReceived += second.received
	var part stopwatt.Histogram
	if second.to > second.from && part.UnmarshalBinary(c.encoded[second.from:second.to]) == nil {
		latency.Merge(&part)
	}
}
