package report

import (
	"fmt"

	"gitlab.com/stopwatt/stopwatt"
)

// ratios adds one grid per metric: workloads below each other, implementations
// side by side, the mean in the last row.
func (p *page) ratios() {
	for m := range p.contrast.Metrics {
		p.lines = append(p.lines, "")
		p.text(p.title(m))
		p.block(p.ratioGrid(m))
	}
	if len(p.contrast.Workloads) > 1 {
		p.note("%s", meanNote(p.contrast))
	}
}

// title says what the numbers of a metric's grid are.
func (p *page) title(m int) string {
	metric, base := p.contrast.Metrics[m], Clean(p.contrast.Baseline)
	switch p.options.As {
	case AsTimes:
		less, more := words(metric)
		return fmt.Sprintf("%s, how many times %s or %s than %s (%s)", label(metric), less, more, base, direction(metric))
	case AsPercent:
		return fmt.Sprintf("%s, change relative to that of %s (%s)", label(metric), base, direction(metric))
	}
	return fmt.Sprintf("%s, ratio to that of %s (1.00 = equal; %s)", label(metric), base, direction(metric))
}

// ratioGrid lays one metric out. The baseline's own column is shown with
// ratios, where it says "1.00"; changes are changes of the others.
func (p *page) ratioGrid(m int) grid {
	from := 0
	if p.options.As != AsRatio && len(p.contrast.Implementations) > 1 {
		from = 1
	}
	names := p.contrast.Implementations[from:]
	g := grid{corner: []string{""}}
	for _, name := range p.workloads {
		g.rows = append(g.rows, gridRow{name: []string{name}})
	}
	withMean := len(p.contrast.Workloads) > 1 && len(p.contrast.Means) > 0
	if withMean {
		g.rows = append(g.rows, gridRow{name: []string{p.meanName(m)}})
	}
	for i := range names {
		column := gridColumn{}
		for _, block := range p.contrast.Workloads {
			column.cells = append(column.cells, []string{p.ratioCell(m, block.Rows[from+i])})
		}
		if withMean {
			column.cells = append(column.cells, []string{p.meanOrOne(m, from+i)})
		}
		g.columns = append(g.columns, column)
	}
	p.nameColumns(&g, names)
	return g
}

// nameColumns heads the columns with the implementations' names, cut as little
// as lets all columns stand beside each other; where nothing does, hardly.
func (p *page) nameColumns(g *grid, names []string) {
	var shown []string
	for limit := longestName; limit >= 8; limit-- {
		if shown = p.headed(g, names, limit); len(g.blocks(p.options.Width)) <= 1 {
			break
		}
	}
	if len(g.blocks(p.options.Width)) > 1 {
		shown = p.headed(g, names, longestName)
	}
	p.longer(names, shown)
}

// headed heads the columns with names of at most so many columns' width.
func (p *page) headed(g *grid, names []string, limit int) []string {
	shown := shorten(names, limit)
	for i := range g.columns {
		g.columns[i].heading = []string{shown[i]}
	}
	return shown
}

// ratioCell writes one ratio; a case without the metric is absent.
func (p *page) ratioCell(m int, row stopwatt.ContrastRow) string {
	metric := p.contrast.Metrics[m]
	if _, has := row.Result.Summary(metric.Name); !has {
		return absent
	}
	return p.bare(m, row.Ratios[m])
}

// bare writes a ratio in the asked form; plain ones need no sign in a grid that
// is headed "ratio".
func (p *page) bare(m int, ratio stopwatt.Ratio) string {
	if p.options.As == AsRatio && ratio.Known {
		return nearSign(ratio) + plainRatio(ratio.Value)
	}
	return Ratio(p.contrast.Metrics[m], ratio, p.options.As)
}

// meanName heads the mean row with its kind and of how many workloads it is.
func (p *page) meanName(m int) string {
	if n := usualCount(p.contrast, m); n > 0 {
		return fmt.Sprintf("%s mean of %d", p.contrast.Mean, n)
	}
	return fmt.Sprintf("%s mean", p.contrast.Mean)
}

// usualCount is the largest number of workloads that went into a metric's mean.
func usualCount(c stopwatt.Contrast, m int) int {
	n := 0
	for _, row := range c.Means {
		n = max(n, row.Counts[m])
	}
	return n
}

// meanOrOne writes the mean ratio of the implementation at index; the
// baseline's is 1 by definition.
func (p *page) meanOrOne(m, index int) string {
	if index == 0 {
		return p.bare(m, stopwatt.Ratio{Value: 1, Known: true})
	}
	row := p.contrast.Means[index-1]
	return p.bare(m, row.Ratios[m]) + ofCount(row, m, usualCount(p.contrast, m))
}
