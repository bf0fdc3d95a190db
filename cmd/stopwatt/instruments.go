package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/meter"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// instruments are what a run is metered with on this machine.
type instruments struct {
	host     meter.Host
	file     stopwatt.MachineFile
	meters   *meter.Meters
	settings stopwatt.MeterSettings
	sampler  *meter.Sampler // nil while idle power is measured
}

// openInstruments opens the energy meters of this machine and begins to sample
// them.
func (d *desk) openInstruments(settings stopwatt.MeterSettings) (*instruments, error) {
	file, err := d.machineFile()
	if err != nil {
		return nil, err
	}
	i := &instruments{host: meter.Host{Root: "/", NoCounters: !settings.Counters}, file: file, settings: settings}
	i.meters, _ = meter.OpenMeters(d.meterHost(), file) // what cannot be read is told as absent; doctor says how to mend it
	i.sampler = i.meters.Sample(settings.Every)
	return i, nil
}

// meterHost is where the energy meters' files are: below /, or below
// $STOPWATT_METERS_ROOT where the machine's /sys is seen in another place.
func (d *desk) meterHost() meter.Host {
	return meter.Host{Root: cmp.Or(d.getenv("STOPWATT_METERS_ROOT"), "/")}
}

// machineFile reads what belongs to this machine: /etc/stopwatt/machine.yml, or
// the person's own. It need not be there.
func (d *desk) machineFile() (stopwatt.MachineFile, error) {
	for _, path := range d.machineFiles() {
		text, err := readAtMost(path, mostSuite)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return stopwatt.MachineFile{}, surroundings(fmt.Errorf("read the machine file: %w", err))
		}
		file, err := jobs.ReadMachine(path, text)
		if err != nil {
			return stopwatt.MachineFile{}, askedWrongly(err)
		}
		return file, nil
	}
	return stopwatt.MachineFile{}, nil
}

// machineFiles are the places of the machine file, the nearest first.
func (d *desk) machineFiles() []string {
	var places []string
	if config := d.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(config) {
		places = append(places, filepath.Join(config, "stopwatt", "machine.yml"))
	} else if home := d.getenv("HOME"); filepath.IsAbs(home) {
		places = append(places, filepath.Join(home, ".config", "stopwatt", "machine.yml"))
	}
	return append(places, "/etc/stopwatt/machine.yml")
}

// machine names this machine.
func (i *instruments) machine(engine stopwatt.Engine) stopwatt.Machine {
	machine := i.host.Machine()
	if i.file.Machine != "" {
		machine.Name = i.file.Machine
	}
	machine.Epoch.EngineVersion = engine.Version
	machine.Epoch.CgroupVersion = cmp.Or(machine.Epoch.CgroupVersion, engine.CgroupVersion)
	return machine
}

// placed is the suite with this machine's cores for what it leaves open.
func (i *instruments) placed(suite stopwatt.Suite) stopwatt.Suite {
	suite.DriverCPUs = i.file.DriverCPUs
	suite.Implementations = slices.Clone(suite.Implementations)
	for n, implementation := range suite.Implementations {
		suite.Implementations[n].CPUs = cmp.Or(implementation.CPUs, i.file.ServerCPUs)
	}
	return suite
}

// idleWithout is how long an idle window is where no energy meter can be read:
// enough for the machine's own columns.
const idleWithout = time.Second

// idle measures the machine while nothing runs on it.
func (i *instruments) idle(ctx context.Context, place stopwatt.IdlePlace) (stopwatt.IdleWindow, error) {
	lasting := i.settings.Idle
	readable := func(m stopwatt.Meter) bool { return m.Absent == "" }
	if !slices.ContainsFunc(i.meters.List(), readable) {
		lasting = min(lasting, idleWithout)
	}
	i.sampler.Stop()
	window, err := i.observer(nil).IdleWindow(place, func() ([]stopwatt.IdlePower, error) {
		return i.meters.Idle(ctx, lasting, i.settings.Every)
	})
	i.sampler = i.meters.Sample(i.settings.Every)
	return window, err
}

// observer watches with this sampler.
func (i *instruments) observer(sampler *meter.Sampler) meter.Observer {
	return meter.Observer{Host: i.host, Sampler: sampler, Every: i.settings.Every, MostForeign: meter.MostForeign}
}

// watch begins to watch the machine during a trial.
func (i *instruments) watch(containers map[string]trial.Account) trial.Watch {
	counters := map[string]meter.Counter{}
	for role, account := range containers {
		if account != nil {
			counters[role] = account
		}
	}
	return i.observer(i.sampler).Watch(counters)
}

// close ends the sampling.
func (i *instruments) close() {
	i.sampler.Stop()
	_ = i.meters.Close() // what was only read
}
