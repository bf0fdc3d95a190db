package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Spark draws a course in the space of a word, from its smallest to its largest
// value; empty when it has no value.
func Spark(metric stopwatt.Metric, course stopwatt.Course) template.HTML {
	low, high := math.Inf(1), math.Inf(-1)
	count := 0
	var first, last float64
	for _, p := range course.Points {
		if p.Absent != "" {
			continue
		}
		if count == 0 {
			first = p.Value
		}
		last = p.Value
		count++
		low, high = min(low, p.Value), max(high, p.Value)
	}
	if count == 0 {
		return ""
	}
	// What is nearly still is drawn still: noise of a thousandth is no mountain.
	if room := 0.02 * math.Abs(last); high-low < room {
		middle := (low + high) / 2
		low, high = middle-room/2, middle+room/2
	}
	write := func(value float64) string {
		if course.Against != "" {
			return plainRatio(value) + "×"
		}
		return Value(metric, value)
	}
	summary := fmt.Sprintf("%s to %s over %s", write(first), write(last), plural(course.Commits, "commit"))
	return figure("spark", struct{ Path, Change, Summary string }{sparkPath(course, low, high), "", summary})
}

// sparkPath is the line of a course in a box of 100 by 24.
func sparkPath(course stopwatt.Course, low, high float64) string {
	var out strings.Builder
	lifted := true
	for i, p := range course.Points {
		if p.Absent != "" {
			lifted = true
			continue
		}
		x, y := 50.0, 12.0
		if n := len(course.Points); n > 1 {
			x = 2 + 96*float64(i)/float64(n-1)
		}
		if high > low {
			y = 21 - 18*(p.Value-low)/(high-low)
		}
		if lifted {
			out.WriteString("M" + place(x) + " " + place(y) + "h0")
		} else {
			out.WriteString("L" + place(x) + " " + place(y))
		}
		lifted = false
	}
	return out.String()
}
