package report

import (
	"fmt"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// figures are what one case says about one metric, written out.
type figures struct {
	present bool
	value   string
	spread  string // "–" of a single trial
	median  string
	n       int
	ratio   string
}

// figuresOf writes the figures of every row of a block for the metric at
// index, in one scale.
func figuresOf(c stopwatt.Contrast, block stopwatt.WorkloadContrast, index int, asked string) (scale, []figures) {
	metric := c.Metrics[index]
	var summaries []stopwatt.Summary
	for _, row := range block.Rows {
		if s, has := row.Result.Summary(metric.Name); has {
			summaries = append(summaries, s)
		}
	}
	scale := scaleOf(metric, asked, summaries)
	written := make([]figures, len(block.Rows))
	for i, row := range block.Rows {
		if s, has := row.Result.Summary(metric.Name); has {
			written[i] = scale.figures(s)
			written[i].ratio = Ratio(metric, row.Ratios[index], AsRatio)
		}
	}
	return scale, written
}

// figures writes a summary in the scale: the spread and the median to the same
// decimal as the mean.
func (s scale) figures(of stopwatt.Summary) figures {
	size := max(of.Mean, -of.Mean, of.SD)
	spread := s.beside(of.SD, size)
	switch {
	case of.N < 2:
		spread = absent
	case of.SD > 0 && strings.Trim(spread, "0.") == "":
		spread = "<" + spread[:len(spread)-1] + "1" // small, but not nothing
	}
	return figures{
		present: true,
		value:   s.beside(of.Mean, size),
		spread:  spread,
		median:  s.beside(of.Median, size),
		n:       of.N,
	}
}

// whyInvalid says why trials of a case did not count, or that there were none.
func whyInvalid(result stopwatt.CaseResult) string {
	trials := result.Valid + result.Invalid
	if trials == 0 {
		return "not measured"
	}
	var reasons []string
	for i, r := range result.Reasons {
		if i == 3 {
			reasons = append(reasons, fmt.Sprintf("%d more reasons", len(result.Reasons)-i))
			break
		}
		reasons = append(reasons, fmt.Sprintf("%s in %d of %d trials", reasonShown(r.Reason), r.Count, trials))
	}
	if reasons == nil {
		return fmt.Sprintf("none of %d trials is valid", trials)
	}
	return strings.Join(reasons, "; ")
}

// whyAbsent says why a case has no number for a metric in some of its valid
// trials, or in all.
func whyAbsent(result stopwatt.CaseResult, metric string) string {
	if why := reasonsIn(absences(result, metric), result.Valid); why != "" {
		return why
	}
	return "not measured"
}
