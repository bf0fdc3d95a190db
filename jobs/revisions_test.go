package jobs_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
)

// asking is a suite with one HTTP workload and one command.
func asking(change func(*stopwatt.Suite)) stopwatt.Suite {
	suite := stopwatt.Suite{
		Implementations: []stopwatt.Implementation{{Name: "go"}, {Name: "rust"}},
		Workloads: []stopwatt.Workload{
			{Name: "hello", Load: stopwatt.Load{Users: 4, Requests: 10}, HTTP: &stopwatt.HTTP{
				Request: stopwatt.Request{Method: "GET", Path: "/"}, Expect: stopwatt.Expect{Status: 200},
				Others: []stopwatt.Ask{{Request: stopwatt.Request{Method: "GET", Path: "/b"}, Expect: stopwatt.Expect{Status: 204}}},
			}},
			{Name: "fib", Command: &stopwatt.Command{Program: stopwatt.Program{Run: []string{"/fib"}, OKExit: []int{0}}}},
		},
		Plan:  stopwatt.PlanSettings{Rounds: 32, MinRounds: 12},
		Judge: stopwatt.Judge{Metrics: []stopwatt.Threshold{{Metric: "time", Relative: .03}}},
	}
	if change != nil {
		change(&suite)
	}
	return suite
}

func TestTheBaseIsVerifiedByItsOwnExpectWhereItIsAskedTheSame(t *testing.T) {
	base := asking(nil)
	for _, test := range []struct {
		name      string
		change    func(*stopwatt.Suite)
		differing []string
		status    int // that is expected of the base's first and second answer
		second    int
	}{
		{"nothing changed", nil, nil, 200, 204},
		{"another status of the first", func(s *stopwatt.Suite) { s.Workloads[0].HTTP.Expect.Status = 201 }, []string{"hello"}, 200, 204},
		{"another status of the second", func(s *stopwatt.Suite) { s.Workloads[0].HTTP.Others[0].Expect.Status = 404 }, []string{"hello"}, 200, 204},
		{"another question is checked as the head says", func(s *stopwatt.Suite) {
			s.Workloads[0].HTTP.Request.Path, s.Workloads[0].HTTP.Expect.Status = "/new", 201
		}, nil, 201, 204},
		{"how many answers are hashed is no answer", func(s *stopwatt.Suite) { s.Workloads[0].HTTP.Expect.CheckOneIn = 5 }, nil, 200, 204},
		{"another good exit status", func(s *stopwatt.Suite) { s.Workloads[1].Command.OKExit = []int{0, 3} }, []string{"fib"}, 200, 204},
		{"another program may end otherwise", func(s *stopwatt.Suite) {
			s.Workloads[1].Command.Run, s.Workloads[1].Command.OKExit = []string{"/fib2"}, []int{3}
		}, nil, 200, 204},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked, differing := jobs.AtBase(base, asking(test.change))
			if diff := cmp.Diff(test.differing, differing); diff != "" {
				t.Errorf("differing (-want +got):\n%s", diff)
			}
			http := asked["hello"].HTTP
			if http.Expect.Status != test.status || http.Others[0].Expect.Status != test.second {
				t.Errorf("the base is expected to answer %d and %d, want %d and %d", http.Expect.Status, http.Others[0].Expect.Status, test.status, test.second)
			}
		})
	}
}

func TestWhatDecidesAVerdictIsToldWhenASuiteChangesIt(t *testing.T) {
	for _, test := range []struct {
		change func(*stopwatt.Suite)
		want   []string
	}{
		{nil, nil},
		{func(s *stopwatt.Suite) { s.Judge.Metrics[0].Relative = .1 }, []string{"judge of time: 3 % → 10 %"}},
		{func(s *stopwatt.Suite) { s.Judge.Metrics = nil }, []string{"judge of time: 3 % → none", "judge: metrics of its own → the default metrics"}},
		{func(s *stopwatt.Suite) { s.Judge.FailOn = []stopwatt.Verdict{} }, []string{"fail-on: regressed → none"}},
		{func(s *stopwatt.Suite) { s.Judge.Net = true }, []string{"judged energy: gross → net"}},
		{func(s *stopwatt.Suite) { s.Judge.Differing = true }, []string{"differing-answers: false → true"}},
		{func(s *stopwatt.Suite) { s.Plan.MinRounds, s.Plan.Rounds = 4, 4 }, []string{"rounds: 12 to 32 → 4"}},
		{func(s *stopwatt.Suite) { s.Plan.Warmup = time.Second }, []string{"warmup: 0s → 1s"}},
		{func(s *stopwatt.Suite) { s.Control = "go" }, []string{"control: none → go"}},
		{func(s *stopwatt.Suite) { s.Workloads[0].HTTP.Expect.Status = 201 }, []string{"expect of hello"}},
		{func(s *stopwatt.Suite) { s.Workloads[0].HTTP.Request.Path = "/c" }, []string{"what is asked of hello"}},
		{func(s *stopwatt.Suite) { s.Workloads[0].Load.Users = 1 }, []string{"load of hello"}},
		{func(s *stopwatt.Suite) { s.Workloads[0].Name = "new" }, nil},
	} {
		if diff := cmp.Diff(test.want, jobs.Changes(asking(nil), asking(test.change))); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	}
}

func TestCasesThatTheHeadHasNoMoreAreNamed(t *testing.T) {
	head := asking(func(s *stopwatt.Suite) { s.Implementations = s.Implementations[:1] })
	want := []stopwatt.Case{{Implementation: "rust", Workload: "hello"}, {Implementation: "rust", Workload: "fib"}}
	if diff := cmp.Diff(want, jobs.Removed(asking(nil), head)); diff != "" {
		t.Errorf("removed (-want +got):\n%s", diff)
	}
}
