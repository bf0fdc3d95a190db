package report

import (
	"fmt"
	"math"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// A sheet is one table of names and cells, before it is written in some form.
type sheet struct {
	title   string
	metric  string // of all cells; empty where each has its own
	unit    string // of all numbers, as CSV names it
	corner  string // what the rows are
	columns []string
	rows    []sheetRow
}

// A sheetRow is one row. Rows of one group stand together under its name.
type sheetRow struct {
	group string
	name  string
	isSum bool // a mean of the others: its name is ours, not foreign
	cells []sheetCell
}

// A sheetCell is a number, nil where there is none, and how it is written.
type sheetCell struct {
	text   string
	number *float64
}

// sheetsOf lays a contrast out for reading: a sheet for each metric, workloads
// below each other and implementations side by side, or, of a single workload,
// one with its implementations below each other and metrics side by side.
func sheetsOf(c stopwatt.Contrast, o Options) []sheet {
	if len(c.Workloads) != 1 || len(c.Metrics) < 2 {
		return sheetsByMetric(c, o)
	}
	s := sheetOfWorkload(c, o)
	if o.Transpose {
		s = s.transposed()
	}
	return []sheet{s}
}

// sheetsByMetric lays a contrast out with a sheet for each metric.
func sheetsByMetric(c stopwatt.Contrast, o Options) []sheet {
	var sheets []sheet
	for m := range c.Metrics {
		s := sheetOfMetric(c, m, o)
		if o.Transpose {
			s = s.transposed()
		}
		sheets = append(sheets, s)
	}
	return sheets
}

// sheetOfMetric lays the metric at index out. The baseline's own column is left
// out of changes, which are changes of the others.
func sheetOfMetric(c stopwatt.Contrast, m int, o Options) sheet {
	from := 0
	if (o.As == AsTimes || o.As == AsPercent) && len(c.Implementations) > 1 {
		from = 1
	}
	metric := c.Metrics[m]
	s := sheet{title: sheetTitle(c, metric, o), metric: metric.Name, unit: formUnit(metric, o.As), corner: "workload", columns: c.Implementations[from:]}
	for i, block := range c.Workloads {
		if len(narrowed(c, i).Metrics) < len(c.Metrics) && !occursInAny(block, metric) && occursSomewhere(c, metric) {
			continue // it belongs to other workloads
		}
		row := sheetRow{name: block.Workload}
		for _, of := range block.Rows[from:] {
			row.cells = append(row.cells, cellOf(c, block, m, of, o))
		}
		s.rows = append(s.rows, row)
	}
	if o.As != AsValue && len(c.Workloads) > 1 && len(c.Means) > 0 {
		s.rows = append(s.rows, meanOfSheet(c, m, from, o))
	}
	return s
}

func occursSomewhere(c stopwatt.Contrast, metric stopwatt.Metric) bool {
	return slices.ContainsFunc(c.Workloads, func(w stopwatt.WorkloadContrast) bool { return occursInAny(w, metric) })
}

// sheetOfWorkload lays the only workload out, metrics side by side.
func sheetOfWorkload(c stopwatt.Contrast, o Options) sheet {
	block := c.Workloads[0]
	s := sheet{title: Clean(block.Workload), corner: "implementation"}
	if o.As != AsValue {
		s.title += ", against " + Clean(c.Baseline)
	}
	for _, metric := range c.Metrics {
		s.columns = append(s.columns, label(metric))
	}
	for i, of := range block.Rows {
		row := sheetRow{name: of.Implementation}
		if i == 0 && (o.As == AsTimes || o.As == AsPercent) {
			continue
		}
		for m := range c.Metrics {
			row.cells = append(row.cells, cellOf(c, block, m, of, o))
		}
		s.rows = append(s.rows, row)
	}
	return s
}

// cellOf is one case's cell. A case without the metric is absent.
func cellOf(c stopwatt.Contrast, block stopwatt.WorkloadContrast, m int, row stopwatt.ContrastRow, o Options) sheetCell {
	metric := c.Metrics[m]
	summary, has := row.Result.Summary(metric.Name)
	switch {
	case !has:
		return sheetCell{text: absent}
	case o.As == AsValue:
		return sheetCell{valueInRow(metric, summary, block, o), finite(summary.Mean)}
	}
	return cellOfRatio(metric, row.Ratios[m], o)
}

// valueInRow writes a mean in the unit of its row: the one that is asked for,
// which the title names, or else the one that suits the row.
func valueInRow(metric stopwatt.Metric, summary stopwatt.Summary, block stopwatt.WorkloadContrast, o Options) string {
	var summaries []stopwatt.Summary
	for _, row := range block.Rows {
		if s, has := row.Result.Summary(metric.Name); has {
			s.SD = 0 // it is not shown here
			summaries = append(summaries, s)
		}
	}
	scale := scaleOf(metric, o.Unit, summaries)
	if number := summary.Mean / scale.unit.size; scale.decimals > 0 {
		scale.decimals = min(scale.decimals, decimalsFor(number, 4)) // beside 38.6 stands 2,392
		if whole(scale, summaries) || number == 0 {
			scale.decimals = 0
		}
	}
	if scale.unit.name == o.unitOf(metric) {
		return scale.write(summary.Mean)
	}
	return scale.unit.with(scale.write(summary.Mean))
}

// whole tells whether all means are whole numbers of the unit, but for what
// floating-point numbers leave of them.
func whole(s scale, summaries []stopwatt.Summary) bool {
	for _, summary := range summaries {
		number := summary.Mean / s.unit.size
		if math.Abs(number-math.Round(number)) > 1e-9*math.Abs(number) {
			return false
		}
	}
	return true
}

// unitOf is the unit that is asked for, where it fits the metric.
func (o Options) unitOf(metric stopwatt.Metric) string {
	if u, fits := unitNamed(metric, o.Unit); fits && o.Unit != "" {
		return u.name
	}
	return ""
}

// cellOfRatio writes a ratio in the asked form; plain ones need no sign under a
// title that says "ratio".
func cellOfRatio(metric stopwatt.Metric, ratio stopwatt.Ratio, o Options) sheetCell {
	text := Ratio(metric, ratio, o.As)
	if o.As == AsRatio && ratio.Known {
		text = nearSign(ratio) + plainRatio(ratio.Value)
	}
	if !ratio.Known {
		return sheetCell{text: text}
	}
	switch o.As {
	case AsTimes:
		return sheetCell{text, finite(1 / ratio.Value)}
	case AsPercent:
		return sheetCell{text, finite(100 * (ratio.Value - 1))}
	}
	return sheetCell{text, finite(ratio.Value)}
}

// meanOfSheet is the row of means; the baseline's is 1 by definition.
func meanOfSheet(c stopwatt.Contrast, m, from int, o Options) sheetRow {
	row := sheetRow{name: meanName(c, m), isSum: true}
	if from == 0 {
		row.cells = append(row.cells, cellOfRatio(c.Metrics[m], stopwatt.Ratio{Value: 1, Known: true}, o))
	}
	for _, mean := range c.Means {
		cell := cellOfRatio(c.Metrics[m], shownMean(mean, m, o.As), o)
		cell.text += ofCount(mean, m, usualCount(c, m))
		row.cells = append(row.cells, cell)
	}
	return row
}

// shownMean is the mean of what is shown: of ratios, or of how many times.
func shownMean(mean stopwatt.MeanRow, m int, as As) stopwatt.Ratio {
	if as == AsTimes && m < len(mean.Times) {
		return mean.Times[m]
	}
	return mean.Ratios[m]
}

// meanName heads a mean with its kind and of how many workloads it is.
func meanName(c stopwatt.Contrast, m int) string {
	if n := usualCount(c, m); n > 0 {
		return fmt.Sprintf("%s mean of %d", c.Mean, n)
	}
	return fmt.Sprintf("%s mean", c.Mean)
}

// usualCount is the largest number of workloads that went into a metric's mean.
func usualCount(c stopwatt.Contrast, m int) int {
	n := 0
	for _, row := range c.Means {
		n = max(n, row.Counts[m])
	}
	return n
}

// sheetTitle says what the numbers of a metric's sheet are.
func sheetTitle(c stopwatt.Contrast, metric stopwatt.Metric, o Options) string {
	base := Clean(c.Baseline)
	switch o.As {
	case AsValue:
		title := label(metric) + ", mean"
		if unit := o.unitOf(metric); unit != "" {
			title += ", " + unit
		}
		return fmt.Sprintf("%s (%s)", title, direction(metric))
	case AsTimes:
		less, more := words(metric)
		return fmt.Sprintf("%s, how many times %s or %s than %s (%s)", label(metric), less, more, base, direction(metric))
	case AsPercent:
		return fmt.Sprintf("%s, change relative to that of %s (%s)", label(metric), base, direction(metric))
	}
	return fmt.Sprintf("%s, ratio to that of %s (1.00 = equal; %s)", label(metric), base, direction(metric))
}

// formUnit is the unit of a sheet's numbers.
func formUnit(metric stopwatt.Metric, as As) string {
	switch as {
	case AsValue:
		return metric.Unit
	case AsPercent:
		return "%"
	}
	return "1"
}

// transposed turns a sheet: its rows become columns.
func (s sheet) transposed() sheet {
	turned := s
	turned.columns, turned.rows = nil, nil
	turned.corner = map[string]string{"workload": "implementation", "implementation": "metric"}[s.corner]
	for _, row := range s.rows {
		turned.columns = append(turned.columns, row.name)
	}
	for i, name := range s.columns {
		row := sheetRow{name: name}
		for _, old := range s.rows {
			row.cells = append(row.cells, old.cells[i])
		}
		turned.rows = append(turned.rows, row)
	}
	return turned
}
