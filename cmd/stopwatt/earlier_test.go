package main

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

func TestMeasuringAgainDoesNotUndoWhatAnEarlierMeasurementConfirmed(t *testing.T) {
	of := stopwatt.Case{Implementation: "go", Workload: "hello"}
	before := func(verdict stopwatt.Verdict, accepted *stopwatt.Acceptance) []stopwatt.Results {
		return []stopwatt.Results{{Run: stopwatt.Run{ID: 3}, Judgement: &stopwatt.Judgement{
			Comparisons: []stopwatt.Comparison{{Case: of, Metric: stopwatt.Metric{Name: "time"}, Verdict: verdict, Accepted: accepted}}}}}
	}
	meant := stopwatt.Acceptance{Case: "go/*", Reason: "it validates now"}
	now := func(failOn []stopwatt.Verdict, acceptances ...stopwatt.Acceptance) outcome {
		o := outcome{acceptances: acceptances}
		o.results.Run.Settings.Judge.FailOn = failOn
		o.results.Judgement = &stopwatt.Judgement{Comparisons: []stopwatt.Comparison{{Case: of, Verdict: stopwatt.Unchanged}}}
		return o
	}
	for _, test := range []struct {
		name    string
		now     outcome
		earlier []stopwatt.Results
		fails   bool
		told    int
	}{
		{"it regressed before and is unchanged now", now(nil), before(stopwatt.Regressed, nil), true, 1},
		{"it was undecided before", now(nil), before(stopwatt.Undecided, nil), false, 0},
		{"somebody accepted it then", now(nil), before(stopwatt.Regressed, &meant), false, 0},
		{"somebody accepts it now", now(nil, meant), before(stopwatt.Regressed, nil), false, 0},
		{"the suite fails on nothing: it is told all the same", now([]stopwatt.Verdict{}), before(stopwatt.Regressed, nil), false, 1},
		{"nothing was measured before", now(nil), nil, false, 0},
		{"what was measured before had no base", now(nil), []stopwatt.Results{{}}, false, 0},
	} {
		err := regressedEarlier(test.now, test.earlier)
		if (err != nil) != test.fails {
			t.Errorf("%s: %v", test.name, err)
		}
		if found := earlierFindings(test.earlier, test.now); len(found) != test.told {
			t.Errorf("%s: %d findings in the note, want %d", test.name, len(found), test.told)
		}
	}
}

func TestAMachineThatStoredNothingIsNamed(t *testing.T) {
	run := func(id int64, machine string, status stopwatt.RunStatus) stopwatt.Results {
		return stopwatt.Results{Run: stopwatt.Run{ID: id, Status: status, Machine: stopwatt.Machine{Name: machine}}}
	}
	finished, missing := byMachine([]stopwatt.Results{
		run(1, "b", stopwatt.Finished), run(2, "a", stopwatt.Finished), run(3, "a", stopwatt.Aborted), run(4, "c", stopwatt.Aborted), run(5, "b", stopwatt.Finished),
	}, []string{"a", "b", "c", "d"})
	var ids []int64
	for _, results := range finished {
		ids = append(ids, results.Run.ID)
	}
	if len(ids) != 2 || ids[0] != 2 || ids[1] != 5 {
		t.Errorf("runs %v are told, want the latest finished ones of a and b, 2 and 5", ids)
	}
	want := []report.MissingMachine{{Name: "c", Why: "run 4 is aborted"}, {Name: "d", Why: "its job has stored nothing"}}
	if len(missing) != 2 || missing[0] != want[0] || missing[1] != want[1] {
		t.Errorf("missing %+v, want %+v", missing, want)
	}
}
