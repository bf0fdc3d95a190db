package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/meter"
	"gitlab.com/stopwatt/stopwatt/report"
)

// openEngine connects to Docker, whose builds use this network, removes what killed runs left behind, and
// makes sure of the driver's image.
func (d *desk) openEngine(ctx context.Context, buildNetwork string) (docker *containers.Docker, agent string, err error) {
	config := d.dockerConfig()
	config.BuildNetwork = buildNetwork
	docker, err = containers.Connect(ctx, config)
	if err != nil {
		return nil, "", surroundings(err)
	}
	agent, err = d.prepare(ctx, docker)
	if err != nil {
		docker.Close()
		return nil, "", err
	}
	return docker, agent, nil
}

// prepare cleans up after the dead and brings the driver's image.
func (d *desk) prepare(ctx context.Context, docker *containers.Docker) (agent string, err error) {
	if err := d.reapDead(ctx, docker); err != nil {
		return "", err
	}
	return d.agentImage(ctx, docker)
}

// reapDead cleans up after the dead, as far as that takes no longer than reapWithin. What
// cannot be removed, and runs still, is told of each trial as other load: only an engine
// that is gone is an error.
func (d *desk) reapDead(ctx context.Context, docker *containers.Docker) error {
	bounded, cancel := context.WithTimeout(ctx, reapWithin)
	defer cancel()
	removed, err := d.reap(bounded, docker, false)
	if removed > 0 {
		fmt.Fprintf(d.stderr, "clean   containers of killed runs: %d removed\n", removed)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, stopwatt.ErrUnreachable):
		return err
	case bounded.Err() != nil:
		fmt.Fprintln(d.stderr, "clean   the rest of them stays for now: stopwatt clean removes it")
	case err != nil:
		fmt.Fprintf(d.stderr, "clean   some stay: %s\n", report.Clean(err.Error()))
	}
	return nil
}

// reapWithin is how long a run cleans up after the dead before it begins: what still runs
// is removed first, and the rest disturbs nobody.
const reapWithin = time.Minute

// agentImage makes sure of the image of the agent, which drives load and reads
// meters.
func (d *desk) agentImage(ctx context.Context, docker *containers.Docker) (string, error) {
	binary, err := agentBinary(docker.Engine().Architecture)
	if err != nil {
		return "", surroundings(err)
	}
	return docker.AgentImage(ctx, binary)
}

// dockerConfig is what the environment says of Docker.
func (d *desk) dockerConfig() containers.Config {
	return containers.Config{Getenv: d.getenv, Home: d.getenv("HOME")}
}

// reap removes the containers whose stopwatt has died, or all of ours, and
// counts them.
func (d *desk) reap(ctx context.Context, docker *containers.Docker, all bool) (int, error) {
	dead := meter.Host{Root: "/"}.Dead
	if all {
		dead = func(string) bool { return true }
	}
	leftovers, err := docker.Leftovers(ctx, dead)
	if err != nil {
		return 0, err
	}
	removed, err := docker.Clean(ctx, leftovers)
	if os.Geteuid() == 0 && !docker.Engine().Remote { // nobody else may make or remove cgroups
		_, parentsErr := meter.Host{}.RemoveForgottenParents(ctx)
		err = errors.Join(err, parentsErr)
	}
	return removed, err
}

// backWithin is how long a run waits for an engine that has failed: one that is restarted
// takes a few seconds, and half a minute where it has thousands of containers to look at.
const backWithin = time.Minute

// recover waits until the engines of a run can be used again, removes what is left of the
// trial in which one failed, and has the meters read again where that engine's end
// was theirs.
func (w *workplace) recover(ctx context.Context, run stopwatt.Run, tell func(string, ...any)) error {
	tell("engine  Docker failed, and is waited for, for %s at most", backWithin)
	for _, docker := range []*containers.Docker{w.docker, w.elsewhere.engine()} {
		if docker == nil {
			continue
		}
		if err := docker.Await(ctx, backWithin); err != nil {
			return err
		}
		all, err := docker.Leftovers(ctx, func(string) bool { return true })
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(l containers.Leftover) bool { return l.Run != run.Key || l.Role == roleAgent })
		if _, err := docker.Clean(ctx, all); err != nil {
			tell("clean   some stay: %s", report.Clean(err.Error()))
		}
	}
	if err := w.instruments.renew(ctx, w.docker); err != nil {
		tell("meters  no longer read: %s", report.Clean(err.Error()))
	}
	return ctx.Err()
}

// roleAgent is the label of the container that holds the agent's volume, and never runs.
const roleAgent = "agent"

// reapRun removes what an earlier process of this run has left. It is dead,
// even where that cannot be seen (another PID namespace): the database lets one
// process carry out a run at a time.
func (d *desk) reapRun(ctx context.Context, docker *containers.Docker, run stopwatt.Run) {
	all, err := docker.Leftovers(ctx, func(string) bool { return true })
	if err == nil {
		_, err = docker.Clean(ctx, slices.DeleteFunc(all, func(l containers.Leftover) bool { return l.Run != run.Key }))
	}
	if err != nil {
		fmt.Fprintf(d.stderr, "clean   %v\n", harmless(err)) // the engine's next answer decides
	}
}

// fitting checks that the engine has the cores that implementations are pinned to.
func fitting(suite stopwatt.Suite, engine stopwatt.Engine) error {
	for _, implementation := range suite.Implementations {
		for _, core := range strings.FieldsFunc(implementation.CPUs, func(r rune) bool { return r == ',' || r == '-' }) {
			if n, err := strconv.Atoi(core); err == nil && engine.CPUs > 0 && n >= engine.CPUs {
				return askedWrongly(fmt.Errorf("implementation %s: cpus %s: this engine has the cores 0 to %d; name some of them, or leave cpus out",
					implementation.Name, quote(implementation.CPUs), engine.CPUs-1))
			}
		}
	}
	return nil
}

// agentBinary is the driver's program for the engine's architecture: embedded
// in a release, else beside this program.
func agentBinary(architecture string) ([]byte, error) {
	name := "stopwatt-agent-linux-" + architecture
	if binary, err := embeddedAgents.ReadFile("agents/" + name); err == nil {
		return binary, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	beside := filepath.Join(filepath.Dir(self), name)
	binary, err := os.ReadFile(beside)
	if err != nil {
		return nil, fmt.Errorf("the driver %s is neither built in nor beside this program: run make in the sources, or\n"+
			"CGO_ENABLED=0 GOOS=linux GOARCH=%s go build -o %s ./cmd/stopwatt-agent", name, architecture, quote(beside))
	}
	return binary, nil
}
