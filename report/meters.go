package report

import (
	"fmt"
	"io"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Meters writes the energies of several meters side by side for a terminal: for
// each case their means, what the first divided by each other is, and which
// implementations change places. Options.Width and Options.Unit count; the unit
// is one of energy. No line is wider than the terminal.
func Meters(w io.Writer, run stopwatt.Run, c stopwatt.MeterContrast, o Options) error {
	if err := CheckUnit(o.Unit, stopwatt.EnergyMetrics("")[:1]); err != nil {
		return err
	}
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	page := page{run: run, options: o}
	page.options.Width = max(o.Width, smallestWidth)
	page.text(headline(run))
	page.text(idleLine(run))
	if len(c.Meters) > 1 {
		page.block(page.meterGrid(c))
	} else {
		page.note("%s", tooFewMeters)
	}
	for _, note := range meterNotes(run, c) {
		page.note("%s", note)
	}
	return page.write(w)
}

const tooFewMeters = "Fewer than two meters have energy of this run: there is nothing to lay side by side."

// coverage says what the energies of a contrast cover.
func coverage(c stopwatt.MeterContrast) string {
	if c.Gross {
		return "gross"
	}
	return "net"
}

// meterGrid lays the meters out: a line for each workload, and below it one for
// each of its cases.
func (p *page) meterGrid(c stopwatt.MeterContrast) grid {
	g := grid{corner: []string{coverage(c) + " energy"}}
	counts := gridColumn{heading: []string{"n"}}
	for _, block := range c.Workloads {
		g.rows = append(g.rows, gridRow{name: []string{cut(Clean(block.Workload), longestName)}})
		counts.cells = append(counts.cells, nil)
		for i, name := range shorten(implementationsIn(block), longestName-2) {
			row := gridRow{name: []string{"  " + name}}
			if block.Rows[i].Result.Valid == 0 {
				row.text = whyInvalid(block.Rows[i].Result)
			}
			g.rows = append(g.rows, row)
			counts.cells = append(counts.cells, []string{fmt.Sprint(block.Rows[i].Result.Valid)})
		}
		p.longer(implementationsIn(block), shorten(implementationsIn(block), longestName-2))
	}
	g.columns = append(g.columns, counts)
	for m, metric := range c.Metrics() {
		g.columns = append(g.columns, p.meterColumn(c, m, metric))
	}
	for other := range c.Meters[1:] {
		g.columns = append(g.columns, meterRatios(c, other))
	}
	return g
}

func implementationsIn(block stopwatt.MeterWorkload) []string {
	var names []string
	for _, row := range block.Rows {
		names = append(names, row.Implementation)
	}
	return names
}

// meterScale is the scale of the column of a metric.
func meterScale(c stopwatt.MeterContrast, metric stopwatt.Metric, asked string) scale {
	var summaries []stopwatt.Summary
	for _, block := range c.Workloads {
		for _, row := range block.Rows {
			if s, has := row.Result.Summary(metric.Name); has {
				summaries = append(summaries, s)
			}
		}
	}
	return scaleOf(metric, asked, summaries)
}

// meterColumn writes what one meter says, mean and spread.
func (p *page) meterColumn(c stopwatt.MeterContrast, m int, metric stopwatt.Metric) gridColumn {
	scale := meterScale(c, metric, p.options.Unit)
	column := gridColumn{heading: []string{cut(Clean(c.Meters[m].Name), longestName) + ", " + scale.unit.name}}
	var parts [][]string
	for _, block := range c.Workloads {
		parts = append(parts, nil) // the workload's own line
		for _, row := range block.Rows {
			f := figures{}
			if s, has := row.Result.Summary(metric.Name); has {
				f = scale.figures(s)
			}
			parts = append(parts, []string{f.value, f.spread})
		}
	}
	for i, text := range align(parts, " ± ") {
		switch {
		case parts[i] == nil:
			column.cells = append(column.cells, nil)
		case parts[i][0] == "":
			column.cells = append(column.cells, []string{absent})
		default:
			column.cells = append(column.cells, []string{text})
		}
	}
	return column
}

// meterRatios writes the ratio of the first meter to another one.
func meterRatios(c stopwatt.MeterContrast, other int) gridColumn {
	column := gridColumn{heading: []string{over(c, other)}}
	if width(column.heading[0]) > longestName {
		column.heading = []string{cut(Clean(c.Meters[0].Name), longestName-2) + " ÷", cut(Clean(c.Meters[other+1].Name), longestName)}
	}
	for _, block := range c.Workloads {
		column.cells = append(column.cells, nil)
		for _, row := range block.Rows {
			column.cells = append(column.cells, []string{meterRatio(row, other)})
		}
	}
	return column
}

// meterRatio writes a ratio; one of a value that is not there is absent.
func meterRatio(row stopwatt.MeterRow, other int) string {
	if ratio := row.Ratios[other]; ratio.Known {
		return plainRatio(ratio.Value)
	}
	return unknown
}

// mostSwaps bounds how many pairs that change places are named.
const mostSwaps = 8

// meterNotes say what the figures are, whether the meters order the
// implementations alike, and what could not be said.
func meterNotes(run stopwatt.Run, c stopwatt.MeterContrast) []string {
	var notes []string
	if len(c.Meters) > 1 {
		notes = append(notes, sentence(alike(c)))
		notes = append(notes, swapsIn(c)...)
		notes = append(notes, "Mean ± sample standard deviation of n trials.", sourcesOf(c))
	}
	notes = append(notes, energyNotes(run, c.Metrics(), "")...)
	for _, block := range c.Workloads {
		laid := stopwatt.WorkloadContrast{Workload: block.Workload}
		for _, row := range block.Rows {
			laid.Rows = append(laid.Rows, stopwatt.ContrastRow{Implementation: row.Implementation, Result: row.Result})
		}
		for _, lack := range lacksOf(laid, c.Metrics()) {
			notes = append(notes, lack.sentence(len(laid.Rows)))
		}
	}
	return notes
}

// sourcesOf says where each meter's numbers come from.
func sourcesOf(c stopwatt.MeterContrast) string {
	var parts []string
	for _, meter := range c.Meters {
		if meter.Source != "" {
			parts = append(parts, fmt.Sprintf("%s: %s", Clean(meter.Name), short(meter.Source)))
		}
	}
	return strings.Join(parts, ", ")
}

// swapsIn says which implementations change places.
func swapsIn(c stopwatt.MeterContrast) []string {
	var notes []string
	left := 0
	for _, block := range c.Workloads {
		for _, swap := range block.Swaps {
			if len(notes) == mostSwaps {
				left++
				continue
			}
			notes = append(notes, swapNote(block.Workload, swap))
		}
	}
	if left > 0 {
		notes = append(notes, fmt.Sprintf("%s more change places.", plural(left, "pair")))
	}
	return notes
}

func swapNote(workload string, s stopwatt.Swap) string {
	var by []string
	for i, meter := range s.Meters {
		a, b := s.Means[i][0], s.Means[i][1]
		scale := scaleOf(stopwatt.Metric{Unit: "J"}, "", []stopwatt.Summary{{Mean: a}, {Mean: b}})
		by = append(by, fmt.Sprintf("by %s %s and %s", Clean(meter), scale.write(a), scale.unit.with(scale.write(b))))
	}
	note := fmt.Sprintf("In %s %s and %s change places (%s)", short(workload), short(s.Implementations[0]), short(s.Implementations[1]), strings.Join(by, ", "))
	if s.Near {
		note += "; by one of the meters they are so near to each other that it may be chance"
	}
	return note + "."
}

// MetersMarkdown writes the same as Meters as Markdown: tables of three columns,
// the meters below each other.
func MetersMarkdown(w io.Writer, run stopwatt.Run, c stopwatt.MeterContrast, o Options) error {
	if err := CheckUnit(o.Unit, stopwatt.EnergyMetrics("")[:1]); err != nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s\n", code(run.Suite), markdownHeadline(run))
	if idle := idleLine(run); idle != "" {
		fmt.Fprintf(&out, "\n%s\n", code(idle))
	}
	if len(c.Meters) < 2 {
		fmt.Fprintf(&out, "\n%s\n", tooFewMeters)
	} else {
		markdownMeters(&out, c, o.Unit, "##")
	}
	out.WriteString("\n")
	for _, note := range meterNotes(run, c) {
		fmt.Fprintf(&out, "- %s\n", code(note))
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// markdownMeters writes a table for each workload under headings of this level.
func markdownMeters(out *strings.Builder, c stopwatt.MeterContrast, asked, level string) {
	for _, block := range c.Workloads {
		fmt.Fprintf(out, "\n%s %s\n\n| implementation | %s energy | ratio |\n|:--|--:|--:|\n", level, code(block.Workload), coverage(c))
		for _, row := range block.Rows {
			var energies, ratios []string
			for m, text := range markdownEnergies(c, row, asked) {
				energies = append(energies, text)
				if m > 0 {
					ratios = append(ratios, fmt.Sprintf("%s %s", code(over(c, m-1)), meterRatio(row, m-1)))
				}
			}
			note := fmt.Sprintf("n %d", row.Result.Valid)
			if row.Result.Valid == 0 {
				note = code(whyInvalid(row.Result))
			}
			fmt.Fprintf(out, "| %s<br>%s | %s | %s |\n", code(row.Implementation), note, strings.Join(energies, "<br>"), strings.Join(ratios, "<br>"))
		}
	}
}

// markdownEnergies writes what each meter says of a case: "`board` 231.4 ± 2.0 J".
func markdownEnergies(c stopwatt.MeterContrast, row stopwatt.MeterRow, asked string) []string {
	var texts []string
	for m, metric := range c.Metrics() {
		scale := meterScale(c, metric, asked)
		text := absent
		if s, has := row.Result.Summary(metric.Name); has {
			f := scale.figures(s)
			text = scale.unit.with(f.value + " ± " + strings.ReplaceAll(f.spread, "<", "&lt;"))
		}
		texts = append(texts, code(c.Meters[m].Name)+" "+text)
	}
	return texts
}
