package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Worse tells whether a change is one for the worse; not known where neither
// direction is better.
func Worse(metric stopwatt.Metric, c stopwatt.ChangePoint) (worse, known bool) {
	switch metric.Better {
	case stopwatt.Less:
		return c.Shift > 0, true
	case stopwatt.More:
		return c.Shift < 0, true
	}
	return false, false
}

// ChangeSize is how large a change is, and what it means: "+8.3 % slower".
func ChangeSize(metric stopwatt.Metric, c stopwatt.ChangePoint) string {
	less, more := changeWords(metric)
	word := more
	if c.Shift < 0 {
		word = less
	}
	if !c.Ratio.Known {
		return word
	}
	return signedPercent(c.Ratio.Value) + " " + word
}

// ChangeBounds is the interval of a change point: "+7.4 … +9.2 %".
func ChangeBounds(c stopwatt.ChangePoint) string {
	return ChangeInterval(stopwatt.Comparison{Estimate: stopwatt.Estimate{Ratio: c.Ratio}})
}

// ChangeLevels are the levels before and after in one unit: "6.76 → 7.32 s".
func ChangeLevels(metric stopwatt.Metric, c stopwatt.ChangePoint) string {
	return FromTo(stopwatt.Comparison{Metric: metric, Estimate: stopwatt.Estimate{N: 1, Base: c.Before.Mean, Head: c.After.Mean}})
}

// ChangeCommits says among how many commits a change lies.
func ChangeCommits(c stopwatt.ChangePoint) string {
	n := max(c.Reached.Position-c.Past.Position, 1)
	if c.Past.Position == 0 || c.Reached.Position == 0 {
		return fmt.Sprintf("after %s, up to %s", commitName(c.Past), commitName(c.Reached))
	}
	return fmt.Sprintf("after %s, up to %s: %s", commitName(c.Past), commitName(c.Reached), plural(n, "commit"))
}

// WithheldText says what withheld a change point; empty when nothing did.
func WithheldText(c stopwatt.ChangePoint) string {
	switch c.Withheld {
	case stopwatt.ControlShifted:
		return "the control, which never changes, shifted there too"
	case stopwatt.EpochChanged:
		return "the machine's kernel, governor or Docker changed there too"
	}
	return ""
}

// Ago says how long before now something was: "3 weeks ago".
func Ago(then, now time.Time) string {
	if then.IsZero() {
		return "never"
	}
	hours := now.Sub(then).Hours()
	for _, step := range []struct {
		hours float64
		name  string
	}{{24 * 365.25, "year"}, {24 * 30.44, "month"}, {24 * 7, "week"}, {24, "day"}, {1, "hour"}} {
		// Two at least, so that "1 week" does not stand for ten days.
		if n := math.Floor(hours / step.hours); n >= 2 {
			return plural(int(n), step.name) + " ago"
		}
	}
	switch {
	case hours >= 24:
		return "yesterday"
	case hours >= 1:
		return "1 hour ago"
	case hours > -1:
		return "within the hour"
	}
	return then.UTC().Format("2006-01-02")
}

// Count writes a number of things: "1 run", "1,200 runs".
func Count(n int, thing string) string { return plural(n, thing) }

// Label is a metric's name, and what it covers.
func Label(metric stopwatt.Metric) string { return label(metric) }

// Direction says which end of a metric is the good one.
func Direction(metric stopwatt.Metric) string { return direction(metric) }

// Headline says which run of a suite it was, part by part.
func Headline(run stopwatt.Run) []string { return whichRun(run) }

// UnitNames lists the units that a metric can be shown in.
func UnitNames(metric stopwatt.Metric) []string {
	var names []string
	for _, u := range unitsOf(metric) {
		names = append(names, u.name)
	}
	return names
}

// WattsOf writes an idle power with its error, or why there is none.
func WattsOf(idle stopwatt.IdlePower) string {
	if idle.Absent != "" {
		return absent + " " + short(idle.Absent)
	}
	return idleWatts(idle)
}

// AlarmText says how often a calibration called the same different.
func AlarmText(c stopwatt.Calibration) string { return alarmLine(c) }

// SmallestChange is the smallest change that a calibration says can be seen.
func SmallestChange(c stopwatt.CaseCalibration) string { return smallestOf(c) }

// CiteText is how to cite a run, and how it was measured, as one text.
func CiteText(results stopwatt.Results) string {
	var out strings.Builder
	if err := Cite(&out, results); err != nil {
		return "" // a strings.Builder refuses nothing
	}
	return out.String()
}
