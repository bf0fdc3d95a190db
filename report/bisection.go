package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// BisectionStep writes the line of one step.
func BisectionStep(w io.Writer, metric stopwatt.Metric, s stopwatt.BisectionStep, columns int) error {
	p := page{options: Options{Width: max(cmp.Or(columns, defaultWidth), smallestWidth)}}
	p.text(bisectionStepText(metric, s))
	return p.write(w)
}

// bisectionStepText says what a step found, by which runs, and what is left.
func bisectionStepText(metric stopwatt.Metric, s stopwatt.BisectionStep) string {
	text := Clean(s.Commit.Short()) + "  "
	switch last := s.Last(); {
	case s.Skipped != "":
		text += "skipped: " + Brief(s.Skipped)
	case last.Comparison.Verdict == stopwatt.Identical:
		text += "identical to the good end"
	default:
		text += fmt.Sprintf("%s  %s", last.Comparison.Verdict, ratioText(last.Comparison.Estimate.Ratio))
	}
	if runs := bisectionRuns([]stopwatt.BisectionStep{s}); runs != "" {
		text += "  " + runs
	}
	return text + fmt.Sprintf("  %s left", plural(s.Left, "commit"))
}

// ratioText is a change with its interval.
func ratioText(r stopwatt.Interval) string {
	if !r.Known {
		return unknown
	}
	text := signedPercent(r.Value)
	if r.Bounded {
		text += fmt.Sprintf(" (%s … %s)", strings.TrimSuffix(signedPercent(r.Low), " %"), signedPercent(r.High))
	}
	return text
}

// bisectionRuns names the runs of steps; empty when there are none.
func bisectionRuns(steps []stopwatt.BisectionStep) string {
	var runs []string
	for _, step := range steps {
		for _, run := range step.Runs {
			runs = append(runs, fmt.Sprint(run.Run))
		}
	}
	switch len(runs) {
	case 0:
		return ""
	case 1:
		return "run " + runs[0]
	}
	return "runs " + strings.Join(runs, ", ")
}

// Bisection writes what came of a bisection: the commit or the commits, what that
// rests on, and how sure it is. Landings say who brought the suspects; those that are
// not known may be missing.
func Bisection(w io.Writer, b stopwatt.Bisection, landings []stopwatt.Landing, columns int) error {
	p := page{options: Options{Width: max(cmp.Or(columns, defaultWidth), smallestWidth)}}
	p.text(bisectionAnswer(b))
	if b.Ending != stopwatt.BisectionNoChange && b.Ending != stopwatt.BisectionUntold {
		p.lines = append(p.lines, bisectionSuspects(b, landings, p.options.Width)...)
	}
	for _, note := range bisectionNotes(b) {
		p.note("%s", note)
	}
	return p.write(w)
}

// bisectionAnswer is the answer in a sentence.
func bisectionAnswer(b stopwatt.Bisection) string {
	of := short(b.Case.String()) + " " + label(b.Metric)
	change := of + " " + ratioText(b.Ends.Last().Comparison.Estimate.Ratio)
	switch b.Ending {
	case stopwatt.BisectionNamed:
		return fmt.Sprintf("%s brought it: %s", Clean(b.Suspects[0].Short()), change)
	case stopwatt.BisectionRange:
		return fmt.Sprintf("one of %s brought it: %s", plural(len(b.Suspects), "commit"), change)
	case stopwatt.BisectionStopped:
		return fmt.Sprintf("stopped with %s left: %s", plural(len(b.Suspects), "commit"), change)
	case stopwatt.BisectionNoChange:
		text := fmt.Sprintf("no change: %s is the same at both ends", of)
		if ratio := b.Ends.Last().Comparison.Estimate.Ratio; ratio.Known {
			text += ", " + ratioText(ratio)
		}
		return text
	}
	return fmt.Sprintf("the ends cannot be told apart by %s: %s", of, Brief(cmp.Or(b.Ends.Skipped, "the run was not finished")))
}

// bisectionSuspects lists the commits that are left, the newest first, with why they
// could not be told apart.
func bisectionSuspects(b stopwatt.Bisection, landings []stopwatt.Landing, columns int) []string {
	why := map[string]string{}
	for _, step := range b.Steps {
		why[step.Commit.SHA] = step.Skipped
	}
	var lines []string
	for _, commit := range slices.Backward(b.Suspects) {
		text := landingText(stopwatt.Landing{Commit: commit})
		for _, landing := range landings {
			if landing.Commit.SHA == commit.SHA {
				text = landingText(landing)
			}
		}
		if why[commit.SHA] != "" {
			text += "; skipped: " + Brief(why[commit.SHA])
		}
		lines = append(lines, indented(wrap(text, columns-2, 2))...)
	}
	return lines
}

// bisectionNotes say what the answer rests on.
func bisectionNotes(b stopwatt.Bisection) []string {
	steps := append([]stopwatt.BisectionStep{b.Ends}, b.Steps...)
	reused := 0
	for _, step := range steps {
		for _, run := range step.Runs {
			if run.Reused {
				reused++
			}
		}
	}
	runs := bisectionRuns(steps)
	if runs == "" {
		return nil
	}
	text := fmt.Sprintf("Measured against %s: %s", Clean(b.Good.Short()), runs)
	if reused > 0 {
		text += fmt.Sprintf(" (%d stored before)", reused)
	}
	notes := []string{text + "."}
	if b.Threshold > 0 {
		notes = append(notes, fmt.Sprintf("Commits are told apart by %s, half of what the ends differ in.", percentOf(b.Threshold)))
	}
	switch {
	case b.Error <= 0 || b.Error >= 1:
	case b.Ending == stopwatt.BisectionNoChange:
		notes = append(notes, fmt.Sprintf("A change of %s or more would be missed with a chance of %s at most.", percentOf(b.Ends.Last().Comparison.Threshold), percentOf(b.Error)))
	default:
		notes = append(notes, fmt.Sprintf("Right with %.1f %% at least, if one commit brought it: the levels of the steps, added up.",
			math.Floor(1000*(1-b.Error)+1e-6)/10))
	}
	return notes
}
