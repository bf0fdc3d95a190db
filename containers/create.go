package containers

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"

	"gitlab.com/stopwatt/stopwatt"
)

// What every container gets, whatever the order says.
const (
	// maxProcesses is room for a server with thousands of threads, and none
	// for a fork bomb: the kernel's own limit is 32768 on a small machine.
	maxProcesses = 4096
	// maxFiles is far above the 1024 that engines since containerd 2.1 begin
	// with, and below what an engine without CAP_SYS_RESOURCE was given itself:
	// asked for more than that, it starts no container.
	maxFiles = 16384
	// memoryShares: one share in so many of the machine's memory is never a
	// container's, so that one that takes all it can is killed before it takes what
	// the machine lives on.
	memoryShares = 8
	// temporary is what /tmp is: servers need one although their root cannot be
	// written, and some load libraries that they unpack there.
	temporary = "rw,exec,nosuid,nodev,mode=1777,size=64m"
	// writableRoot is how much a container may write into a root that it may write, where
	// the engine's storage can bound that.
	writableRoot = "10G"
	// A log is kept in two files, for the engine empties a single one when it
	// is full, and with it the last lines.
	logFiles, logFileSize = "2", "512k"
)

// createWithin bounds the making of a container, which takes a tenth of a
// second.
const createWithin = 30 * time.Second

// Create makes a container that does not run yet and returns its ID. What the
// order does not grant is withheld. When ctx ends meanwhile, no container
// remains.
func (d *Docker) Create(ctx context.Context, order stopwatt.ContainerOrder) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	// A request that is broken off is carried out all the same, and nobody
	// would learn the ID.
	whole, cancel := d.client.within(context.WithoutCancel(ctx), createWithin)
	defer cancel()
	created, err := d.create(whole, order)
	if errdefs.IsNotFound(err) && strings.Contains(err.Error(), "No such image") {
		return "", fmt.Errorf("create container: %w: it was removed since it was built or pulled; the next run gets it again", err)
	}
	if err != nil {
		return "", attempted("create container", err)
	}
	if err = d.agentPlace(whole, created.ID, order); err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return "", errors.Join(err, d.Remove(ctx, created.ID, ""))
	}
	return created.ID, nil
}

// agentPlace is the error that an image has a link where the agent is brought in: the
// engine would follow it, to where a volume of the image's may lie above ours, with
// another program in the agent's place.
func (d *Docker) agentPlace(ctx context.Context, id string, order stopwatt.ContainerOrder) error {
	if len(order.Entrypoint) == 0 || order.Entrypoint[0] != stopwatt.AgentPath {
		return nil
	}
	if _, known := d.placed.Load(order.Image); known {
		return nil
	}
	place := path.Dir(stopwatt.AgentPath)
	found, err := d.client.ContainerStatPath(ctx, id, place)
	if err != nil {
		return attempted("look at "+place, err)
	}
	if !found.Mode.IsDir() {
		return fmt.Errorf("the image has %s, which is where stopwatt's timer is brought in: take it out of the image", place)
	}
	d.placed.Store(order.Image, true)
	return nil
}

// create asks for the container, with a bound to what it writes into its root where
// the engine can keep one: with overlay2 on XFS with project quotas, btrfs, ZFS. Others
// refuse, and are not asked again.
func (d *Docker) create(ctx context.Context, order stopwatt.ContainerOrder) (container.CreateResponse, error) {
	host := d.confinement(order)
	ask := func() (container.CreateResponse, error) {
		return d.client.ContainerCreate(ctx, program(order), host, networking(order), "")
	}
	if order.Writable && d.quotas != nil && d.quotas.Load() {
		host.StorageOpt = map[string]string{"size": writableRoot}
		created, err := ask()
		if err == nil || !refusesQuota(err) {
			return created, err
		}
		d.quotas.Store(false)
		host.StorageOpt = nil
	}
	return ask()
}

// refusesQuota tells whether an engine cannot bound a container's root. There is no
// code for it.
func refusesQuota(err error) bool {
	said := strings.ToLower(err.Error())
	for _, words := range []string{"storage-opt", "storage opt", "quota", "unknown option", "not supported"} {
		if strings.Contains(said, words) {
			return true
		}
	}
	return false
}

// program says what runs in the container.
func program(order stopwatt.ContainerOrder) *container.Config {
	var volumes map[string]struct{}
	if order.Volume != "" {
		volumes = map[string]struct{}{order.Volume: {}}
	}
	var exposed nat.PortSet
	if order.Publish != nil {
		exposed = nat.PortSet{natPort(order.Publish): {}}
	}
	return &container.Config{
		Volumes:      volumes,
		ExposedPorts: exposed,
		Image:        order.Image,
		User:         order.User,
		Entrypoint:   order.Entrypoint,
		Cmd:          order.Command,
		Env:          assignments(order.Env),
		Labels:       order.Labels,
		StopSignal:   order.StopSignal,
		Healthcheck:  unasked(),
		OpenStdin:    order.Stdin,
		StdinOnce:    order.Stdin, // the end of the conversation is the end of its input
		AttachStdin:  order.Stdin,
		AttachStdout: order.Stdin,
		AttachStderr: order.Stdin,
	}
}

// unasked is that a container is not asked how it is: what its image says about that
// would be run in it again and again, also while it is measured.
func unasked() *container.HealthConfig { return &container.HealthConfig{Test: []string{"NONE"}} }

// confinement says what the container may do.
func (d *Docker) confinement(order stopwatt.ContainerOrder) *container.HostConfig {
	processes := int64(maxProcesses)
	memory := order.Memory
	if memory == 0 {
		memory = d.memory / memoryShares * (memoryShares - 1)
	}
	host := &container.HostConfig{
		NetworkMode:    network.NetworkNone,
		IpcMode:        container.IPCModePrivate,
		CgroupnsMode:   container.CgroupnsModePrivate, // under cgroup v1 the engine shows the host's otherwise
		CapDrop:        []string{"ALL"},
		SecurityOpt:    []string{"no-new-privileges"},
		ReadonlyRootfs: !order.Writable,
		Tmpfs:          map[string]string{"/tmp": temporary},
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig: container.LogConfig{
			Type:   "json-file",
			Config: map[string]string{"max-file": logFiles, "max-size": logFileSize},
		},
		Resources: container.Resources{
			CgroupParent: order.CgroupParent,
			CpusetCpus:   order.CPUs,
			Memory:       memory,
			MemorySwap:   memory, // of memory and swap together: no swap
			PidsLimit:    &processes,
			Ulimits:      []*container.Ulimit{{Name: "nofile", Soft: maxFiles, Hard: maxFiles}},
		},
	}
	if order.VolumesFrom != "" {
		host.VolumesFrom = []string{order.VolumesFrom + ":ro"}
	}
	switch {
	case order.JoinNetwork != "":
		host.NetworkMode = container.NetworkMode("container:" + order.JoinNetwork)
	case order.Network != "":
		host.NetworkMode = container.NetworkMode(order.Network)
	}
	if order.Publish != nil {
		host.PortBindings = nat.PortMap{natPort(order.Publish): {{HostIP: order.Publish.Address}}}
	}
	return host
}

// natPort names a container's port as the engine does.
func natPort(publish *stopwatt.Publish) nat.Port {
	return nat.Port(strconv.Itoa(publish.Port) + "/tcp")
}

// portOf is where a container's one published port is reached; 0 where it has none.
func portOf(ports nat.PortMap) int {
	for _, bindings := range ports {
		for _, binding := range bindings {
			if port, err := strconv.Atoi(binding.HostPort); err == nil {
				return port
			}
		}
	}
	return 0
}

// networking says under which name the container is known in its network.
func networking(order stopwatt.ContainerOrder) *network.NetworkingConfig {
	if order.JoinNetwork != "" || order.Network == "" || order.Alias == "" {
		return nil
	}
	return &network.NetworkingConfig{EndpointsConfig: map[string]*network.EndpointSettings{
		order.Network: {Aliases: []string{order.Alias}},
	}}
}

// assignments turns variables into NAME=value, in a fixed order.
func assignments(env map[string]string) []string {
	lines := make([]string, 0, len(env))
	for name, value := range env {
		lines = append(lines, name+"="+value)
	}
	slices.Sort(lines)
	return lines
}

// Start starts a container and tells the process that it began with. A process
// that has ended already has the PID 0: ask for its Fate.
func (d *Docker) Start(ctx context.Context, id string) (stopwatt.Container, error) {
	if err := d.client.ContainerStart(ctx, id, container.StartOptions{}); err != nil {
		return stopwatt.Container{}, attempted("start container", err)
	}
	inspected, err := d.client.ContainerInspect(ctx, id)
	if err != nil {
		return stopwatt.Container{}, attempted("start container", err)
	}
	running := stopwatt.Container{ID: id, PID: inspected.State.Pid}
	if inspected.NetworkSettings != nil {
		running.Port = portOf(inspected.NetworkSettings.Ports)
	}
	return running, nil
}

// Wait returns when the container does not run, at once when it never did, and with an
// error when the engine answers no more.
func (d *Docker) Wait(ctx context.Context, id string) error {
	return attempted("wait for container", d.client.ContainerWait(ctx, id, container.WaitConditionNotRunning))
}
