package regression

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
)

// timedTrial is one of go/w, which took so many seconds and gave 100 right answers.
func timedTrial(position, round, attempt int, revision stopwatt.Revision, status stopwatt.TrialStatus, seconds float64) stopwatt.Trial {
	return stopwatt.Trial{
		PlannedTrial: stopwatt.PlannedTrial{Round: round, Case: stopwatt.Case{Implementation: "go", Workload: "w"}, Revision: revision, Attempt: attempt},
		Position:     position, Status: status, Started: time.Unix(int64(position), 0),
		Measurements: []stopwatt.Measurement{{Metric: "time", Value: seconds}, {Metric: "requests", Value: 100 + float64(position)}},
	}
}

func TestPairs(t *testing.T) {
	t.Parallel()
	base, head, valid, invalid := stopwatt.Base, stopwatt.Head, stopwatt.Valid, stopwatt.Invalid
	nan := math.NaN()
	tests := []struct {
		name       string
		trials     []stopwatt.Trial
		want       []stopwatt.Pair
		base, head stopwatt.Tally
	}{
		{"nothing measured", nil, nil, stopwatt.Tally{}, stopwatt.Tally{}},
		{"base first", []stopwatt.Trial{timedTrial(1, 1, 0, base, valid, 2), timedTrial(2, 1, 0, head, valid, 3)},
			[]stopwatt.Pair{{Round: 1, Base: 2, Head: 3, At: time.Unix(1, 0), Requests: 101}}, stopwatt.Tally{Trials: 1}, stopwatt.Tally{Trials: 1}},
		{"head first, read back in another order", []stopwatt.Trial{timedTrial(2, 1, 0, base, valid, 2), timedTrial(1, 1, 0, head, valid, 3)},
			[]stopwatt.Pair{{Round: 1, Base: 2, Head: 3, HeadFirst: true, At: time.Unix(1, 0), Requests: 101}}, stopwatt.Tally{Trials: 1}, stopwatt.Tally{Trials: 1}},
		{"half a pair is none yet", []stopwatt.Trial{timedTrial(1, 1, 0, base, valid, 2)},
			nil, stopwatt.Tally{Trials: 1}, stopwatt.Tally{}},
		{"an invalid side has no number", []stopwatt.Trial{timedTrial(1, 1, 0, base, valid, 2), timedTrial(2, 1, 0, head, invalid, 3)},
			[]stopwatt.Pair{{Round: 1, Base: 2, Head: nan, At: time.Unix(1, 0)}}, stopwatt.Tally{Trials: 1}, stopwatt.Tally{Trials: 1, Invalid: 1}},
		{"the last attempt counts, all are tallied", []stopwatt.Trial{
			timedTrial(1, 1, 0, base, valid, 2), timedTrial(2, 1, 0, head, invalid, 3),
			timedTrial(9, 1, 1, head, valid, 5), timedTrial(10, 1, 1, base, valid, 4),
		}, []stopwatt.Pair{{Round: 1, Base: 4, Head: 5, HeadFirst: true, At: time.Unix(9, 0), Requests: 109}}, stopwatt.Tally{Trials: 2}, stopwatt.Tally{Trials: 2, Invalid: 1}},
		{"half an attempt is none yet", []stopwatt.Trial{
			timedTrial(1, 1, 0, base, valid, 2), timedTrial(2, 1, 0, head, invalid, 3), timedTrial(9, 1, 1, head, valid, 5),
		}, nil, stopwatt.Tally{Trials: 1}, stopwatt.Tally{Trials: 2, Invalid: 1}},
		{"rounds in their order", []stopwatt.Trial{
			timedTrial(3, 2, 0, base, valid, 4), timedTrial(4, 2, 0, head, valid, 5), timedTrial(1, 1, 0, base, valid, 2), timedTrial(2, 1, 0, head, valid, 3),
		}, []stopwatt.Pair{{Round: 1, Base: 2, Head: 3, At: time.Unix(1, 0), Requests: 101}, {Round: 2, Base: 4, Head: 5, At: time.Unix(3, 0), Requests: 103}},
			stopwatt.Tally{Trials: 2}, stopwatt.Tally{Trials: 2}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, base, head := Pairs(test.trials, stopwatt.Case{Implementation: "go", Workload: "w"}, "time")
			if diff := cmp.Diff(test.want, got, cmpopts.EquateNaNs()); diff != "" {
				t.Errorf("pairs (-want +got):\n%s", diff)
			}
			if base != test.base || head != test.head {
				t.Errorf("tallies %+v and %+v, want %+v and %+v", base, head, test.base, test.head)
			}
		})
	}
}

func TestPairsOfAPart(t *testing.T) {
	t.Parallel()
	part := stopwatt.Case{Implementation: "go", Workload: "w/add"}
	trials := []stopwatt.Trial{
		timedTrial(1, 1, 0, stopwatt.Base, stopwatt.Valid, 20), timedTrial(2, 1, 0, stopwatt.Head, stopwatt.Valid, 30),
		timedTrial(3, 2, 0, stopwatt.Base, stopwatt.Valid, 20), timedTrial(4, 2, 0, stopwatt.Head, stopwatt.Invalid, 30),
	}
	for i, seconds := range []float64{2, 3, 4} {
		trials[i].Parts = []stopwatt.Part{
			{Case: stopwatt.Case{Implementation: "go", Workload: "w/subtract"}},
			{Case: part, Measurements: []stopwatt.Measurement{{Metric: "time", Value: seconds}}},
		}
	}
	got, base, head := Pairs(trials, part, "time")
	want := []stopwatt.Pair{{Round: 1, Base: 2, Head: 3, At: time.Unix(1, 0)}, {Round: 2, Base: 4, Head: math.NaN(), At: time.Unix(3, 0)}}
	if diff := cmp.Diff(want, got, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	if base != (stopwatt.Tally{Trials: 2}) || head != (stopwatt.Tally{Trials: 2, Invalid: 1}) {
		t.Errorf("tallies %+v and %+v", base, head)
	}
}
