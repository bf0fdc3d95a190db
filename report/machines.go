package report

import (
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// GridsByMachine lays runs on several machines side by side: machines below each
// other, implementations side by side, and in the last column the ratio of one to
// the baseline, as Options.As has it, or how many times when that is values. It
// fails when the unit does not fit the metric.
func GridsByMachine(c stopwatt.MachineContrast, o Options) (Grids, error) {
	if err := CheckUnit(o.Unit, []stopwatt.Metric{c.Metric}); err != nil {
		return Grids{}, err
	}
	if o.As == "" || o.As == AsValue {
		o.As = AsTimes
	}
	s := sheet{title: label(c.Metric) + ", mean", metric: c.Metric.Name, unit: c.Metric.Unit, corner: "machine"}
	if unit := o.unitOf(c.Metric); unit != "" {
		s.title += ", " + unit
	}
	s.title += " (" + direction(c.Metric) + ")"
	s.columns = append(slices.Clone(c.Implementations), fmt.Sprintf("%s against %s", c.Implementation, c.Baseline))
	for _, block := range c.Workloads {
		for _, row := range block.Rows {
			s.rows = append(s.rows, sheetRow{group: block.Workload, name: row.Machine, cells: machineCells(c, row, o)})
		}
	}
	g := Grids{several: true, sheets: []sheet{s}, numbers: []sheet{s}, notes: []string{machineMeans(c, o.As)}}
	if len(c.Runs) > 0 {
		g.run.Suite = c.Runs[0].Suite
	}
	for _, run := range c.Runs {
		g.about = append(g.about, dotted(whichRun(run)...))
	}
	g.notes = append(g.notes, "Machines stand beside each other for reading; no verdict is given across them.")
	return g, nil
}

// machineCells are the values of a row in one unit, and the ratio.
func machineCells(c stopwatt.MachineContrast, row stopwatt.MachineRow, o Options) []sheetCell {
	block := stopwatt.WorkloadContrast{}
	for _, result := range row.Results {
		block.Rows = append(block.Rows, stopwatt.ContrastRow{Result: result})
	}
	var cells []sheetCell
	for _, result := range row.Results {
		cell := sheetCell{text: absent}
		if summary, has := result.Summary(c.Metric.Name); has {
			cell = sheetCell{valueInRow(c.Metric, summary, block, o), finite(summary.Mean)}
		}
		cells = append(cells, cell)
	}
	ratio := cellOfRatio(c.Metric, row.Ratio, o)
	if _, has := row.Results[0].Summary(c.Metric.Name); !has {
		ratio.text = absent
	}
	return append(cells, ratio)
}

// machineMeans says what the ratios are on average.
func machineMeans(c stopwatt.MachineContrast, as As) string {
	if c.Count == 0 {
		return ""
	}
	arithmetic := c.Arithmetic
	if as == AsTimes {
		arithmetic = c.Times
	}
	return fmt.Sprintf("%s against %s, mean of %s: %s (arithmetic), %s (geometric).", Clean(c.Implementation), Clean(c.Baseline),
		plural(c.Count, "row"), Ratio(c.Metric, arithmetic, as), Ratio(c.Metric, c.Geometric, as))
}
