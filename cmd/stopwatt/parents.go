package main

import (
	"context"
	"os"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/meter"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// parents are the cgroups above the containers of a run.
type parents struct {
	run    string // its key
	driver string // of cgroups, the engine's
}

// parentsOf are the parents of a run's containers; nil where they could not be
// removed again, because this process does not reach the engine's cgroups.
func (i *instruments) parentsOf(run stopwatt.Run) trial.Parents {
	if i.why != "" || os.Geteuid() != 0 || !(meter.Host{}).MakesParents(run.Engine.CgroupDriver) {
		return nil
	}
	return parents{run: run.Key, driver: run.Engine.CgroupDriver}
}

func (p parents) Name(position int, container string) string {
	return meter.CgroupParent(p.run, position, container, p.driver)
}

func (p parents) Account(position int, container string) (trial.Account, error) {
	return meter.Host{NoCounters: true}.ParentAccount(p.Name(position, container))
}

// Remove leaves what cannot be removed to the next command: see reap.
func (p parents) Remove(ctx context.Context, position int) {
	_ = meter.Host{}.RemoveParents(ctx, p.run, position) // see above
}
