package main

import (
	"context"
	"fmt"
	"sync"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

// officialPostgres is the image that the private Postgres runs from where the
// machine has no binaries. Another major version could not read the data.
const officialPostgres = "postgres:17"

// launchDatabase runs the private Postgres through Docker.
func (d *desk) launchDatabase(ctx context.Context, order embedded.ServerOrder) (string, error) {
	image, err := d.postgresImage()
	if err != nil {
		return "", err
	}
	docker, err := containers.Connect(ctx, d.dockerConfig())
	if err != nil {
		return "", err
	}
	defer docker.Close()
	say := sync.OnceFunc(func() { fmt.Fprintf(d.stderr, "pull    %s for the private database\n", image) })
	address, err := docker.StartDatabase(ctx, containers.DatabaseOrder{
		Name:     order.Name,
		Image:    image,
		Fresh:    order.Fresh,
		User:     order.User,
		Password: order.Password,
		Database: order.Database,
		Settings: order.Settings,
		Answers:  order.Answers,
	}, func(stopwatt.BuildStep) { say() })
	if err != nil {
		return "", fmt.Errorf("through Docker: %w", err)
	}
	return address, nil
}

// postgresImage is $STOPWATT_POSTGRES_IMAGE, else the stand-in of the official
// image, else that.
func (d *desk) postgresImage() (string, error) {
	if named := d.getenv("STOPWATT_POSTGRES_IMAGE"); named != "" {
		return named, nil
	}
	standIns, err := parseBases(nil, d.getenv("STOPWATT_BASES"))
	if err != nil {
		return "", err
	}
	if standIn := standIns[officialPostgres]; standIn != "" {
		return standIn, nil
	}
	return officialPostgres, nil
}

// stopDatabase ends what launchDatabase has started.
func (d *desk) stopDatabase(ctx context.Context, name string) error {
	docker, err := containers.Connect(ctx, d.dockerConfig())
	if err != nil {
		return err
	}
	defer docker.Close()
	return docker.StopDatabase(ctx, name)
}

// dockerEnvironment is what the keeper must know to find the engine again.
func (d *desk) dockerEnvironment() []string {
	var known []string
	for _, name := range []string{"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY", "HOME", "XDG_RUNTIME_DIR"} {
		if value := d.getenv(name); value != "" {
			known = append(known, name+"="+value)
		}
	}
	return known
}
