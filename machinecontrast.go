package stopwatt

// A MachineContrast lays runs of one suite on several machines side by side, for
// reading. Nothing is said across machines: each ratio is of figures of one.
type MachineContrast struct {
	// Implementation is held against Baseline.
	Implementation, Baseline string
	Metric                   Metric
	Implementations          []string // the baseline first
	Runs                     []Run    // one of each machine
	Workloads                []MachineBlock
	// Arithmetic and Geometric are the means of all ratios that are known, and of
	// how many: Count. Times is as in MeanRow.
	Arithmetic, Geometric, Times Ratio
	Count                        int
}

// A MachineBlock is a MachineContrast's block for one workload.
type MachineBlock struct {
	Workload string
	Rows     []MachineRow
}

// A MachineRow is one workload on one machine.
type MachineRow struct {
	Machine string       // by its name
	Results []CaseResult // in the order of Implementations; one that was never tried is empty
	Ratio   Ratio        // of Implementation's mean to the baseline's
}
