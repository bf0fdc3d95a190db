package regression

import (
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// LayMachines lays runs of one suite, each on a machine of its own, side by
// side: for each workload and machine the figures of all implementations in one
// metric, and the ratio of one implementation to the baseline. An empty baseline
// is the first run's own, an empty implementation the last of the others.
//
// It fails for names that no run has, naming those that there are.
func LayMachines(runs []stopwatt.Results, baseline, against string, metric stopwatt.Metric) (stopwatt.MachineContrast, error) {
	c := stopwatt.MachineContrast{Baseline: baseline, Implementation: against, Metric: metric}
	var tried []stopwatt.CaseResult
	for _, results := range runs {
		c.Runs = append(c.Runs, results.Run)
		tried = append(tried, triedAtHead(results)...)
	}
	if c.Baseline == "" && len(runs) > 0 {
		c.Baseline = runs[0].Run.Baseline
	}
	names := appendNew(nil, tried, implementation)
	if c.Implementation == "" {
		c.Implementation = lastOther(names, c.Baseline)
	}
	for _, name := range []string{c.Baseline, c.Implementation} {
		if !slices.Contains(names, name) {
			return stopwatt.MachineContrast{}, fmt.Errorf("%q is no implementation of these runs; they have %s", name, strings.Join(names, ", "))
		}
	}
	c.Implementations = appendNew([]string{c.Baseline}, tried, implementation)
	var cells []cell
	for _, name := range appendNew(nil, tried, workload) {
		block := layMachineBlock(c, runs, name)
		for _, row := range block.Rows {
			if base := row.Results[0]; row.Ratio.Known && meanOf(base, metric) != 0 {
				cells = append(cells, cell{Ratio: row.Ratio})
			}
		}
		c.Workloads = append(c.Workloads, block)
	}
	c.Count = len(cells)
	c.Arithmetic, c.Geometric = meanRatio(stopwatt.Arithmetic, cells), meanRatio(stopwatt.Geometric, cells)
	c.Arithmetic.Near, c.Geometric.Near = false, false // across machines nothing is said
	c.Times = timesOf(stopwatt.Arithmetic, c.Arithmetic, cells)
	return c, nil
}

// lastOther is the last name that is not the baseline's.
func lastOther(names []string, baseline string) string {
	last := ""
	for _, name := range names {
		if name != baseline {
			last = name
		}
	}
	return last
}

// layMachineBlock makes the block of one workload: a row for each machine that
// has tried it.
func layMachineBlock(c stopwatt.MachineContrast, runs []stopwatt.Results, workload string) stopwatt.MachineBlock {
	block := stopwatt.MachineBlock{Workload: workload}
	for _, results := range runs {
		tried := triedAtHead(results)
		if !slices.ContainsFunc(tried, func(r stopwatt.CaseResult) bool { return r.Case.Workload == workload }) {
			continue
		}
		row := stopwatt.MachineRow{Machine: results.Run.Machine.Name}
		for _, name := range c.Implementations {
			row.Results = append(row.Results, resultOf(tried, stopwatt.Case{Implementation: name, Workload: workload}))
		}
		against := row.Results[slices.Index(c.Implementations, c.Implementation)]
		row.Ratio = ratioToBaseline(against, row.Results[0], c.Metric, c.Implementation == c.Baseline)
		row.Ratio.Near = row.Ratio.Near && !published(stopwatt.Contrast{Imported: results.Run.Imported}, against, row.Results[0], c.Metric)
		block.Rows = append(block.Rows, row)
	}
	return block
}
