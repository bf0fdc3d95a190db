package containers

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"gitlab.com/stopwatt/stopwatt"
)

// facts runs the test program where it tells what its container allows.
func facts(t *testing.T, d *Docker, order stopwatt.ContainerOrder) map[string]string {
	t.Helper()
	fate := finish(t, d, start(t, d, order, "facts").ID)
	if len(fate.Log) != 1 {
		t.Fatalf("log %q, exit %d; want one line", fate.Log, fate.ExitCode)
	}
	found := map[string]string{}
	if err := json.Unmarshal([]byte(fate.Log[0]), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestContainerIsGrantedNothingByItself(t *testing.T) {
	t.Parallel()
	d := docker(t)
	got := facts(t, d, stopwatt.ContainerOrder{Env: map[string]string{"B": "2 3", "A": "1"}})
	for name, want := range map[string]string{
		"CapEff":     "0000000000000000",
		"CapBnd":     "0000000000000000",
		"NoNewPrivs": "1",
		"Seccomp":    "2",
		"interfaces": "lo ",
		"root":       "open /written: read-only file system",
		"tmp":        "ok",
		"big tmp":    "write /tmp/big: no space left on device",
		"files":      "16384",
	} {
		if got[name] != want {
			t.Errorf("%s: %q; want %q", name, got[name], want)
		}
	}
	for _, variable := range strings.Fields(got["env"]) {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.Contains(" A B 3 PATH HOSTNAME HOME ", " "+name+" ") {
			t.Errorf("the container knows %s, which was not ordered", variable)
		}
	}
	if !strings.Contains(got["env"], "A=1 B=2 3") {
		t.Errorf("environment %q lacks what was ordered", got["env"])
	}
}

func TestContainerIsGrantedWhatWasOrdered(t *testing.T) {
	t.Parallel()
	d := docker(t)
	if got := facts(t, d, stopwatt.ContainerOrder{Writable: true})["root"]; got != "ok" {
		t.Errorf("a writable root says %q", got)
	}
}

func TestLimitsReachTheEngine(t *testing.T) {
	t.Parallel()
	d := docker(t)
	id := create(t, d, stopwatt.ContainerOrder{Memory: 64 << 20, CPUs: "0", StopSignal: "SIGUSR1"}, "wait")
	got, err := d.client.ContainerInspect(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	host := got.HostConfig
	if host.Memory != 64<<20 || host.MemorySwap != 64<<20 || host.CpusetCpus != "0" || *host.PidsLimit != maxProcesses {
		t.Errorf("memory %d, with swap %d, CPUs %q, processes %d", host.Memory, host.MemorySwap, host.CpusetCpus, *host.PidsLimit)
	}
	if host.LogConfig.Type != "json-file" || host.LogConfig.Config["max-size"] != logFileSize {
		t.Errorf("log %+v", host.LogConfig)
	}
	if host.AutoRemove || host.Privileged || host.RestartPolicy.Name != "no" {
		t.Errorf("auto-remove %v, privileged %v, restart %q", host.AutoRemove, host.Privileged, host.RestartPolicy.Name)
	}
	if got.Config.StopSignal != "SIGUSR1" || got.Config.Labels[stopwatt.LabelRun] != thisTest {
		t.Errorf("stop signal %q, labels %v", got.Config.StopSignal, got.Config.Labels)
	}
}

func TestContainerOfUnknownImage(t *testing.T) {
	t.Parallel()
	_, err := docker(t).Create(t.Context(), stopwatt.ContainerOrder{Image: "sha256:" + strings.Repeat("0", 64)})
	if err == nil || !strings.Contains(err.Error(), "create container: ") {
		t.Errorf("error %v; want one that says what was attempted", err)
	}
}

func TestInterruptedCreationLeavesNothing(t *testing.T) {
	t.Parallel()
	d, image := docker(t), theProgram(t)
	label := thisTest + " interrupted"
	for n := range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		var interrupt sync.WaitGroup
		interrupt.Go(cancel)
		id, err := d.Create(ctx, stopwatt.ContainerOrder{Image: image, Command: []string{"x"}, Labels: map[string]string{stopwatt.LabelRun: label}})
		interrupt.Wait()
		if err == nil { // it was quicker than the interrupt
			t.Logf("creation %d was not interrupted", n)
			if err := d.Remove(t.Context(), id, ""); err != nil {
				t.Error(err)
			}
		}
	}
	left, err := d.client.ContainerList(t.Context(), container.ListOptions{
		All: true, Filters: filters.NewArgs(filters.Arg("label", stopwatt.LabelRun+"="+label)),
	})
	if err != nil || len(left) > 0 {
		t.Errorf("%d containers remain, %v", len(left), err)
	}
}

func TestCommandThatIsNotThere(t *testing.T) {
	t.Parallel()
	d := docker(t)
	id, err := d.Create(t.Context(), stopwatt.ContainerOrder{
		Image: theProgram(t), Command: []string{"/no-such-program"}, Labels: map[string]string{stopwatt.LabelRun: thisTest},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Remove(context.Background(), id, "")
	_, err = d.Start(t.Context(), id)
	if err == nil || !strings.Contains(err.Error(), "start container: ") || !strings.Contains(err.Error(), "/no-such-program") {
		t.Errorf("error %v; want one that says what was attempted and with what", err)
	}
}

func TestStartTellsTheFirstProcess(t *testing.T) {
	t.Parallel()
	if started := start(t, docker(t), stopwatt.ContainerOrder{}, "wait"); started.PID <= 1 {
		t.Errorf("PID %d", started.PID)
	}
}
