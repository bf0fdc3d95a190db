package report

import (
	"cmp"
	"fmt"
	"io"

	"gitlab.com/stopwatt/stopwatt"
)

// Calibration writes what a machine can see, for a terminal.
func Calibration(w io.Writer, run stopwatt.Run, c stopwatt.Calibration, o JudgementOptions) error {
	o.Width = max(cmp.Or(o.Width, defaultWidth), smallestWidth)
	p := page{run: run, options: Options{Width: o.Width}}
	p.text(headline(run))
	p.text(alarmLine(c))
	p.block(calibrationGrid(c))
	for _, note := range effectNotes(c) {
		p.note("%s", note)
	}
	p.note("Spread: standard deviation of a pair's ratio. Smallest change: what the suite's rounds would show four times out of five; nothing smaller is called worse or better on this machine.")
	return p.write(w)
}

// calibrationGrid has a row for each case and metric.
func calibrationGrid(c stopwatt.Calibration) grid {
	g := grid{corner: []string{"case", "metric"}, columns: []gridColumn{
		{heading: []string{"spread", "of a pair"}}, {heading: []string{"smallest", "change"}}, {heading: []string{"pairs"}},
	}}
	for _, one := range c.Cases {
		g.rows = append(g.rows, gridRow{name: []string{short(one.Case.String()), "  " + label(one.Metric)}})
		for i, cell := range []string{spreadOf(one), smallestOf(one), fmt.Sprint(one.N)} {
			g.columns[i].cells = append(g.columns[i].cells, []string{"", cell})
		}
	}
	return g
}

// alarmLine says how often the same was called different.
func alarmLine(c stopwatt.Calibration) string {
	if c.Alarms.Of == 0 {
		return "Too few rounds to count false alarms."
	}
	return fmt.Sprintf("False alarms: %d of %d stretches of %d rounds called different at the %.0f %% level, by one test alone (95 %% interval %s to %s).",
		c.Alarms.Count, c.Alarms.Of, stopwatt.AlarmRounds, 100*stopwatt.AlarmLevel, percentOf(c.Alarms.Low), percentOf(c.Alarms.High))
}

// spreadOf is unknown of so few pairs that nothing can be said of their spread.
func spreadOf(c stopwatt.CaseCalibration) string {
	if c.Spread == 0 && c.Smallest == 0 {
		return unknown
	}
	return percentOf(c.Spread)
}

func smallestOf(c stopwatt.CaseCalibration) string {
	if c.Smallest == 0 {
		return unknown
	}
	return percentOf(c.Smallest)
}

// effectNotes tell of what should not matter and seems to.
func effectNotes(c stopwatt.Calibration) []string {
	var notes []string
	for _, one := range c.Cases {
		for _, effect := range []struct {
			of   stopwatt.Effect
			what string
		}{
			{one.Order, "the side that comes first differs from the second by %s"},
			{one.Hours, "the hour of the day matters: %s between the slowest and the fastest"},
			{one.Drift, "values drift: %s from the beginning to the end"},
		} {
			if effect.of.Ratio != 0 && effect.of.P < surelyMatters/float64(3*len(c.Cases)) {
				notes = append(notes, fmt.Sprintf("%s %s: "+effect.what+".", short(one.Case.String()), label(one.Metric), signedPercent(effect.of.Ratio)))
			}
		}
	}
	return notes
}

// surelyMatters is the level of the tests for effects, all of them together.
const surelyMatters = 0.05
