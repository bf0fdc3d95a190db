package orchestrator_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/orchestrator"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// noisy is a fake place for trials that take about a second, with one percent of
// noise that depends on the trial alone. The head of some implementations takes
// longer, by their factor.
type noisy struct {
	slower map[string]float64
	fails  func(stopwatt.PlannedTrial) bool
	before func(planned stopwatt.PlannedTrial) error
	orders []trial.Order
}

func (n *noisy) Run(ctx context.Context, order trial.Order) (stopwatt.Trial, error) {
	if n.before != nil {
		if err := n.before(order.Planned); err != nil {
			return stopwatt.Trial{}, err
		}
	}
	if err := ctx.Err(); err != nil {
		return stopwatt.Trial{}, err
	}
	n.orders = append(n.orders, order)
	result := stopwatt.Trial{PlannedTrial: order.Planned, Position: order.Position, Status: stopwatt.Valid}
	if n.fails != nil && n.fails(order.Planned) {
		result.Status, result.Reason = stopwatt.Invalid, "the server exited with 1"
		return result, nil
	}
	seed := fnv.New64a()
	_, _ = seed.Write([]byte(order.Planned.Case.String() + string(order.Planned.Revision)))
	noise := rand.New(rand.NewPCG(seed.Sum64(), uint64(order.Planned.Round)))
	seconds := math.Exp(0.01 * noise.NormFloat64())
	if order.Planned.Revision == stopwatt.Head {
		seconds *= 1 + n.slower[order.Planned.Case.Implementation]
	}
	result.Measurements = []stopwatt.Measurement{{Metric: "time", Value: seconds}}
	return result, nil
}

// judging is a house that compares.
type judging struct {
	house
	bench *noisy
}

func newJudging(slower map[string]float64) judging {
	return judging{house: newHouse(), bench: &noisy{slower: slower}}
}

// against asks for head and base of these implementations, in 12 to 32 rounds.
func against(implementations ...string) orchestrator.Order {
	s := suite(32, implementations...)
	s.Plan.MinRounds = 12
	s.Judge.Metrics = []stopwatt.Threshold{{Metric: "time", Relative: 0.03}}
	o := order(s)
	o.Run.Against.Commit.SHA = "1f3c9a2e"
	o.Run.BaseImages = map[string]stopwatt.Image{}
	for _, name := range implementations {
		o.Run.BaseImages[name] = stopwatt.Image{ID: "sha256:base-" + name}
	}
	o.Comparing = &orchestrator.Comparing{Pairs: s.Cases()}
	return o
}

func (j judging) run(ctx context.Context, order orchestrator.Order) (stopwatt.Run, stopwatt.Judgement, error) {
	run, err := orchestrator.Orchestrator{
		Store:    j.store,
		Bench:    func(stopwatt.Run) orchestrator.Trials { return j.bench },
		Audience: j.audience,
		Recover:  j.recover,
	}.Run(ctx, order)
	judgement, readErr := j.store.Judgement(ctx, run.ID)
	if err == nil {
		err = readErr
	}
	return run, judgement, err
}

// verdicts are what each implementation was judged.
func verdicts(judgement stopwatt.Judgement) map[string]stopwatt.Verdict {
	all := map[string]stopwatt.Verdict{}
	for _, c := range judgement.Comparisons {
		all[c.Case.Implementation] = c.Verdict
	}
	return all
}

func TestAChangeIsFoundConfirmedAndTheRestCalledUnchanged(t *testing.T) {
	j := newJudging(map[string]float64{"rust": 0.1, "java": -0.1})
	o := against("go", "rust", "java", "c", "zig")
	o.Comparing = &orchestrator.Comparing{Pairs: casesOf("go", "rust", "java"), Identical: casesOf("c"), Alone: casesOf("zig")}
	_, judgement, err := j.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]stopwatt.Verdict{"go": stopwatt.Unchanged, "rust": stopwatt.Regressed, "java": stopwatt.Improved,
		"c": stopwatt.Identical, "zig": stopwatt.New}
	if diff := cmp.Diff(want, verdicts(judgement)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	counts := map[string]int{}
	for _, order := range j.bench.orders {
		counts[order.Planned.Case.Implementation]++
		if order.Planned.Revision == stopwatt.Base && order.Image.ID != "sha256:base-"+order.Planned.Case.Implementation {
			t.Fatalf("the base was measured with image %s", order.Image.ID)
		}
	}
	// Twelve rounds of both revisions, and twelve fresh pairs of what changed.
	if diff := cmp.Diff(map[string]int{"go": 24, "rust": 48, "java": 48, "zig": 12}, counts); diff != "" {
		t.Errorf("trials (-want +got):\n%s", diff)
	}
}

func casesOf(implementations ...string) []stopwatt.Case { return suite(1, implementations...).Cases() }

func TestAnInterruptedComparisonEndsAsAWholeOne(t *testing.T) {
	whole := newJudging(map[string]float64{"rust": 0.1})
	_, want, err := whole.run(t.Context(), against("go", "rust"))
	if err != nil {
		t.Fatal(err)
	}
	for stopAt := 1; stopAt < len(whole.bench.orders); stopAt += 5 {
		j := newJudging(map[string]float64{"rust": 0.1})
		ctx, interrupt := context.WithCancel(t.Context())
		j.bench.before = func(stopwatt.PlannedTrial) error {
			if len(j.bench.orders) == stopAt-1 {
				interrupt()
			}
			return nil
		}
		if _, _, err := j.run(ctx, against("go", "rust")); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped at %d: %v", stopAt, err)
		}
		j.bench.before = nil
		_, got, err := j.run(t.Context(), against("go", "rust"))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(planned(whole.bench.orders), planned(j.bench.orders)); diff != "" {
			t.Errorf("stopped at %d: other trials:\n%s", stopAt, diff)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stopped at %d: another judgement:\n%s", stopAt, diff)
		}
	}
}

func TestAVoidPairIsMeasuredAgainAtTheEndThreeTimesAtMost(t *testing.T) {
	for _, row := range []struct {
		name  string
		fails int // how many attempts at round 5
		pairs int
	}{
		{"once, and its second attempt counts", 1, 12},
		{"as often as it is tried", 9, 11},
	} {
		j := newJudging(nil)
		j.bench.fails = func(p stopwatt.PlannedTrial) bool {
			return p.Round == 5 && p.Revision == stopwatt.Head && p.Attempt < row.fails
		}
		_, judgement, err := j.run(t.Context(), against("go"))
		if err != nil {
			t.Fatal(err)
		}
		if n := judgement.Comparisons[0].Steps[0].Estimate.N; n != row.pairs {
			t.Errorf("%s: judged %d pairs, want %d", row.name, n, row.pairs)
		}
		attempts := 0
		for _, order := range j.bench.orders {
			if order.Planned.Round == 5 && order.Planned.Revision == stopwatt.Base {
				attempts++
			}
		}
		if want := min(row.fails, 3) + 1; attempts != want {
			t.Errorf("%s: %d attempts at the pair, want %d", row.name, attempts, want)
		}
		if last := j.bench.orders[23].Planned; row.fails == 1 && (last.Attempt != 0 || j.bench.orders[24].Planned.Attempt != 1) {
			t.Errorf("%s: the pair was measured again before the end: %v", row.name, last)
		}
	}
}

func TestARepetitionThatWasBrokenOffIsCompleted(t *testing.T) {
	j := newJudging(nil)
	j.bench.fails = func(p stopwatt.PlannedTrial) bool {
		return p.Round == 5 && p.Revision == stopwatt.Head && p.Attempt == 0
	}
	j.bench.before = func(p stopwatt.PlannedTrial) error {
		if len(j.bench.orders) == 25 { // 24 planned ones, and one side of the repetition
			return errors.New("the power is gone")
		}
		return nil
	}
	if _, _, err := j.run(t.Context(), against("go")); err == nil {
		t.Fatal("the power was not gone")
	}
	j.bench.before = nil
	_, judgement, err := j.run(t.Context(), against("go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := judgement.Comparisons[0].Steps[0].Estimate.N; n != 12 || len(j.bench.orders) != 26 {
		t.Errorf("judged %d pairs of %d trials", n, len(j.bench.orders))
	}
}

func TestACaseThatKeepsFailingIsGivenUpAndMissing(t *testing.T) {
	j := newJudging(nil)
	j.bench.fails = func(p stopwatt.PlannedTrial) bool {
		return p.Case.Implementation == "broken" && p.Revision == stopwatt.Head
	}
	_, judgement, err := j.run(t.Context(), against("go", "broken"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]stopwatt.Verdict{"go": stopwatt.Unchanged, "broken": stopwatt.Missing}, verdicts(judgement)); diff != "" {
		t.Error(diff)
	}
	tried := 0
	for _, order := range j.bench.orders {
		if order.Planned.Case.Implementation == "broken" {
			tried++
		}
	}
	if tried > 7 {
		t.Errorf("it was tried %d times", tried)
	}
}

func TestAFailureIsNotedWithItsSideAndReason(t *testing.T) {
	j := newJudging(nil)
	j.bench.fails = func(p stopwatt.PlannedTrial) bool {
		return p.Case.Implementation == "broken" && p.Revision == stopwatt.Base
	}
	_, judgement, err := j.run(t.Context(), against("go", "broken"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{casesOf("broken")[0].String() + " failed at the base in 3 of 3 trials, the last time: the server exited with 1"}
	if diff := cmp.Diff(want, judgement.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	doubts := judgement.Comparisons[1].Doubts
	if !slices.Contains(doubts, stopwatt.Doubt{Kind: stopwatt.UnequalFailures, Have: 0, Need: 1}) {
		t.Errorf("what is missing for failures of the base does not say so: %v", doubts)
	}
}

func TestWhatNothingHasAFigureOfIsNoted(t *testing.T) {
	j := newJudging(nil)
	o := against("go")
	o.Run.Settings.Judge.Metrics = append(o.Run.Settings.Judge.Metrics,
		stopwatt.Threshold{Metric: "energy_board", Relative: 0.03}, stopwatt.Threshold{Metric: "widgets", Relative: 0.03})
	_, judgement, err := j.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Nothing has a figure of energy_board_gross (no meter of that name could be read: see stopwatt doctor): mend that, or take it out of judge.metrics",
		"Nothing has a figure of widgets (no workload of these measures it): mend that, or take it out of judge.metrics",
	}
	if diff := cmp.Diff(want, judgement.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestWhatBaseHasNothingLikeIsMeasuredAlone(t *testing.T) {
	for _, row := range []struct {
		what      string
		comparing orchestrator.Comparing
		trials    int
		verdict   stopwatt.Verdict
	}{
		{"all is new", orchestrator.Comparing{Alone: casesOf("go")}, 12, stopwatt.New},
		{"the base's image cannot be had", orchestrator.Comparing{Alone: casesOf("go"), Unmatched: casesOf("go")}, 12, stopwatt.Missing},
		{"all is new beside a control", orchestrator.Comparing{Alone: casesOf("go", "fixed")}, 24, stopwatt.New},
		{"all is identical, and the control stands alone", orchestrator.Comparing{Identical: casesOf("go"), Alone: casesOf("fixed")}, 0, stopwatt.Identical},
	} {
		j := newJudging(nil)
		o := against("go", "fixed")
		o.Run.Settings.Control = "fixed"
		o.Comparing = &row.comparing
		run, judgement, err := j.run(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if len(j.bench.orders) != row.trials || run.Planned != row.trials || verdicts(judgement)["go"] != row.verdict {
			t.Errorf("%s: %d trials of %d, verdicts %v", row.what, len(j.bench.orders), run.Planned, verdicts(judgement))
		}
	}
}

func TestEachIsJudgedByWhatItMeasures(t *testing.T) {
	harness, server := stopwatt.Case{Implementation: "go", Workload: "micro"}, stopwatt.Case{Implementation: "go", Workload: "serve"}
	part := stopwatt.Case{Implementation: "go", Workload: "micro/sort"}
	figures := func(names ...string) (all []stopwatt.Measurement) {
		for _, name := range names {
			all = append(all, stopwatt.Measurement{Metric: name, Value: 1})
		}
		return all
	}
	trials := []stopwatt.Trial{
		{PlannedTrial: stopwatt.PlannedTrial{Case: harness, Round: 1}, Status: stopwatt.Valid, Measurements: figures("cpu_program"),
			Parts: []stopwatt.Part{{Case: part, Measurements: figures("time")}}},
		{PlannedTrial: stopwatt.PlannedTrial{Case: server, Round: 1}, Status: stopwatt.Valid, Measurements: figures("time", "cpu_server")},
	}
	for _, row := range []struct {
		what   string
		judged []string
		want   []string
	}{
		{"without judge a part has its time, and no CPU time of its own", nil,
			[]string{"go/micro/sort time", "go/serve time", "go/serve cpu_server"}},
		{"what is named is judged where it is measured, at last of the whole harness", []string{"time", "cpu_server", "cpu_program"},
			[]string{"go/micro/sort time", "go/micro cpu_program", "go/serve time", "go/serve cpu_server"}},
		{"what nothing measures is not dropped in silence", []string{"cpu_server", "widgets"},
			[]string{"go/micro widgets", "go/serve cpu_server", "go/serve widgets"}},
	} {
		run := stopwatt.Run{Settings: stopwatt.Suite{
			Implementations: []stopwatt.Implementation{{Name: "go"}},
			Workloads:       []stopwatt.Workload{{Name: "micro"}, {Name: "serve", HTTP: &stopwatt.HTTP{}}},
		}}
		for _, name := range row.judged {
			run.Settings.Judge.Metrics = append(run.Settings.Judge.Metrics, stopwatt.Threshold{Metric: name, Relative: 0.03})
		}
		var got []string
		for _, p := range (orchestrator.Comparing{Pairs: []stopwatt.Case{harness, server}}).Paired(run, trials) {
			got = append(got, p.Case.String()+" "+p.Metric.Name)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.what, diff)
		}
	}
}

func TestTheControlIsMeasuredInEveryRoundAndNotJudged(t *testing.T) {
	j := newJudging(nil)
	o := against("go", "fixed")
	o.Run.Settings.Control = "fixed"
	o.Comparing = &orchestrator.Comparing{Pairs: casesOf("go"), Alone: casesOf("fixed")}
	_, judgement, err := j.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]stopwatt.Verdict{"go": stopwatt.Unchanged}, verdicts(judgement)); diff != "" {
		t.Error(diff)
	}
	rounds := 0
	for _, order := range j.bench.orders {
		if order.Planned.Case.Implementation == "fixed" {
			rounds++
		}
	}
	if rounds != 12 {
		t.Errorf("the control was measured in %d rounds", rounds)
	}
}

func TestABudgetThatTheNextLookDoesNotFitInEndsTheRun(t *testing.T) {
	j := newJudging(map[string]float64{"go": 0.025}) // near the threshold: undecided at the first look
	o := against("go")
	o.Run.Settings.Plan.Budget = 1
	_, judgement, err := j.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(j.bench.orders) != 24 || judgement.Stopped == "" || judgement.Comparisons[0].Verdict != stopwatt.Undecided {
		t.Errorf("%d trials, stopped %q, %s", len(j.bench.orders), judgement.Stopped, judgement.Comparisons[0].Verdict)
	}
}

func TestBaseAndHeadStandBackToBack(t *testing.T) {
	j := newJudging(nil)
	if _, _, err := j.run(t.Context(), against("go", "rust", "java")); err != nil {
		t.Fatal(err)
	}
	headFirst := 0
	for pair := range slices.Chunk(j.bench.orders, 2) {
		if pair[0].Planned.Case != pair[1].Planned.Case || pair[0].Planned.Revision == pair[1].Planned.Revision {
			t.Fatalf("%v is followed by %v", pair[0].Planned, pair[1].Planned)
		}
		if pair[0].Planned.Revision == stopwatt.Head {
			headFirst++
		}
	}
	if headFirst == 0 || headFirst == len(j.bench.orders)/2 {
		t.Errorf("the head is first in %d of %d pairs", headFirst, len(j.bench.orders)/2)
	}
}

func TestACalibrationMeasuresEveryRoundAndJudgesNothing(t *testing.T) {
	j := newJudging(map[string]float64{"go": 0.5})
	o := against("go")
	o.Comparing.Calibrating, o.Run.Rounds = true, 24
	run, _, err := j.run(t.Context(), o)
	if run.Status != stopwatt.Finished || len(j.bench.orders) != 48 {
		t.Fatalf("%s after %d trials: %v", run.Status, len(j.bench.orders), err)
	}
	if j.audience.looks != 0 {
		t.Errorf("%d looks were taken", j.audience.looks)
	}
	trials, _ := j.store.Trials(t.Context(), run.ID)
	if pairs := o.Comparing.Paired(run, trials)[0].Pairs; len(pairs) != 24 || !pairs[0].HeadFirst && !pairs[1].HeadFirst && !pairs[2].HeadFirst && !pairs[3].HeadFirst {
		t.Errorf("%d pairs, the first %+v", len(pairs), pairs[:min(len(pairs), 4)])
	}
}

func TestTheBaseIsRunAsItsOwnSuiteSays(t *testing.T) {
	j := newJudging(nil)
	o := against("go")
	o.Comparing.Base = map[string]stopwatt.Implementation{"go": {Name: "go", Env: map[string]string{"THREADS": "1"}}}
	if _, _, err := j.run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	for _, order := range j.bench.orders {
		if own := order.Implementation.Env["THREADS"] == "1"; own != (order.Planned.Revision == stopwatt.Base) {
			t.Fatalf("%v is run with %v", order.Planned, order.Implementation.Env)
		}
	}
}

func TestWhatIsExpectedToAnswerOtherwiseIsMeasuredAndNotJudged(t *testing.T) {
	j := newJudging(map[string]float64{"go": .5, "rust": .5})
	o := against("go", "rust")
	o.Comparing.Differing = o.Comparing.Pairs[:1] // go
	own := o.Run.Settings.Workloads[0]
	own.HTTP = &stopwatt.HTTP{Expect: stopwatt.Expect{Status: 418}}
	o.Comparing.BaseWorkloads = map[string]stopwatt.Workload{own.Name: own}

	_, judgement, err := j.run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	verdicts := map[string]stopwatt.Verdict{}
	for _, c := range judgement.Comparisons {
		verdicts[c.Case.Implementation] = c.Verdict
	}
	want := map[string]stopwatt.Verdict{"go": stopwatt.NotJudged, "rust": stopwatt.Regressed}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if judgement.Family != 1 {
		t.Errorf("family %d, want 1: what is not judged corrects nothing", judgement.Family)
	}
	trials := map[stopwatt.Revision]int{}
	for _, order := range j.bench.orders {
		if order.Planned.Case.Implementation == "go" {
			trials[order.Planned.Revision]++
		}
		if atBase := order.Planned.Revision == stopwatt.Base; atBase != (order.Workload.HTTP.Expect.Status == 418) {
			t.Errorf("%v is expected to answer %d", order.Planned, order.Workload.HTTP.Expect.Status)
		}
	}
	if diff := cmp.Diff(map[stopwatt.Revision]int{stopwatt.Base: 12, stopwatt.Head: 12}, trials); diff != "" {
		t.Errorf("trials of what is not judged (-want +got):\n%s", diff)
	}
}

func TestWhereNothingCanBeJudgedItIsMeasuredAllTheSame(t *testing.T) {
	j := newJudging(nil)
	o := against("go")
	o.Comparing.Differing = o.Comparing.Pairs
	if _, _, err := j.run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if n := len(j.bench.orders); n != 24 {
		t.Errorf("%d trials, want 12 of each side", n)
	}
}
