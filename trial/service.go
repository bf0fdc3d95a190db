package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Networks is what a trial with companions asks of the Docker Engine beside
// Containers.
type Networks interface {
	// MakeNetwork makes a private network that leads nowhere.
	MakeNetwork(ctx context.Context, labels map[string]string) (id string, err error)
	// MakeBridge makes one whose containers can publish ports.
	MakeBridge(ctx context.Context, labels map[string]string) (id string, err error)
	// RemoveNetwork removes it, also when ctx is cancelled.
	RemoveNetwork(ctx context.Context, id string) error
	// JoinNetwork makes a container part of it, under a name or none.
	JoinNetwork(ctx context.Context, network, container, alias string) error
	// LeaveNetwork takes the container out of it, also when ctx is cancelled.
	LeaveNetwork(ctx context.Context, network, container string) error
	// Execute runs a program in a container that runs.
	Execute(ctx context.Context, container string, argv []string) (status int, said string, err error)
}

// Kept are the companions that live as long as a run, by the images and
// settings that they have. The zero value has none.
type Kept struct {
	making sync.Mutex
	all    map[string]*companion
}

// A companion is the container of a service.
type companion struct {
	container
	service stopwatt.Service
	home    string // the network that it was started in
}

// companions are those of one trial, on its private network.
type companions struct {
	bench   Bench
	network string // empty: there are no companions
	fresh   []*companion
	kept    []*companion
}

// companions starts what a trial needs beside its implementation, on a private
// network, and waits until all of it can be used. Without services there is
// nothing to start. What was begun is there to be removed also with an error.
func (b Bench) companions(ctx context.Context, order Order) (*companions, error) {
	c := &companions{bench: b}
	services := order.Implementation.ServicesUnder(order.Workload)
	if len(services) == 0 {
		return c, nil
	}
	var err error
	if c.network, err = b.Networks.MakeNetwork(ctx, b.labelled(stopwatt.RoleService)); err != nil {
		return c, err
	}
	for _, service := range services {
		if service.Keep {
			err = c.join(ctx, service)
		} else {
			err = c.begin(ctx, service)
		}
		if err != nil {
			return c, fmt.Errorf("service %s: %w", service.Name, err)
		}
	}
	return c, nil
}

// begin starts a companion of this trial alone.
func (c *companions) begin(ctx context.Context, service stopwatt.Service) error {
	started, err := c.bench.companion(ctx, service, c.network)
	if started != nil {
		c.fresh = append(c.fresh, started)
	}
	return err
}

// join brings a companion of the run into the trial's network. One that has died
// meanwhile is started anew.
func (c *companions) join(ctx context.Context, service stopwatt.Service) error {
	kept, err := c.bench.keep(ctx, service)
	if err != nil {
		return err
	}
	if err := c.bench.Networks.JoinNetwork(ctx, c.network, kept.ID, service.Name); err != nil {
		return err
	}
	c.kept = append(c.kept, kept)
	return nil
}

// keep is the companion that is kept of this service.
func (b Bench) keep(ctx context.Context, service stopwatt.Service) (*companion, error) {
	b.Kept.making.Lock()
	defer b.Kept.making.Unlock()
	text, err := json.Marshal(service)
	if err != nil {
		return nil, err
	}
	key := string(text)
	if there := b.Kept.all[key]; there != nil {
		if fate, err := b.Containers.Fate(ctx, there.ID); err == nil && fate.Running {
			return there, nil
		}
		there.remove(ctx)
		delete(b.Kept.all, key)
		_ = b.Networks.RemoveNetwork(ctx, there.home) // which goes with the run otherwise
	}
	home, err := b.Networks.MakeNetwork(ctx, b.labelled(stopwatt.RoleService))
	if err != nil {
		return nil, err
	}
	made, err := b.companion(ctx, service, home)
	if err != nil {
		if made != nil {
			made.remove(ctx)
		}
		return nil, errors.Join(err, b.Networks.RemoveNetwork(ctx, home))
	}
	made.home = home
	if b.Kept.all == nil {
		b.Kept.all = map[string]*companion{}
	}
	b.Kept.all[key] = made
	return made, nil
}

// companion starts the container of a service in a network and waits until it
// can be used. The container is returned also with an error, when there is one.
func (b Bench) companion(ctx context.Context, service stopwatt.Service, network string) (*companion, error) {
	c := &companion{container: container{bench: b, role: stopwatt.RoleService, memory: service.Memory}, service: service}
	err := c.create(ctx, stopwatt.ContainerOrder{
		Image:    service.ImageID,
		Command:  service.Command,
		Env:      service.Env,
		CPUs:     service.CPUs,
		Memory:   service.Memory,
		User:     service.User,
		Writable: service.Writable,
		Network:  network,
		Alias:    service.Name,
	})
	if err != nil {
		return nil, err
	}
	if err := c.start(ctx); err != nil {
		return c, err
	}
	if err := c.await(ctx); err != nil {
		return c, c.explain(ctx, err)
	}
	return c, nil
}

// await waits until the service can be used.
func (c *companion) await(ctx context.Context) error {
	switch ready := c.service.Ready; {
	case len(ready.Command) > 0:
		ctx, cancel := context.WithTimeoutCause(ctx, ready.Within, fmt.Errorf("it was not ready within %v", ready.Within))
		defer cancel()
		return c.awaitCommand(ctx)
	case ready.Port != 0:
		return c.awaitPort(ctx)
	}
	return nil
}

// askEvery is the pause between two questions whether a service is ready: shorter
// than the tenth of a second that asking takes.
const askEvery = 50 * time.Millisecond

// awaitCommand waits until the service's own command says that it is ready.
func (c *companion) awaitCommand(ctx context.Context) error {
	ticker := time.NewTicker(askEvery)
	defer ticker.Stop()
	for last := ""; ; {
		status, said, err := c.bench.Networks.Execute(ctx, c.ID, c.service.Ready.Command)
		if ctx.Err() != nil {
			return notReady(ctx, last)
		}
		if err != nil {
			return err
		}
		if status == 0 {
			return nil
		}
		last = fmt.Sprintf("%s exits with %d: %s", c.service.Ready.Command[0], status, said)
		select {
		case <-ctx.Done():
			return notReady(ctx, last)
		case <-ticker.C:
		}
	}
}

// notReady says why the waiting ended, and what was seen last.
func notReady(ctx context.Context, last string) error {
	if last == "" {
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w; %s", context.Cause(ctx), last)
}

// awaitPort waits until the service's port takes a connection, seen from inside
// its own network. The agent bounds that.
func (c *companion) awaitPort(ctx context.Context) error {
	seer := &container{bench: c.bench, role: "wait"}
	err := seer.create(ctx, stopwatt.ContainerOrder{
		Image:       c.bench.Agent,
		Command:     []string{"wait", "127.0.0.1:" + strconv.Itoa(c.service.Ready.Port), c.service.Ready.Within.String()},
		JoinNetwork: c.ID,
	})
	if err != nil {
		return err
	}
	defer seer.remove(ctx)
	if err := seer.start(ctx); err != nil {
		return err
	}
	if err := c.bench.Containers.Wait(ctx, seer.ID); err != nil {
		return err
	}
	fate, err := c.bench.Containers.Fate(ctx, seer.ID)
	if err == nil && fate.ExitCode != 0 {
		err = errors.New(strings.TrimPrefix(strings.Join(fate.Log, "; "), "stopwatt-agent: "))
	}
	return err
}

// all are the companions' containers.
func (c *companions) all() []*container {
	var all []*container
	for _, one := range slices.Concat(c.fresh, c.kept) {
		all = append(all, &one.container)
	}
	return all
}

// explain says in an error which companion has died, when one has.
func (c *companions) explain(ctx context.Context, err error) error {
	if stopwatt.EngineFailed(err) {
		return err
	}
	if one := c.ended(ctx, func(stopwatt.Fate) bool { return true }); one != nil {
		return fmt.Errorf("service %s: %w", one.service.Name, one.explain(ctx, err))
	}
	return err
}

// lasted is the error that a companion ended badly during the trial, although
// nothing else went wrong: what was measured then was not what was asked for. One
// that exited with 0 had done what it was there for.
func (c *companions) lasted(ctx context.Context) error {
	if one := c.ended(ctx, func(fate stopwatt.Fate) bool { return fate.ExitCode != 0 }); one != nil {
		return fmt.Errorf("service %s: %w", one.service.Name, one.explain(ctx, errors.New("it ended")))
	}
	return nil
}

// ended is the first companion that has ended in such a way, or nil.
func (c *companions) ended(ctx context.Context, such func(stopwatt.Fate) bool) *companion {
	for _, one := range slices.Concat(c.fresh, c.kept) {
		fate, err := c.bench.Containers.Fate(context.WithoutCancel(ctx), one.ID)
		if err == nil && !fate.Running && such(fate) {
			return one
		}
	}
	return nil
}

// remove takes the companions of the trial away, lets those of the run go, and
// removes the network.
func (c *companions) remove(ctx context.Context) {
	if c.network == "" {
		return
	}
	for _, one := range c.fresh {
		one.remove(ctx)
	}
	for _, one := range c.kept {
		_ = c.bench.Networks.LeaveNetwork(ctx, c.network, one.ID) // one that has died is started anew
	}
	_ = c.bench.Networks.RemoveNetwork(context.WithoutCancel(ctx), c.network) // what stays the run's end removes, by label
}
