package main

import (
	"cmp"
	"context"
	"regexp"
	"sync"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/harness"
	"gitlab.com/stopwatt/stopwatt/meter"
	"gitlab.com/stopwatt/stopwatt/trial"
)

// bench is the place where the trials of a run are carried out.
func bench(docker *containers.Docker, agent string, elsewhere *driverHost, instruments *instruments, run stopwatt.Run) trial.Bench {
	labels := map[string]string{stopwatt.LabelRun: run.Key, stopwatt.LabelOwner: meter.Host{}.Self()}
	return trial.Bench{
		Containers:  docker,
		Networks:    docker,
		Kept:        &trial.Kept{},
		Agent:       agent,
		AgentVolume: agentVolume(docker, agent, labels),
		Harness:     readHarness,
		DriverCPUs:  run.Settings.DriverCPUs,
		ServerCPUs:  run.Settings.ServerCPUs,
		Elsewhere:   elsewhere.elsewhere(),
		Labels:      labels,
		Monotonic:   instruments.monotonic,
		Account:     instruments.account,
		Watch:       instruments.watch,
		Parents:     instruments.parentsOf(run),
	}
}

// readHarness reads what the harness of a workload has told.
func readHarness(workload stopwatt.Workload, results []byte) ([]stopwatt.Benchmark, error) {
	h := workload.Harness
	options := harness.Options{File: cmp.Or(h.Results, "standard output"), Unit: h.Unit, Metric: h.Metric, Better: h.Better}
	if h.Strip != "" {
		strip, err := regexp.Compile(h.Strip)
		if err != nil {
			return nil, err
		}
		options.Strip = strip
	}
	return harness.Read(h.Format, results, options)
}

// agentVolume makes the container whose volume holds the agent when it is first
// asked for. It goes with the run's other containers.
func agentVolume(docker *containers.Docker, agent string, labels map[string]string) func(context.Context) (string, error) {
	var making sync.Mutex
	var made string
	return func(ctx context.Context) (string, error) {
		making.Lock()
		defer making.Unlock()
		if made != "" {
			return made, nil
		}

		id, err := docker.AgentVolume(ctx, agent, withRole(labels, roleAgent))
		made = id
		return id, err
	}
}

// withRole is the labels with a role.
func withRole(labels map[string]string, role string) map[string]string {
	all := map[string]string{stopwatt.LabelRole: role}
	for name, value := range labels {
		all[name] = value
	}
	return all
}
