package containers

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/docker/docker/api/types/container"

	"gitlab.com/stopwatt/stopwatt"
)

// The last lines that are shown of a log, and what is read of it at most: the
// engine cuts a line that never ends into entries of 16 KiB.
const (
	lastLines   = 30
	maxLogBytes = lastLines * (16<<10 + 8)
)

// That memory ran out reaches the engine by another way than the end of the
// process, and sometimes after it. It is asked again for a second.
const (
	oomAsks  = 21
	oomPause = 50 * time.Millisecond
)

// Fate tells what became of a container, with the last 30 lines of its log.
// The lines are text that may be shown on a terminal, each of 500 bytes at
// most.
func (d *Docker) Fate(ctx context.Context, id string) (stopwatt.Fate, error) {
	inspected, err := d.client.ContainerInspect(ctx, id)
	for asked := 1; err == nil && mayBeOutOfMemory(inspected) && asked < oomAsks; asked++ {
		pause(ctx, oomPause)
		inspected, err = d.client.ContainerInspect(ctx, id)
	}
	if err != nil {
		return stopwatt.Fate{}, attempted("inspect container", err)
	}
	if !inspected.State.Running {
		if err := d.client.knock(ctx); err != nil { // then it has ended the container
			return stopwatt.Fate{}, attempted("the engine stops, and ends its containers", err)
		}
	}
	log, err := d.lastOfLog(ctx, id)
	if err != nil {
		return stopwatt.Fate{}, err
	}
	return stopwatt.Fate{
		Running:   inspected.State.Running,
		ExitCode:  inspected.State.ExitCode,
		OOMKilled: inspected.State.OOMKilled,
		Log:       log,
	}, nil
}

// mayBeOutOfMemory is true of a container that was killed under a memory
// limit, and of which the engine has not heard the reason.
func mayBeOutOfMemory(inspected container.InspectResponse) bool {
	const killed = 128 + 9 // by SIGKILL
	state := inspected.State
	return !state.Running && state.ExitCode == killed && !state.OOMKilled && inspected.HostConfig.Memory > 0
}

// pause lets some time pass, unless ctx ends before.
func pause(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// lastOfLog reads the end of a container's log.
func (d *Docker) lastOfLog(ctx context.Context, id string) ([]string, error) {
	stream, err := d.client.ContainerLogs(ctx, id, container.LogsOptions{
		ShowStdout: true, ShowStderr: true, Tail: strconv.Itoa(lastLines),
	})
	if err != nil {
		return nil, attempted("read container's log", err)
	}
	defer closing(stream)
	text, err := written(stream)
	if err != nil && (ctx.Err() != nil || stopwatt.EngineFailed(err)) {
		return nil, fmt.Errorf("read container's log: %w", err)
	}
	return tail(text, lastLines), nil
}

// written is what a multiplexed stream holds of both outputs, maxLogBytes at most,
// however long its frames say that they are.
func written(stream io.Reader) ([]byte, error) {
	return io.ReadAll(&frameReader{from: io.LimitReader(stream, maxLogBytes), both: true})
}
