package containers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"gitlab.com/stopwatt/stopwatt"
)

// fakePostgres is an image of the test program that runs as the official one
// does. Of the real one package cmd/stopwatt has a test.
func fakePostgres(t *testing.T, d *Docker) string {
	t.Helper()
	binary, err := programBinary()
	if err != nil {
		t.Fatal(err)
	}
	archive := tarOf(map[string]string{"program": string(binary), "etc/passwd": "postgres:x:0:0::/:\n"})
	tag := "stopwatt-test/postgres:" + strings.ToLower(strings.ReplaceAll(t.Name(), "/", "-"))
	stream, err := d.client.ImageImport(t.Context(), image.ImportSource{Source: bytes.NewReader(archive), SourceName: "-"}, tag,
		image.ImportOptions{Changes: []string{`ENTRYPOINT ["/program"]`}})
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if err := readMessages(stream, func(message) {}); err != nil {
		t.Fatal(err)
	}
	removesImage(t, d, tag)
	return tag
}

// database orders a fake Postgres of this test's own, and removes it after it.
func database(t *testing.T, d *Docker) DatabaseOrder {
	t.Helper()
	order := DatabaseOrder{
		Name: thisTest + "-" + strings.ToLower(t.Name()), Image: fakePostgres(t, d),
		User: "me", Password: "secret", Database: "base",
		Answers: func(ctx context.Context, address string) error {
			_, err := greet(ctx, address)
			return err
		},
	}
	t.Cleanup(func() {
		if err := d.RemoveDatabase(context.Background(), order.Name); err != nil {
			t.Error(err)
		}
	})
	return order
}

// greet asks the fake how often it has been started with its data.
func greet(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, nil)
	if err != nil {
		return "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	return string(text), err
}

func startDatabase(t *testing.T, d *Docker, order DatabaseOrder) (address, greeting string) {
	t.Helper()
	address, err := d.StartDatabase(t.Context(), order, nil)
	if err == nil {
		greeting, err = greet(t.Context(), address)
	}
	if err != nil {
		t.Fatal(err)
	}
	return address, greeting
}

func TestDatabaseKeepsItsDataWhenItIsStopped(t *testing.T) {
	t.Parallel()
	d := docker(t)
	order := database(t, d)
	for _, step := range []struct {
		name  string
		fresh bool
		want  string
	}{
		{"the first start", true, "started 1"},
		{"the next", false, "started 2"},
		{"one that begins anew", true, "started 1"},
	} {
		order.Fresh = step.fresh
		if _, got := startDatabase(t, d, order); got != step.want {
			t.Errorf("%s: %q; want %q", step.name, got, step.want)
		}
		for range 2 { // stopped twice does no harm
			if err := d.StopDatabase(t.Context(), order.Name); err != nil {
				t.Fatal(err)
			}
		}
		if exists(t, d, databaseName(order.Name)) {
			t.Errorf("%s: the container is still there", step.name)
		}
	}
}

func TestDatabaseIsSharedByThoseWhoStartItAtOnce(t *testing.T) {
	t.Parallel()
	d := docker(t)
	order := database(t, d)
	addresses := make([]string, 3)
	var starts sync.WaitGroup
	for i := range addresses {
		starts.Go(func() {
			var err error
			if addresses[i], err = d.StartDatabase(t.Context(), order, nil); err != nil {
				t.Error(err)
			}
		})
	}
	starts.Wait()
	if addresses[0] == "" || addresses[1] != addresses[0] || addresses[2] != addresses[0] {
		t.Errorf("addresses %q; want one", addresses)
	}
	if _, got := startDatabase(t, d, order); got != "started 1" {
		t.Errorf("it says %q", got)
	}
}

func TestDatabaseIsFoundOnTheLoopbackAndBelongsToNoRun(t *testing.T) {
	t.Parallel()
	d := docker(t)
	order := database(t, d)
	order.Settings = []string{"jit=off"}
	address, _ := startDatabase(t, d, order)
	if host, _, err := net.SplitHostPort(address); err != nil || host != "127.0.0.1" {
		t.Errorf("address %q, %v", address, err)
	}
	found, err := d.client.ContainerInspect(t.Context(), databaseName(order.Name))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(found.Args, " "); got != "postgres -c listen_addresses=* -c jit=off" {
		t.Errorf("arguments %q", got)
	}
	if role, owner := found.Config.Labels[stopwatt.LabelRole], found.Config.Labels[stopwatt.LabelOwner]; role != "database" || owner != "" {
		t.Errorf("role %q, owner %q", role, owner)
	}
	if host := found.HostConfig; host.Privileged || len(host.CapAdd) > 0 || strings.Join(host.CapDrop, "") != "ALL" || !host.RestartPolicy.IsNone() {
		t.Errorf("privileged %v, capabilities +%v −%v, restart %v", host.Privileged, host.CapAdd, host.CapDrop, host.RestartPolicy)
	}
	for _, mounted := range found.Mounts {
		if mounted.Name != databaseName(order.Name) {
			t.Errorf("volume %s at %s", mounted.Name, mounted.Destination)
		}
	}
}

func TestDatabaseThatWasStoppedByHandIsStartedAgain(t *testing.T) {
	t.Parallel()
	d := docker(t)
	order := database(t, d)
	startDatabase(t, d, order)
	if err := d.client.ContainerStop(t.Context(), databaseName(order.Name), container.StopOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, got := startDatabase(t, d, order); got != "started 2" {
		t.Errorf("it says %q", got)
	}
}

func TestDatabaseThatDoesNotStart(t *testing.T) {
	t.Parallel()
	d := docker(t)
	order := database(t, d)
	order.Fresh = true
	ends, silent := order, order
	ends.Settings = []string{"ends"}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	silent.Answers = func(context.Context, string) error {
		cancel()
		return errors.New("not yet")
	}
	elsewhere := *d
	elsewhere.engine.Remote = true
	for _, row := range []struct {
		name  string
		ctx   context.Context
		d     *Docker
		order DatabaseOrder
		says  string
	}{
		{"it ends at once", t.Context(), d, ends, "ended (3); its last lines:\nout of order"},
		{"the caller is interrupted", ctx, d, silent, "wait for the database: context canceled"},
		{"the engine is on another machine", t.Context(), &elsewhere, order, "name one with --db"},
		{"its image is not there", t.Context(), d, DatabaseOrder{Image: "127.0.0.1:1/none:1"}, "image 127.0.0.1:1/none:1: "},
	} {
		_, err := row.d.StartDatabase(row.ctx, row.order, nil)
		if err == nil || !strings.Contains(err.Error(), row.says) {
			t.Errorf("%s: %v; want %q", row.name, err, row.says)
		}
		if exists(t, d, databaseName(row.order.Name)) {
			t.Errorf("%s: its container is still there", row.name)
		}
		if _, err := d.client.VolumeInspect(t.Context(), databaseName(row.order.Name)); !errdefs.IsNotFound(err) {
			t.Errorf("%s: its volume: %v; want none", row.name, err)
		}
	}
}

func TestStrangersContainerIsNoDatabase(t *testing.T) {
	t.Parallel()
	d := docker(t)
	name := thisTest + "-stranger"
	made, err := d.client.ContainerCreate(t.Context(), &container.Config{Image: theProgram(t), Cmd: []string{"/program"}}, nil, nil, databaseName(name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Remove(context.Background(), made.ID, ""); err != nil {
			t.Error(err)
		}
	})
	_, starts := d.StartDatabase(t.Context(), DatabaseOrder{Name: name, Image: theProgram(t)}, nil)
	for _, err := range []error{starts, d.RemoveDatabase(t.Context(), name)} {
		if err == nil || !strings.Contains(err.Error(), "is not stopwatt's; rename it") {
			t.Errorf("error %v", err)
		}
	}
	if !exists(t, d, made.ID) {
		t.Error("it was removed")
	}
}
