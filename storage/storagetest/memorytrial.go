package storagetest

import (
	"fmt"
	"maps"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// wholeAndParts are the figures of a trial, as of a part, before those of its
// parts.
func wholeAndParts(trial stopwatt.Trial) []stopwatt.Part {
	whole := stopwatt.Part{Case: trial.Case, Measurements: trial.Measurements, Absent: trial.Absent, Repetitions: trial.Repetitions}
	return append([]stopwatt.Part{whole}, trial.Parts...)
}

// check refuses what the database would refuse.
func (m *Memory) check(trial stopwatt.Trial) error {
	defined := maps.Clone(m.defined)
	var cases []stopwatt.Case
	for _, part := range wholeAndParts(trial) {
		if slices.Contains(cases, part.Case) {
			return fmt.Errorf("%s is there twice", part.Case)
		}
		cases = append(cases, part.Case)
		err := checkTwice(part)
		for _, name := range metricsOf(part) {
			if err == nil {
				err = m.know(name, trial.Defines)
			}
		}
		if err != nil {
			m.defined = defined
			return err
		}
	}
	return checkSamples(trial.Samples)
}

// checkTwice refuses what is no figure, and figures of one metric twice.
func checkTwice(part stopwatt.Part) error {
	var names []string
	for _, f := range part.Measurements {
		if notAFigure(f.Value) {
			return fmt.Errorf("%s is %g, which is no figure", f.Metric, f.Value)
		}
		if slices.Contains(names, f.Metric) {
			return fmt.Errorf("%s was measured twice", f.Metric)
		}
		names = append(names, f.Metric)
	}
	for _, r := range part.Repetitions {
		if slices.ContainsFunc(r.Values, notAFigure) {
			return fmt.Errorf("a repetition of %s is no figure", r.Metric)
		}
	}
	return nil
}

// know makes sure that a metric is known, or is from now on.
func (m *Memory) know(name string, defines []stopwatt.Metric) error {
	known, is := stopwatt.MetricNamed(name)
	if !is {
		known, is = m.defined[name]
	}
	for _, d := range defines {
		switch {
		case d.Name != name:
		case !is:
			if m.defined == nil {
				m.defined = map[string]stopwatt.Metric{}
			}
			known, is = stopwatt.Metric{Name: name, Unit: d.Unit, Better: d.Better}, true
			m.defined[name] = known
		case known.Unit != d.Unit || known.Better != d.Better:
			return fmt.Errorf("metric %q is in %s, better: %s, and in %s, better: %s", name, known.Unit, known.Better, d.Unit, d.Better)
		}
	}
	if !is {
		return fmt.Errorf("metric %q is not known", name)
	}
	return nil
}

// metricsOf are the metrics of a part's figures.
func metricsOf(part stopwatt.Part) []string {
	var names []string
	for _, f := range part.Measurements {
		names = append(names, f.Metric)
	}
	for _, a := range part.Absent {
		names = append(names, a.Metric)
	}
	for _, r := range part.Repetitions {
		names = append(names, r.Metric)
	}
	return names
}

// inOrder makes a copy of a stored trial into what Trials returns.
func (m *Memory) inOrder(trial *stopwatt.Trial) {
	trial.Samples, trial.Defines = nil, nil
	var names []string
	for _, part := range wholeAndParts(*trial) {
		names = append(names, metricsOf(part)...)
	}
	for _, name := range slices.Sorted(maps.Keys(m.defined)) {
		if slices.Contains(names, name) {
			trial.Defines = append(trial.Defines, m.defined[name])
		}
	}
	trial.Parts = slices.Clone(trial.Parts)
	for i := range trial.Parts {
		part := &trial.Parts[i]
		part.Measurements, part.Absent, part.Repetitions = figuresInOrder(part.Measurements, part.Absent, part.Repetitions)
	}
	trial.Measurements, trial.Absent, trial.Repetitions = figuresInOrder(trial.Measurements, trial.Absent, trial.Repetitions)
}

func figuresInOrder(figures []stopwatt.Measurement, absent []stopwatt.Absence, repeated []stopwatt.Repetitions) ([]stopwatt.Measurement, []stopwatt.Absence, []stopwatt.Repetitions) {
	return slices.SortedFunc(slices.Values(figures), func(a, b stopwatt.Measurement) int { return stopwatt.CompareMetrics(a.Metric, b.Metric) }),
		slices.SortedFunc(slices.Values(absent), func(a, b stopwatt.Absence) int { return stopwatt.CompareMetrics(a.Metric, b.Metric) }),
		slices.SortedFunc(slices.Values(repeated), func(a, b stopwatt.Repetitions) int { return stopwatt.CompareMetrics(a.Metric, b.Metric) })
}
