package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/jobs"
	"gitlab.com/stopwatt/stopwatt/meter"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// A station is a machine that is open for a run: this one, or one that a helper
// container reads for us.
type station interface {
	Machine() stopwatt.Machine
	Meters() []stopwatt.Meter
	Reading() stopwatt.MachineReading
	Account(pid int) (meter.Accounting, error)
	Watch(containers map[string]meter.Counter) meter.Watching
	Idle(ctx context.Context, place stopwatt.IdlePlace, lasting time.Duration) (stopwatt.IdleWindow, error)
	Settle(ctx context.Context, earlier stopwatt.MachineReading, atMost time.Duration) (time.Duration, stopwatt.MachineReading, error)
	Findings(ctx context.Context, lasting time.Duration) ([]stopwatt.Finding, error)
	Close()
}

// instruments are what a run is metered with on the engine's machine.
type instruments struct {
	file     stopwatt.MachineFile
	settings stopwatt.MeterSettings
	station  station
	// beside are the energy meters that only this process can ask, over the
	// network or by a program, while a helper container reads the others; nil
	// when there are none.
	beside *besides
	// monotonic reads the clock of the engine's machine; nil when that has
	// another kernel.
	monotonic func() int64
	why       string           // the meters are not read by this process; empty: they are
	way       stopwatt.Finding // who reads them

	// What a helper container reads them by; nil and empty where there is none.
	elsewhere *meter.Elsewhere
	asked     containers.MetersOrder
	order     meter.StationOrder
}

// openInstruments opens the counters and energy meters of the engine's machine
// and begins to sample them: here, or where they cannot be read here, through a
// helper container. Docker may be nil, when there is no engine.
func (d *desk) openInstruments(ctx context.Context, docker *containers.Docker, settings stopwatt.MeterSettings) (*instruments, error) {
	file, err := d.machineFile()
	if err != nil {
		return nil, err
	}
	order := meter.StationOrder{MetersRoot: d.getenv("STOPWATT_METERS_ROOT"), NoCounters: !settings.Counters, Every: settings.Every, File: file, Fetch: fetch}
	i := &instruments{file: file, settings: settings, monotonic: meter.Host{}.Monotonic}
	here := meter.Open(order)
	i.station, i.way = here, stopwatt.Finding{Subject: "meters", Verdict: stopwatt.Fit, Says: "read by stopwatt itself: it sees the engine's host"}
	if docker == nil {
		i.way.Says = "read by stopwatt itself"
	}
	if i.why = d.whyElsewhere(ctx, docker, here); i.why == "" {
		return i, nil
	}
	here.Close() // a program that is a meter may bear no second one beside it
	i.way.Says = "read by a helper container, because " + i.why
	err = d.sendElsewhere(ctx, docker, i, order)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		i.way.Verdict, i.way.Says = stopwatt.Doubtful, fmt.Sprintf("read here, although %s: no helper container could be started: %v", i.why, err)
		i.station = meter.Open(order)
		if docker.Engine().Remote {
			i.monotonic = nil
		}
	}
	return i, nil
}

// whyElsewhere says why the meters cannot be read in this process; empty when
// they can.
func (d *desk) whyElsewhere(ctx context.Context, docker *containers.Docker, here *meter.Station) string {
	if docker == nil {
		return ""
	}
	if docker.Engine().Remote {
		return "the Docker Engine is reached over a network: its host may be another machine"
	}
	if err := (meter.Host{}).Sees(docker.Listener(ctx)); err != nil {
		return err.Error()
	}
	if denied := here.Denied(); len(denied) > 0 {
		return "this user may not read the meter " + strings.Join(denied, ", ")
	}
	return ""
}

// sendElsewhere has a helper container read the meters.
func (d *desk) sendElsewhere(ctx context.Context, docker *containers.Docker, i *instruments, order meter.StationOrder) error {
	agent, err := d.agentImage(ctx, docker)
	if err != nil {
		return err
	}
	asked := containers.MetersOrder{Image: agent, Labels: map[string]string{
		stopwatt.LabelOwner: meter.Host{}.Self(), stopwatt.LabelRole: "meters",
	}}
	if order.MetersRoot != "" {
		asked.Trees = []string{order.MetersRoot}
	}
	streams, err := docker.Meters(ctx, asked)
	if err != nil {
		return err
	}
	i.asked = asked
	order.File.Powercap = "" // where this container has it: the helper has it in its place
	var beside []stopwatt.MeterSetting
	if !docker.Engine().Remote {
		order.File.Meters, beside = shared(order.File.Meters)
	}
	elsewhere, err := meter.OpenElsewhere(ctx, streams, order)
	if err != nil {
		return err
	}
	i.station, i.elsewhere, i.order = elsewhere, elsewhere, order
	if !elsewhere.SameKernel() {
		i.monotonic = nil
	}
	if len(beside) > 0 {
		i.beside = openBesides(beside, order.Every)
	}
	return nil
}

// renew has another helper container read the meters, where the one that did has ended
// with its engine.
func (i *instruments) renew(ctx context.Context, docker *containers.Docker) error {
	if i.elsewhere == nil {
		return nil
	}
	if _ = i.elsewhere.Reading(); i.elsewhere.Broken() == nil { // a question finds out
		return nil
	}
	streams, err := docker.Meters(ctx, i.asked)
	if err != nil {
		return err
	}
	again, err := meter.OpenElsewhere(ctx, streams, i.order)
	if err != nil {
		return err
	}
	i.station.Close()
	i.station, i.elsewhere = again, again
	return nil
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

// machine names the machine.
func (i *instruments) machine(engine stopwatt.Engine) stopwatt.Machine {
	machine := i.station.Machine()
	if i.file.Machine != "" {
		machine.Name = i.file.Machine
	}
	machine.Epoch.EngineVersion = engine.Version
	machine.Epoch.CgroupVersion = cmp.Or(machine.Epoch.CgroupVersion, engine.CgroupVersion)
	return machine
}

// meters lists the energy meters, those that cannot be read among them.
func (i *instruments) meters() []stopwatt.Meter {
	return append(i.station.Meters(), i.beside.list()...)
}

// idle measures the machine while nothing runs on it.
func (i *instruments) idle(ctx context.Context, place stopwatt.IdlePlace) (stopwatt.IdleWindow, error) {
	powers := i.beside.idle(ctx, i.settings.Idle)
	window, err := i.station.Idle(ctx, place, i.settings.Idle)
	window.Powers = append(window.Powers, powers()...)
	return window, err
}

// account opens the accounting of a container.
func (i *instruments) account(pid int) (trial.Account, error) { return i.station.Account(pid) }

// watch begins to watch the machine during a trial.
func (i *instruments) watch(containers map[string]trial.Account) trial.Watch {
	counters := map[string]meter.Counter{}
	for role, account := range containers {
		if account != nil {
			counters[role] = account
		}
	}
	return i.beside.watch(i.station.Watch(counters))
}

// close ends the sampling. Of nil it ends nothing.
func (i *instruments) close() {
	if i == nil {
		return
	}
	i.station.Close()
	i.beside.close()
}
