package main

import (
	"cmp"
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// placed is the suite with this machine's cores for what it leaves open, and
// with the place that its driver has.
func placed(suite stopwatt.Suite, file stopwatt.MachineFile, machine stopwatt.Machine, engine stopwatt.Engine) stopwatt.Suite {
	suite.DriverCPUs, suite.DriverHost = file.DriverCPUs, file.Driver
	if nothingPlaced(suite, file) && machine.Identity.SMT != "on" {
		suite.ServerCPUs, suite.DriverCPUs = apart(engine.CPUs)
	}
	suite.Implementations = slices.Clone(suite.Implementations)
	for n, implementation := range suite.Implementations {
		suite.Implementations[n].CPUs = cmp.Or(implementation.CPUs, file.ServerCPUs)
	}
	return suite
}

// nothingPlaced tells whether server and driver share a machine, and nobody has
// said which cores they use.
func nothingPlaced(suite stopwatt.Suite, file stopwatt.MachineFile) bool {
	pinned := func(i stopwatt.Implementation) bool { return i.CPUs != "" }
	served := func(w stopwatt.Workload) bool { return w.HTTP != nil }
	return file.Driver == nil && file.ServerCPUs+file.DriverCPUs == "" &&
		!slices.ContainsFunc(suite.Implementations, pinned) && slices.ContainsFunc(suite.Workloads, served)
}

// apart gives the last quarter of a machine's cores to the driver, which needs
// less than a server does, and the others to the servers. Of fewer than four
// nothing is taken away: a server on two or three would lose too much of what
// it is measured on. Neither are cores that share their units with a sibling,
// whose numbers differ from machine to machine.
func apart(cores int) (servers, driver string) {
	const enough = 4
	if cores < enough {
		return "", ""
	}
	first := cores - cores/4
	return coreRange(0, first-1), coreRange(first, cores-1)
}

// coreRange is a range of cores as in cpuset.
func coreRange(first, last int) string {
	if first == last {
		return fmt.Sprint(first)
	}
	return fmt.Sprintf("%d-%d", first, last)
}
