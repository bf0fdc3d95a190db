package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Measures of a chart, in units of its view box; at the width of a phone one
// unit is about a pixel.
const (
	chartWidth  = 360.0
	chartEdge   = 4.0  // room for the last cap of an error bar
	rowHeight   = 42.0 // name and value above, bar below
	barTop      = 19.0
	barHeight   = 14.0
	axisHeight  = 20.0
	capHeight   = 8.0 // of an error bar's ends
	nameColumns = 18  // characters of a name that fit beside the value
	barColors   = 8   // implementations before colours repeat
)

// A chart is a bar chart of one metric of one workload: a bar for each
// implementation, from zero, with the standard deviation as an error bar.
type chart struct {
	ID        string // of its title, unique on the page
	Title     string
	Metric    string
	Unit      string
	Direction string
	Summary   string // every figure in words, for those who do not see it
	Width     string
	Height    string
	Ticks     []tick
	Bars      []bar
	Baseline  string // the path of a line at the baseline's mean; empty without one
}

// A tick is a line of the axis with its number.
type tick struct {
	X, Y, Text, Anchor string
	Path               string  // of its line, in a bar chart
	at                 float64 // X
}

// A bar is one implementation's row.
type bar struct {
	Name, FullName string
	Value          string // 25.12 ± 0.11
	Ratio          string
	Color          int
	IsBaseline     bool
	Absent         bool   // there is no value, and no bar
	Why            string // it is absent, where the workload's heading does not say so for all charts
	TextY          string
	X, Y, W, H     string
	ErrorBar       string // path; empty when the spread is unknown
}

// axis maps values in the chart's unit to places.
type axis struct{ low, high float64 }

func (a axis) x(value float64) float64 {
	return (value - a.low) / (a.high - a.low) * (chartWidth - chartEdge)
}

// chartOf draws the metric at index of a block.
func chartOf(c stopwatt.Contrast, block stopwatt.WorkloadContrast, index int, id string) chart {
	metric := c.Metrics[index]
	scale, written := figuresOf(c, block, index, "")
	axis := axisOf(metric, block, scale.unit)
	bottom := rowHeight * float64(len(block.Rows))
	out := chart{
		ID: id, Metric: label(metric), Unit: scale.unit.name, Direction: direction(metric),
		Title: fmt.Sprintf("%s of %s", heading(metric, scale.unit), Clean(block.Workload)),
		Width: place(chartWidth), Height: place(bottom + axisHeight),
		Ticks: axis.ticks(bottom),
	}
	for i := range out.Ticks {
		out.Ticks[i].Path = upright(out.Ticks[i].at, len(block.Rows))
	}
	names := shorten(c.Implementations, nameColumns)
	var words []string
	for i, row := range block.Rows {
		b := bar{
			Name: names[i], FullName: Clean(row.Implementation),
			Color: i % barColors, IsBaseline: row.Implementation == c.Baseline,
			TextY: place(rowHeight*float64(i) + barTop - 6),
		}
		if s, has := row.Result.Summary(metric.Name); has {
			b.draw(axis, scale.unit, s, rowHeight*float64(i))
			b.Value, b.Ratio = written[i].value+" ± "+written[i].spread, written[i].ratio
			words = append(words, fmt.Sprintf("%s: %s", b.FullName, scale.unit.with(b.Value)))
			if b.IsBaseline {
				out.Baseline = upright(axis.x(s.Mean/scale.unit.size), len(block.Rows))
			}
		} else {
			b.Absent = true
			if row.Result.Valid > 0 {
				b.Why = whyAbsent(row.Result, metric.Name)
			}
			words = append(words, fmt.Sprintf("%s: absent, %s", b.FullName, whyRowAbsent(row.Result, metric.Name)))
		}
		out.Bars = append(out.Bars, b)
	}
	out.Summary = strings.Join(words, "; ") + "."
	return out
}

// whyRowAbsent says why a case has no figure for a metric.
func whyRowAbsent(result stopwatt.CaseResult, metric string) string {
	if result.Valid == 0 {
		return whyInvalid(result)
	}
	return whyAbsent(result, metric)
}

// draw places the bar of a summary in the row that begins at top.
func (b *bar) draw(a axis, u unit, s stopwatt.Summary, top float64) {
	zero, mean := a.x(0), a.x(s.Mean/u.size)
	b.X, b.W = place(min(zero, mean)), place(math.Abs(mean-zero))
	b.Y, b.H = place(top+barTop), place(barHeight)
	if s.N < 2 {
		return
	}
	low, high := a.x((s.Mean-s.SD)/u.size), a.x((s.Mean+s.SD)/u.size)
	middle := top + barTop + barHeight/2
	b.ErrorBar = fmt.Sprintf("M%s %sH%sM%s %sv%sM%s %sv%s",
		place(low), place(middle), place(high),
		place(low), place(middle-capHeight/2), place(capHeight),
		place(high), place(middle-capHeight/2), place(capHeight))
}

// axisOf reaches from zero to the longest bar with its error, and below zero
// where a bar or an error does.
func axisOf(metric stopwatt.Metric, block stopwatt.WorkloadContrast, u unit) axis {
	a := axis{}
	for _, row := range block.Rows {
		if s, has := row.Result.Summary(metric.Name); has {
			a.low = min(a.low, (s.Mean-s.SD)/u.size)
			a.high = max(a.high, (s.Mean+s.SD)/u.size)
		}
	}
	if a.low == a.high {
		a.high = 1 // nothing but zeros still has an axis
	}
	return a
}

// ticks marks round numbers: 1, 2 or 5 times a power of ten, three to six of
// them, fewer where their texts would touch.
func (a axis) ticks(bottom float64) []tick {
	step := niceStep((a.high - a.low) / 3)
	ticks := a.ticksAt(step, bottom)
	for touching(ticks) {
		step = niceStep(2.5 * step)
		ticks = a.ticksAt(step, bottom)
	}
	return ticks
}

// ticksAt marks the multiples of a step.
func (a axis) ticksAt(step, bottom float64) []tick {
	decimals := max(0, -int(math.Floor(math.Log10(step))))
	var ticks []tick
	for n := math.Ceil(a.low / step); n*step <= a.high*(1+1e-9); n++ {
		ticks = append(ticks, tickAt(a.x(n*step), bottom, fixed(n*step, decimals)))
	}
	return ticks
}

// tickAt is a tick whose text does not leave the chart.
func tickAt(x, bottom float64, text string) tick {
	anchor := "middle"
	switch {
	case x < tickWidth(text)/2:
		anchor = "start"
	case x > chartWidth-tickWidth(text)/2:
		anchor = "end"
	}
	return tick{X: place(x), Y: place(bottom + 14), Text: text, Anchor: anchor, at: x}
}

// tickWidth is how wide a tick's text is at most, in units of the chart.
func tickWidth(text string) float64 { return 6.6 * float64(width(text)) }

// span is between where a tick's text stands.
func (t tick) span() (from, to float64) {
	wide := tickWidth(t.Text)
	switch t.Anchor {
	case "start":
		return t.at, t.at + wide
	case "end":
		return t.at - wide, t.at
	}
	return t.at - wide/2, t.at + wide/2
}

// touching tells whether the texts of two neighbours are closer than a blank.
func touching(ticks []tick) bool {
	for i := range ticks[:max(len(ticks)-1, 0)] {
		_, end := ticks[i].span()
		if begin, _ := ticks[i+1].span(); begin < end+6 {
			return true
		}
	}
	return false
}

// upright is the path of a vertical line through the bars of so many rows, broken
// where they have their text.
func upright(x float64, rows int) string {
	var path strings.Builder
	for row := range rows {
		fmt.Fprintf(&path, "M%s %sv%s", place(x), place(rowHeight*float64(row)+barTop-2), place(rowHeight-barTop))
	}
	return path.String()
}

// niceStep is the largest of 1, 2 or 5 times a power of ten that is not above x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, digit := range []float64{5, 2} {
		if digit*power <= x*(1+1e-9) {
			return digit * power
		}
	}
	return power
}

// place writes a coordinate.
func place(x float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(x, 'f', 1, 64), ".0")
}
