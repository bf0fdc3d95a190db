package report

import (
	"fmt"
	"io"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// metricsAcross is how many metrics stand side by side in a Markdown table: with
// the implementation's name they make three columns, which fit a phone.
const metricsAcross = 2

// Markdown writes a contrast as Markdown tables. Foreign text stands in code
// spans, where nothing in it becomes HTML, a link, a mention or a table's edge.
// It fails when the unit fits no metric, and when w fails.
func Markdown(w io.Writer, run stopwatt.Run, c stopwatt.Contrast, o Options) error {
	if err := CheckUnit(o.Unit, c.Metrics); err != nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s\n\n", code(run.Suite), markdownHeadline(run))
	out.WriteString(dotted(counted(plainProfile(run), c), code(idleLine(run))) + ".\n")
	markdownAnswers(&out, c)
	for i, block := range c.Workloads {
		fmt.Fprintf(&out, "\n## %s\n", code(block.Workload))
		if load := loadOf(run, block.Workload); load != "" {
			fmt.Fprintf(&out, "\n%s\n", load)
		}
		if dead(block) {
			markdownDead(&out, block)
			continue
		}
		own := narrowed(c, i)
		for from := 0; from < len(own.Metrics); from += metricsAcross {
			markdownTable(&out, own, own.Workloads[0], from, min(from+metricsAcross, len(own.Metrics)), o)
		}
	}
	if hasEnergy(c.Metrics) && len(c.Meters.Meters) > 1 {
		out.WriteString("\n## Energy meters side by side\n\n")
		for _, note := range append([]string{sentence(alike(c.Meters))}, swapsIn(c.Meters)...) {
			fmt.Fprintf(&out, "- %s\n", code(note))
		}
		markdownMeters(&out, c.Meters, o.Unit, "###")
	}
	markdownNotes(&out, run, c, o)
	_, err := io.WriteString(w, out.String())
	return err
}

// plainProfile is a run whose profile is safe in Markdown.
func plainProfile(run stopwatt.Run) stopwatt.Run {
	if run.Profile != "" {
		run.Profile = code(run.Profile)
	}
	return run
}

// markdownHeadline says which run it was, every part in a code span.
func markdownHeadline(run stopwatt.Run) string {
	parts := whichRun(run)
	for i := range parts {
		parts[i] = code(parts[i])
	}
	return strings.Join(parts, " · ")
}

// markdownAnswers writes the mean of the workloads in words.
func markdownAnswers(out *strings.Builder, c stopwatt.Contrast) {
	answers := answersOf(c)
	if answers == nil {
		return
	}
	fmt.Fprintf(out, "\nAgainst %s: %s.\n\n", code(c.Baseline), ofWhat(c))
	for _, a := range answers {
		fmt.Fprintf(out, "- %s **%s** (%s)", code(a.Implementation), a.Ratio, a.Change)
		if a.From.Workload != "" {
			fmt.Fprintf(out, ", from %s in %s to %s in %s", a.From.Ratio, code(a.From.Workload), a.To.Ratio, code(a.To.Workload))
		}
		for i, other := range a.Others {
			fmt.Fprintf(out, "%s%s %s", map[bool]string{true: "; ", false: ", "}[i == 0], code(other.Metric), other.Ratio)
		}
		out.WriteString("\n")
	}
}

// markdownTable writes the metrics of one workload from one index up to another.
func markdownTable(out *strings.Builder, c stopwatt.Contrast, block stopwatt.WorkloadContrast, from, to int, o Options) {
	columns := make([][]figures, to-from)
	out.WriteString("\n| implementation |")
	for m := from; m < to; m++ {
		var scale scale
		scale, columns[m-from] = figuresOf(c, block, m, o.Unit)
		fmt.Fprintf(out, " %s |", heading(c.Metrics[m], scale.unit))
	}
	out.WriteString("\n|:--|" + strings.Repeat("--:|", to-from) + "\n")
	for i, row := range block.Rows {
		fmt.Fprintf(out, "| %s<br>%s |", code(row.Implementation), rowNote(c, row, from == 0))
		for m, column := range columns {
			fmt.Fprintf(out, " %s |", markdownCell(c.Metrics[from+m], row.Ratios[from+m], column[i], o.As))
		}
		out.WriteString("\n")
	}
}

// markdownDead says why no case of a workload has figures.
func markdownDead(out *strings.Builder, block stopwatt.WorkloadContrast) {
	out.WriteString("\n")
	for _, row := range block.Rows {
		fmt.Fprintf(out, "- %s %s %s\n", code(row.Implementation), absent, code(whyInvalid(row.Result)))
	}
}

// rowNote says of how many trials a row is, or, in a workload's first table, why
// of none.
func rowNote(c stopwatt.Contrast, row stopwatt.ContrastRow, first bool) string {
	switch {
	case row.Result.Valid == 0 && !first:
		return "n 0"
	case row.Result.Valid == 0:
		return code(whyInvalid(row.Result))
	case row.Implementation == c.Baseline:
		return fmt.Sprintf("baseline, n %d", row.Result.Valid)
	}
	return fmt.Sprintf("n %d", row.Result.Valid)
}

// markdownCell writes mean and spread, and under them median and ratio.
func markdownCell(metric stopwatt.Metric, ratio stopwatt.Ratio, f figures, as As) string {
	if !f.present {
		return absent
	}
	spread := strings.ReplaceAll(f.spread, "<", "&lt;")
	return fmt.Sprintf("%s ± %s<br>%s · **%s**", f.value, spread, f.median, Ratio(metric, ratio, as))
}

// markdownNotes says what the figures are and what could not be said.
func markdownNotes(out *strings.Builder, run stopwatt.Run, c stopwatt.Contrast, o Options) {
	fmt.Fprintf(out, "\nMean ± sample standard deviation of n trials; under it their median and the mean against that of %s.\n", code(c.Baseline))
	if len(c.Workloads) > 1 {
		fmt.Fprintf(out, "The mean of workloads is the %s mean of their ratios.\n", c.Mean)
	}
	notes := standNotes(run, c, "")
	if note := driverNote(run, workloadsOf(c)); note != "" {
		notes = append(notes, note)
	}
	notes = append(notes, doubts(c, o.As)...)
	if notes == nil {
		return
	}
	out.WriteString("\n")
	for _, note := range notes {
		fmt.Fprintf(out, "- %s\n", code(note))
	}
}
