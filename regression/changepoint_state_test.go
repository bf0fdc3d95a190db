package regression

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// lives follows values commit by commit and tells each state that a change point
// came to, with how many commits there were then.
func lives(values []float64) map[stopwatt.ChangeState][]int {
	seen := map[stopwatt.ChangeState][]int{}
	var known []stopwatt.ChangePoint
	for n := range len(values) + 1 {
		if n == 0 {
			continue
		}
		known = Follow(known, changesOf(values[:n]))
		for _, c := range known {
			reached := map[stopwatt.ChangeState]stopwatt.CommitPlace{
				stopwatt.Suspected: c.Since.Suspected, stopwatt.Confirmed: c.Since.Confirmed, stopwatt.Withdrawn: c.Since.Withdrawn,
			}[c.State]
			if reached.Position == n {
				seen[c.State] = append(seen[c.State], n)
			}
		}
	}
	return seen
}

func TestFollowAChangePointThroughItsLife(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		values []float64
		want   map[stopwatt.ChangeState][]int
	}{
		{"nothing happens", jittered(1, levels(60, 100)), map[stopwatt.ChangeState][]int{}},
		{"a step is suspected at the third commit and confirmed at the fifth", jittered(1, slices.Concat(levels(40, 100), levels(20, 110))),
			map[stopwatt.ChangeState][]int{stopwatt.Suspected: {43}, stopwatt.Confirmed: {45}}},
		{"what goes back at once is withdrawn", jittered(1, slices.Concat(levels(40, 100), levels(3, 110), levels(20, 100))),
			map[stopwatt.ChangeState][]int{stopwatt.Suspected: {43}, stopwatt.Withdrawn: {47}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, lives(test.values)); diff != "" {
				t.Errorf("states and when they were reached (-want +got):\n%s", diff)
			}
		})
	}
}

// at makes a change point that lies after one commit and up to another.
func at(state stopwatt.ChangeState, past, first, reached int, shift float64) stopwatt.ChangePoint {
	return stopwatt.ChangePoint{
		State: state, Shift: shift,
		Past: stopwatt.CommitPlace{Position: past}, First: stopwatt.CommitPlace{Position: first}, Reached: stopwatt.CommitPlace{Position: reached},
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	const suspected, confirmed, withdrawn, withheld = stopwatt.Suspected, stopwatt.Confirmed, stopwatt.Withdrawn, stopwatt.Withheld
	type points = []stopwatt.ChangePoint
	tests := []struct {
		name       string
		known, now points
		want       []stopwatt.ChangeState
	}{
		{"what is new has the state that the search gives", nil, points{at(suspected, 4, 5, 6, 1)}, []stopwatt.ChangeState{suspected}},
		{"what was suspected is confirmed", points{at(suspected, 4, 5, 6, 1)}, points{at(confirmed, 4, 5, 5, 1)}, []stopwatt.ChangeState{confirmed}},
		{"what was confirmed stays so", points{at(confirmed, 4, 5, 6, 1)}, points{at(suspected, 5, 6, 6, 1)}, []stopwatt.ChangeState{confirmed}},
		{"what was confirmed may be withheld", points{at(confirmed, 4, 5, 6, 1)}, points{at(withheld, 4, 5, 6, 1)}, []stopwatt.ChangeState{withheld}},
		{"what is gone is withdrawn", points{at(confirmed, 4, 5, 6, 1)}, nil, []stopwatt.ChangeState{withdrawn}},
		{"what lies elsewhere is another", points{at(confirmed, 4, 5, 6, 1)}, points{at(suspected, 6, 7, 8, 1)}, []stopwatt.ChangeState{withdrawn, suspected}},
		{"what goes the other way is another", points{at(confirmed, 4, 5, 6, 1)}, points{at(suspected, 4, 5, 6, -1)}, []stopwatt.ChangeState{suspected, withdrawn}},
		{"of two the nearer is the same", points{at(confirmed, 1, 4, 9, 1), at(suspected, 1, 6, 9, 1)}, points{at(suspected, 1, 6, 9, 1)}, []stopwatt.ChangeState{withdrawn, suspected}},
		{"what was withdrawn comes back as it is found", points{at(withdrawn, 4, 5, 6, 1)}, points{at(suspected, 4, 5, 6, 1)}, []stopwatt.ChangeState{suspected}},
		{"what was withdrawn stays so", points{at(withdrawn, 4, 5, 6, 1)}, nil, []stopwatt.ChangeState{withdrawn}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			search := stopwatt.ChangeSearch{Points: []stopwatt.SeriesPoint{{Position: 20}}, ChangePoints: test.now}
			var got []stopwatt.ChangeState
			for _, c := range Follow(test.known, search) {
				got = append(got, c.State)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFollowNotesWhenAStateWasReached(t *testing.T) {
	t.Parallel()
	var known []stopwatt.ChangePoint
	looks := []struct {
		newest int
		now    []stopwatt.ChangePoint
	}{
		{10, []stopwatt.ChangePoint{at(stopwatt.Suspected, 4, 5, 6, 1)}},
		{11, []stopwatt.ChangePoint{at(stopwatt.Suspected, 4, 5, 6, 1)}},
		{12, []stopwatt.ChangePoint{at(stopwatt.Confirmed, 4, 5, 6, 1)}},
		{13, nil},
		{14, nil},
	}
	for _, look := range looks {
		known = Follow(known, stopwatt.ChangeSearch{Points: []stopwatt.SeriesPoint{{Position: look.newest}}, ChangePoints: look.now})
	}
	want := stopwatt.ChangeHistory{Suspected: stopwatt.CommitPlace{Position: 10}, Confirmed: stopwatt.CommitPlace{Position: 12}, Withdrawn: stopwatt.CommitPlace{Position: 13}}
	if len(known) != 1 || known[0].Since != want {
		t.Errorf("%+v, want one that was suspected at 10, confirmed at 12 and withdrawn at 13", known)
	}
}

func TestAShiftOfTheControlWithholds(t *testing.T) {
	t.Parallel()
	changed := jittered(1, levels(30, 100, 110))
	tests := []struct {
		name    string
		control []float64
		machine string
		want    stopwatt.ChangeState
	}{
		{"a control that stays declares it", jittered(1, levels(60, 50)), "", stopwatt.Confirmed},
		{"a control that shifts there withholds it", jittered(1, levels(30, 50, 55)), "", stopwatt.Withheld},
		{"in either direction", jittered(1, levels(30, 55, 50)), "", stopwatt.Withheld},
		{"a control that shifts elsewhere does not", jittered(1, slices.Concat(levels(15, 50), levels(45, 55))), "", stopwatt.Confirmed},
		{"nor one of another machine", jittered(1, levels(30, 50, 55)), "b", stopwatt.Confirmed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			control := seriesOf(test.control)
			for i := range control.Points {
				control.Points[i].Machine = test.machine
			}
			found := FindChanges(seriesOf(changed), stopwatt.ChangeRule{})
			held := Withhold(found, FindChanges(control, stopwatt.ChangeRule{}))
			if len(held[0].ChangePoints) != 1 || held[0].ChangePoints[0].State != test.want {
				t.Fatalf("%+v, want one that is %s", held[0].ChangePoints, test.want)
			}
			if test.want == stopwatt.Withheld && held[0].ChangePoints[0].Withheld != stopwatt.ControlShifted {
				t.Errorf("withheld for %q, want the control", held[0].ChangePoints[0].Withheld)
			}
			if found[0].ChangePoints[0].State != stopwatt.Confirmed {
				t.Error("the searches that were given are changed in place")
			}
		})
	}
}
