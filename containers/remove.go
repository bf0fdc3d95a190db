package containers

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"gitlab.com/stopwatt/stopwatt"
)

// politely is how long a container may take to end after its stop signal, and
// removeWithin how long the engine may take to kill and remove one: a second is
// usual, more is a machine that is out of memory or disk.
const (
	politely     = 10 * time.Second
	removeWithin = 30 * time.Second
)

// Remove ends a container and removes it with its volumes. It is killed
// outright, or, with a stop signal, after it was told and given ten seconds.
// Remove has a bound of its own and works on when ctx is cancelled. A
// container that does not exist is removed. One that cannot be ended, or not be removed,
// makes an error that is stopwatt.ErrStuck.
func (d *Docker) Remove(ctx context.Context, id, stopSignal string) error {
	ctx = context.WithoutCancel(ctx)
	if stopSignal != "" {
		d.tellToStop(ctx, id, stopSignal)
	}
	ctx, cancel := d.client.within(ctx, removeWithin)
	defer cancel()
	err := d.client.ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
	switch {
	case errdefs.IsNotFound(err):
		return nil
	case errdefs.IsConflict(err): // another removes it already
		return d.waitUntilGone(ctx, id)
	}
	return unremoved(attempted("remove container", err))
}

// unremoved marks what could not be removed by an engine that answers.
func unremoved(err error) error {
	if err == nil || stopwatt.EngineFailed(err) {
		return err
	}
	return fmt.Errorf("%w: %w", err, stopwatt.ErrStuck)
}

// tellToStop sends the signal and waits for the end. What goes wrong is left
// to the removal that follows: it reports the same, or it does not matter.
func (d *Docker) tellToStop(ctx context.Context, id, signal string) {
	ctx, cancel := d.client.within(ctx, politely)
	defer cancel()
	if d.client.ContainerKill(ctx, id, signal) == nil {
		_ = d.Wait(ctx, id)
	}
}

// waitUntilGone waits for another's removal of the container.
func (d *Docker) waitUntilGone(ctx context.Context, id string) error {
	err := d.client.ContainerWait(ctx, id, container.WaitConditionRemoved)
	if errdefs.IsNotFound(err) {
		return nil
	}
	return unremoved(attempted(fmt.Sprintf("wait for the removal of container %.12s", id), err))
}
