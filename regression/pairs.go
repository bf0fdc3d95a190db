package regression

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Pairs takes one case and one metric out of a run's trials: for each round that
// both sides have been measured in, the pair of the last attempt, NaN where a
// trial is invalid or has no number. It counts the trials of each side, those of
// all attempts.
//
// What a harness measured by itself is a case of its own, found among the parts.
func Pairs(trials []stopwatt.Trial, of stopwatt.Case, metric string) (pairs []stopwatt.Pair, base, head stopwatt.Tally) {
	bases, heads := map[int]stopwatt.Trial{}, map[int]stopwatt.Trial{}
	for _, trial := range trials {
		if !measures(trial, of) {
			continue
		}
		switch trial.Revision {
		case stopwatt.Base:
			base = tallied(base, trial)
			keepLater(bases, trial)
		case stopwatt.Head:
			head = tallied(head, trial)
			keepLater(heads, trial)
		}
	}
	for round, trial := range heads {
		if other, both := bases[round]; both && other.Attempt == trial.Attempt {
			pairs = append(pairs, pairOf(other, trial, of, metric))
		}
	}
	slices.SortFunc(pairs, func(a, b stopwatt.Pair) int { return cmp.Compare(a.Round, b.Round) })
	return pairs, base, head
}

// measures tells whether a trial is one of the case, or of what the case is a part
// of: an invalid trial has no parts, and fails for all of them.
func measures(trial stopwatt.Trial, of stopwatt.Case) bool {
	return trial.Case == of || trial.Case.Implementation == of.Implementation &&
		strings.HasPrefix(of.Workload, trial.Case.Workload+"/")
}

// keepLater keeps the trial of the greatest attempt of each round.
func keepLater(kept map[int]stopwatt.Trial, trial stopwatt.Trial) {
	if had, is := kept[trial.Round]; !is || trial.Attempt > had.Attempt {
		kept[trial.Round] = trial
	}
}

// tallied counts a trial in.
func tallied(t stopwatt.Tally, trial stopwatt.Trial) stopwatt.Tally {
	t.Trials++
	if trial.Status != stopwatt.Valid {
		t.Invalid++
	}
	return t
}

// pairOf lays two trials of a round side by side.
func pairOf(base, head stopwatt.Trial, of stopwatt.Case, metric string) stopwatt.Pair {
	pair := stopwatt.Pair{
		Round: head.Round, HeadFirst: head.Position < base.Position, At: base.Started,
		Base: valueOf(base, of, metric), Head: valueOf(head, of, metric),
	}
	if pair.HeadFirst {
		pair.At = head.Started
	}
	if requests := min(valueOf(base, of, "requests"), valueOf(head, of, "requests")); !math.IsNaN(requests) {
		pair.Requests = requests
	}
	return pair
}

// valueOf is what a valid trial has for a case's metric, else NaN.
func valueOf(trial stopwatt.Trial, of stopwatt.Case, metric string) float64 {
	part := stopwatt.Trial{}
	if trial.Case == of {
		part = trial
	}
	for _, p := range trial.Parts {
		if p.Case == of {
			part.Measurements = p.Measurements
		}
	}
	if value, has := part.Value(metric); has && trial.Status == stopwatt.Valid {
		return value
	}
	return math.NaN()
}
