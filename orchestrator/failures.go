package orchestrator

import (
	"fmt"
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
