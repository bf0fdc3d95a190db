package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/containers"
	"gitlab.com/stopwatt/stopwatt/meter"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// A burning container runs meter's test program, which has used a known amount
// of CPU time and waits.
type burning struct {
	pid int
	cpu int64 // nanoseconds, as the program counted
}

// burn starts one.
func burn(t *testing.T, docker *containers.Docker) burning {
	t.Helper()
	program := filepath.Join(t.TempDir(), "burn")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "../../meter/testdata/burn")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build burn: %v\n%s", err, out)
	}
	image := importProgram(t, docker, program)
	id, err := docker.Create(t.Context(), stopwatt.ContainerOrder{Image: image, Stdin: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { docker.Remove(context.Background(), id, "") })
	streams, err := docker.Attach(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { streams.Close() })
	container, err := docker.Start(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	b := burning{pid: container.PID}
	var memory int64
	if _, err := fmt.Fscan(streams, &b.cpu, &memory); err != nil {
		t.Fatalf("burn said nothing: %v", err)
	}
	return b
}

// importProgram makes an image of a static program, and removes it later.
func importProgram(t *testing.T, docker *containers.Docker, path string) string {
	t.Helper()
	binary, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image, err := docker.AgentImage(t.Context(), binary)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeImagesOf(map[string]bool{containers.AgentKey(binary): true}) })
	return image
}

// openHelper starts the helper container with an agent built for this test.
func openHelper(t *testing.T, docker *containers.Docker) *meter.Elsewhere {
	t.Helper()
	agent := filepath.Join(buildPrograms(t), "stopwatt-agent-linux-"+runtime.GOARCH)
	streams, err := docker.Meters(t.Context(), containers.MetersOrder{
		Image:  importProgram(t, docker, agent),
		Labels: map[string]string{stopwatt.LabelOwner: meter.Host{}.Self(), stopwatt.LabelRole: "meters"},
	})
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := meter.OpenElsewhere(t.Context(), streams, meter.StationOrder{Every: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(elsewhere.Close)
	return elsewhere
}

// TestAHelperContainerAccountsAsThisProcessDoes compares both ways of reading
// one container that has burnt a known CPU time.
func TestAHelperContainerAccountsAsThisProcessDoes(t *testing.T) {
	docker := connect(t)
	helper, b := openHelper(t, docker), burn(t, docker)
	if !helper.SameKernel() {
		t.Error("the helper's kernel is not known again")
	}
	here := meter.Open(meter.StationOrder{Every: 100 * time.Millisecond})
	defer here.Close()
	if id := here.Machine().Identity.ID; helper.Machine().Identity.ID != id || helper.Machine().Name != here.Machine().Name {
		t.Errorf("the helper calls the machine %+v; here it is %+v", helper.Machine(), here.Machine())
	}
	var usages []stopwatt.Usage
	for _, open := range []func(int) (meter.Accounting, error){here.Account, helper.Account, here.Account} {
		account, err := open(b.pid)
		if err != nil {
			t.Fatal(err)
		}
		usages = append(usages, account.Read())
		if err := account.Close(); err != nil {
			t.Error(err)
		}
	}
	before, there, after := usages[0], usages[1], usages[2]
	if there.CPU < b.cpu {
		t.Errorf("the helper accounts for %d ns; the program used %d", there.CPU, b.cpu)
	}
	for _, field := range []string{"CPU", "CPUUser", "CPUSystem", "MemoryPeak", "PidsPeak"} {
		low, reason := before.Field(field)
		high, _ := after.Field(field)
		value, thereReason := there.Field(field)
		if reason != thereReason || value < low || value > high {
			t.Errorf("%s: the helper reads %d %q; before that it was %d %q, and after that %d", field, value, thereReason, low, reason, high)
		}
	}
	if _, reason := there.Field("SwitchesVoluntary"); reason != before.Absent["SwitchesVoluntary"] {
		t.Errorf("the threads' context switches: %s", reason)
	}
	if _, reason := there.Field("ContextSwitches"); reason != before.Absent["ContextSwitches"] {
		t.Errorf("context switches: %s", reason)
	}
}

// TestAHelperContainerIsGoneWithItsConversation because a killed stopwatt cannot
// remove it.
func TestAHelperContainerIsGoneWithItsConversation(t *testing.T) {
	docker := connect(t)
	helper := openHelper(t, docker)
	mine := func() int {
		left, err := docker.Leftovers(t.Context(), func(owner string) bool { return owner == meter.Host{}.Self() })
		if err != nil {
			t.Fatal(err)
		}
		return len(left)
	}
	if n := mine(); n != 1 {
		t.Fatalf("%d containers with our label", n)
	}
	helper.Close()
	if n := mine(); n != 0 {
		t.Errorf("%d containers with our label remain", n)
	}
}

// TestAPlainUserReadsRootsCountersThroughTheHelper runs doctor as nobody on a
// machine whose RAPL only root may read.
func TestAPlainUserReadsRootsCountersThroughTheHelper(t *testing.T) {
	requireDocker(t)
	socket, err := os.Stat("/var/run/docker.sock")
	if os.Getuid() != 0 || err != nil {
		t.Skip("becoming a plain user who may speak to Docker takes root, and Docker's own socket")
	}
	folder := openFolder(t)
	root := filepath.Join(folder, "machine")
	zone := filepath.Join(root, "sys/class/powercap/intel-rapl:0")
	if err := os.MkdirAll(zone, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]os.FileMode{"name": 0o444, "max_energy_range_uj": 0o444, "energy_uj": 0o400} {
		text := map[string]string{"name": "package-0", "max_energy_range_uj": "262143328850", "energy_uj": "1000000"}[name]
		if err := os.WriteFile(filepath.Join(zone, name), []byte(text+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	command := installed(t, folder, buildPrograms(t), embeddedtest.ForTest(t), "doctor", "--json")
	command.Env = append(command.Env, "STOPWATT_METERS_ROOT="+root)
	group := socket.Sys().(*syscall.Stat_t).Gid
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: group}}
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	_ = command.Run() // whether this machine is fit is another matter
	var told struct {
		Findings []stopwatt.Finding `json:"findings"`
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &out, &said)
	}
	for subject, want := range map[string]string{
		"meters":     "read by a helper container, because this user may not read the meter cpu",
		"energy_cpu": "rapl package-0 is here, but its counter stood still",
	} {
		if !says(told.Findings, subject, want) {
			t.Errorf("no finding %s: %s\n%s", subject, want, &out)
		}
	}
}

// says tells whether a subject's finding contains a text.
func says(findings []stopwatt.Finding, subject, text string) bool {
	for _, f := range findings {
		if f.Subject == subject && strings.Contains(f.Says, text) {
			return true
		}
	}
	return false
}

// connect reaches the engine, as requireDocker does.
func connect(t *testing.T) *containers.Docker {
	t.Helper()
	requireDocker(t)
	docker, err := containers.Connect(t.Context(), containers.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { docker.Close() })
	return docker
}

// TestAnEngineBehindANetworkIsMeteredThroughTheHelper reaches the engine through
// a forwarded port, as that of another machine is reached.
func TestAnEngineBehindANetworkIsMeteredThroughTheHelper(t *testing.T) {
	requireDocker(t)
	if _, err := os.Stat("/var/run/docker.sock"); err != nil {
		t.Skip("Docker's own socket is not here to be forwarded")
	}
	command := installed(t, openFolder(t), buildPrograms(t), embeddedtest.ForTest(t), "doctor", "--json")
	command.Env = append(command.Env, "DOCKER_HOST=tcp://"+forwarded(t, "/var/run/docker.sock"))
	var out, said bytes.Buffer
	command.Stdout, command.Stderr = &out, &said
	_ = command.Run() // whether this machine is fit is another matter
	var told struct {
		Findings []stopwatt.Finding `json:"findings"`
	}
	if err := json.Unmarshal(out.Bytes(), &told); err != nil {
		t.Fatalf("%v\n%s\n%s", err, &out, &said)
	}
	if !says(told.Findings, "meters", "read by a helper container, because the Docker Engine's processes are not to be seen from here") || !says(told.Findings, "other load", "load average") {
		t.Errorf("findings: %s", &out)
	}
}

// forwarded listens at an address of this machine and passes every connection
// on to a socket.
func forwarded(t *testing.T, socket string) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return // the test is over
			}
			to, err := net.Dial("unix", socket)
			if err != nil {
				from.Close()
				continue
			}
			go pass(to, from)
			go pass(from, to)
		}
	}()
	return listener.Addr().String()
}

// pass copies what one side says, and its end.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.(interface{ CloseWrite() error }).CloseWrite() // the other side may have gone
}
