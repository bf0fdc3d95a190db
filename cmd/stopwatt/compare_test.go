package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

func TestRunsThatDifferInMoreThanTheirCommitsAreToldApart(t *testing.T) {
	t.Parallel()
	of := func(machine string, requests int) stopwatt.Run {
		return stopwatt.Run{
			Machine: stopwatt.Machine{Name: machine, Identity: stopwatt.MachineIdentity{ID: machine}},
			Settings: stopwatt.Suite{Workloads: []stopwatt.Workload{
				{Name: "static", Load: stopwatt.Load{Users: 4, Requests: requests}}, {Name: "csv", Load: stopwatt.Load{Users: 4, Requests: 10}},
			}},
		}
	}
	named := func(machine string) stopwatt.Run {
		return stopwatt.Run{Machine: stopwatt.Machine{Name: machine, Named: true}}
	}
	for _, row := range []struct {
		what           string
		earlier, later stopwatt.Run
		want           []string
	}{
		{"another commit alone is no other thing", of("board-1", 5000), of("board-1", 5000), nil},
		{"another machine", of("board-1", 5000), of("board-2", 5000),
			[]string{"Two machines, board-1 and board-2: their figures stand beside each other for reading"}},
		{"machines of whom the names alone are known", named("Ryzen"), named("Xeon"),
			[]string{"Two machines, Ryzen and Xeon: their figures stand beside each other for reading"}},
		{"a short profile", of("board-1", 5000), of("board-1", 20),
			[]string{"The two runs ask other things (static): a profile or the suite differs, and figures like time are of other work"}},
	} {
		if diff := cmp.Diff(row.want, otherwise(row.earlier, row.later)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.what, diff)
		}
	}
}
