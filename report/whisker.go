package report

import (
	"html/template"
	"math"

	"gitlab.com/stopwatt/stopwatt"
)

// Whiskers draws each comparison's change with its interval, all on one scale:
// relative change, none in the middle. One that has no ratio has no drawing.
func Whiskers(comparisons []stopwatt.Comparison) []template.HTML {
	reach := 0.0
	for _, c := range comparisons {
		ratio := c.Estimate.Ratio
		if ratio.Known && ratio.Value > 0 {
			reach = max(reach, math.Abs(math.Log(ratio.Value)))
		}
		if ratio.Bounded && ratio.Low > 0 {
			// Of an interval, at most three times as far as its value counts: one that
			// reaches to the moon would press all others flat.
			far := max(math.Abs(math.Log(ratio.Low)), math.Abs(math.Log(ratio.High)))
			reach = max(reach, min(far, 3*math.Abs(math.Log(max(ratio.Value, 1e-9)))))
		}
	}
	reach = max(reach, 0.01)
	at := func(ratio float64) float64 {
		return 100 + 94*min(max(math.Log(max(ratio, 1e-9))/reach, -1.06), 1.06)
	}
	drawn := make([]template.HTML, len(comparisons))
	for i, c := range comparisons {
		ratio := c.Estimate.Ratio
		if !ratio.Known || ratio.Value <= 0 {
			continue
		}
		w := struct{ Says, Threshold, Interval, Dot, Class string }{
			Says:  commas(Change(c), ChangeInterval(c)),
			Dot:   "M" + place(at(ratio.Value)) + " 10h0",
			Class: whiskerClass(c),
		}
		if ratio.Bounded {
			w.Interval = "M" + place(at(ratio.Low)) + " 10H" + place(at(ratio.High)) +
				"M" + place(at(ratio.Low)) + " 5v10M" + place(at(ratio.High)) + " 5v10"
		}
		if c.Threshold > 0 && c.Threshold < 1 && math.Log1p(c.Threshold) < reach {
			w.Threshold = "M" + place(at(1-c.Threshold)) + " 0V20M" + place(at(1+c.Threshold)) + " 0V20"
		}
		drawn[i] = figure("whisker", w)
	}
	return drawn
}

// whiskerClass says what the colour repeats.
func whiskerClass(c stopwatt.Comparison) string {
	if sense := SenseOf(c); sense != SenseNone {
		return string(sense)
	}
	return "plain"
}
