package orchestrator

import (
	"fmt"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// notedFailures bounds how many failures are noted one by one: of a hundred cases
// that cannot be started, a few tell why.
const notedFailures = 5

// failureNotes say which sides of which cases failed, and why the last did. The
// tables of a run show the head alone: without them nobody would learn it of a base.
func failureNotes(cases []stopwatt.Case, trials []stopwatt.Trial) []string {
	var notes []string
	for _, of := range cases {
		for _, side := range []stopwatt.Revision{stopwatt.Base, stopwatt.Head} {
			if note := failureNote(of, side, trials); note != "" {
				notes = append(notes, note)
			}
		}
	}
	if more := len(notes) - notedFailures; more > 0 {
		notes = append(notes[:notedFailures], fmt.Sprintf("Trials of %d more failed", more))
	}
	return notes
}

// failureNote says how often one side of a case failed; empty where it did not.
func failureNote(of stopwatt.Case, side stopwatt.Revision, trials []stopwatt.Trial) string {
	failed, all, why := 0, 0, ""
	for _, trial := range trials {
		if trial.Case != of || trial.Revision != side {
			continue
		}
		all++
		if trial.Status == stopwatt.Invalid {
			failed++
			why, _, _ = strings.Cut(trial.Reason, "\n")
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("%s failed at the %s in %d of %d trials, the last time: %s", of, side, failed, all, strings.TrimSuffix(why, "; its last lines:"))
}

// absenceNotes say of what the suite names to be judged, and no trial has a figure
// of, why that is.
func absenceNotes(run stopwatt.Run, trials []stopwatt.Trial) []string {
	var notes []string
	valid := slices.ContainsFunc(trials, func(t stopwatt.Trial) bool { return t.Status == stopwatt.Valid })
	for _, threshold := range run.Settings.Judge.Metrics {
		name := threshold.Judged()
		has := slices.ContainsFunc(trials, func(t stopwatt.Trial) bool { return figured(t.Measurements, nil, name) || partsMeasure(t, name) })
		if !valid || has {
			continue
		}
		notes = append(notes, fmt.Sprintf("Nothing has a figure of %s (%s): mend that, or take it out of judge.metrics", name, whyAbsent(name, trials)))
	}
	return notes
}

// whyAbsent is the first reason that a trial gives for having no figure.
func whyAbsent(metric string, trials []stopwatt.Trial) string {
	for _, trial := range trials {
		for _, absence := range trial.Absent {
			if absence.Metric == metric {
				return absence.Reason
			}
		}
	}
	if _, isEnergy := stopwatt.MeterOf(metric); isEnergy {
		return "no meter of that name could be read: see stopwatt doctor"
	}
	return "no workload of these measures it"
}
