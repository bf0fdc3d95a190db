package report

import (
	"bytes"
	"html/template"
	"math"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Style is the style sheet of all pages.
func Style() string { return pageStyle }

// Provenance says where a run's figures come from and how to repeat them.
func Provenance(run stopwatt.Run) []Fact { return provenance(run) }

// CountedTrials says how many trials went into a contrast.
func CountedTrials(run stopwatt.Run, c stopwatt.Contrast) string { return counted(run, c) }

// TrialFigures draws the power of each meter, the CPU time of each container, what
// the driver counted and every column of vmstat over a trial's time; empty when there
// is nothing to draw.
func TrialFigures(id string, t stopwatt.Trial) template.HTML {
	return courseFigures(coursesOf(id, t.Samples, t.Window, t))
}

// courseFigures writes charts over time as pages have them.
func courseFigures(courses *htmlCourses) template.HTML {
	if courses == nil {
		return ""
	}
	var out bytes.Buffer
	if err := htmlPage.ExecuteTemplate(&out, "courses", courses); err != nil {
		panic("report: " + err.Error()) // a programmer's mistake in our own template
	}
	return template.HTML(out.String())
}

// An IdleFigure is an idle window of a run.
type IdleFigure struct {
	Heading  string
	Powers   []string
	Warnings []string
	Figure   template.HTML // empty when nothing was sampled
}

// IdleFigures are the idle windows of a run.
func IdleFigures(run stopwatt.Run) []IdleFigure {
	var figures []IdleFigure
	for _, idle := range idleShown(run) {
		figures = append(figures, IdleFigure{idle.Heading, idle.Powers, idle.Warnings, courseFigures(idle.Courses)})
	}
	return figures
}

// A TrialLine is one trial in a list.
type TrialLine struct {
	Position, Round int
	Case, Time      string
	Status, Reason  string
	Warnings        []string
	Invalid, Marked bool
}

// TrialLines lists trials in the order in which they were carried out.
func TrialLines(trials []stopwatt.Trial) []TrialLine {
	var lines []TrialLine
	u := windowUnit(trials)
	for _, t := range trials {
		l := trialShown(t, u)
		lines = append(lines, TrialLine{l.Position, l.Round, l.Case, l.Time, l.Status, l.Reason, l.Warnings, l.Invalid, l.Marked})
	}
	return lines
}

// A JudgedCase is a case with its comparisons and what became of it, in words.
type JudgedCase struct {
	Case        stopwatt.Case
	Verdict     string
	Tells       bool // false of one in which nothing happened
	Comparisons []stopwatt.Comparison
}

// JudgedCases are the cases of a judgement, those that matter most first.
func JudgedCases(j stopwatt.Judgement) []JudgedCase {
	var cases []JudgedCase
	for _, of := range told(j, true) {
		cases = append(cases, JudgedCase{of.of, of.verdict(), of.tells(), of.comparisons})
	}
	return cases
}

// Remarks are what is to be said about a comparison beside its figures.
func Remarks(c stopwatt.Comparison) []string { return remarks(c) }

// RestsOn says what a judgement rests on.
func RestsOn(run stopwatt.Run, j stopwatt.Judgement) []string { return restsOn(run, j) }

// Certain is by how much a change is certain, as the logarithm of a ratio: how far
// the nearer end of its interval lies from 1, 0 where 1 is within.
func Certain(c stopwatt.Comparison) float64 {
	ratio := c.Estimate.Ratio
	switch {
	case !ratio.Bounded:
		return 0
	case ratio.Low > 1:
		return math.Log(ratio.Low)
	case ratio.High < 1 && ratio.High > 0:
		return -math.Log(ratio.High)
	}
	return 0
}

// SenseOf is which way a comparison's change lies, as far as it is certain.
func SenseOf(c stopwatt.Comparison) Sense {
	switch {
	case c.Verdict == stopwatt.Regressed:
		return SenseWorse
	case c.Verdict == stopwatt.Improved:
		return SenseBetter
	case c.Verdict != stopwatt.NotJudged || Certain(c) == 0:
		return SenseNone
	}
	return senseOf(c.Metric, stopwatt.Ratio{Value: c.Estimate.Ratio.Value, Known: true})
}

// ChangeWords is a comparison's change in percent with what it means, judged or not.
func ChangeWords(c stopwatt.Comparison) string {
	if !c.Estimate.Ratio.Known {
		return absent
	}
	if c.Estimate.Ratio.Value == 1 {
		return signedPercent(1)
	}
	return signedPercent(c.Estimate.Ratio.Value) + " " + changeWord(c)
}

// TrialFigure is one measurement of a trial, written.
type TrialFigure struct {
	Metric, Value, What string
	Absent              string
}

// TrialFigureList are all measurements of a trial with what they are, and what is
// absent with its reason.
func TrialFigureList(t stopwatt.Trial) []TrialFigure {
	var list []TrialFigure
	for _, m := range t.Measurements {
		metric, _ := t.Metric(m.Metric)
		metric.Name = m.Metric
		list = append(list, TrialFigure{Metric: label(metric), Value: Value(metric, m.Value), What: Clean(metric.What)})
	}
	for _, a := range t.Absent {
		metric, _ := t.Metric(a.Metric)
		metric.Name = a.Metric
		list = append(list, TrialFigure{Metric: label(metric), Absent: short(a.Reason), What: Clean(metric.What)})
	}
	return list
}

// WarningKinds are the warnings of all cases of a run, those of one kind together
// with how many trials carry them, the most frequent first.
func WarningKinds(results stopwatt.Results) []string {
	var tallies []tally
	for _, result := range results.Cases {
		for _, warning := range result.Warnings {
			tallies = append(tallies, tally{reasonShown(warning.Warning), warning.Count})
		}
	}
	var texts []string
	for _, kind := range kinds(tallies) {
		texts = append(texts, kind.text+" ("+plural(kind.count, "trial")+")")
	}
	return texts
}

// CleanLines makes foreign text of several lines safe to show, line by line.
func CleanLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = Clean(line)
	}
	return strings.Join(lines, "\n")
}
