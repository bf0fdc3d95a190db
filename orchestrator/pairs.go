package orchestrator

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
)

// A Comparing is which cases of a run are measured how, when it has a base.
type Comparing struct {
	Pairs     []stopwatt.Case // base and head, back to back
	Alone     []stopwatt.Case // at the head only: base has nothing like it, or it is the control
	Identical []stopwatt.Case // not measured: image and settings are the same
	Unmatched []stopwatt.Case // of those alone: base has them, but its image cannot be had
	// Base is how the base's implementations are run, where base's own suite says so.
	Base map[string]stopwatt.Implementation
	// BaseWorkloads are the workloads as they are asked of base: its answers are
	// checked by what its own suite expects.
	BaseWorkloads map[string]stopwatt.Workload
	// Differing are those of the pairs of which other answers are expected of head
	// than of base: measured in the rounds until the first look, and not judged.
	Differing []stopwatt.Case
	Removed   []stopwatt.Case // cases of the base that the head has no more
	// Calibrating measures the pairs in every round of the plan and judges nothing:
	// base and head are the same, and what differs is the machine's.
	Calibrating bool
	// Calibration is what is known of how small a change this machine can see;
	// zero when it was never calibrated.
	Calibration stopwatt.Calibration
	// Notes are what base and head differ in beside the change, in words.
	Notes []string
}

// nothing tells whether nothing has to be measured: the control stands beside what
// is, and is measured for no sake of its own.
func (c Comparing) nothing(control string) bool {
	return len(c.Pairs) == 0 && !slices.ContainsFunc(c.Alone, func(of stopwatt.Case) bool { return of.Implementation != control })
}

// Paired lays the trials of a run out for judgement: every comparison that is
// expected, whether or not it has pairs already.
func (c Comparing) Paired(run stopwatt.Run, trials []stopwatt.Trial) []stopwatt.PairedTrials {
	byCase := map[stopwatt.Case][]stopwatt.Trial{}
	for _, trial := range trials {
		byCase[trial.Case] = append(byCase[trial.Case], trial)
	}
	var all []stopwatt.PairedTrials
	for _, of := range run.Settings.Cases() {
		p := stopwatt.PairedTrials{
			Case:      of,
			Identical: slices.Contains(c.Identical, of),
			Differing: slices.Contains(c.Differing, of),
			New:       slices.Contains(c.Alone, of) && of.Implementation != run.Settings.Control && !slices.Contains(c.Unmatched, of),
		}
		unmatched := slices.Contains(c.Unmatched, of)
		if !p.Identical && !p.New && !unmatched && !slices.Contains(c.Pairs, of) {
			continue // not chosen, or the control
		}
		p.GivenUp = unmatched || givenUp(byCase[of])
		var again []stopwatt.PlannedTrial
		if !p.GivenUp {
			again = void(byCase[of], of, 1, math.MaxInt)
		}
		for _, subject := range subjects(of, byCase[of]) {
			for _, threshold := range judgedBy(run, of, subject, trials) {
				all = append(all, c.comparison(p, run, subject, threshold, byCase[of], again))
			}
		}
	}
	return all
}

// comparison is what is judged of one subject by one metric. Rounds that are still to
// be measured again have not been measured for good.
func (c Comparing) comparison(p stopwatt.PairedTrials, run stopwatt.Run, subject stopwatt.Case, threshold stopwatt.Threshold, trials []stopwatt.Trial, again []stopwatt.PlannedTrial) stopwatt.PairedTrials {
	name := threshold.Judged()
	if run.Settings.Judge.Net {
		name = threshold.Metric
	}
	p.Case, p.Threshold = subject, threshold.Relative
	p.Metric = metricOf(name, trials)
	p.Floor = c.Calibration.Smallest(subject, name)
	p.Pairs, p.Base, p.Head = regression.Pairs(trials, subject, name)
	p.Pairs = slices.DeleteFunc(p.Pairs, func(pair stopwatt.Pair) bool {
		return slices.ContainsFunc(again, func(a stopwatt.PlannedTrial) bool { return a.Round == pair.Round })
	})
	return p
}

// subjects are what is judged of a case: what its harness measured, and itself.
func subjects(of stopwatt.Case, trials []stopwatt.Trial) []stopwatt.Case {
	var parts []stopwatt.Case
	for _, trial := range trials {
		for _, part := range trial.Parts {
			if !slices.Contains(parts, part.Case) {
				parts = append(parts, part.Case)
			}
		}
	}
	if len(parts) == 0 {
		return []stopwatt.Case{of}
	}
	slices.SortFunc(parts, func(a, b stopwatt.Case) int { return strings.Compare(a.Workload, b.Workload) })
	return append(parts, of)
}

// An attempt is base and head of one round, measured back to back.
type attempt struct {
	round, number int
	base, head    stopwatt.Trial // either may be missing, with no Status
}

// complete tells whether both trials have been carried out: a run may have been
// interrupted between them.
func (a attempt) complete() bool { return a.base.Status != "" && a.head.Status != "" }

// whole tells whether both trials may be used.
func (a attempt) whole() bool {
	return a.base.Status == stopwatt.Valid && a.head.Status == stopwatt.Valid
}

// attemptsOf are all of a case, by round and number.
func attemptsOf(trials []stopwatt.Trial) []attempt {
	type key struct{ round, number int }
	found := map[key]attempt{}
	for _, trial := range trials {
		k := key{trial.Round, trial.Attempt}
		a := found[k]
		a.round, a.number = trial.Round, trial.Attempt
		if trial.Revision == stopwatt.Base {
			a.base = trial
		} else {
			a.head = trial
		}
		found[k] = a
	}
	return slices.SortedFunc(maps.Values(found), func(a, b attempt) int {
		return cmp.Or(a.round-b.round, a.number-b.number)
	})
}

// metricOf is the metric of this name: a harness may have defined it.
func metricOf(name string, trials []stopwatt.Trial) stopwatt.Metric {
	if metric, known := stopwatt.MetricNamed(name); known {
		return metric
	}
	for _, trial := range trials {
		for _, metric := range trial.Defines {
			if metric.Name == name {
				return metric
			}
		}
	}
	return stopwatt.Metric{Name: name, Unit: "1", Better: stopwatt.Neither}
}

// givenUp tells whether the last trials of a side failed so often in a row that
// no more of the case are tried.
func givenUp(trials []stopwatt.Trial) bool {
	streaks := map[stopwatt.Revision]streak{}
	for _, trial := range slices.SortedFunc(slices.Values(trials), func(a, b stopwatt.Trial) int { return a.Position - b.Position }) {
		streaks[trial.Revision] = streaks[trial.Revision].after(trial)
	}
	return max(streaks[stopwatt.Base].length, streaks[stopwatt.Head].length) >= giveUpAfter
}

// void lists what of the rounds from first to last has to be measured once more:
// pairs of which a side failed, so often at most, and attempts that were broken off.
func void(trials []stopwatt.Trial, of stopwatt.Case, first, last int) []stopwatt.PlannedTrial {
	var mine []stopwatt.Trial
	for _, trial := range trials {
		if trial.Case == of && trial.Round >= first && trial.Round <= last {
			mine = append(mine, trial)
		}
	}
	latest := map[int]attempt{}
	for _, a := range attemptsOf(mine) {
		if before, seen := latest[a.round]; !seen || !before.whole() {
			latest[a.round] = a
		}
	}
	var again []stopwatt.PlannedTrial
	for _, round := range slices.Sorted(maps.Keys(latest)) {
		a := latest[round]
		planned := stopwatt.PlannedTrial{Round: round, Case: of, Attempt: a.number}
		switch {
		case a.whole() || a.complete() && a.number >= attemptsAgain:
		case a.complete():
			planned.Attempt++
			again = append(again, planned)
		case a.number > 0:
			again = append(again, planned)
		}
	}
	return again
}

// attemptsAgain is how often a void pair is measured once more: what fails three
// times more does not fail by chance.
const attemptsAgain = 3
