package trial

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// told records what a harness has told: each benchmark as a part of the trial. A
// single one without a name is told of the trial itself.
func (r record) told(benchmarks []stopwatt.Benchmark) error {
	if len(benchmarks) == 0 {
		return errors.New("the harness told of no benchmark")
	}
	for _, b := range benchmarks {
		for _, note := range b.Notes {
			r.Warnings = append(r.Warnings, strings.TrimPrefix(b.Name+": "+note, ": "))
		}
		part, err := r.part(b)
		if err != nil {
			return err
		}
		if b.Name == "" && len(b.Params) == 0 && len(benchmarks) == 1 {
			r.Measurements = append(r.Measurements, part.Measurements...)
			r.Absent = append(r.Absent, part.Absent...)
			r.Repetitions = append(r.Repetitions, part.Repetitions...)
			return nil
		}
		if part.Case == r.Case {
			return errors.New("the harness told of several benchmarks, and one has no name")
		}
		if slices.ContainsFunc(r.Parts, func(p stopwatt.Part) bool { return p.Case == part.Case }) {
			return fmt.Errorf("the harness told of two benchmarks %s", part.Case.Workload)
		}
		r.Parts = append(r.Parts, part)
	}
	r.noted(steadyParts(r.Parts))
	return nil
}

// part is one benchmark as a case of its own.
func (r record) part(b stopwatt.Benchmark) (stopwatt.Part, error) {
	part := stopwatt.Part{Case: r.Case}
	part.Case.Workload += partName(b)
	for _, figure := range b.Figures {
		if err := r.define(figure.Metric); err != nil {
			return part, fmt.Errorf("%s: %w", part.Case.Workload, err)
		}
		name := figure.Metric.Name
		switch {
		case figure.Absent != "":
			part.Absent = append(part.Absent, stopwatt.Absence{Metric: name, Reason: figure.Absent})
			continue
		case math.IsNaN(figure.Value) || math.IsInf(figure.Value, 0):
			part.Absent = append(part.Absent, stopwatt.Absence{Metric: name, Reason: "the harness told no finite number"})
			continue
		}
		part.Measurements = append(part.Measurements, stopwatt.Measurement{Metric: name, Value: figure.Value})
		if len(figure.Values) > 0 {
			part.Repetitions = append(part.Repetitions, stopwatt.Repetitions{Metric: name, Values: figure.Values})
		}
	}
	return part, nil
}

// partName is what is added to the workload's name: /BENCHMARK/NAME=VALUE,….
func partName(b stopwatt.Benchmark) string {
	name := ""
	if b.Name != "" {
		name = "/" + b.Name
	}
	for i, p := range b.Params {
		name += map[bool]string{true: "/", false: ","}[i == 0] + p.Name + "=" + p.Value
	}
	return name
}

// define notes a metric that is the harness's own. One name has one unit and one
// direction.
func (r record) define(metric stopwatt.Metric) error {
	if known, ok := stopwatt.MetricNamed(metric.Name); ok {
		if known.Unit != metric.Unit {
			return fmt.Errorf("the harness tells %s in %q, which is a metric in %s", metric.Name, metric.Unit, known.Unit)
		}
		return nil
	}
	i := slices.IndexFunc(r.Defines, func(m stopwatt.Metric) bool { return m.Name == metric.Name })
	if i < 0 {
		r.Defines = append(r.Defines, metric)
		return nil
	}
	if before := r.Defines[i]; before.Unit != metric.Unit || before.Better != metric.Better {
		return fmt.Errorf("the harness tells %s in %q and in %q", metric.Name, before.Unit, metric.Unit)
	}
	return nil
}
