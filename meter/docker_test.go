package meter

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// docker runs Docker's command and returns what it prints.
func docker(t testing.TB, input io.Reader, args ...string) string {
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
func needDocker(t testing.TB) {
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
func burnImage(t testing.TB) string {
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

// A burner is a container in which the program in testdata/burn runs.
type burner struct {
	container   string
	pid         int
	cpu, memory int64 // what the program said of itself
	stdin       io.Writer
	stdout      io.Reader
}

// startBurn starts the program in a container, with more options of docker
// create, and waits until it has burnt what it is to burn.
func startBurn(t testing.TB, options ...string) *burner {
	t.Helper()
	create := append([]string{"create", "--interactive", "--network=none"}, options...)
	b := &burner{container: docker(t, nil, append(create, burnImage(t))...)}
	t.Cleanup(func() { docker(t, nil, "rm", "--force", b.container) })
	run := exec.Command("docker", "start", "--attach", "--interactive", b.container)
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
	b.stdin, b.stdout = stdin, bufio.NewReader(stdout)
	if _, err := fmt.Fscan(b.stdout, &b.cpu, &b.memory); err != nil {
		t.Fatalf("burn said nothing: %v", err)
	}
	b.pid, err = strconv.Atoi(docker(t, nil, "inspect", "--format", "{{.State.Pid}}", b.container))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// do has the program do something, and returns how often it left a CPU.
func (b *burner) do(t *testing.T, what string) (willing, unwilling int64) {
	t.Helper()
	fmt.Fprintln(b.stdin, what)
	if _, err := fmt.Fscan(b.stdout, &willing, &unwilling); err != nil {
		t.Fatalf("burn said nothing about %s: %v", what, err)
	}
	return willing, unwilling
}

// checkFields checks that these fields alone are absent, for these reasons.
func checkFields(t *testing.T, usage stopwatt.Usage, want map[string]string) {
	t.Helper()
	for _, name := range stopwatt.UsageFields {
		if _, reason := usage.Field(name); (reason == "") != (want[name] == "") || !strings.Contains(reason, want[name]) {
			t.Errorf("%s: reason %q; want %q", name, reason, want[name])
		}
	}
}

// lacks are parts of the reasons that a machine may have for what it does not
// account for at all.
var lacks = []string{"no such hardware counter", "not allowed to this user", "psi=1", "memory controller is off", "needs Linux", "only the unified hierarchy"}

// lackedHere are the fields that this machine does not account for.
func lackedHere(usage stopwatt.Usage) map[string]string {
	lacked := map[string]string{}
	for name, reason := range usage.Absent {
		if slices.ContainsFunc(lacks, func(lack string) bool { return strings.Contains(reason, lack) }) {
			lacked[name] = reason
		}
	}
	return lacked
}

func TestAnAccountAgreesWithWhatAContainerKnowsOfItself(t *testing.T) {
	needDocker(t)
	b := startBurn(t)
	account, err := Host{}.Account(b.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer account.Close()
	usage := account.Read()
	lacked := lackedHere(usage)
	checkFields(t, usage, lacked)

	// What the engine does to start it is on its account too, hence the margins.
	most := b.cpu + b.cpu/5 + (50 * time.Millisecond).Nanoseconds()
	if usage.CPU < b.cpu || usage.CPU > most {
		t.Errorf("CPU is %d ns; the program itself used %d, so at most %d", usage.CPU, b.cpu, most)
	}
	if parts := usage.CPUUser + usage.CPUSystem; parts < b.cpu*3/4 || parts > most*5/4 || usage.CPUUser < b.cpu/3 {
		t.Errorf("user %d ns and system %d ns of %d; the program does little but compute", usage.CPUUser, usage.CPUSystem, usage.CPU)
	}
	if usage.Throttled != 0 {
		t.Errorf("throttled %d times, without any quota", usage.Throttled)
	}
	if usage.MemoryCurrent < b.memory && lacked["MemoryCurrent"] == "" || usage.MemoryCurrent > 2*b.memory {
		t.Errorf("memory is %d bytes; the program touched %d", usage.MemoryCurrent, b.memory)
	}
	if usage.MemoryPeak < usage.MemoryCurrent && lacked["MemoryPeak"] == "" || usage.MemoryPeak > 2*b.memory {
		t.Errorf("peak memory is %d bytes, memory now %d", usage.MemoryPeak, usage.MemoryCurrent)
	}
	if usage.PidsCurrent < 2 || usage.PidsPeak < usage.PidsCurrent && lacked["PidsPeak"] == "" || usage.PidsPeak > 100 {
		t.Errorf("%d threads, at most %d at a time; Go has a few", usage.PidsCurrent, usage.PidsPeak)
	}
	if n, err := account.Number("CPU"); err != nil || n < usage.CPU || n > usage.CPU+usage.CPU/10 {
		t.Errorf("CPU went from %d to %d ns (%v) while the program waited", usage.CPU, n, err)
	}

	docker(t, nil, "rm", "--force", b.container)
	ended := map[string]string{"ContextSwitches": ""}
	for _, name := range stopwatt.UsageFields {
		if name != switchEvent.field { // a perf event outlives its cgroup
			ended[name] = "its container has ended"
		}
	}
	checkFields(t, account.Read(), with(ended, lacked))
	if _, err := (Host{}).Account(b.pid); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("no process %d", b.pid)) {
		t.Errorf("a second account: %v", err)
	}
}

func TestAContainerWithAQuotaIsThrottled(t *testing.T) {
	needDocker(t)
	b := startBurn(t, "--cpu-period=100000", "--cpu-quota=10000")
	account, err := Host{NoCounters: true}.Account(b.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer account.Close()
	if usage := account.Read(); usage.Throttled < 3 {
		t.Errorf("throttled %d times (%s); it had 10 ms of each 100 ms and used %d ns", usage.Throttled, usage.Absent["Throttled"], b.cpu)
	}
}

// near tells whether two counts of one thing differ by no more than a fiftieth
// and a few: the program takes its own a little before and after.
func near(a, b int64) bool {
	return max(a-b, b-a) <= max(a, b)/50+20
}

func TestContextSwitchesAgreeWithWhatTheProgramCounted(t *testing.T) {
	needDocker(t)
	b := startBurn(t)
	account, err := Host{}.Account(b.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer account.Close()
	for _, test := range []struct {
		what                     string
		leastWilling, leastOther int64
	}{{"sleep", 2000, 0}, {"yield", 0, 1}} {
		before := account.Read()
		willing, unwilling := b.do(t, test.what)
		after := account.Read()
		if willing < test.leastWilling || unwilling < test.leastOther {
			t.Fatalf("%s: the program counted %d and %d", test.what, willing, unwilling)
		}
		for _, count := range []struct {
			field string
			want  int64
		}{{"ContextSwitches", willing + unwilling}, {"SwitchesVoluntary", willing}, {"SwitchesInvoluntary", unwilling}} {
			got, reason := after.Since(before, count.field)
			if lackedHere(after)[count.field] != "" {
				continue
			}
			if reason != "" || !near(got, count.want) {
				t.Errorf("%s: %s rose by %d (%s); the program counted %d", test.what, count.field, got, reason, count.want)
			}
		}
	}
}

func TestThreadsThatCameAndWentTakeTheirSwitchesAlong(t *testing.T) {
	needDocker(t)
	b := startBurn(t)
	account, err := Host{}.Account(b.pid)
	if err != nil {
		t.Fatal(err)
	}
	defer account.Close()
	before := account.Read()
	willing, unwilling := b.do(t, "churn")
	after := account.Read()
	for _, field := range []string{"SwitchesVoluntary", "SwitchesInvoluntary"} {
		if got, reason := after.Since(before, field); !strings.Contains(reason, "threads that came and went") && !strings.Contains(reason, "threads ended meanwhile") {
			t.Errorf("%s rose by %d, reason %q", field, got, reason)
		}
	}
	if got, reason := after.Since(before, "ContextSwitches"); lackedHere(after)["ContextSwitches"] == "" && (reason != "" || !near(got, willing+unwilling)) {
		t.Errorf("all context switches rose by %d (%s); the program counted %d", got, reason, willing+unwilling)
	}
}

// What an account costs: one number, which a sampler takes ten times a second,
// and everything, which is read at the edges of a window.
func BenchmarkAccount(b *testing.B) {
	needDocker(b)
	account, err := Host{}.Account(startBurn(b).pid)
	if err != nil {
		b.Fatal(err)
	}
	defer account.Close()
	for _, field := range []string{"CPU", "MemoryCurrent"} {
		b.Run(field, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := account.Number(field); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("everything", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			account.Read()
		}
	})
}
