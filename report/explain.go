package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Explain writes the steps that led to each verdict, so that it can be followed by
// hand: what was tested at each look, against which limit, and what came of it.
func Explain(w io.Writer, run stopwatt.Run, j stopwatt.Judgement, o JudgementOptions) error {
	p := page{run: run, options: Options{Width: max(o.Width, smallestWidth)}}
	if o.Width == 0 {
		p.options.Width = defaultWidth
	}
	p.text(againstLine(run))
	for _, line := range procedureLines(j) {
		p.text(line)
	}
	for _, of := range told(j, true) {
		for _, c := range of.comparisons {
			p.lines = append(p.lines, "")
			p.text(fmt.Sprintf("%s %s: %s", short(c.Case.String()), label(c.Metric), c.Verdict))
			for _, step := range c.Steps {
				p.lines = append(p.lines, indented(wrap(stepText(j, c, step), p.options.Width-2, 2))...)
			}
			for _, remark := range remarks(c) {
				p.lines = append(p.lines, indented(wrap(remark, p.options.Width-2, 2))...)
			}
		}
	}
	return p.write(w)
}

// procedureLines say what the procedure is.
func procedureLines(j stopwatt.Judgement) []string {
	lines := []string{fmt.Sprintf("%s judged together. Each has the ratio head ÷ base of every round; Hodges–Lehmann estimates and exact signed-rank tests and intervals.", plural(j.Family, "comparison"))}
	for i, look := range j.Procedure.Looks {
		lines = append(lines, fmt.Sprintf("Look %d after %s: suspected at a false discovery rate of %s in each direction (Benjamini and Hochberg) with an estimate beyond the threshold; unchanged when the interval at one-sided %s lies within the suite's threshold.",
			i+1, plural(look.Rounds, "round"), plainP(look.Suspect), plainP(look.Unchanged)))
	}
	return append(lines, fmt.Sprintf("What is suspected is confirmed by %s with one-sided p ≤ %s.", plural(j.Procedure.Confirm, "fresh pair"), plainP(j.Procedure.Level)))
}

// stepText is one look, or one confirmation.
func stepText(j stopwatt.Judgement, c stopwatt.Comparison, s stopwatt.Step) string {
	shown := c
	shown.Estimate, shown.Verdict = s.Estimate, ""
	figures := fmt.Sprintf("%s, %s, %s", plural(s.Estimate.N, "pair"), FromTo(shown), Change(shown))
	if interval := ChangeInterval(shown); interval != "" {
		figures += " (" + interval + ")"
	}
	p, side := s.Estimate.Worse, "worse"
	if s.Side == stopwatt.Improved {
		p, side = s.Estimate.Better, "better"
	}
	if s.Fresh {
		return fmt.Sprintf("fresh pairs of look %d: %s; p %s for %s, limit %s: %s", s.Look, figures, plainP(p), side, plainP(s.Level), s.Outcome)
	}
	test := fmt.Sprintf("p %s for %s, rank %d of %d, limit %s", plainP(p), side, s.Rank, j.Family, plainP(s.Level))
	if s.Rejected {
		test += ", rejected"
	}
	inner := "no inner interval"
	if s.Inner.Bounded {
		within := c
		within.Estimate.Ratio = s.Inner
		inner = "inner interval " + ChangeInterval(within)
	}
	return fmt.Sprintf("look %d: %s; %s; %s against ±%s: %s", s.Look, figures, test, inner, percentOf(s.Within), s.Outcome)
}

// plainP writes a probability with two digits that say something.
func plainP(p float64) string {
	if p > 0 && p < 0.0001 {
		return strconv.FormatFloat(p, 'e', 1, 64)
	}
	return strings.TrimRight(strings.TrimRight(strconv.FormatFloat(p, 'f', 5, 64), "0"), ".")
}
