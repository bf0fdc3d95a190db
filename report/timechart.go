package report

import (
	"fmt"
	"math"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Measures of charts over time, in units of their view boxes.
const (
	timeHeight   = 110.0 // of the lines; the axis is below
	timeTop      = 14.0  // room for the number of the highest tick
	timeColumns  = 180   // points of a line at most: one for every two units
	smallWidth   = 180.0
	smallHeight  = 36.0
	smallColumns = 60
)

// A timeChart draws quantities of one unit over a window's time.
type timeChart struct {
	ID      string
	Title   string
	Heading string // power, W
	Summary string // in words, for those who do not see it
	Legend  []legend
	Width   string
	Height  string
	Bottom  string
	Start   string // where the window begins
	End     string // and ends
	Across  []tick // marks of time, at their X
	Up      []tick // marks of the quantity, at their Y
	Gaps    []timeGap
	Lines   []timeLine
}

// A legend says which line is whose.
type legend struct {
	Name  string
	Says  string
	Color int
}

// A timeGap is a stretch without readings.
type timeGap struct{ X, W, Why string }

// A timeLine is the path of one course.
type timeLine struct {
	Color int
	Path  string
}

// A subject is what one line of a chart over time is of.
type subject struct {
	name    string
	says    string // beside its name in the legend
	samples stopwatt.Samples
}

// timeChartOf draws subjects, from zero; nil when none of them has a point.
func timeChartOf(id, quantity string, u unit, window stopwatt.Window, subjects []subject) *timeChart {
	visible := shown(window)
	bottom := timeTop + timeHeight
	chart := timeChart{
		ID: id, Heading: quantity + ", " + u.name, Title: quantity + " over time",
		Width: place(chartWidth), Height: place(bottom + axisHeight), Bottom: place(bottom),
		Start: place(xAt(visible, 0, chartWidth)), End: place(xAt(visible, window.Duration().Seconds(), chartWidth)),
	}
	up := axis{}
	var courses []course
	var samples []stopwatt.Samples
	for _, s := range subjects {
		c := courseOf(s.name, s.samples, window, timeColumns)
		courses, samples = append(courses, c), append(samples, s.samples)
		if len(c.points) > 0 {
			up.low, up.high = min(up.low, c.low/u.size), max(up.high, c.high/u.size)
		}
	}
	if up.low == up.high {
		up.high = 1
	}
	var words []string
	for i, c := range courses {
		if len(c.points) == 0 {
			continue
		}
		chart.Lines = append(chart.Lines, timeLine{i + 1, c.path(visible, chartWidth, up, u, timeTop, bottom)})
		chart.Legend = append(chart.Legend, legend{Clean(c.name), subjects[i].says, i + 1})
		words = append(words, fmt.Sprintf("%s: %s to %s", Clean(c.name), significant(c.low/u.size, 3), u.with(significant(c.high/u.size, 3))))
	}
	if chart.Lines == nil {
		return nil
	}
	for _, g := range gapsShown(samples, window, timeColumns) {
		chart.Gaps = append(chart.Gaps, gapAt(g, visible, chartWidth))
		words = append(words, "no reading: "+g.why)
	}
	chart.Across, chart.Up = timeTicks(visible, bottom), upTicks(up, bottom)
	chart.Summary = strings.Join(words, "; ") + "."
	return &chart
}

// xAt is where a moment lies in a chart of this width.
func xAt(visible stretch, at, width float64) float64 {
	if visible.length() <= 0 {
		return 0
	}
	return (at - visible.from) / visible.length() * width
}

// yAt is where a value lies between top and bottom.
func (a axis) yAt(value, top, bottom float64) float64 {
	return bottom - (value-a.low)/(a.high-a.low)*(bottom-top)
}

// path draws a course, lifted where it is broken. A point between two gaps is a
// dot: a line without length, with round ends.
func (c course) path(visible stretch, width float64, up axis, u unit, top, bottom float64) string {
	var out strings.Builder
	for i, p := range c.points {
		x, y := place(xAt(visible, p.at, width)), place(up.yAt(p.value/u.size, top, bottom))
		switch {
		case i == 0 || p.broken:
			out.WriteString("M" + x + " " + y + "h0")
		default:
			out.WriteString("L" + x + " " + y)
		}
	}
	return out.String()
}

// gapAt places a gap.
func gapAt(g gapShown, visible stretch, width float64) timeGap {
	from, to := xAt(visible, g.from, width), xAt(visible, g.to, width)
	return timeGap{place(from), place(max(to-from, 1)), g.why}
}

// timeTicks mark round seconds, three to six of them, fewer where their texts
// would touch.
func timeTicks(visible stretch, bottom float64) []tick {
	step := niceStep(visible.to / 3)
	ticks := timeTicksAt(step, visible, bottom)
	for touching(ticks) {
		step = niceStep(2.5 * step)
		ticks = timeTicksAt(step, visible, bottom)
	}
	return ticks
}

// timeTicksAt mark the multiples of a step, the last with its unit.
func timeTicksAt(step float64, visible stretch, bottom float64) []tick {
	decimals := max(0, -int(math.Floor(math.Log10(step))))
	var ticks []tick
	for n := 0.0; n*step <= visible.to; n++ {
		text := fixed(n*step, decimals)
		if (n+1)*step > visible.to {
			text += " s"
		}
		ticks = append(ticks, tickAt(xAt(visible, n*step, chartWidth), bottom, text))
	}
	return ticks
}

// upTicks mark round values above zero, two to five of them.
func upTicks(up axis, bottom float64) []tick {
	step := niceStep((up.high - up.low) / 2)
	decimals := max(0, -int(math.Floor(math.Log10(step))))
	ticks := []tick{{Y: place(up.yAt(0, timeTop, bottom)), Text: ""}}
	for n := 1.0; n*step <= up.high*(1+1e-9); n++ {
		ticks = append(ticks, tick{Y: place(up.yAt(n*step, timeTop, bottom)), Text: fixed(n*step, decimals)})
	}
	return ticks
}

// A smallChart is one column of vmstat over time.
type smallChart struct {
	Name, Range   string
	Width, Height string
	Start, End    string
	Path          string
}

// smallChartOf draws a column; it is not there when the column did not change.
// Memory is drawn between its least and its most, all else from zero: free
// memory hardly ever comes near it.
func smallChartOf(s stopwatt.Samples, window stopwatt.Window) (smallChart, bool) {
	c := courseOf(string(s.Quantity), s, window, smallColumns)
	if len(c.points) == 0 || c.low == c.high {
		return smallChart{}, false
	}
	visible := shown(window)
	up := axis{min(c.low, 0), c.high}
	if _, unit := s.Quantity.Base(); unit == "B" {
		up.low = c.low
	}
	return smallChart{
		Name: Clean(c.name), Range: ranged(s.Quantity, c.low, c.high),
		Width: place(smallWidth), Height: place(smallHeight),
		Start: place(xAt(visible, 0, smallWidth)), End: place(xAt(visible, window.Duration().Seconds(), smallWidth)),
		Path: c.path(visible, smallWidth, up, unit{size: 1}, 2, smallHeight-2),
	}, true
}

// ranged writes between which values a quantity lay.
func ranged(q stopwatt.Quantity, low, high float64) string {
	_, base := q.Base()
	base, per, _ := strings.Cut(base, "/")
	switch {
	case q.Share():
		base, low, high = "%", 100*low, 100*high
	case base == "1" && per != "":
		base, per = "1/"+per, ""
	}
	if per != "" {
		per = "/" + per
	}
	metric := stopwatt.Metric{Unit: base}
	from, to := Value(metric, low)+per, Value(metric, high)+per
	if from == to {
		return from
	}
	return strings.TrimSuffix(from, per) + " to " + to
}
