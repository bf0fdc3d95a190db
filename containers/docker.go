// Package containers makes images and containers through the Docker Engine
// API: it is the only room that knows Docker.
//
// It decides nothing about what is measured. It never prunes, and it never
// touches what does not carry stopwatt's own labels.
package containers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/versions"
	"github.com/docker/docker/client"

	"gitlab.com/stopwatt/stopwatt"
)

// Config says where the engine is found and how images are built. Its zero
// value takes both from the environment of the process.
type Config struct {
	// Getenv reads the environment; nil: os.Getenv.
	Getenv func(string) string
	// Home is the folder that holds .docker; empty: the user's home.
	Home string
	// BuildNetwork is the network of a build's RUN steps: empty for the
	// engine's own choice, its bridge; "none"; or "host", for machines whose
	// bridge leads nowhere or whose proxy listens on the loopback. With "host"
	// a Dockerfile reaches whatever listens on the engine's machine.
	BuildNetwork string
}

// connectWithin bounds the first answer of an engine. Ssh has its own bound of
// 30 s for a connection, and must be heard when it gives up.
const connectWithin = 35 * time.Second

// oldestAPI is that of Docker 20.10, the oldest engine that knows cgroup v2 and all that
// containers are given here.
const oldestAPI = "1.41"

// A Docker is one Docker Engine.
type Docker struct {
	client       bounded
	engine       stopwatt.Engine
	getenv       func(string) string
	credentials  credentials
	buildNetwork string
	memory       int64        // bytes of the engine's host; 0: not known
	placed       *sync.Map    // IDs of images in which the agent's place is free
	quotas       *atomic.Bool // whether it can bound what a container writes into its root; nil: it cannot
}

// Connect finds the engine and asks what it is: by DOCKER_HOST, by
// DOCKER_CONTEXT or Docker's current context, at /var/run/docker.sock, or at
// the socket of a rootless engine. An error wraps stopwatt.ErrUnreachable when
// there is no engine to speak to, and says what to do.
func Connect(ctx context.Context, config Config) (*Docker, error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	config = config.withDefaults()
	where, err := findEngine(ctx, config)
	if err != nil {
		return nil, err
	}
	known, err := readCredentials(config)
	if err != nil {
		return nil, err
	}
	api, err := where.dial(ctx)
	if err != nil {
		return nil, err
	}
	d := &Docker{client: bounded{Client: api}, quotas: new(atomic.Bool), getenv: config.Getenv, credentials: known, buildNetwork: config.BuildNetwork, placed: &sync.Map{}}
	d.quotas.Store(true) // until it refuses
	if err := d.ask(ctx, where); err != nil {
		_ = api.Close() // nothing was sent that could be lost
		return nil, err
	}
	return d, nil
}

// withDefaults fills in what the process itself says.
func (c Config) withDefaults() Config {
	if c.Getenv == nil {
		c.Getenv = os.Getenv
	}
	if c.Home == "" {
		c.Home, _ = os.UserHomeDir() // a user without a home has no Docker configuration
	}
	return c
}

// folder is where Docker's own configuration lies.
func (c Config) folder() string {
	if folder := c.Getenv("DOCKER_CONFIG"); folder != "" {
		return folder
	}
	return filepath.Join(c.Home, ".docker")
}

// ask learns what the engine is and settles the version of the API.
func (d *Docker) ask(ctx context.Context, where endpoint) error {
	if _, err := d.client.Ping(ctx); err != nil {
		return where.unreachable(err)
	}
	d.client.NegotiateAPIVersion(ctx)
	if speaks := d.client.ClientVersion(); versions.LessThan(speaks, oldestAPI) {
		return fmt.Errorf("%w: %s speaks API %s, and stopwatt needs %s: upgrade Docker to 20.10 or newer", stopwatt.ErrUnreachable, where, speaks, oldestAPI)
	}
	version, err := d.client.ServerVersion(ctx)
	if errdefs.IsInvalidArgument(err) { // which asking for a version can only be by the version that is spoken
		return fmt.Errorf("%w: %s: %w: use a newer stopwatt, which speaks a newer API than %s", stopwatt.ErrUnreachable, where, err, d.client.ClientVersion())
	}
	if err != nil {
		return where.unreachable(err)
	}
	info, err := d.client.Info(ctx)
	if err != nil {
		return where.unreachable(err)
	}
	d.memory = info.MemTotal
	d.engine = stopwatt.Engine{
		Version:       version.Version,
		API:           d.client.ClientVersion(),
		OS:            version.Os,
		Architecture:  version.Arch,
		StorageDriver: info.Driver,
		CgroupVersion: info.CgroupVersion,
		CgroupDriver:  info.CgroupDriver,
		CPUs:          info.NCPU,
		Remote:        where.remote(),
	}
	return nil
}

// Engine is what the engine said of itself. Its architecture is in Go's words,
// for the engine is a Go program that names its own.
func (d *Docker) Engine() stopwatt.Engine { return d.engine }

// Close lets go of the connections to the engine: on those nothing is lost.
func (d *Docker) Close() { closing(d.client) }

// Await returns when the engine answers, or with an error when it does not in this time.
func (d *Docker) Await(ctx context.Context, within time.Duration) error {
	ctx, cancel := d.client.within(ctx, within)
	defer cancel()
	for {
		err := d.client.knock(ctx)
		if err == nil {
			d.client.HTTPClient().CloseIdleConnections() // of the engine that was there before
			return nil
		}
		pause(ctx, awaitPause)
		if ctx.Err() != nil {
			return attempted("wait for the engine", err)
		}
	}
}

// awaitPause is how often an engine that is away is asked: it takes seconds to start.
const awaitPause = 200 * time.Millisecond

// closing closes something that was only read from, when its reader is done.
func closing(c io.Closer) { _ = c.Close() } // what was read has been read

// attempted wraps an error of the engine, if it is one, with what was
// attempted, and tells apart an engine that is gone.
func attempted(what string, err error) error {
	var broken *net.OpError // what attaching brings, which the client does not mark
	switch {
	case err == nil:
		return nil
	case errors.Is(err, stopwatt.ErrUnreachable):
	case client.IsErrConnectionFailed(err), errors.As(err, &broken) && !errors.Is(err, context.Canceled):
		return fmt.Errorf("%s: %w: %w", what, stopwatt.ErrUnreachable, err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
