package main

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestServerAndDriverAreKeptApartWhereNobodyPlacedThem(t *testing.T) {
	t.Parallel()
	served := []stopwatt.Workload{{Name: "hello", HTTP: &stopwatt.HTTP{Port: 80}}}
	for _, row := range []struct {
		name           string
		suite          stopwatt.Suite
		file           stopwatt.MachineFile
		smt            string
		cores          int
		server, driver string
	}{
		{"two cores are shared", stopwatt.Suite{Workloads: served}, stopwatt.MachineFile{}, "none", 2, "", ""},
		{"of four the driver gets the last", stopwatt.Suite{Workloads: served}, stopwatt.MachineFile{}, "none", 4, "0-2", "3"},
		{"of sixteen it gets four", stopwatt.Suite{Workloads: served}, stopwatt.MachineFile{}, "", 16, "0-11", "12-15"},
		{"threads of one core are not told apart", stopwatt.Suite{Workloads: served}, stopwatt.MachineFile{}, "on", 8, "", ""},
		{"the machine file decides", stopwatt.Suite{Workloads: served}, stopwatt.MachineFile{DriverCPUs: "0"}, "none", 4, "", "0"},
		{"the suite decides", stopwatt.Suite{Workloads: served, Implementations: []stopwatt.Implementation{{CPUs: "1"}}}, stopwatt.MachineFile{}, "none", 4, "", ""},
		{"programs have no driver", stopwatt.Suite{Workloads: []stopwatt.Workload{{Command: &stopwatt.Command{}}}}, stopwatt.MachineFile{}, "none", 4, "", ""},
		{"a driver elsewhere takes no core", stopwatt.Suite{Workloads: served}, stopwatt.MachineFile{Driver: &stopwatt.DriverHost{}}, "none", 4, "", ""},
		{"an engine that does not tell its cores", stopwatt.Suite{Workloads: served}, stopwatt.MachineFile{}, "none", 0, "", ""},
	} {
		machine := stopwatt.Machine{Identity: stopwatt.MachineIdentity{SMT: row.smt}}
		got := placed(row.suite, row.file, machine, stopwatt.Engine{CPUs: row.cores})
		if got.ServerCPUs != row.server || got.DriverCPUs != row.driver {
			t.Errorf("%s: servers %q, driver %q", row.name, got.ServerCPUs, got.DriverCPUs)
		}
	}
}

func TestAMachineFilePlacesWhatASuiteLeavesOpen(t *testing.T) {
	t.Parallel()
	suite := stopwatt.Suite{Implementations: []stopwatt.Implementation{{Name: "a"}, {Name: "b", CPUs: "1"}}}
	got := placed(suite, stopwatt.MachineFile{ServerCPUs: "0-2", DriverCPUs: "3"}, stopwatt.Machine{}, stopwatt.Engine{CPUs: 4})
	if got.Implementations[0].CPUs != "0-2" || got.Implementations[1].CPUs != "1" || got.DriverCPUs != "3" {
		t.Errorf("a %q, b %q, driver %q", got.Implementations[0].CPUs, got.Implementations[1].CPUs, got.DriverCPUs)
	}
	if suite.Implementations[0].CPUs != "" {
		t.Error("the suite itself was changed")
	}
}
