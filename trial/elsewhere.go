package trial

import (
	"context"
	"errors"
	"net"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
)

// Elsewhere is another Docker host, whose containers drive load over the network.
type Elsewhere struct {
	Containers Containers // of that host
	Agent      string     // the ID of the agent's image there
	// Address is an IP address of the server's host: there its port is published,
	// and there the driver asks.
	Address string
}

var errElsewhere = errors.New("the driver runs on another Docker host: its cgroup cannot be read from here")

// ofDriver is the bench that the driver's container is on.
func (b Bench) ofDriver() Bench {
	if b.Elsewhere == nil {
		return b
	}
	b.Containers, b.Agent, b.parents = b.Elsewhere.Containers, b.Elsewhere.Agent, nil
	b.Account = func(int) (Account, error) { return nil, errElsewhere }
	return b
}

// createReachable makes the server's container with its port published, in a
// bridge of its own, beside the network that it would be in otherwise. Nothing
// stays when it fails.
func (c *container) createReachable(ctx context.Context, order stopwatt.ContainerOrder, port int) error {
	networks, private := c.bench.Networks, order.Network
	bridge, err := networks.MakeBridge(ctx, c.bench.labelled(c.role))
	if err != nil {
		return err
	}
	order.Network, order.Publish = bridge, &stopwatt.Publish{Address: c.bench.Elsewhere.Address, Port: port}
	if err := c.create(ctx, order); err != nil {
		return errors.Join(err, networks.RemoveNetwork(ctx, bridge))
	}
	c.bridge = bridge
	if private == "" {
		return nil
	}
	if err := networks.JoinNetwork(ctx, private, c.ID, ""); err != nil {
		c.remove(ctx)
		return err
	}
	return nil
}

// address is where the driver finds the server, which runs.
func (b Bench) address(http stopwatt.HTTP, server *container) string {
	if b.Elsewhere != nil {
		return net.JoinHostPort(b.Elsewhere.Address, strconv.Itoa(server.Port))
	}
	return address(http)
}

// here is a window that was marked by the driver's clock, by that of the
// server's machine: it ended when the news of that came, a trip through the
// network late.
func (b Bench) here(window stopwatt.Window, news int64) stopwatt.Window {
	if b.Elsewhere == nil || news == 0 {
		return window
	}
	return stopwatt.Window{Start: news - int64(window.Duration()), End: news}
}
