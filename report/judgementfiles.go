package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// JudgementMarkdown writes a judgement as Markdown: the answer first, a table of
// three columns at most with what matters, the rest folded. Foreign text stands in
// code spans.
func JudgementMarkdown(w io.Writer, run stopwatt.Run, j stopwatt.Judgement, o JudgementOptions) error {
	var out strings.Builder
	fmt.Fprintf(&out, "### %s: %s\n\n", code(run.Suite), Answer(j))
	if cases := told(j, o.All); len(cases) > 0 {
		out.WriteString("| case | metric | change |\n|:--|:--|:--|\n")
		for _, of := range cases {
			for _, c := range of.comparisons {
				fmt.Fprintf(&out, "| %s%s<br>%s | %s | %s |\n", bold(c), code(c.Case.Implementation), code(c.Case.Workload), code(label(c.Metric)), changeCell(c))
			}
		}
		out.WriteString("\n")
	}
	if quiet := quietCount(j); quiet != "" && !o.All {
		out.WriteString(quiet + "\n\n")
	}
	fmt.Fprintf(&out, "Base %s · head %s · %s\n\n", code(checkout(run.Against)), code(checkout(run.Checkout)), code(run.Machine.Name))
	for _, note := range restsOn(run, j) {
		fmt.Fprintf(&out, "%s\n", plainly(note))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// bold is the verdict in front of a case that has one to tell.
func bold(c stopwatt.Comparison) string {
	text := strings.ToUpper(string(c.Verdict[:1])) + string(c.Verdict[1:])
	if c.Verdict == stopwatt.Regressed || c.Verdict == stopwatt.Improved {
		text = "**" + text + "**"
	}
	return text + "<br>"
}

// changeCell stacks change, interval and values in a cell.
func changeCell(c stopwatt.Comparison) string {
	parts := []string{Change(c)}
	if interval := ChangeInterval(c); interval != "" {
		parts = append(parts, interval)
	}
	if values := FromTo(c); values != "" {
		parts = append(parts, values)
	}
	for _, remark := range remarks(c) {
		parts = append(parts, plainly(remark))
	}
	return strings.Join(parts, "<br>")
}

// JudgementCSV writes a line for each comparison, in full precision.
func JudgementCSV(w io.Writer, run stopwatt.Run, j stopwatt.Judgement) error {
	out := csv.NewWriter(w)
	records := [][]string{{"suite", "run", "base", "head", "machine", "implementation", "workload", "metric", "unit", "verdict", "n",
		"base_median", "head_median", "ratio", "low", "high", "p_worse", "p_better", "smallest", "threshold", "look", "family"}}
	for _, c := range j.Comparisons {
		e := c.Estimate
		records = append(records, []string{run.Suite, strconv.FormatInt(run.ID, 10), run.Against.Commit.SHA, run.Checkout.Commit.SHA, run.Machine.Name,
			c.Case.Implementation, c.Case.Workload, c.Metric.Name, c.Metric.Unit, string(c.Verdict), strconv.Itoa(e.N),
			known(e.N > 0, e.Base), known(e.N > 0, e.Head), known(e.Ratio.Known, e.Ratio.Value),
			known(e.Ratio.Bounded, e.Ratio.Low), known(e.Ratio.Bounded, e.Ratio.High), known(e.N > 0, e.Worse), known(e.N > 0, e.Better),
			known(e.Sees, e.Smallest), exact(c.Threshold), strconv.Itoa(c.Look), strconv.Itoa(c.Family)})
	}
	return out.WriteAll(records)
}

// known is a number, or empty.
func known(is bool, value float64) string {
	if !is {
		return ""
	}
	return exact(value)
}
