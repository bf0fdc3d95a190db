package containers

import (
	"context"
	"fmt"
	"io"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"

	"gitlab.com/stopwatt/stopwatt"
)

// A MetersOrder says which helper container for meters is wanted.
type MetersOrder struct {
	Image  string   // of the agent
	Trees  []string // folders of the engine's host that it sees at their own places, beside /sys and /proc
	Labels map[string]string
}

// Meters starts the agent in a container that sees the counters of the
// engine's host, and opens a conversation with it: it has the host's /sys,
// read-only, and shares the host's PID, cgroup and host-name namespaces. It
// runs as root, because the counters of RAPL are root's alone, but with no
// network, and no capability but the one that counting perf events needs. To
// close the conversation removes the container, which removes itself when it
// ends.
func (d *Docker) Meters(ctx context.Context, order MetersOrder) (io.ReadWriteCloser, error) {
	var err error
	for _, optional := range metersOptions {
		var streams io.ReadWriteCloser
		if streams, err = d.startMeters(ctx, order, optional); err == nil {
			return streams, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, fmt.Errorf("meters: %w", err)
}

// metersOption is what differs from host to host: the capability that lets
// perf events be counted, and whether there is a machine ID.
type metersOption struct {
	perf      string
	machineID bool
}

// metersOptions are tried one after the other. Engines before 23.0 know no
// CAP_PERFMON, and those on kernels before 5.8 cannot grant it: CAP_SYS_ADMIN
// holds it there. An engine without privileges of its own grants neither.
var metersOptions = []metersOption{
	{"PERFMON", true}, {"SYS_ADMIN", true}, {"", true},
	{"PERFMON", false}, {"SYS_ADMIN", false}, {"", false},
}

// startMeters tries to start it with these options.
func (d *Docker) startMeters(ctx context.Context, order MetersOrder, optional metersOption) (io.ReadWriteCloser, error) {
	created, err := d.client.ContainerCreate(ctx, metersProgram(order), d.metersSight(order, optional), nil, "")
	if err != nil {
		return nil, attempted("create container", err)
	}
	streams, err := d.Attach(ctx, created.ID)
	if err == nil {
		err = attempted("start container", d.client.ContainerStart(ctx, created.ID, container.StartOptions{}))
	}
	if err != nil {
		_ = d.Remove(ctx, created.ID, "") // else its label remains for the next clean-up
		return nil, err
	}
	return &metersConversation{streams, d, created.ID}, nil
}

// metersProgram says what runs in it.
func metersProgram(order MetersOrder) *container.Config {
	config := program(stopwatt.ContainerOrder{Image: order.Image, Command: []string{"meters"}, Stdin: true, Labels: order.Labels})
	config.User = "0:0"
	return config
}

// metersSight says what it may see. Docker would mask the counters of RAPL in
// /sys, and MaskedPaths, empty but not nil, unmasks them.
func (d *Docker) metersSight(order MetersOrder, optional metersOption) *container.HostConfig {
	host := d.confinement(stopwatt.ContainerOrder{})
	host.AutoRemove = true
	host.PidMode, host.CgroupnsMode, host.UTSMode, host.UsernsMode = "host", "host", "host", "host"
	host.NetworkMode = network.NetworkNone
	host.MaskedPaths = []string{}
	host.Mounts = []mount.Mount{seen("/sys")}
	for _, tree := range order.Trees {
		host.Mounts = append(host.Mounts, seen(tree))
	}
	if optional.machineID {
		host.Mounts = append(host.Mounts, seen("/etc/machine-id"))
	}
	if optional.perf != "" {
		host.CapAdd = []string{optional.perf}
		host.SecurityOpt = append(host.SecurityOpt, "seccomp=unconfined") // older profiles allow perf_event_open with CAP_SYS_ADMIN alone
	}
	return host
}

// seen mounts a file or folder of the host at its own place, read-only.
func seen(path string) mount.Mount {
	return mount.Mount{Type: mount.TypeBind, Source: path, Target: path, ReadOnly: true}
}

// A metersConversation is the streams of a helper container, which is removed
// when they are closed.
type metersConversation struct {
	io.ReadWriteCloser
	docker *Docker
	id     string
}

// Close ends the conversation and the container. It may be called twice.
func (c *metersConversation) Close() error {
	err := c.ReadWriteCloser.Close()
	if removeErr := c.docker.Remove(context.Background(), c.id, ""); removeErr != nil {
		return removeErr
	}
	return err
}
