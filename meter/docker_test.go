package meter

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// docker runs Docker's command and returns what it prints.
func docker(t *testing.T, input io.Reader, args ...string) string {
	t.Helper()
	cmd := exec.Command("docker", args...)
	cmd.Stdin = input
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("docker %q: %v\n%s", args, err, output)
	}
	return strings.TrimSpace(string(output))
}

// needDocker ends a test where there is no Docker Engine; in CI it must be there.
func needDocker(t *testing.T) {
	t.Helper()
	output, err := exec.Command("docker", "version", "--format", "{{.Server.Version}}").CombinedOutput()
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("no Docker Engine: %v\n%s", err, output)
	}
	t.Skipf("no Docker Engine: %v", err)
}

// burnImage makes an image of the program in testdata/burn.
func burnImage(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "burn")
	build := exec.Command("go", "build", "-o", program, "./testdata/burn")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build burn: %v\n%s", err, output)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	header := tar.Header{Typeflag: tar.TypeReg, Name: "burn", Size: int64(len(text)), Mode: 0o755}
	if err := archive.WriteHeader(&header); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	image := docker(t, &layer, "import", "--change", `ENTRYPOINT ["/burn"]`, "-")
	t.Cleanup(func() { docker(t, nil, "image", "rm", "--force", image) })
	return image
}

// startBurn starts the program in a container and returns the container's ID
// and what the program said of itself.
func startBurn(t *testing.T) (container string, cpu, memory int64) {
	t.Helper()
	container = docker(t, nil, "create", "--interactive", "--network=none", burnImage(t))
	t.Cleanup(func() { docker(t, nil, "rm", "--force", container) })
	run := exec.Command("docker", "start", "--attach", "--interactive", container)
	stdin, err := run.StdinPipe() // held open, so that the program lives
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stdin.Close()
		_ = run.Wait() // its status is that of a container that was killed
	})
	if _, err := fmt.Fscan(stdout, &cpu, &memory); err != nil {
		t.Fatalf("burn said nothing: %v", err)
	}
	return container, cpu, memory
}

func TestAnAccountAgreesWithWhatAContainerKnowsOfItself(t *testing.T) {
	needDocker(t)
	container, burnt, touched := startBurn(t)
	pid, err := strconv.Atoi(docker(t, nil, "inspect", "--format", "{{.State.Pid}}", container))
	if err != nil {
		t.Fatal(err)
	}
	account, err := Host{}.Account(pid)
	if err != nil {
		t.Fatal(err)
	}
	defer account.Close()
	usage := account.Read()
	checkAbsent(t, usage, nil)

	// What the engine does to start it is on its account too, hence the margins.
	most := burnt + burnt/5 + (50 * time.Millisecond).Nanoseconds()
	if usage.CPU < burnt || usage.CPU > most {
		t.Errorf("CPU is %d ns; the program itself used %d, so at most %d", usage.CPU, burnt, most)
	}
	if parts := usage.CPUUser + usage.CPUSystem; parts < burnt*3/4 || parts > most*5/4 || usage.CPUUser < burnt/3 {
		t.Errorf("user %d ns and system %d ns of %d; the program does little but compute", usage.CPUUser, usage.CPUSystem, usage.CPU)
	}
	if usage.MemoryCurrent < touched || usage.MemoryCurrent > 2*touched {
		t.Errorf("memory is %d bytes; the program touched %d", usage.MemoryCurrent, touched)
	}
	if usage.MemoryPeak < usage.MemoryCurrent || usage.MemoryPeak > 2*touched {
		t.Errorf("peak memory is %d bytes, memory now %d", usage.MemoryPeak, usage.MemoryCurrent)
	}
	if again := account.Read(); again.CPU < usage.CPU || again.CPU > usage.CPU+usage.CPU/10 {
		t.Errorf("CPU went from %d to %d ns while the program waited", usage.CPU, again.CPU)
	}

	docker(t, nil, "rm", "--force", container)
	ended := map[string]string{}
	for _, name := range stopwatt.UsageFields {
		ended[name] = "its container has ended"
	}
	checkAbsent(t, account.Read(), ended)
	if _, err := (Host{}).Account(pid); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("no process %d", pid)) {
		t.Errorf("a second account: %v", err)
	}
}
