package containers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
	"github.com/docker/go-connections/nat"

	"gitlab.com/stopwatt/stopwatt"
)

// A DatabaseOrder says which Postgres is wanted in a container.
type DatabaseOrder struct {
	Name  string // of this database alone; its container and its volume are named after it
	Image string // the official image, or one that keeps its promises
	// Fresh: nobody has been served by it yet. What is left of it is removed
	// before, with its data: a container that ends while it makes a database
	// leaves one that looks whole.
	Fresh                    bool
	User, Password, Database string
	Settings                 []string // NAME=VALUE, for the server's command line
	// Answers says why the database at an address, HOST:PORT, cannot be used
	// yet; nil when it can.
	Answers func(ctx context.Context, address string) error
}

// The container of a database carries this role, and no owner: it belongs to
// nobody's run and outlives them all.
const databaseRole = "database"

const (
	databasePort = "5432/tcp"
	// databaseVolume is where the official image has its volume, and
	// databaseData a folder in it, as its description advises.
	databaseVolume = "/var/lib/postgresql/data"
	databaseData   = databaseVolume + "/stopwatt"
	// databaseShared is for queries in several processes; 64 MB, which Docker
	// gives by itself, are soon used up.
	databaseShared = 256 << 20 // bytes

	// databaseWithin bounds a start: the first makes the database, one after a
	// power loss recovers it, on a slow card both take a while.
	databaseWithin = 2 * time.Minute
	databasePause  = 50 * time.Millisecond
	// databaseStops is how long the server may take to write everything down.
	databaseStops = 30 * time.Second
)

// databaseName is the container's name and the volume's.
func databaseName(name string) string { return "stopwatt-postgres-" + name }

// StartDatabase makes sure that a database runs, pulls its image where the
// engine lacks it, and returns its address on the loopback of this machine as
// soon as it answers. Several may start the same one at once: all get the same.
// It stays when the caller ends; its data stay when it is stopped. After an
// error nothing runs that this call has started.
func (d *Docker) StartDatabase(ctx context.Context, order DatabaseOrder, progress func(stopwatt.BuildStep)) (address string, err error) {
	if d.engine.Remote {
		return "", errors.New("the engine is on another machine, where the database would be out of reach; name one with --db")
	}
	image, err := d.Pull(ctx, order.Image, progress)
	if err != nil {
		return "", err
	}
	if order.Fresh {
		if err := d.RemoveDatabase(ctx, order.Name); err != nil {
			return "", err
		}
	}
	created, err := d.ensureDatabase(ctx, order, image.ID)
	if err == nil {
		address, err = d.awaitDatabase(ctx, order)
	}
	if err != nil && created {
		err = errors.Join(err, d.undoStart(ctx, order))
	}
	return address, err
}

// undoStart leaves nothing running, and nothing half-made.
func (d *Docker) undoStart(ctx context.Context, order DatabaseOrder) error {
	if order.Fresh {
		return d.RemoveDatabase(ctx, order.Name)
	}
	return d.StopDatabase(ctx, order.Name)
}

// ensureDatabase starts the container, unless it runs, and says whether it was
// created here. What ctx interrupts would be carried out all the same, so it is
// not: awaitDatabase is.
func (d *Docker) ensureDatabase(ctx context.Context, order DatabaseOrder, image string) (created bool, err error) {
	ctx, cancel := d.client.within(context.WithoutCancel(ctx), createWithin)
	defer cancel()
	found, err := d.inspectDatabase(ctx, order.Name)
	if err != nil {
		return false, err
	}
	if hasEnded(found) { // stopped by hand, or by the end of the engine
		if err := d.Remove(ctx, found.ID, ""); err != nil {
			return false, err
		}
		found = nil
	}
	if found == nil {
		if created, err = d.createDatabase(ctx, order, image); err != nil {
			return false, err
		}
	}
	return created, d.startCreated(ctx, order.Name)
}

// startCreated starts the container, which may run already, or be another's
// who is just creating it: then its name is taken, and it cannot be seen yet.
func (d *Docker) startCreated(ctx context.Context, name string) error {
	for {
		err := d.client.ContainerStart(ctx, databaseName(name), container.StartOptions{})
		if !errdefs.IsNotFound(err) || ctx.Err() != nil {
			return attempted("start database", err)
		}
		pause(ctx, databasePause)
	}
}

// hasEnded tells whether a container has run, and does no longer.
func hasEnded(found *container.InspectResponse) bool {
	return found != nil && !found.State.Running && found.State.Status != container.StateCreated
}

// createDatabase makes volume and container. It says false when another was
// quicker.
func (d *Docker) createDatabase(ctx context.Context, order DatabaseOrder, image string) (bool, error) {
	name, labels := databaseName(order.Name), map[string]string{stopwatt.LabelRole: databaseRole}
	if _, err := d.client.VolumeCreate(ctx, volume.CreateOptions{Name: name, Labels: labels}); err != nil {
		return false, attempted("create volume", err)
	}
	program := databaseProgram(order, image)
	program.Labels = labels
	_, err := d.client.ContainerCreate(ctx, program, d.databaseConfinement(name), nil, name)
	if errdefs.IsConflict(err) {
		return false, nil
	}
	return err == nil, attempted("create database", err)
}

// databaseProgram is Postgres, told as the official image promises to listen.
func databaseProgram(order DatabaseOrder, image string) *container.Config {
	command := []string{"postgres", "-c", "listen_addresses=*"} // of the container's network
	for _, setting := range order.Settings {
		command = append(command, "-c", setting)
	}
	return &container.Config{
		Image: image,
		Cmd:   command,
		User:  "postgres", // so it needs no capabilities to become that user
		Env: assignments(map[string]string{
			"POSTGRES_USER":        order.User,
			"POSTGRES_PASSWORD":    order.Password,
			"POSTGRES_DB":          order.Database,
			"POSTGRES_INITDB_ARGS": "--encoding=UTF8 --locale=C --data-checksums",
			"PGDATA":               databaseData,
		}),
		ExposedPorts: nat.PortSet{databasePort: {}},
		StopSignal:   "SIGINT", // a fast shutdown, which loses nothing
		Healthcheck:  unasked(),
	}
}

// databaseConfinement gives the database its volume and a port of the loopback
// that the engine chooses, and withholds the rest.
func (d *Docker) databaseConfinement(name string) *container.HostConfig {
	host := d.confinement(stopwatt.ContainerOrder{Writable: true})
	host.NetworkMode = "" // the engine's own: where ports can be published
	host.PortBindings = nat.PortMap{databasePort: {{HostIP: "127.0.0.1"}}}
	host.Mounts = []mount.Mount{{Type: mount.TypeVolume, Source: name, Target: databaseVolume}}
	host.ShmSize = databaseShared
	return host
}

// awaitDatabase returns the address when the database answers there.
func (d *Docker) awaitDatabase(ctx context.Context, order DatabaseOrder) (string, error) {
	bounded, cancel := d.client.within(ctx, databaseWithin)
	defer cancel()
	for {
		found, err := d.inspectDatabase(bounded, order.Name)
		switch {
		case err != nil:
			return "", err
		case found == nil:
			return "", errors.New("the database's container was removed while it started")
		case !found.State.Running:
			return "", d.databaseEnded(ctx, found.ID)
		}
		address := published(found)
		unready := order.Answers(bounded, address)
		if unready == nil {
			return address, nil
		}
		pause(bounded, databasePause)
		switch {
		case ctx.Err() != nil:
			return "", fmt.Errorf("wait for the database: %w", context.Cause(ctx))
		case bounded.Err() != nil:
			return "", fmt.Errorf("the database did not answer at %s within %v: %w; where stopwatt itself runs in a container, name a database with --db",
				address, databaseWithin, unready)
		}
	}
}

// published is the address on this machine that leads to the database.
func published(found *container.InspectResponse) string {
	for _, binding := range found.NetworkSettings.Ports[databasePort] {
		return net.JoinHostPort(binding.HostIP, binding.HostPort)
	}
	return ""
}

// databaseEnded says how the container of a database ended.
func (d *Docker) databaseEnded(ctx context.Context, id string) error {
	fate, err := d.Fate(context.WithoutCancel(ctx), id)
	if err != nil {
		return err
	}
	return fmt.Errorf("the database's container ended (%d); its last lines:\n%s", fate.ExitCode, strings.Join(fate.Log, "\n"))
}

// StopDatabase stops a database and removes its container, but not its data.
// One that does not run is stopped. It has a bound of its own and works on when
// ctx is cancelled.
func (d *Docker) StopDatabase(ctx context.Context, name string) error {
	seconds := int(databaseStops.Seconds())
	bounded, cancel := d.client.within(context.WithoutCancel(ctx), databaseStops+removeWithin)
	defer cancel()
	found, err := d.inspectDatabase(bounded, name)
	if err != nil || found == nil {
		return err
	}
	err = d.client.ContainerStop(bounded, found.ID, container.StopOptions{Timeout: &seconds})
	if err != nil && !errdefs.IsNotFound(err) {
		return attempted("stop database", err)
	}
	return d.Remove(ctx, found.ID, "")
}

// RemoveDatabase kills a database, for its data go as well: one that is just
// being made hears no signal. It has a bound of its own and works on when ctx
// is cancelled.
func (d *Docker) RemoveDatabase(ctx context.Context, name string) error {
	ctx, cancel := d.client.within(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	found, err := d.inspectDatabase(ctx, name)
	if err == nil && found != nil {
		err = d.Remove(ctx, found.ID, "")
	}
	if err != nil {
		return err
	}
	err = d.client.VolumeRemove(ctx, databaseName(name), false)
	if errdefs.IsNotFound(err) {
		return nil
	}
	return attempted("remove volume "+databaseName(name), err)
}

// inspectDatabase is what the engine knows of a database's container, nil when
// there is none. A stranger's container of that name is an error.
func (d *Docker) inspectDatabase(ctx context.Context, name string) (*container.InspectResponse, error) {
	found, err := d.client.ContainerInspect(ctx, databaseName(name))
	switch {
	case errdefs.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, attempted("inspect database", err)
	case found.Config.Labels[stopwatt.LabelRole] != databaseRole:
		return nil, fmt.Errorf("container %s is not stopwatt's; rename it", databaseName(name))
	}
	return &found, nil
}
