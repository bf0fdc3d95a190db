package web

import (
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// A twoShown lays two metrics of each case beside each other: whether what became
// faster became hungrier, too.
type twoShown struct {
	Names [2]string
	Rows  []twoRow
}

// A twoRow is one case with its comparisons of both metrics; nil: there is none.
type twoRow struct {
	Case  string
	Cells [2]*comparedShown
}

// twoOf lays time and energy, or else the first two metrics that are compared, beside
// each other; nil where no case has both. The order is that of the rows.
func twoOf(rows []comparedShown) *twoShown {
	var names []string
	for _, row := range rows {
		if name := row.comparison.Metric.Name; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return twoRank(a) - twoRank(b) })
	if len(names) < 2 {
		return nil
	}
	two := &twoShown{}
	both := false
	for _, row := range rows {
		column := slices.Index(names, row.comparison.Metric.Name)
		if column > 1 {
			continue
		}
		two.Names[column] = row.Metric
		at := slices.IndexFunc(two.Rows, func(r twoRow) bool { return r.Case == row.Case })
		if at < 0 {
			at = len(two.Rows)
			two.Rows = append(two.Rows, twoRow{Case: row.Case})
		}
		two.Rows[at].Cells[column] = &row
		both = both || two.Rows[at].Cells[0] != nil && two.Rows[at].Cells[1] != nil
	}
	if !both {
		return nil
	}
	return two
}

// twoRank puts time first, then energy, then what else is compared.
func twoRank(metric string) int {
	_, ofMeter := stopwatt.MeterOf(metric)
	switch {
	case metric == "time":
		return 0
	case ofMeter:
		return 1
	}
	return 2
}
