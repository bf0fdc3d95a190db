package harness

import (
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Results are the benchmarks of one file that is imported.
type Results struct {
	File   string
	Format string
	// Implementation and Machine are whose the figures are and where they were
	// measured, where a column of the file does not say so.
	Implementation string
	Machine        string
	Benchmarks     []stopwatt.Benchmark
}

// A Sheet is what was measured on one machine, laid out as the trials of a run:
// one for each implementation and benchmark.
type Sheet struct {
	Machine         string
	Implementations []string // in the order in which they come, as all others
	Workloads       []stopwatt.Workload
	Trials          []stopwatt.Trial // of one round, without their time
}

// Lay lays files out machine by machine. A case that is there twice is an error:
// which of its figures is meant, nobody knows.
func Lay(files []Results) ([]Sheet, error) {
	var sheets []*Sheet
	from := map[[3]string]string{} // the file of a machine's case
	for _, file := range files {
		for _, b := range file.Benchmarks {
			implementation, machine := file.Implementation, file.Machine
			b.Params = slices.Clone(b.Params)
			b.Params = takeOut(b.Params, "implementation", file.Format, &implementation)
			b.Params = takeOut(b.Params, "machine", file.Format, &machine)
			of := stopwatt.Case{Implementation: implementation, Workload: b.Label()}
			if of.Workload == "" {
				return nil, fmt.Errorf("%s: the benchmark has no name", file.File)
			}
			key := [3]string{machine, of.Implementation, of.Workload}
			if other, twice := from[key]; twice {
				return nil, fmt.Errorf("%s: %s is there already, in %s", file.File, of, other)
			}
			from[key] = file.File
			sheetOf(&sheets, machine).add(of, b, file.Format)
		}
	}
	laid := make([]Sheet, len(sheets))
	for i, sheet := range sheets {
		laid[i] = *sheet
	}
	return laid, nil
}

// takeOut takes the parameter out that says whose figures a CSV has.
func takeOut(params []stopwatt.Param, name, format string, into *string) []stopwatt.Param {
	at := slices.IndexFunc(params, func(p stopwatt.Param) bool { return p.Name == name })
	if at < 0 || format != "csv" {
		return params
	}
	*into = params[at].Value
	return slices.Delete(params, at, at+1)
}

// sheetOf is the machine's sheet, a new one where it has none.
func sheetOf(sheets *[]*Sheet, machine string) *Sheet {
	for _, sheet := range *sheets {
		if sheet.Machine == machine {
			return sheet
		}
	}
	sheet := &Sheet{Machine: machine}
	*sheets = append(*sheets, sheet)
	return sheet
}

// add adds a benchmark as a trial.
func (s *Sheet) add(of stopwatt.Case, b stopwatt.Benchmark, format string) {
	if !slices.Contains(s.Implementations, of.Implementation) {
		s.Implementations = append(s.Implementations, of.Implementation)
	}
	if !slices.ContainsFunc(s.Workloads, func(w stopwatt.Workload) bool { return w.Name == of.Workload }) {
		s.Workloads = append(s.Workloads, stopwatt.Workload{
			Name:    of.Workload,
			Harness: &stopwatt.Harness{Format: format},
			Params:  b.Params,
		})
	}
	trial := stopwatt.Trial{
		PlannedTrial: stopwatt.PlannedTrial{Round: 1, Case: of, Revision: stopwatt.Head},
		Position:     len(s.Trials) + 1,
		Status:       stopwatt.Valid,
		Warnings:     b.Notes,
	}
	for _, figure := range b.Figures {
		enter(&trial, figure)
	}
	s.Trials = append(s.Trials, trial)
}

// enter enters a figure into a trial.
func enter(trial *stopwatt.Trial, figure stopwatt.Figure) {
	name := figure.Metric.Name
	if _, known := stopwatt.MetricNamed(name); !known {
		trial.Defines = append(trial.Defines, figure.Metric)
	}
	if figure.Absent != "" {
		trial.Absent = append(trial.Absent, stopwatt.Absence{Metric: name, Reason: figure.Absent})
		return
	}
	trial.Measurements = append(trial.Measurements, stopwatt.Measurement{Metric: name, Value: figure.Value})
	if len(figure.Values) > 0 {
		trial.Repetitions = append(trial.Repetitions, stopwatt.Repetitions{Metric: name, Values: figure.Values})
	}
}
