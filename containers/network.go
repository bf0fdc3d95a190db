package containers

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/network"

	"gitlab.com/stopwatt/stopwatt"
)

// MakeNetwork makes a private network that leads nowhere, and returns its ID.
func (d *Docker) MakeNetwork(ctx context.Context, labels map[string]string) (string, error) {
	return d.makeNetwork(ctx, network.CreateOptions{Driver: "bridge", Internal: true, Labels: labels})
}

// MakeBridge makes a network whose containers can publish ports, and returns its
// ID. What they send of their own accord to other machines bears an address that
// no answer finds back to.
func (d *Docker) MakeBridge(ctx context.Context, labels map[string]string) (string, error) {
	return d.makeNetwork(ctx, network.CreateOptions{Driver: "bridge", Labels: labels, Options: map[string]string{
		"com.docker.network.bridge.enable_ip_masquerade": "false",
	}})
}

func (d *Docker) makeNetwork(ctx context.Context, options network.CreateOptions) (string, error) {
	// A request that is broken off is carried out all the same, and nobody would
	// learn the ID.
	whole, cancel := d.client.within(context.WithoutCancel(ctx), createWithin)
	defer cancel()
	var made network.CreateResponse
	err := error(nil)
	for range namesTried {
		// The engine wants a name. Older ones let two networks have the same.
		name := fmt.Sprintf("stopwatt-%s-%s", options.Labels[stopwatt.LabelRun], strings.ToLower(rand.Text()))
		if made, err = d.client.NetworkCreate(whole, name, options); !errdefs.IsConflict(err) {
			break
		}
	}
	return made.ID, attempted("create network", err)
}

// namesTried is how many names a network is tried under: drawn ones, of which none is
// taken but by intent.
const namesTried = 3

// RemoveNetwork removes a network, whose containers are gone. One that does not
// exist is removed. It has a bound of its own and works on when ctx is cancelled.
func (d *Docker) RemoveNetwork(ctx context.Context, id string) error {
	ctx, cancel := d.client.within(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	if err := d.client.NetworkRemove(ctx, id); err != nil && !errdefs.IsNotFound(err) {
		return attempted("remove network", err)
	}
	return nil
}

// JoinNetwork makes a container part of one more network, under this name; under
// none where it is empty.
func (d *Docker) JoinNetwork(ctx context.Context, networkID, containerID, alias string) error {
	settings := &network.EndpointSettings{}
	if alias != "" {
		settings.Aliases = []string{alias}
	}
	return attempted("join network", d.client.NetworkConnect(ctx, networkID, containerID, settings))
}

// LeaveNetwork takes a container out of a network. It works on when ctx is
// cancelled.
func (d *Docker) LeaveNetwork(ctx context.Context, networkID, containerID string) error {
	ctx, cancel := d.client.within(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	return attempted("leave network", d.client.NetworkDisconnect(ctx, networkID, containerID, true))
}

// Execute runs a program in a container that runs, and returns its exit status
// and the last line that it printed.
func (d *Docker) Execute(ctx context.Context, id string, argv []string) (status int, said string, err error) {
	made, err := d.client.ContainerExecCreate(ctx, id, container.ExecOptions{Cmd: argv, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return 0, "", attempted("run "+argv[0]+" in container", err)
	}
	streams, err := d.client.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return 0, "", attempted("run "+argv[0]+" in container", err)
	}
	letGo := context.AfterFunc(ctx, streams.Close)
	defer letGo()
	defer streams.Close()
	text, err := written(streams.Reader)
	if err != nil && ctx.Err() != nil {
		return 0, "", context.Cause(ctx)
	}
	ended, err := d.client.ContainerExecInspect(ctx, made.ID)
	if err != nil {
		return 0, "", attempted("run "+argv[0]+" in container", err)
	}
	return ended.ExitCode, strings.Join(tail(text, 1), ""), nil
}
