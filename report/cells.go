package report

import (
	"gitlab.com/stopwatt/stopwatt"
)

// A CellGrid is one metric of a contrast, written cell by cell: for pages that put
// more than text into them.
type CellGrid struct {
	Title     string
	Heading   string // metric and unit
	Direction string
	Blocks    []CellBlock
	MeanName  string // empty where there is no mean
	Means     []Cell // the baseline left out
	Notes     []string
}

// A CellBlock is one workload.
type CellBlock struct {
	Workload string
	Load     string
	Cells    []Cell // one for each implementation
}

// A Cell is one case. Foreign text is clean.
type Cell struct {
	Case       stopwatt.Case
	Color      int
	IsBaseline bool
	Value      string // mean ± standard deviation with its unit
	Change     string // beside the baseline, in the asked form; empty of the baseline itself
	Sense      Sense
	N          int
	Absent     string // why there is nothing else
	Number     float64
}

// Sense says which way a cell lies from its baseline. It is for reading, and no
// verdict.
type Sense string

// The senses.
const (
	SenseNone   Sense = ""
	SenseBetter Sense = "better"
	SenseWorse  Sense = "worse"
)

// CellsOf lays the only metric of a contrast out. AsValue shows ratios beside the
// values.
func CellsOf(run stopwatt.Run, c stopwatt.Contrast, o Options) CellGrid {
	metric := c.Metrics[0]
	as := o.As
	if as == AsValue || as == "" {
		as = AsRatio
	}
	g := CellGrid{Title: sheetTitle(c, metric, Options{As: as}), Heading: heading(metric, unit{name: "1"}), Direction: direction(metric)}
	for i, block := range c.Workloads {
		if len(c.Workloads) > 1 && !occursInAny(block, metric) && occursSomewhere(c, metric) {
			continue // it belongs to other workloads
		}
		g.Blocks = append(g.Blocks, cellBlock(run, c, c.Workloads[i], o, as))
	}
	if len(c.Workloads) > 1 && len(c.Means) > 0 {
		g.MeanName = meanName(c, 0)
		for i, mean := range c.Means {
			ratio := shownMean(mean, 0, as)
			g.Means = append(g.Means, Cell{
				Case: stopwatt.Case{Implementation: mean.Implementation}, Color: (i + 1) % barColors,
				Change: Ratio(metric, ratio, as) + ofCount(mean, 0, usualCount(c, 0)), Sense: senseOf(metric, mean.Ratios[0]),
			})
		}
	}
	g.Notes = append(standNotes(run, c, ""), doubts(c, as)...)
	return g
}

// cellBlock lays one workload out.
func cellBlock(run stopwatt.Run, c stopwatt.Contrast, block stopwatt.WorkloadContrast, o Options, as As) CellBlock {
	metric := c.Metrics[0]
	out := CellBlock{Workload: block.Workload, Load: loadOf(run, block.Workload)}
	scale, written := figuresOf(c, block, 0, o.Unit)
	for i, row := range block.Rows {
		cell := Cell{Case: stopwatt.Case{Implementation: row.Implementation, Workload: block.Workload}, Color: i % barColors, IsBaseline: row.Implementation == c.Baseline}
		summary, has := row.Result.Summary(metric.Name)
		if !has {
			cell.Absent = whyRowAbsent(row.Result, metric.Name)
			out.Cells = append(out.Cells, cell)
			continue
		}
		cell.Value, cell.N, cell.Number = scale.unit.with(written[i].value), summary.N, summary.Mean
		if summary.N > 1 { // of one trial nobody knows the spread
			cell.Value = scale.unit.with(written[i].value + " ± " + written[i].spread)
		}
		if !cell.IsBaseline {
			cell.Change, cell.Sense = Ratio(metric, row.Ratios[0], as), senseOf(metric, row.Ratios[0])
		}
		out.Cells = append(out.Cells, cell)
	}
	return out
}

// senseOf is which way a ratio lies. One that its trials do not tell from 1 lies no
// way.
func senseOf(metric stopwatt.Metric, ratio stopwatt.Ratio) Sense {
	if !ratio.Known || ratio.Near || ratio.Value == 1 || metric.Better == stopwatt.Neither {
		return SenseNone
	}
	if (ratio.Value > 1) == (metric.Better == stopwatt.More) {
		return SenseBetter
	}
	return SenseWorse
}
