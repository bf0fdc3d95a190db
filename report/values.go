package report

import (
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// values adds the mean of the workloads and a table for each of them.
func (p *page) values() {
	if len(p.contrast.Workloads) > 1 && len(p.contrast.Means) > 0 {
		p.block(p.means())
	}
	for _, g := range p.blocks() {
		p.block(g)
	}
	base := Clean(p.contrast.Baseline)
	p.note("* the baseline. Mean ± sample standard deviation of n trials, their median, and the mean divided by %s's (×).", base)
	if len(p.contrast.Workloads) > 1 {
		p.note("%s", meanNote(p.contrast))
	}
	p.longer(p.contrast.Implementations, p.names)
}

// blocks is a grid per workload: cases in one line each, unless that does not
// fit, or metrics below each other make it half as long again as two lines each.
func (p *page) blocks() []grid {
	var single, stacked []grid
	fits, singleLines, stackedLines := true, 0, 0
	for i, block := range p.contrast.Workloads {
		a, b := p.inOneLine(i), p.stacked(i)
		if dead(block) {
			a, b = p.nothing(i), p.nothing(i)
		}
		single, stacked = append(single, a), append(stacked, b)
		lines := a.render(p.options.Width)
		fits = fits && longest(lines) <= p.options.Width
		singleLines += len(lines)
		stackedLines += len(b.render(p.options.Width))
	}
	if !fits || 2*singleLines > 3*stackedLines {
		return stacked
	}
	return single
}

// means is the grid of mean ratios, metrics side by side.
func (p *page) means() grid {
	n, alike := sameCount(p.contrast)
	if !alike {
		n = len(p.contrast.Workloads)
	}
	g := grid{corner: []string{"mean of " + plural(n, "workload")}}
	for i := range p.contrast.Means {
		g.rows = append(g.rows, gridRow{name: []string{p.names[i+1]}})
	}
	for m, metric := range p.contrast.Metrics {
		column := gridColumn{heading: broken(label(metric), widestHeading)}
		for _, row := range p.contrast.Means {
			cell := Ratio(metric, row.Ratios[m], AsRatio)
			column.cells = append(column.cells, []string{cell + ofCount(row, m, n)})
		}
		g.columns = append(g.columns, column)
	}
	return g
}

// sameCount tells whether every known mean is of the same number of workloads,
// and of how many.
func sameCount(c stopwatt.Contrast) (n int, alike bool) {
	for _, row := range c.Means {
		for m, count := range row.Counts {
			switch {
			case !row.Ratios[m].Known:
			case n == 0:
				n = count
			case n != count:
				return 0, false
			}
		}
	}
	return n, n > 0
}

// ofCount says of how many workloads a mean is, when that is not what its
// table's heading says.
func ofCount(row stopwatt.MeanRow, m, usual int) string {
	if !row.Ratios[m].Known || row.Counts[m] == usual {
		return ""
	}
	return fmt.Sprintf(" of %d", row.Counts[m])
}

// inOneLine shows each case in one line: n, and for each metric the mean with
// its spread, the median and the ratio.
func (p *page) inOneLine(index int) grid {
	contrast := narrowed(p.contrast, index)
	block := contrast.Workloads[0]
	corner := [][]string{{p.workloads[index], ""}, {loadOf(p.run, block.Workload), "n"}}
	for i, row := range block.Rows {
		corner = append(corner, []string{p.starred(i), fmt.Sprint(row.Result.Valid)})
	}
	first := withGap(corner)
	g := grid{corner: first[:2]}
	for i, row := range block.Rows {
		g.rows = append(g.rows, p.row(row, first[i+2]))
	}
	for m, metric := range contrast.Metrics {
		scale, written := figuresOf(contrast, block, m, p.options.Unit)
		column := gridColumn{heading: []string{heading(metric, scale.unit)}}
		lines := alignFigures(written)
		column.heading = append(column.heading, lines[0])
		for _, line := range lines[1:] {
			column.cells = append(column.cells, []string{line})
		}
		g.columns = append(g.columns, column)
	}
	return g
}

// withGap joins the two parts of each line, the first aligned to the left, the
// second to the right.
func withGap(lines [][]string) []string {
	first, second := 0, 0
	for _, line := range lines {
		first, second = max(first, width(line[0])), max(second, width(line[1]))
	}
	joined := make([]string, len(lines))
	for i, line := range lines {
		joined[i] = left(line[0], first) + blanks(gap) + right(line[1], second)
	}
	return joined
}

// alignFigures joins value, spread, median and ratio of each row, "±" below
// "±", under a first line that says what they are.
func alignFigures(rows []figures) []string {
	var spreads [][]string
	for _, f := range rows {
		spreads = append(spreads, []string{f.value, f.spread})
	}
	lines := [][]string{{"mean ± sd", "median", "×"}}
	for i, both := range align(spreads, " ± ") {
		if !rows[i].present {
			both = absent
		}
		lines = append(lines, []string{both, rows[i].median, rows[i].ratio})
	}
	return align(lines, "  ")
}

// stacked shows each case in two lines: the mean with its spread, and under it
// the median and the ratio.
func (p *page) stacked(index int) grid {
	contrast := narrowed(p.contrast, index)
	block := contrast.Workloads[0]
	g := grid{corner: []string{p.workloads[index], loadOf(p.run, block.Workload)}}
	for i, row := range block.Rows {
		g.rows = append(g.rows, p.row(row, p.starred(i), fmt.Sprintf("  n %d, median, ×", row.Result.Valid)))
	}
	for m, metric := range contrast.Metrics {
		scale, written := figuresOf(contrast, block, m, p.options.Unit)
		column := gridColumn{heading: append(broken(label(metric), widestHeading), scale.unit.name)}
		for _, f := range written {
			cell := []string{absent}
			if f.present {
				cell = []string{f.value + " ± " + f.spread, f.median + "  " + right(f.ratio, 5)}
			}
			column.cells = append(column.cells, cell)
		}
		g.columns = append(g.columns, column)
	}
	return g
}

// dead tells whether no case of a workload has a valid trial.
func dead(block stopwatt.WorkloadContrast) bool {
	return !slices.ContainsFunc(block.Rows, func(row stopwatt.ContrastRow) bool { return row.Result.Valid > 0 })
}

// nothing says why no case of a workload has figures.
func (p *page) nothing(index int) grid {
	block := p.contrast.Workloads[index]
	g := grid{corner: []string{p.workloads[index], loadOf(p.run, block.Workload)}}
	for _, row := range block.Rows {
		g.rows = append(g.rows, p.row(row))
	}
	return g
}

// widestHeading is how wide the name of a metric may be in one line, so that it
// fits beside the longest name in the smallest width.
const widestHeading = smallestWidth - longestName - 2 - gap

// starred is an implementation's name as shown, the baseline's with a star.
func (p *page) starred(i int) string {
	if p.contrast.Implementations[i] == p.contrast.Baseline {
		return p.names[i] + " *"
	}
	return p.names[i]
}

// row begins a case's row; one without any valid trial says why.
func (p *page) row(row stopwatt.ContrastRow, name ...string) gridRow {
	if row.Result.Valid > 0 {
		return gridRow{name: name}
	}
	return gridRow{name: []string{Clean(row.Implementation)}, text: whyInvalid(row.Result)}
}

// meanNote says which mean sums up the workloads and what was left out of it.
func meanNote(c stopwatt.Contrast) string {
	note := fmt.Sprintf("The mean is the %s mean of the workloads' ratios to %s", c.Mean, Clean(c.Baseline))
	if left := leftOut(c); left != nil {
		note += "; left out where there is no ratio, or a baseline of 0: " + listed(left)
	}
	return note + "."
}

// leftOut are the workloads that are not in the mean of some metric that they
// have.
func leftOut(c stopwatt.Contrast) []string {
	var left []string
	for _, block := range c.Workloads {
		for m, metric := range c.Metrics {
			if occursInAny(block, metric) && !inMean(block, m, metric) {
				left = append(left, Clean(block.Workload))
				break
			}
		}
	}
	return left
}

// inMean tells whether the ratios of all implementations that have the metric go
// into its mean.
func inMean(block stopwatt.WorkloadContrast, m int, metric stopwatt.Metric) bool {
	base, has := block.Rows[0].Result.Summary(metric.Name)
	for _, row := range block.Rows[1:] {
		if !row.Ratios[m].Known || !has || base.Mean == 0 {
			return false
		}
	}
	return true
}

// mostListed bounds how many names a note lists.
const mostListed = 4

// listed lists names, not all of many.
func listed(names []string) string {
	if n := len(names) - mostListed; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostListed], ", "), n)
	}
	return strings.Join(names, ", ")
}
