package containers

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"go.uber.org/goleak"

	"gitlab.com/stopwatt/stopwatt"
)

// thisTest is the run that everything made by this test binary is labelled
// with.
var thisTest = "test-" + strings.ToLower(rand.Text())

// engine is the real engine, or why there is none.
var engine = sync.OnceValues(func() (*Docker, error) {
	return Connect(context.Background(), Config{})
})

// program is the static test program.
var programBinary = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "stopwatt-containers-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	binary := filepath.Join(folder, "program")
	build := exec.Command("go", "build", "-o", binary, "./testdata/program")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the test program: %w\n%s", err, output)
	}
	return os.ReadFile(binary)
})

// programTag is an image that holds the test program as /program, with no
// entry point, and its user is root.
var programTag = "stopwatt-test/program:" + thisTest

var programImage = sync.OnceValues(func() (string, error) {
	d, err := engine()
	if err != nil {
		return "", err
	}
	binary, err := programBinary()
	if err != nil {
		return "", err
	}
	archive := tarOf(map[string]string{"program": string(binary)})
	stream, err := d.client.ImageImport(context.Background(), image.ImportSource{Source: bytes.NewReader(archive), SourceName: "-"}, programTag, image.ImportOptions{})
	if err != nil {
		return "", err
	}
	defer stream.Close()
	if err := readMessages(stream, func(message) {}); err != nil {
		return "", err
	}
	found, err := d.client.ImageInspect(context.Background(), programTag)
	return found.ID, err
})

// TestMain fails where an image or a goroutine outlives the tests.
func TestMain(m *testing.M) { goleak.VerifyTestMain(tidy{m}) }

// tidy removes the test program's image when all tests have run.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	code := t.M.Run()
	if d, err := engine(); err == nil {
		defer d.Close() // which ends what waits on idle connections
		if _, err := d.client.ImageRemove(context.Background(), programTag, image.RemoveOptions{}); err != nil && !errdefs.IsNotFound(err) {
			fmt.Fprintln(os.Stderr, "left behind:", err)
			code = 1
		}
	}
	return code
}

// docker is the real engine. Without one, the test is skipped, but not in CI.
func docker(t *testing.T) *Docker {
	t.Helper()
	d, err := engine()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("no Docker Engine: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// theProgram is the ID of the test program's image.
func theProgram(t *testing.T) string {
	t.Helper()
	id, err := programImage()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// create makes a container of the test program that the test removes.
func create(t *testing.T, d *Docker, order stopwatt.ContainerOrder, command ...string) string {
	t.Helper()
	order.Image, order.Command = theProgram(t), append([]string{"/program"}, command...)
	if order.Labels == nil {
		order.Labels = map[string]string{stopwatt.LabelRun: thisTest}
	}
	id, err := d.Create(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Remove(context.Background(), id, ""); err != nil {
			t.Error(err)
		}
	})
	return id
}

// start creates a container and starts it.
func start(t *testing.T, d *Docker, order stopwatt.ContainerOrder, command ...string) stopwatt.Container {
	t.Helper()
	started, err := d.Start(t.Context(), create(t, d, order, command...))
	if err != nil {
		t.Fatal(err)
	}
	return started
}

// finish waits for a container's end and returns what became of it.
func finish(t *testing.T, d *Docker, id string) stopwatt.Fate {
	t.Helper()
	if err := d.Wait(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	fate, err := d.Fate(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return fate
}

// firstLine waits until the container has printed a line.
func firstLine(t *testing.T, d *Docker, id string) string {
	t.Helper()
	hijacked, err := d.client.ContainerAttach(t.Context(), id, attachWithLogs)
	if err != nil {
		t.Fatal(err)
	}
	defer hijacked.Close()
	line, err := bufio.NewReader(&frameReader{from: hijacked.Reader}).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// attachWithLogs follows the output of a container from its beginning.
var attachWithLogs = container.AttachOptions{Stream: true, Stdout: true, Logs: true}

// exists tells whether the engine still knows a container.
func exists(t *testing.T, d *Docker, id string) bool {
	t.Helper()
	_, err := d.client.ContainerInspect(context.Background(), id)
	if err != nil && !errdefs.IsNotFound(err) {
		t.Fatal(err)
	}
	return err == nil
}

// tarOf packs files by name, and links, as link:TARGET. Programs are what has no dot in its
// name.
func tarOf(files map[string]string) []byte {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, content := range files {
		mode := int64(0o644)
		if !strings.Contains(name, ".") {
			mode = 0o755
		}
		if target, is := strings.CutPrefix(content, "link:"); is {
			if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target}); err != nil {
				panic(err)
			}
			continue
		}
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(content))}); err != nil {
			panic(err)
		}
		if _, err := io.WriteString(w, content); err != nil {
			panic(err)
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return archive.Bytes()
}

func TestTheEngineSaysWhatItIs(t *testing.T) {
	t.Parallel()
	got := docker(t).Engine()
	for name, value := range map[string]string{
		"version": got.Version, "API": got.API, "storage driver": got.StorageDriver, "cgroup driver": got.CgroupDriver,
	} {
		if value == "" {
			t.Errorf("the engine's %s is empty", name)
		}
	}
	if got.OS != "linux" || got.Remote {
		t.Errorf("OS %q, remote %v; want linux, on this machine", got.OS, got.Remote)
	}
	if got.CgroupVersion != "1" && got.CgroupVersion != "2" {
		t.Errorf("cgroup version %q", got.CgroupVersion)
	}
}

func TestNobodyIsThere(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	tests := []struct {
		name, host, want string
	}{
		{"a socket that does not exist", "unix://" + folder + "/none.sock", "correct DOCKER_HOST"},
		{"a port where nobody listens", "tcp://127.0.0.1:1", "connection refused"},
		{"an address that is none", "nonsense", "unable to parse docker host"},
		{"a scheme that nobody knows", "gopher://x", "gopher"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			env := map[string]string{"DOCKER_HOST": test.host}
			_, err := Connect(t.Context(), Config{Getenv: func(name string) string { return env[name] }, Home: folder})
			if !errors.Is(err, stopwatt.ErrUnreachable) {
				t.Fatalf("error %v; want one that is ErrUnreachable", err)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %q does not say %q", err, test.want)
			}
		})
	}
}
