package regression

import (
	"math"
	"math/rand/v2"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// inRounds numbers values from round 1.
func inRounds(values ...float64) []stopwatt.RoundValue {
	var rounds []stopwatt.RoundValue
	for i, v := range values {
		rounds = append(rounds, stopwatt.RoundValue{Round: i + 1, Value: v})
	}
	return rounds
}

func TestUnpaired(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	tests := []struct {
		name       string
		metric     string
		base, head []stopwatt.RoundValue
		verdict    stopwatt.Verdict
		n          int
		ratio      float64
		bounded    bool
		worse      float64
	}{
		{"twice the time", "time", inRounds(1, 1.1, 1.2, 1.3), inRounds(2, 2.2, 2.4, 2.6), stopwatt.NotJudged, 4, 2, true, 1.0 / 70},
		{"twice the throughput", "throughput", inRounds(1, 1.1, 1.2, 1.3), inRounds(2, 2.2, 2.4, 2.6), stopwatt.NotJudged, 4, 2, true, 1},
		{"unequal n", "time", inRounds(1, 1), inRounds(1, 1, 1, 1, 1), stopwatt.NotJudged, 2, 1, false, 1},
		{"what is no number does not count", "time", inRounds(nan, 1, math.Inf(1)), inRounds(2, -1), stopwatt.NotJudged, 1, 2, false, 0.5},
		{"nothing at base", "time", nil, inRounds(2), stopwatt.Missing, 0, 0, false, 1},
		{"something out of nothing", "time", inRounds(0, 0, 0, 0), inRounds(1, 1, 1, 1), stopwatt.NotJudged, 4, 0, false, 1.0 / 70},
		{"nothing out of something", "time", inRounds(1, 1, 1, 1), inRounds(0, 0, 0, 0), stopwatt.NotJudged, 4, 0, true, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := Unpaired([]stopwatt.UnpairedTrials{{Metric: metric(test.metric)[0], Base: test.base, Head: test.head}})[0]
			e := got.Estimate
			if got.Verdict != test.verdict || e.N != test.n || math.Abs(e.Ratio.Value-test.ratio) > 1e-12 ||
				e.Ratio.Bounded != test.bounded || math.Abs(e.Worse-test.worse) > 1e-12 {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestUnpairedRunsAreJudgedByTheirControl(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(12, 12))
	// rounds draws twelve rounds of a machine that is so many times as slow, and of a
	// case that has changed by a ratio.
	rounds := func(slow, ratio float64) (values, control []stopwatt.RoundValue) {
		for round := range 12 {
			drift := slow * math.Exp(0.1*random.NormFloat64())
			values = append(values, stopwatt.RoundValue{Round: round, Value: drift * ratio * math.Exp(0.003*random.NormFloat64())})
			control = append(control, stopwatt.RoundValue{Round: round, Value: 5 * drift * math.Exp(0.003*random.NormFloat64())})
		}
		return values, control
	}
	tests := []struct {
		name, metric string
		ratio        float64
		without      bool // the head's run holds no control
		want         stopwatt.Verdict
	}{
		{"nothing changed on a machine that is half as fast", "time", 1, false, stopwatt.Unchanged},
		{"a change", "time", 1.1, false, stopwatt.Regressed},
		{"the other way", "time", 0.9, false, stopwatt.Improved},
		{"of throughput", "throughput", 0.9, false, stopwatt.Regressed},
		{"of about the threshold", "time", 1.015, false, stopwatt.Undecided},
		{"a change without a control in one run", "time", 1.1, true, stopwatt.NotJudged},
		{"of a count without a direction", "requests", 1.1, false, stopwatt.NotJudged},
	}
	var trials []stopwatt.UnpairedTrials
	for _, test := range tests {
		of := stopwatt.UnpairedTrials{Metric: metric(test.metric)[0], Threshold: 0.02}
		of.Base, of.BaseControl = rounds(1, 1)
		of.Head, of.HeadControl = rounds(2, test.ratio)
		if test.without {
			of.HeadControl = nil
		}
		trials = append(trials, of)
	}
	for i, got := range Unpaired(trials) {
		if got.Verdict != tests[i].want {
			t.Errorf("%s: %s, want %s: %+v", tests[i].name, got.Verdict, tests[i].want, got)
		}
		if judged := got.Verdict != stopwatt.NotJudged; judged != (got.Family == 5) {
			t.Errorf("%s: a family of %d", tests[i].name, got.Family)
		}
	}
}
