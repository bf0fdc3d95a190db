package regression

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
)

// series makes the pairs of rounds first to last: base takes 1, head so many times
// as much, give or take a tenth of the spread, half of it and all of it in turn.
func series(first, last int, ratio, spread float64) []stopwatt.Pair {
	var pairs []stopwatt.Pair
	around := []float64{0.1, -0.5, 1, -0.1, 0.5, -1}
	for round := first; round <= last; round++ {
		shift := around[round%len(around)] * (1 + float64(round)/1000) // so that none are tied
		pairs = append(pairs, stopwatt.Pair{Round: round, Base: 1, Head: ratio * math.Exp(spread*shift), Requests: 1e6})
	}
	return pairs
}

// of makes paired trials of a case with a threshold of 2 %.
func of(implementation, metricName string, pairs ...[]stopwatt.Pair) stopwatt.PairedTrials {
	return stopwatt.PairedTrials{
		Case:   stopwatt.Case{Implementation: implementation, Workload: "w"},
		Metric: metric(metricName)[0], Threshold: 0.02, Pairs: slices.Concat(pairs...),
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	adaptive, fixed := stopwatt.Adaptive(12, 32), stopwatt.Fixed(12)
	goCase := stopwatt.Case{Implementation: "go", Workload: "w"}
	wanted := func(first, last int) []stopwatt.Wanted {
		return []stopwatt.Wanted{{Case: goCase, First: first, Last: last}}
	}
	tests := []struct {
		name       string
		procedure  stopwatt.Procedure
		trials     stopwatt.PairedTrials
		ended      bool
		verdict    stopwatt.Verdict
		look       int
		wanted     []stopwatt.Wanted
		confirming bool
	}{
		{"nothing measured yet wants the first look's rounds", adaptive, of("go", "time"), false,
			stopwatt.Undecided, 0, wanted(1, 12), false},
		{"a round too few is no look", adaptive, of("go", "time", series(1, 11, 1.2, 0.01)), false,
			stopwatt.Undecided, 0, wanted(1, 12), false},
		{"a clear change wants fresh pairs", adaptive, of("go", "time", series(1, 12, 1.2, 0.01)), false,
			stopwatt.Undecided, 0, wanted(33, 44), true},
		{"some fresh pairs are too few", adaptive, of("go", "time", series(1, 12, 1.2, 0.01), series(33, 43, 1.2, 0.01)), false,
			stopwatt.Undecided, 0, wanted(33, 44), true},
		{"a change that fresh pairs confirm", adaptive, of("go", "time", series(1, 12, 1.2, 0.01), series(33, 44, 1.2, 0.01)), false,
			stopwatt.Regressed, 1, nil, false},
		{"less time is an improvement", adaptive, of("go", "time", series(1, 12, 0.8, 0.01), series(33, 44, 0.8, 0.01)), false,
			stopwatt.Improved, 1, nil, false},
		{"less throughput is a regression", adaptive, of("go", "throughput", series(1, 12, 0.8, 0.01), series(33, 44, 0.8, 0.01)), false,
			stopwatt.Regressed, 1, nil, false},
		{"more throughput is an improvement", adaptive, of("go", "throughput", series(1, 12, 1.2, 0.01), series(33, 44, 1.2, 0.01)), false,
			stopwatt.Improved, 1, nil, false},
		{"a change that fresh pairs refute goes on", adaptive, of("go", "time", series(1, 12, 1.2, 0.01), series(33, 44, 1, 0.01)), false,
			stopwatt.Undecided, 0, wanted(1, 20), false},
		{"a change that fresh pairs turn round goes on", adaptive, of("go", "time", series(1, 12, 1.2, 0.01), series(33, 44, 0.8, 0.01)), false,
			stopwatt.Undecided, 0, wanted(1, 20), false},
		{"a refuted one is confirmed by fresh pairs of the second look", adaptive,
			of("go", "time", series(1, 20, 1.2, 0.01), series(33, 44, 1, 0.01), series(45, 56, 1.2, 0.01)), false,
			stopwatt.Regressed, 2, nil, false},
		{"no change in little noise", adaptive, of("go", "time", series(1, 12, 1, 0.01)), false,
			stopwatt.Unchanged, 1, nil, false},
		{"a significant change within the threshold is none that matters", adaptive, of("go", "time", series(1, 12, 1.01, 0.005)), false,
			stopwatt.Unchanged, 1, nil, false},
		{"a change of about the threshold is neither", adaptive, of("go", "time", series(1, 12, 1.0195, 0.005)), false,
			stopwatt.Undecided, 0, wanted(1, 20), false},
		{"no change in much noise goes on", adaptive, of("go", "time", series(1, 12, 1, 0.1)), false,
			stopwatt.Undecided, 0, wanted(1, 20), false},
		{"and on", adaptive, of("go", "time", series(1, 20, 1, 0.1)), false,
			stopwatt.Undecided, 0, wanted(1, 32), false},
		{"until the last look", adaptive, of("go", "time", series(1, 32, 1, 0.1)), false,
			stopwatt.Undecided, 0, nil, false},
		{"a fixed plan ends after its only look", fixed, of("go", "time", series(1, 12, 1, 0.1)), false,
			stopwatt.Undecided, 0, nil, false},
		{"a fixed plan confirms too", fixed, of("go", "time", series(1, 12, 1.2, 0.01), series(13, 24, 1.2, 0.01)), false,
			stopwatt.Regressed, 1, nil, false},
		{"a run that ended leaves a suspicion undecided", adaptive, of("go", "time", series(1, 12, 1.2, 0.01)), true,
			stopwatt.Undecided, 0, nil, false},
		{"a run that ended between looks takes none", adaptive, of("go", "time", series(1, 31, 1, 0.1), nil), true,
			stopwatt.Undecided, 0, nil, false},
		{"a run that ended with one pair gives no verdict", adaptive, of("go", "time", series(1, 1, 1.2, 0.01)), true,
			stopwatt.NotJudged, 0, nil, false},
		{"a run that ended with none misses it", adaptive, of("go", "time"), true,
			stopwatt.Missing, 0, nil, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Judge(test.procedure, []stopwatt.PairedTrials{test.trials}, test.ended)
			c := got.Comparisons[0]
			if c.Verdict != test.verdict || c.Look != test.look || got.Confirming != test.confirming {
				t.Errorf("%s at look %d, confirming %t; want %s at look %d", c.Verdict, c.Look, got.Confirming, test.verdict, test.look)
			}
			if diff := cmp.Diff(test.wanted, got.Wanted); diff != "" {
				t.Errorf("wanted (-want +got):\n%s", diff)
			}
			if got.Over() != (test.wanted == nil) {
				t.Errorf("over: %t", got.Over())
			}
		})
	}
}

func TestJudgeOfOddValues(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	all := func(base, head float64) []stopwatt.Pair {
		var pairs []stopwatt.Pair
		for _, round := range append(slices.Collect(count(1, 12)), slices.Collect(count(13, 24))...) {
			pairs = append(pairs, stopwatt.Pair{Round: round, Base: base, Head: head, Requests: 1e6})
		}
		return pairs
	}
	one := func(pairs []stopwatt.Pair, round int, base, head float64) []stopwatt.Pair {
		pairs = slices.Clone(pairs)
		pairs[round-1].Base, pairs[round-1].Head = base, head
		return pairs
	}
	tests := []struct {
		name    string
		trials  stopwatt.PairedTrials
		verdict stopwatt.Verdict
		n       int
		ratio   float64 // NaN: not known
		doubts  []stopwatt.DoubtKind
	}{
		{"constant and equal", of("go", "time", all(3, 3)), stopwatt.Unchanged, 12, 1, []stopwatt.DoubtKind{stopwatt.NoSpread}},
		{"constant and more", of("go", "time", all(3, 6)), stopwatt.Regressed, 12, 2, []stopwatt.DoubtKind{stopwatt.NoSpread}},
		{"constant and more by less than the threshold", of("go", "time", all(1000, 1001)), stopwatt.Unchanged, 12, 1.001, []stopwatt.DoubtKind{stopwatt.NoSpread}},
		{"nothing and nothing", of("go", "errors", all(0, 0)), stopwatt.Unchanged, 12, 1, []stopwatt.DoubtKind{stopwatt.NoSpread}},
		{"something out of nothing", of("go", "errors", all(0, 4)), stopwatt.Regressed, 12, nan,
			[]stopwatt.DoubtKind{stopwatt.FromNothing, stopwatt.NoSpread}},
		{"nothing out of something", of("go", "errors", all(4, 0)), stopwatt.Improved, 12, 0,
			[]stopwatt.DoubtKind{stopwatt.ToNothing, stopwatt.NoSpread}},
		{"one error in twelve rounds may be a change", of("go", "errors", one(all(0, 0), 3, 0, 1)), stopwatt.Undecided, 12, 1,
			[]stopwatt.DoubtKind{stopwatt.FromNothing}},
		{"a missing head voids its pair", of("go", "time", one(all(3, 3), 2, 3, nan)), stopwatt.Unchanged, 11, 1,
			[]stopwatt.DoubtKind{stopwatt.IncompletePairs, stopwatt.NoSpread}},
		{"an infinite base too", of("go", "time", one(all(3, 3), 2, math.Inf(1), 3)), stopwatt.Unchanged, 11, 1,
			[]stopwatt.DoubtKind{stopwatt.IncompletePairs, stopwatt.NoSpread}},
		{"net energy below zero has no ratio", of("go", "energy_board", one(all(3, 3), 2, -1, 3)), stopwatt.Unchanged, 11, 1,
			[]stopwatt.DoubtKind{stopwatt.IncompletePairs, stopwatt.NegativeValues, stopwatt.NoSpread}},
		{"no number at all", of("go", "energy_board", all(nan, 3)), stopwatt.Missing, 0, nan, []stopwatt.DoubtKind{stopwatt.IncompletePairs}},
		{"a count without a better direction", of("go", "requests", all(3, 6)), stopwatt.NotJudged, 24, 2,
			[]stopwatt.DoubtKind{stopwatt.NoDirection, stopwatt.NoSpread}},
		{"the slowest request is no percentile to judge", of("go", "latency_max", all(3, 6)), stopwatt.NotJudged, 12, 2,
			[]stopwatt.DoubtKind{stopwatt.ThinPercentile, stopwatt.NoSpread}},
		{"subnormal values", of("go", "time", all(5e-324, 1e308)), stopwatt.Regressed, 12, nan, []stopwatt.DoubtKind{stopwatt.NoSpread}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := Judge(stopwatt.Fixed(12), []stopwatt.PairedTrials{test.trials}, true).Comparisons[0]
			if test.verdict == stopwatt.NotJudged {
				test.n = 12 // shown of the rounds, not of fresh pairs
			}
			if c.Verdict != test.verdict || c.Estimate.N != test.n {
				t.Errorf("%s of %d, want %s of %d", c.Verdict, c.Estimate.N, test.verdict, test.n)
			}
			ratio := c.Estimate.Ratio
			if ratio.Known == math.IsNaN(test.ratio) || ratio.Known && math.Abs(ratio.Value-test.ratio) > 1e-9 {
				t.Errorf("ratio %+v, want %g", ratio, test.ratio)
			}
			if _, err := json.Marshal(c); err != nil {
				t.Error(err)
			}
			var kinds []stopwatt.DoubtKind
			for _, doubt := range c.Doubts {
				kinds = append(kinds, doubt.Kind)
			}
			if diff := cmp.Diff(test.doubts, kinds); diff != "" {
				t.Errorf("doubts (-want +got):\n%s", diff)
			}
		})
	}
}

// count yields first to last.
func count(first, last int) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for i := first; i <= last && yield(i); i++ {
		}
	}
}

func TestPercentilesNeedRequestsBeyondThem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		metric   string
		requests float64
		judged   bool
	}{
		{"latency_p50", 200, true},
		{"latency_p50", 199, false},
		{"latency_p99", 10000, true},
		{"latency_p99", 9999, false},
		{"latency_p99.9", 99999, false},
		{"latency_p99.9", 100001, true},
		{"latency_max", 1e9, false},
		{"latency_mean", 1, true},
		{"latency_p99", 0, false},
		{"time", 0, true},
	}
	for _, test := range tests {
		pairs := series(1, 12, 1, 0.01)
		for i := range pairs {
			pairs[i].Requests = test.requests
		}
		c := Judge(stopwatt.Fixed(12), []stopwatt.PairedTrials{of("go", test.metric, pairs)}, true).Comparisons[0]
		if judged := c.Verdict == stopwatt.Unchanged; judged != test.judged {
			t.Errorf("%s of %g requests: %s", test.metric, test.requests, c.Verdict)
		}
		if !c.Estimate.Ratio.Known || c.Estimate.N != 12 {
			t.Errorf("%s of %g requests is not shown: %+v", test.metric, test.requests, c.Estimate)
		}
	}
}

func TestTheFamilyIsFixedAtTheStart(t *testing.T) {
	t.Parallel()
	identical, isNew := of("a", "time"), of("b", "time")
	identical.Identical, isNew.New = true, true
	trials := []stopwatt.PairedTrials{
		identical, isNew, of("c", "requests"),
		of("d", "time", series(1, 12, 1, 0.01)),   // unchanged at the first look
		of("e", "time", series(1, 20, 1, 0.1)),    // open until the second
		of("f", "time", series(1, 20, 1.03, 0.1)), // as well
	}
	j := Judge(stopwatt.Adaptive(12, 32), trials, true)
	if j.Family != 3 || j.Look != 2 {
		t.Errorf("a family of %d at look %d, want 3 at 2", j.Family, j.Look)
	}
	var verdicts []stopwatt.Verdict
	for _, c := range j.Comparisons {
		verdicts = append(verdicts, c.Verdict)
	}
	want := []stopwatt.Verdict{stopwatt.Identical, stopwatt.New, stopwatt.NotJudged, stopwatt.Unchanged, stopwatt.Undecided, stopwatt.Undecided}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	steps := j.Comparisons[5].Steps
	if len(steps) != 2 || steps[1].Rank != 1 || steps[1].Level != 0.025/3 {
		t.Errorf("the second look's smallest p is compared with %+v, want a third of the rate", steps)
	}
	if again := Judge(stopwatt.Adaptive(12, 32), trials, true); !cmp.Equal(j, again) {
		t.Errorf("judged again: %s", cmp.Diff(j, again))
	}
}

func TestCasesThatAreDecidedDropOut(t *testing.T) {
	t.Parallel()
	faster := of("go", "time", series(1, 12, 1, 0.01))
	other := of("go", "cpu_server", series(1, 12, 1, 0.1))
	done := of("rust", "time", series(1, 12, 1, 0.01))
	failed := of("zig", "time", series(1, 3, 1.5, 0.01))
	failed.GivenUp = true
	j := Judge(stopwatt.Adaptive(12, 32), []stopwatt.PairedTrials{faster, other, done, failed}, false)
	want := []stopwatt.Wanted{{Case: other.Case, First: 1, Last: 20}}
	if diff := cmp.Diff(want, j.Wanted); diff != "" {
		t.Errorf("wanted (-want +got):\n%s", diff)
	}
	if j.Comparisons[3].Verdict != stopwatt.Undecided {
		t.Errorf("a case that was given up after three rounds: %s", j.Comparisons[3].Verdict)
	}
}

func TestFreshPairsAloneGiveTheSize(t *testing.T) {
	t.Parallel()
	j := Judge(stopwatt.Fixed(12), []stopwatt.PairedTrials{
		of("go", "time", series(1, 12, 1.2, 0.01), series(13, 24, 1.015, 0.001)),
	}, true)
	c := j.Comparisons[0]
	if c.Verdict != stopwatt.Regressed || math.Abs(c.Estimate.Ratio.Value-1.015) > 0.001 || math.Abs(c.Found.Ratio.Value-1.2) > 0.01 {
		t.Errorf("%s by %+v, found as %+v", c.Verdict, c.Estimate, c.Found)
	}
	if len(c.Doubts) != 1 || c.Doubts[0].Kind != stopwatt.SmallerThanFound {
		t.Errorf("doubts %+v", c.Doubts)
	}
	var outcomes []stopwatt.Outcome
	for _, step := range c.Steps {
		outcomes = append(outcomes, step.Outcome)
	}
	if diff := cmp.Diff([]stopwatt.Outcome{stopwatt.OutcomeSuspected, stopwatt.OutcomeConfirmed}, outcomes); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}

// A machine that cannot see a change of 2 % may call one of 4 % undecided, but not
// unchanged: its interval is no reason to believe in 2 %.
func TestThresholdsAreNeverBelowTheCalibration(t *testing.T) {
	t.Parallel()
	want := []stopwatt.Doubt{{Kind: stopwatt.ThresholdRaised, Have: 0.02, Need: 0.05}}
	for _, test := range []struct {
		name   string
		change float64
		want   stopwatt.Verdict
	}{
		{"a change of twice the suite's threshold", 1.04, stopwatt.Undecided},
		{"no change", 1, stopwatt.Unchanged},
		{"a change beyond what the machine can see", 1.08, stopwatt.Regressed},
	} {
		trials := of("go", "time", series(1, 12, test.change, 0.005), series(13, 24, test.change, 0.005))
		trials.Floor = 0.05
		c := Judge(stopwatt.Fixed(12), []stopwatt.PairedTrials{trials}, true).Comparisons[0]
		if diff := cmp.Diff(want, c.Doubts); diff != "" || c.Threshold != 0.05 || c.Verdict != test.want || c.More != 0 {
			t.Errorf("%s: %s beyond %g, %d more; doubts (-want +got):\n%s", test.name, c.Verdict, c.Threshold, c.More, diff)
		}
	}
}

func TestUnequalFailuresAreDoubted(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		base, head stopwatt.Tally
		want       bool
	}{
		{"none failed", stopwatt.Tally{Trials: 12}, stopwatt.Tally{Trials: 12}, false},
		{"one failed", stopwatt.Tally{Trials: 12}, stopwatt.Tally{Trials: 13, Invalid: 1}, false},
		{"both failed as often", stopwatt.Tally{Trials: 18, Invalid: 6}, stopwatt.Tally{Trials: 18, Invalid: 6}, false},
		{"head failed often, base never", stopwatt.Tally{Trials: 12}, stopwatt.Tally{Trials: 20, Invalid: 10}, true},
		{"nothing was tried", stopwatt.Tally{}, stopwatt.Tally{Trials: 20, Invalid: 10}, false},
	}
	for _, test := range tests {
		trials := of("go", "time", series(1, 12, 1, 0.01))
		trials.Base, trials.Head = test.base, test.head
		c := Judge(stopwatt.Fixed(12), []stopwatt.PairedTrials{trials}, true).Comparisons[0]
		if got := len(c.Doubts) == 1 && c.Doubts[0].Kind == stopwatt.UnequalFailures; got != test.want {
			t.Errorf("%s: %+v", test.name, c.Doubts)
		}
	}
	// R. A. Fisher's lady tasting tea, three of four right: p two-sided 0.486.
	if got := fisher(stopwatt.Tally{Trials: 4, Invalid: 3}, stopwatt.Tally{Trials: 4, Invalid: 1}); math.Abs(got-34.0/70) > 1e-12 {
		t.Errorf("p %g, published 34 of 70", got)
	}
}

func TestTurningEverythingRoundTurnsTheVerdictRound(t *testing.T) {
	t.Parallel()
	turned := map[stopwatt.Verdict]stopwatt.Verdict{stopwatt.Regressed: stopwatt.Improved, stopwatt.Improved: stopwatt.Regressed}
	random := rand.New(rand.NewPCG(8, 8))
	seen := map[stopwatt.Verdict]int{}
	for range 300 {
		c := experiment{logNormal, 0.01, 0.1 * (random.Float64() - 0.5), 2, 0.02, stopwatt.Adaptive(12, 32), 1}
		trials, judgement := c.run(random)
		for i := range trials {
			for k, pair := range trials[i].Pairs {
				trials[i].Pairs[k].Base, trials[i].Pairs[k].Head = pair.Head, pair.Base
			}
			slices.Reverse(trials[i].Pairs)
		}
		for i, got := range Judge(c.procedure, trials, true).Comparisons {
			was := judgement.Comparisons[i]
			want, decided := turned[was.Verdict]
			if !decided {
				want = was.Verdict
			}
			seen[want]++
			if got.Verdict != want || math.Abs(got.Estimate.Ratio.Value*was.Estimate.Ratio.Value-1) > 1e-12 || got.Estimate.Worse != was.Estimate.Better {
				t.Fatalf("%s by %+v; turned round %s by %+v", was.Verdict, was.Estimate, got.Verdict, got.Estimate)
			}
		}
	}
	if len(seen) < 4 {
		t.Errorf("only saw %v", seen)
	}
}

func TestUndecidedSaysWhatItWouldTake(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		ratio       float64
		spread      float64
		least, most int
	}{
		{"no change in noise", 1, 0.05, 10, 60},
		{"no change in twice the noise takes four times as many", 1, 0.1, 100, 250},
		{"a change near the threshold takes many", 1.0165, 0.03, 200, 1000},
		{"a change of the threshold takes more than anybody would measure", 1.02, 0.03, 0, 0},
		{"no change in wild noise as well", 1, 1, 0, 0},
	}
	for _, test := range tests {
		c := Judge(stopwatt.Adaptive(12, 32), []stopwatt.PairedTrials{of("go", "time", series(1, 32, test.ratio, test.spread))}, true).Comparisons[0]
		if c.Verdict != stopwatt.Undecided || c.More < test.least || c.More > test.most {
			t.Errorf("%s: %s, %d more rounds, want %d to %d", test.name, c.Verdict, c.More, test.least, test.most)
		}
	}
}

func TestFalseDiscoveries(t *testing.T) {
	t.Parallel()
	// The fifteen p of Benjamini and Hochberg's own example, 1995: four are rejected
	// at a rate of 5 %.
	published := []float64{0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.000}
	for i, got := range falseDiscoveries(published, 15, 0.05) {
		if want := i < 4; got.rejected != want || got.rank != i+1 {
			t.Errorf("p %g: %+v", published[i], got)
		}
	}
	got := falseDiscoveries([]float64{0.04, 0.001, 0.04}, 3, 0.05)
	want := []placed{{3, 0.05, true}, {1, 0.05, true}, {3, 0.05, true}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(placed{}), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
		t.Errorf("ties (-want +got):\n%s", diff)
	}
	if got := falseDiscoveries([]float64{0.001}, 100, 0.05)[0]; got.rejected {
		t.Errorf("one of a hundred: %+v", got)
	}
}
