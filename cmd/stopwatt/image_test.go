package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt/containers"
)

// buildJobImage builds the image that jobs of the Docker executor run in, on the
// bases that there are, with this machine's agent alone. Image and layers are kept,
// so that it is built once for the same sources; those of other days go.
func buildJobImage(t *testing.T) string {
	t.Helper()
	requireDocker(t)
	if _, err := os.Stat("/var/run/docker.sock"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("the engine is not reached by Docker's own socket, and sees no folder of this machine")
	}
	told, known := os.LookupEnv("STOPWATT_BASES")
	if !known && os.Getenv("CI") != "true" {
		t.Skip("which base images there are is not known: make test finds out, and sets STOPWATT_BASES")
	}
	bases, err := parseBases(nil, told)
	if err != nil {
		t.Fatal(err)
	}
	const tag = "stopwatt-check/stopwatt"
	args := []string{"build", "-q", "-t", tag, "-f", "../../docker/stopwatt/Dockerfile",
		"--build-arg", "VERSION=v0-test", "--build-arg", "AGENTS=" + runtime.GOARCH}
	for name, official := range map[string]string{"BASE": "golang:1.26-bookworm", "RUNTIME": "debian:bookworm-slim"} {
		if standIn := bases[official]; standIn != "" {
			args = append(args, "--build-arg", name+"="+standIn)
		}
	}
	// A download that stalls is waited for by go mod without end.
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "docker", append(args, "../..")...).CombinedOutput(); err != nil {
		t.Fatalf("docker build: %v\n%s", err, out)
	}
	old := exec.Command("docker", "image", "prune", "-f", "--filter", "label=stopwatt.stage=build", "--filter", "until=24h")
	if out, err := old.CombinedOutput(); err != nil {
		t.Errorf("remove what is left of earlier builds: %v\n%s", err, out)
	}
	return tag
}

// TestTheImageOfJobsHasWhatAJobWants runs the image as the runner does: with the
// checkout as a volume and a shell for the script, and once with the engine's socket,
// which is all of the host that the Docker executor need give.
func TestTheImageOfJobsHasWhatAJobWants(t *testing.T) {
	t.Parallel()
	image := buildJobImage(t)
	removeAgentOf(t, image)
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	suites := []string{"--network", "none", "-v", checkout + "/suites:/builds/suites:ro", "-v", checkout + "/docker:/builds/docker:ro"}
	socket := []string{"-v", "/var/run/docker.sock:/var/run/docker.sock"}
	for _, row := range []struct {
		what, script string
		options      []string
		says         string
	}{
		{"it knows its version", "stopwatt version", suites, "stopwatt v0-test"},
		{"it reads suites", "stopwatt check suites/web-servers", suites, "no faults"},
		{"git takes the checkout of another user", "git init -q /tmp/foreign && chown -R 1000 /tmp/foreign && git -C /tmp/foreign status", suites, "No commits yet"},
		{"there is ssh", "ssh -V", suites, "OpenSSH"},
		{"there are certificates, and what bounds after_script", "timeout 5 ls /etc/ssl/certs/ca-certificates.crt", suites, "ca-certificates.crt"},
		{"without the socket doctor says what is missing", "stopwatt doctor || true", suites, "unreachable: Docker Engine"},
		{"with the socket doctor finds its way to the meters", "stopwatt doctor || true", socket, "meters read by a helper container"},
	} {
		said, err := runIn(image, row.script, row.options...)
		if !strings.Contains(said, row.says) || err != nil {
			t.Errorf("%s: %s does not say %q: %v\n%s", row.what, row.script, row.says, err, said)
		}
	}
}

// removeAgentOf removes the image of the driver that the stopwatt of an image makes.
func removeAgentOf(t *testing.T, image string) {
	t.Helper()
	stage, err := exec.Command("docker", "image", "ls", "-q", "--filter", "label=stopwatt.stage=build").Output()
	if err != nil {
		t.Fatal(err)
	}
	name := "/src/cmd/stopwatt/agents/stopwatt-agent-linux-" + runtime.GOARCH
	for _, id := range strings.Fields(string(stage)) {
		binary, err := exec.Command("docker", "run", "--rm", "--network", "none", id, "cat", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { removeImagesOf(map[string]bool{containers.AgentKey(binary): true}) })
	}
}

// runIn runs a script in a container of the image, as the runner does, and returns
// what it said with its lines joined.
func runIn(image, script string, options ...string) (string, error) {
	args := append([]string{"run", "--rm", "-i", "-w", "/builds"}, options...)
	out, err := exec.Command("docker", append(args, image, "sh", "-ec", script)...).CombinedOutput()
	return strings.Join(strings.Fields(string(out)), " "), err
}
