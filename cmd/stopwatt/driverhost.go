package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// A driverHost is the other Docker host that drives load. A nil one is none.
type driverHost struct {
	docker  *containers.Docker
	agent   string
	address string
}

// openDriverHost connects to the Docker host that the machine file has drive
// load, where it names one and the suite has something to drive.
func (d *desk) openDriverHost(ctx context.Context, where *stopwatt.DriverHost, suite stopwatt.Suite) (*driverHost, error) {
	if where == nil || suite.Path() == "" {
		return nil, nil
	}
	if err := drivableElsewhere(suite); err != nil {
		return nil, err
	}
	config := d.dockerConfig()
	config.Getenv = func(name string) string {
		if name == "DOCKER_HOST" {
			return where.Docker
		}
		return d.getenv(name)
	}
	docker, err := containers.Connect(ctx, config)
	if err != nil {
		return nil, surroundings(fmt.Errorf("the driver of the machine file: %w", err))
	}
	agent, err := d.prepare(ctx, docker)
	if err != nil {
		docker.Close()
		return nil, err
	}
	return &driverHost{docker, agent, where.Address}, nil
}

// drivableElsewhere checks that every server can be asked over a network, and by
// stopwatt's own driver.
func drivableElsewhere(suite stopwatt.Suite) error {
	for _, workload := range suite.Workloads {
		switch {
		case workload.HTTP != nil && workload.HTTP.Socket != "":
			return askedWrongly(fmt.Errorf("workload %s: the machine file has the driver on another host, from where no socket is reached; write port, or take driver out of the machine file", workload.Name))
		case workload.Load.Tool != nil:
			return askedWrongly(fmt.Errorf("workload %s: the machine file has the driver on another host, and a tool drives from beside the server; take driver out of the machine file", workload.Name))
		}
	}
	return nil
}

// elsewhere is the driver's host as a trial wants it.
func (h *driverHost) elsewhere() *trial.Elsewhere {
	if h == nil {
		return nil
	}
	return &trial.Elsewhere{Containers: h.docker, Agent: h.agent, Address: h.address}
}

// engine is that host's; nil where there is none.
func (h *driverHost) engine() *containers.Docker {
	if h == nil {
		return nil
	}
	return h.docker
}

// reap removes what an earlier process of a run has left there.
func (h *driverHost) reap(ctx context.Context, d *desk, run stopwatt.Run) {
	if h != nil {
		d.reapRun(ctx, h.docker, run)
	}
}

// close lets go of the connection.
func (h *driverHost) close() {
	if h != nil {
		h.docker.Close()
	}
}

// samePath is an error where a machine is to be calibrated by a driver on another
// host: what a network adds is not the machine's own, and verdicts over a network
// know no calibration.
func samePath(suite stopwatt.Suite, file stopwatt.MachineFile) error {
	served := slices.ContainsFunc(suite.Workloads, func(w stopwatt.Workload) bool { return w.HTTP != nil })
	if file.Driver == nil || !served {
		return nil
	}
	return askedWrongly(errors.New("the machine file has the driver on another host: a machine is calibrated by itself; take driver out of the machine file for that"))
}
