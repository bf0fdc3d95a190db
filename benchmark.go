package stopwatt

import "strings"

// A Benchmark is what a harness or a load tool says of one of the things that it
// measured.
type Benchmark struct {
	Name    string // as the harness names it, its parameters left out
	Params  []Param
	Figures []Figure
	// Notes are doubts about what was read, in words for people: a value that was
	// given as a text, a unit that nobody knows.
	Notes []string
}

// Label names the benchmark with its parameters, as a workload's name has them:
// NAME/KEY=VALUE,…
func (b Benchmark) Label() string {
	var params []string
	for _, p := range b.Params {
		params = append(params, p.Name+"="+p.Value)
	}
	if len(params) == 0 {
		return b.Name
	}
	return strings.TrimPrefix(b.Name+"/"+strings.Join(params, ","), "/")
}

// A Param is one parameter of a benchmark, as the harness wrote it.
type Param struct {
	Name, Value string
}

// A Figure is one number of a benchmark, in the base unit of its metric.
type Figure struct {
	// Metric is one of Metrics where it means the same; else its name and unit
	// are the harness's own.
	Metric Metric
	Value  float64
	Values []float64 // the single iterations behind Value, where the format has them
	Absent string    // why there is no number; then Value and Values are empty
}
