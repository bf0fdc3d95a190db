package stopwatt

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAdaptive(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name        string
		least, most int
		want        []Look
	}{
		{"the planned looks of 12 to 32", 12, 32, []Look{{12, 0.05, 0.005}, {20, 0.025, 0.0025}, {32, 0.025, 0.0025}}},
		{"no room for a look between", 12, 13, []Look{{12, 0.05, 0.005}, {13, 0.05, 0.005}}},
		{"as many at least as at most", 12, 12, []Look{{12, 0.05, 0.01}}},
		{"more at least than at most", 12, 3, []Look{{12, 0.05, 0.01}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, Adaptive(test.least, test.most).Looks); diff != "" {
				t.Errorf("looks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFreshRoundsFollowTheLastLooks(t *testing.T) {
	t.Parallel()
	p := Adaptive(12, 32)
	for look, want := range map[int][2]int{1: {33, 44}, 2: {45, 56}, 3: {57, 68}} {
		if first, last := p.Fresh(look); [2]int{first, last} != want {
			t.Errorf("look %d is confirmed in rounds %d to %d, want %v", look, first, last, want)
		}
	}
}

func TestAProcedureThatCanNeverReachAVerdict(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		procedure Procedure
		family    int
		reachable bool
		need      int
	}{
		{"ten rounds and fifty pairs", Fixed(10), 50, false, 11},
		{"ten rounds and twenty-five pairs", Fixed(10), 25, true, 10},
		{"ten rounds and twenty-six pairs", Fixed(10), 26, false, 11},
		{"twelve rounds and fifty pairs", Fixed(12), 50, true, 11},
		{"twelve rounds and 102 pairs", Fixed(12), 102, true, 12},
		{"twelve rounds and 103 pairs", Fixed(12), 103, false, 13},
		{"one pair of six rounds could never be called unchanged", Fixed(6), 1, false, 7},
		{"one pair of seven rounds", Fixed(7), 1, true, 7},
		{"no pair at all", Fixed(7), 0, true, 7},
		{"the last look of 12 to 32", Adaptive(12, 32), 10000, true, 20},
		{"later looks are stricter, and need more", Adaptive(6, 8), 1, false, 9},
		{"no looks", Procedure{}, 1, false, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := test.procedure.Reachable(test.family); got != test.reachable {
				t.Errorf("reachable: %t", got)
			}
			if got := test.procedure.Reach(test.family); got != test.need {
				t.Errorf("needs %d rounds, want %d", got, test.need)
			}
		})
	}
}

func TestJudgedIsTheGrossEnergy(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"energy_board":             "energy_board_gross",
		"energy_board_gross":       "energy_board_gross",
		"energy_board_per_request": "energy_board_per_request",
		"power_board":              "power_board",
		"time":                     "time",
	} {
		if got := (Threshold{Metric: name}).Judged(); got != want {
			t.Errorf("%s is judged as %s, want %s", name, got, want)
		}
	}
}

func TestDefaultThresholds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		http   *HTTP
		meters []Meter
		want   string
	}{
		{"a server, no meter", &HTTP{}, nil, "cpu_server"},
		{"a command, no meter", nil, nil, "cpu_program"},
		{"the board's", &HTTP{}, []Meter{{Name: "cpu"}, {Name: "board"}}, "energy_board"},
		{"a board's that cannot be read", &HTTP{}, []Meter{{Name: "board", Absent: "permission"}}, "cpu_server"},
		{"that of the CPU alone", &HTTP{}, []Meter{{Name: "cpu"}}, "cpu_server"},
	}
	for _, test := range tests {
		want := []Threshold{{"time", 0.03}, {test.want, 0.03}}
		if diff := cmp.Diff(want, DefaultThresholds(Workload{HTTP: test.http}, test.meters)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestTrades(t *testing.T) {
	t.Parallel()
	comparison := func(implementation, metric string, v Verdict) Comparison {
		return Comparison{Case: Case{implementation, "w"}, Metric: Metric{Name: metric}, Verdict: v}
	}
	faster, hungrier := comparison("go", "time", Improved), comparison("go", "energy_board", Regressed)
	judgement := Judgement{Comparisons: []Comparison{
		faster,
		comparison("rust", "time", Improved), comparison("rust", "energy_board", Improved),
		hungrier,
		comparison("zig", "time", Improved), comparison("zig", "energy_board", Undecided),
	}}
	want := []Trade{{Case: Case{"go", "w"}, Better: []Comparison{faster}, Worse: []Comparison{hungrier}}}
	if diff := cmp.Diff(want, judgement.Trades()); diff != "" {
		t.Errorf("trades (-want +got):\n%s", diff)
	}
}
