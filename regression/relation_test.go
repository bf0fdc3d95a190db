package regression

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestRelateDividesWithinARun(t *testing.T) {
	t.Parallel()
	point := func(position int, run int64, machine string, value float64, n int) stopwatt.SeriesPoint {
		return stopwatt.SeriesPoint{Position: position, Run: run, Machine: machine, Value: value, N: n}
	}
	of := stopwatt.Series{
		Case: stopwatt.Case{Implementation: "go", Workload: "w"}, Metric: "time",
		Points: []stopwatt.SeriesPoint{
			point(1, 1, "a", 6, 10), point(1, 2, "a", 8, 10), point(1, 2, "b", 9, 10), point(2, 3, "a", 5, 10),
			point(3, 4, "a", 5, 10), point(4, 5, "a", math.NaN(), 0), point(5, 6, "a", -1, 5),
		},
	}
	against := stopwatt.Series{
		Case: stopwatt.Case{Implementation: "rust", Workload: "w"}, Metric: "time",
		Points: []stopwatt.SeriesPoint{
			point(1, 2, "a", 4, 7), point(1, 1, "a", 2, 12), point(1, 2, "b", 3, 10), point(3, 4, "a", 0, 10),
			point(4, 5, "a", 1, 10), point(5, 6, "a", 2, 10), point(9, 9, "a", 1, 10),
		},
	}
	want := stopwatt.Series{
		Case: of.Case, Metric: "time", Against: "rust",
		Points: []stopwatt.SeriesPoint{point(1, 1, "a", 3, 10), point(1, 2, "a", 2, 7), point(1, 2, "b", 3, 10)},
	}
	if diff := cmp.Diff(want, Relate(of, against)); diff != "" {
		t.Errorf("relation (-want +got):\n%s", diff)
	}
}

// What the machine does to both implementations shows in neither's relation to
// the other.
func TestARelationDoesNotSeeTheMachine(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(2, 2))
	fast, slow := process(r, 60, 0, 0), process(r, 60, 0, 0)
	for i := range fast {
		machine := 1.0
		if i >= 30 {
			machine = 1.2
		}
		fast[i] = machine * (1 + 0.005*fast[i])
		slow[i] = machine * (2 + 0.005*slow[i])
	}
	if got := changesOf(slow).ChangePoints; len(got) != 1 {
		t.Fatalf("%d change points in the series itself, want 1", len(got))
	}
	relation := Relate(seriesOf(slow), seriesOf(fast))
	if got := FindChanges(relation, stopwatt.ChangeRule{})[0].ChangePoints; len(got) != 0 {
		t.Errorf("%+v in the relation, want nothing", got)
	}
}

func TestOrderChanges(t *testing.T) {
	t.Parallel()
	type place struct {
		first, past, reached int
		state                stopwatt.ChangeState
	}
	const suspected, confirmed = stopwatt.Suspected, stopwatt.Confirmed
	tests := []struct {
		name   string
		values []float64
		want   []place
	}{
		{"no change", levels(40, 0.9), nil},
		{"a change on one side of 1", levels(20, 0.8, 0.9), nil},
		{"from below 1 to above", levels(20, 0.8, 1.1), []place{{21, 20, 21, confirmed}}},
		{"and back", levels(20, 0.8, 1.1, 0.8), []place{{21, 20, 21, confirmed}, {41, 40, 41, confirmed}}},
		{"by way of 1 itself", levels(20, 0.8, 1, 1.1), []place{{41, 20, 41, confirmed}}},
		{"to 1 and back", levels(20, 0.8, 1, 0.8), nil},
		{"to 1 and no further", levels(20, 0.8, 1), nil},
		{"from 1 on it is no change of order", levels(20, 1, 0.8), nil},
		{"of a change that is suspected", slices.Concat(levels(30, 0.8), levels(4, 1.1)), []place{{31, 30, 31, suspected}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var got []place
			for _, c := range OrderChanges(changesOf(jittered(0.003, test.values))) {
				got = append(got, place{c.First.Position, c.Past.Position, c.Reached.Position, c.State})
				if (c.Before.Value < 1) == (c.After.Value < 1) || !c.Before.Bounded || !c.After.Bounded {
					t.Errorf("from %+v to %+v, want one below 1 and one above", c.Before, c.After)
				}
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(place{})); diff != "" {
				t.Errorf("changes of order (-want +got):\n%s", diff)
			}
		})
	}
}
