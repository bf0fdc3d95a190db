package trial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"path"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A container is one of the two that a trial starts, and removes.
type container struct {
	stopwatt.Container
	bench      Bench
	role       string
	name       string // in the name of its parent cgroup; empty when that is the engine's
	stopSignal string
	memory     int64         // bytes that it may use; 0: no limit
	asked      int64         // CLOCK_MONOTONIC when the engine was asked to start it; 0: not readable
	bridge     string        // the network that it is published in, which goes with it; or empty
	ended      chan struct{} // closed when it has ended before its time
}

// errServerEnded is the cause by which everything that waits for the server
// is let go.
var errServerEnded = errors.New("the server ended")

// createServer makes the server's container, without any network but the private
// one of its companions.
func (b Bench) createServer(ctx context.Context, order Order, network string) (*container, error) {
	server := &container{
		bench:      b,
		role:       stopwatt.RoleServer,
		stopSignal: order.Implementation.StopSignal,
		memory:     order.Implementation.Memory,
		ended:      make(chan struct{}),
	}
	wanted := stopwatt.ContainerOrder{
		Image:      order.Image.ID,
		Command:    order.Implementation.Command,
		Env:        order.Implementation.Env,
		CPUs:       cmp.Or(order.Implementation.CPUs, b.ServerCPUs),
		Memory:     order.Implementation.Memory,
		Writable:   order.Implementation.Writable,
		StopSignal: order.Implementation.StopSignal,
		Network:    network,
		Volume:     socketFolder(order.Workload),
	}
	if order.Implementation.Null {
		wanted.Image, wanted.Command = b.Agent, []string{"serve", b.nullAddress(order)}
	}
	if b.Elsewhere != nil {
		return server, server.createReachable(ctx, wanted, order.Workload.HTTP.Port)
	}
	return server, server.create(ctx, wanted)
}

// nullAddress is where the null server listens: where it is asked, and no further.
func (b Bench) nullAddress(order Order) string {
	host := "127.0.0.1"
	if b.Elsewhere != nil {
		host = "0.0.0.0" // of its own namespace, whose loopback nobody else reaches
	}
	return net.JoinHostPort(host, strconv.Itoa(order.Workload.HTTP.Port))
}

// socketFolder is where the server makes the socket that it is asked through,
// and where the driver finds it; empty when it is asked over TCP.
func socketFolder(workload stopwatt.Workload) string {
	if workload.HTTP == nil || workload.HTTP.Socket == "" {
		return ""
	}
	return path.Dir(workload.HTTP.Socket)
}

// create makes the container and remembers its ID.
func (c *container) create(ctx context.Context, order stopwatt.ContainerOrder) error {
	order.Labels = maps.Clone(c.bench.Labels)
	if order.Labels == nil {
		order.Labels = map[string]string{}
	}
	order.Labels[stopwatt.LabelRole] = c.role
	order.CgroupParent, c.name = c.bench.parents.next(c.role)
	id, err := c.bench.Containers.Create(ctx, order)
	if err != nil {
		return fmt.Errorf("create the %s: %w", c.role, err)
	}
	c.ID = id
	return nil
}

// labelled are the labels of what has this role.
func (b Bench) labelled(role string) map[string]string {
	labels := maps.Clone(b.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels[stopwatt.LabelRole] = role
	return labels
}

// start starts the container.
func (c *container) start(ctx context.Context) error {
	c.asked = c.bench.now()
	started, err := c.bench.Containers.Start(ctx, c.ID)
	if err != nil {
		return fmt.Errorf("start the %s: %w", c.role, err)
	}
	c.Container = started
	return nil
}

// remove takes the container away. It bounds itself and works on when ctx is
// cancelled. What it cannot remove is the trial's failure, and left to a reaper, which
// finds it by label.
func (c *container) remove(ctx context.Context) {
	if err := c.bench.Containers.Remove(context.WithoutCancel(ctx), c.ID, c.stopSignal); err != nil {
		c.bench.stays.add(c.role, err)
	}
	if c.bridge != "" {
		_ = c.bench.Networks.RemoveNetwork(context.WithoutCancel(ctx), c.bridge) // see above
	}
}

// stays are the containers of a trial that could not be removed.
type stays struct{ failed []error }

func (s *stays) add(role string, err error) {
	if s != nil {
		s.failed = append(s.failed, fmt.Errorf("remove the %s: %w", role, err))
	}
}

// join is an error, if there is one, with what stays.
func (s *stays) join(err error) error {
	if len(s.failed) == 0 || errors.Is(err, stopwatt.ErrUnreachable) { // which says it all
		return err
	}
	return errors.Join(append([]error{err}, s.failed...)...)
}

// watch cancels when the container ends before its time, or the engine does.
func (c *container) watch(ctx context.Context, cancel context.CancelCauseFunc) {
	err := c.bench.Containers.Wait(ctx, c.ID)
	switch {
	case ctx.Err() != nil:
	case err == nil:
		close(c.ended)
		cancel(errServerEnded)
	case stopwatt.EngineFailed(err):
		cancel(fmt.Errorf("watch the %s: %w", c.role, err))
	}
}

// newsWithin is how long the engine may take to hear that a container has
// ended, when its broken connections have told so already.
const newsWithin = 2 * time.Second

// explain says in an error what became of the server, when that is the reason
// behind err, with the last lines of its log.
func (c *container) explain(ctx context.Context, err error) error {
	if stopwatt.EngineFailed(err) {
		return err
	}
	var requests *failedRequests
	if errors.As(err, &requests) && requests.broken {
		c.awaitEnd(ctx)
	}
	fate, fateErr := c.bench.Containers.Fate(context.WithoutCancel(ctx), c.ID)
	if fateErr != nil {
		return errors.Join(err, fateErr)
	}
	if !fate.Running {
		err = errors.New(c.ending(fate)) // what err says is what one sees of that from outside
	}
	if len(fate.Log) == 0 {
		return err
	}
	return fmt.Errorf("%w; its last lines:\n%s", err, strings.Join(fate.Log, "\n"))
}

// awaitEnd waits a little for the news that the container has ended.
func (c *container) awaitEnd(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, newsWithin)
	defer cancel()
	select {
	case <-c.ended:
	case <-ctx.Done():
	}
}

// ending is how the container ended, in words. The engine may miss that memory
// ran out: then a kill that nobody of us sent is told with the limit.
func (c *container) ending(fate stopwatt.Fate) string {
	const killed, told = 128 + 9, 128 + 15 // by SIGKILL, by SIGTERM
	text := fmt.Sprintf("the %s exited with %d", c.role, fate.ExitCode)
	switch {
	case fate.OOMKilled:
		return text + " (out of memory)"
	case fate.ExitCode == told:
		return text + " (told so by SIGTERM, which an engine that stops sends, and nobody here has)"
	case fate.ExitCode == killed && c.memory > 0:
		return fmt.Sprintf("%s (killed, most likely out of memory: its limit is %d MiB)", text, c.memory>>20)
	}
	return text
}
