package jobs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

var twelve = stopwatt.Suite{
	Implementations: []stopwatt.Implementation{{Name: "go"}, {Name: "rust"}, {Name: "rust-arena"}, {Name: "v1.0"}},
	Workloads:       []stopwatt.Workload{{Name: "csv"}, {Name: "static"}, {Name: "allocations"}},
}.Cases()

// TestASeedGivesTheSamePlanForEver compares with plans that no -update may
// change: runs that an older version began are continued by their seed.
func TestASeedGivesTheSamePlanForEver(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, seed := range []uint64{0, 48213, 1<<64 - 1} {
		plan := Draw(twelve, 3, seed)
		fmt.Fprintf(&got, "seed %d\n", plan.Seed)
		for _, trial := range plan.Trials {
			fmt.Fprintf(&got, "%d %s %s\n", trial.Round, trial.Case, trial.Revision)
		}
	}
	same(t, "testdata/plan.txt", got.String())
}

func TestEveryRoundHasEveryCaseOnce(t *testing.T) {
	t.Parallel()
	plan := Draw(twelve, 50, 7)
	if plan.Rounds() != 50 || len(plan.Trials) != 50*len(twelve) {
		t.Fatalf("%d rounds, %d trials", plan.Rounds(), len(plan.Trials))
	}
	for round := range 50 {
		seen := map[stopwatt.Case]bool{}
		for _, trial := range plan.Trials[round*len(twelve) : (round+1)*len(twelve)] {
			if trial.Round != round+1 {
				t.Fatalf("a trial of round %d stands in round %d", trial.Round, round+1)
			}
			seen[trial.Case] = true
		}
		if len(seen) != len(twelve) {
			t.Fatalf("round %d has %d different cases", round+1, len(seen))
		}
	}
}

func TestMoreRoundsLeaveTheFirstAsTheyAre(t *testing.T) {
	t.Parallel()
	few, many := Draw(twelve, 3, 9), Draw(twelve, 8, 9)
	if !slices.Equal(few.Trials, many.Trials[:len(few.Trials)]) {
		t.Error("the first three rounds differ")
	}
}

// TestEveryCaseComesFirstAboutAsOften counts over 12,000 rounds of one seed, so
// that it gives the same counts at each run. A thousand are expected, with a
// standard deviation of thirty.
func TestEveryCaseComesFirstAboutAsOften(t *testing.T) {
	t.Parallel()
	first := map[stopwatt.Case]int{}
	for i, trial := range Draw(twelve, 12_000, 1).Trials {
		if i%len(twelve) == 0 {
			first[trial.Case]++
		}
	}
	for _, c := range twelve {
		if n := first[c]; n < 850 || n > 1150 {
			t.Errorf("%s comes first %d times", c, n)
		}
	}
}

// TestARoundOfAComparisonIsTheSameForEver is held like the plans above.
func TestARoundOfAComparisonIsTheSameForEver(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	for _, round := range []int{1, 2, 44} {
		for _, trial := range DrawRound(twelve[:4], twelve[4:6], round, 48213) {
			fmt.Fprintf(&got, "%d %s %s\n", trial.Round, trial.Case, trial.Revision)
		}
	}
	same(t, "testdata/pairs.txt", got.String())
}

func TestBaseAndHeadStandBackToBackAndEachIsFirstAboutAsOften(t *testing.T) {
	t.Parallel()
	baseFirst := 0
	for round := 1; round <= 1000; round++ {
		trials := DrawRound(twelve[:4], twelve[4:6], round, 7)
		if len(trials) != 10 {
			t.Fatalf("round %d has %d trials", round, len(trials))
		}
		for i := 0; i < len(trials); i++ {
			if slices.Contains(twelve[4:6], trials[i].Case) {
				if trials[i].Revision != stopwatt.Head {
					t.Fatalf("round %d: %v stands alone", round, trials[i])
				}
				continue
			}
			if trials[i].Case != trials[i+1].Case || trials[i].Revision == trials[i+1].Revision {
				t.Fatalf("round %d: %v is followed by %v", round, trials[i], trials[i+1])
			}
			if trials[i].Revision == stopwatt.Base {
				baseFirst++
			}
			i++
		}
	}
	if baseFirst < 1900 || baseFirst > 2100 { // 2000 expected, standard deviation 32
		t.Errorf("the base is first in %d of 4000 pairs", baseFirst)
	}
}

func TestNothingToDrawFromIsAnEmptyPlan(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]stopwatt.Plan{
		"no cases":        Draw(nil, 3, 1),
		"no rounds":       Draw(twelve, 0, 1),
		"negative rounds": Draw(twelve, -1, 1),
	} {
		if len(plan.Trials) != 0 || plan.Seed != 1 {
			t.Errorf("%s: %+v", name, plan)
		}
	}
}
