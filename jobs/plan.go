package jobs

import (
	"math/bits"
	"math/rand/v2"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Draw makes the plan of so many rounds, each of which has every case once, in
// an order of its own. Less than one round is no plan at all.
//
// The same cases, rounds and seed give the same plan for ever, on every
// machine: a run is continued, and repeated, by its seed. Round after round, the
// cases as they were given are shuffled by Fisher and Yates' method, from the
// last place down: for i = n−1 … 1, places i and j are swapped, where j is
// drawn evenly from 0 … i. Draws come from one PCG-DXSM generator whose state
// is (seed, 0) at the beginning, as rand.NewPCG makes it; a 64-bit output x
// becomes the upper half of the 128-bit product x × (i+1), and is drawn again
// while the lower half is below 2⁶⁴ mod (i+1) (Lemire, "Fast Random Integer
// Generation in an Interval", 2019). More rounds leave the first ones as they
// are.
func Draw(cases []stopwatt.Case, rounds int, seed uint64) stopwatt.Plan {
	source := rand.NewPCG(seed, 0)
	plan := stopwatt.Plan{Seed: seed}
	for round := 1; round <= rounds; round++ {
		for _, c := range shuffled(cases, source) {
			plan.Trials = append(plan.Trials, stopwatt.PlannedTrial{Round: round, Case: c, Revision: stopwatt.Head})
		}
	}
	return plan
}

// DrawRound draws one round of a comparison. The cases are shuffled; base and
// head of one stand back to back, for the noise that two trials share is the
// less the farther they lie apart, and a coin decides which goes first. Cases
// that stand alone, because they have no base or are nobody's change, are
// measured at the head only.
//
// A round depends on its number, the seed and its cases, and on no other round:
// its generator is the one of Draw with the state (seed, round). First the cases
// are shuffled, those of pairs before those alone, then one coin is drawn for
// each pair in its turn.
func DrawRound(pairs, alone []stopwatt.Case, round int, seed uint64) []stopwatt.PlannedTrial {
	source := rand.NewPCG(seed, uint64(round))
	var trials []stopwatt.PlannedTrial
	for _, c := range shuffled(slices.Concat(pairs, alone), source) {
		head := stopwatt.PlannedTrial{Round: round, Case: c, Revision: stopwatt.Head}
		base := stopwatt.PlannedTrial{Round: round, Case: c, Revision: stopwatt.Base}
		switch {
		case slices.Contains(alone, c):
			trials = append(trials, head)
		case below(2, source) == 0:
			trials = append(trials, base, head)
		default:
			trials = append(trials, head, base)
		}
	}
	return trials
}

// shuffled does not use rand.Shuffle, whose order no promise of Go's keeps.
func shuffled(cases []stopwatt.Case, source *rand.PCG) []stopwatt.Case {
	order := slices.Clone(cases)
	for i := len(order) - 1; i > 0; i-- {
		j := below(uint64(i)+1, source)
		order[i], order[j] = order[j], order[i]
	}
	return order
}

// below draws a number from 0 to n−1, all alike likely.
func below(n uint64, source *rand.PCG) uint64 {
	threshold := -n % n // 2⁶⁴ mod n
	for {
		high, low := bits.Mul64(source.Uint64(), n)
		if low >= threshold {
			return high
		}
	}
}
