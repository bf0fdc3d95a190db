package orchestrator

import (
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// thresholds are what a case of this run is judged by.
func thresholds(run stopwatt.Run, c stopwatt.Case) []stopwatt.Threshold {
	workload, _ := run.Settings.Workload(c.Workload)
	return run.Thresholds(workload)
}

// judgedBy are those of a case's thresholds that one of its subjects is judged by.
//
// A suite judges servers, programs and harnesses by one list: a metric that others
// have, and that this has neither a figure of nor a reason why not, is none of its
// own. What nothing has stays, and will be missing. Beside its parts a harness is
// judged as a whole by what the suite names and no part has, like the energy of it:
// it is missing there once, and not of each part, for whatever is missing makes the
// family larger in which the others are judged.
func judgedBy(run stopwatt.Run, of, subject stopwatt.Case, trials []stopwatt.Trial) []stopwatt.Threshold {
	any := func(is func(stopwatt.Trial) bool) bool { return slices.ContainsFunc(trials, is) }
	whole := subject == of && any(func(t stopwatt.Trial) bool { return t.Case == of && len(t.Parts) > 0 })
	measured := any(func(t stopwatt.Trial) bool { return t.Case == of && t.Status == stopwatt.Valid })
	var own []stopwatt.Threshold
	for _, threshold := range thresholds(run, of) {
		name := threshold.Judged()
		has := any(func(t stopwatt.Trial) bool { return tells(t, subject, name) })
		elsewhere := any(func(t stopwatt.Trial) bool { return figured(t.Measurements, nil, name) || partsMeasure(t, name) })
		part := subject != of
		inParts := any(func(t stopwatt.Trial) bool { return t.Case == of && partsMeasure(t, name) })
		switch named := len(run.Settings.Judge.Metrics) > 0; {
		case whole && named && !inParts && (has || !elsewhere),
			part && has,
			!whole && !part && (has || !elsewhere || !measured):
			own = append(own, threshold)
		}
	}
	return own
}

// tells tells whether a trial has a figure of a subject, or a reason why it has none.
func tells(t stopwatt.Trial, subject stopwatt.Case, metric string) bool {
	if t.Case == subject {
		return figured(t.Measurements, t.Absent, metric)
	}
	return slices.ContainsFunc(t.Parts, func(p stopwatt.Part) bool {
		return p.Case == subject && figured(p.Measurements, p.Absent, metric)
	})
}

// partsMeasure tells whether a part of a trial has a figure.
func partsMeasure(t stopwatt.Trial, metric string) bool {
	return slices.ContainsFunc(t.Parts, func(p stopwatt.Part) bool { return figured(p.Measurements, nil, metric) })
}

func figured(measured []stopwatt.Measurement, absent []stopwatt.Absence, metric string) bool {
	return slices.ContainsFunc(measured, func(m stopwatt.Measurement) bool { return m.Metric == metric }) ||
		slices.ContainsFunc(absent, func(a stopwatt.Absence) bool { return a.Metric == metric })
}
