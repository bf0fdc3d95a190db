//go:build linux

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// BenchmarkAgainstOthers drives one server by the agent and by every other tool
// that is installed, interleaved in random order, and tells for each tool the
// ratios of the agent's CPU per request and requests per second to its: the
// Hodges-Lehmann estimate over the rounds with its 95 % interval. One iteration
// is one round of a second each, so give -benchtime=10x or more. The server is
// nginx where there is one, else the null server.
func BenchmarkAgainstOthers(b *testing.B) {
	if !installed("wrk") {
		b.Skip("wrk is not installed")
	}
	agent := buildAgent(b)
	for _, pinned := range []bool{false, true} {
		if pinned && (runtime.NumCPU() < 2 || !installed("taskset")) {
			continue
		}
		for _, load := range []struct {
			users   int
			closing bool
			path    string
		}{
			{4, false, "/1k"}, {64, false, "/1k"}, {4, true, "/1k"}, {64, true, "/1k"}, {4, false, "/64k"}, {4, false, "/1m"},
		} {
			name := fmt.Sprintf("%d users close=%v %s pinned=%v", load.users, load.closing, load.path, pinned)
			b.Run(strings.ReplaceAll(name, "/", ""), func(b *testing.B) {
				c := contest{agent: agent, address: startBenchServer(b, pinned), users: load.users, closing: load.closing, path: load.path, pinned: pinned}
				c.run(b)
			})
		}
	}
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// buildAgent builds the agent as it is shipped.
func buildAgent(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "stopwatt-agent")
	build := exec.Command("go", "build", "-o", path, "../cmd/stopwatt-agent")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build the agent: %v\n%s", err, out)
	}
	return path
}

// startBenchServer starts nginx, or else the null server, for the benchmark.
func startBenchServer(b *testing.B, pinned bool) string {
	b.Helper()
	if !installed("nginx") {
		return startNullServer(b)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close() // for nginx to take
	folder := b.TempDir()
	for name, size := range map[string]int{"1k": 1 << 10, "64k": 64 << 10, "1m": 1 << 20} {
		if err := os.WriteFile(filepath.Join(folder, name), make([]byte, size), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Dir(folder), 0o755); err != nil {
		b.Fatal(err)
	}
	affinity := ""
	if pinned {
		affinity = "worker_cpu_affinity 01;"
	}
	config := fmt.Sprintf(`worker_processes 1; %s daemon off; pid %[2]s/pid; error_log stderr crit; user root;
		events { worker_connections 1024; }
		http { access_log off; keepalive_requests 1000000000; sendfile on; tcp_nopush on; tcp_nodelay on;
			client_body_temp_path %[2]s/1; proxy_temp_path %[2]s/2; fastcgi_temp_path %[2]s/3; uwsgi_temp_path %[2]s/4; scgi_temp_path %[2]s/5;
			server { listen %[3]s; root %[2]s; } }`, affinity, folder, address)
	file := filepath.Join(folder, "conf")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		b.Fatal(err)
	}
	server := exec.Command("nginx", "-c", file, "-p", folder, "-e", "stderr")
	server.Stderr = os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		server.Process.Signal(syscall.SIGTERM)
		server.Wait()
	})
	order := orderFor(address)
	order.Request.Path = "/1k"
	if _, err := ready(b.Context(), order); err != nil {
		b.Fatal(err)
	}
	return address
}

// A contest is one load that all drive at one server.
type contest struct {
	agent, address, path string
	users                int
	closing, pinned      bool
}

// figures are what one run of a driver came to.
type figures struct {
	perSecond  float64
	cpuSeconds float64 // per request
	memory     float64 // bytes, at most; 0: not known
}

// rivals are the other tools, by name.
var rivals = map[string]func(contest, *testing.B) figures{
	"wrk":    contest.driveWrk,
	"ab":     contest.driveAb,
	"siege":  contest.driveSiege,
	"h2load": contest.driveH2load,
	"vegeta": contest.driveVegeta,
}

func (c contest) run(b *testing.B) {
	var ours []figures
	theirs := map[string][]figures{}
	tools := []string{""} // the agent
	for _, tool := range slices.Sorted(maps.Keys(rivals)) {
		if installed(tool) && !(tool == "h2load" && c.closing) { // it cannot close
			tools = append(tools, tool)
		}
	}
	for range b.N {
		rand.Shuffle(len(tools), func(i, j int) { tools[i], tools[j] = tools[j], tools[i] })
		for _, tool := range tools {
			if tool == "" {
				ours = append(ours, c.driveAgent(b))
				continue
			}
			theirs[tool] = append(theirs[tool], rivals[tool](c, b))
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, tool := range slices.Sorted(maps.Keys(theirs)) {
		cost := ratioTo(ours, theirs[tool], func(f figures) float64 { return f.cpuSeconds })
		speed := ratioTo(ours, theirs[tool], func(f figures) float64 { return f.perSecond })
		b.Logf("agent ÷ %-6s CPU per request %v, requests per second %v", tool, cost, speed)
		if tool == "wrk" {
			b.ReportMetric(cost.estimate, "cpu÷wrk")
			b.ReportMetric(speed.estimate, "req/s÷wrk")
		}
	}
	last := ours[len(ours)-1]
	b.ReportMetric(last.cpuSeconds*1e6, "µs-cpu/req")
	b.ReportMetric(last.memory/(1<<20), "MiB")
}

// A ratio is an estimate and its interval.
type ratio struct{ estimate, low, high float64 }

func (r ratio) String() string { return fmt.Sprintf("%.3f [%.3f, %.3f]", r.estimate, r.low, r.high) }

// ratioTo is the Hodges-Lehmann estimate of the paired ratios, and the interval
// that belongs to the signed-rank test at 95 %, by its normal approximation
// (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, section 3.3).
func ratioTo(ours, theirs []figures, of func(figures) float64) ratio {
	var means []float64
	n := len(ours)
	for i := range n {
		for j := i; j < n; j++ {
			means = append(means, (math.Log(of(ours[i])/of(theirs[i]))+math.Log(of(ours[j])/of(theirs[j])))/2)
		}
	}
	slices.Sort(means)
	all, m := float64(len(means)), float64(n)
	skip := int(max(math.Floor(all/2-1.96*math.Sqrt(m*(m+1)*(2*m+1)/24)), 0))
	median := (means[(len(means)-1)/2] + means[len(means)/2]) / 2
	return ratio{math.Exp(median), math.Exp(means[skip]), math.Exp(means[len(means)-1-skip])}
}

// command is a program, on the second core when cores are told apart.
func (c contest) command(program string, args ...string) *exec.Cmd {
	if c.pinned {
		return exec.Command("taskset", append([]string{"-c", "1", program}, args...)...)
	}
	return exec.Command(program, args...)
}

func (c contest) url() string { return "http://" + c.address + c.path }

func (c contest) driveAgent(b *testing.B) figures {
	b.Helper()
	order := orderFor(c.address)
	order.Request.Path = c.path
	order.Load = stopwatt.Load{Users: c.users, For: time.Second, Close: c.closing, Timeout: 10 * time.Second}
	command := c.command(c.agent, "drive")
	in, err1 := command.StdinPipe()
	out, err2 := command.StdoutPipe()
	if err := errors.Join(err1, err2, command.Start()); err != nil {
		b.Fatal(err)
	}
	defer command.Wait()
	defer in.Close()
	text, err := json.Marshal(order)
	if err != nil {
		b.Fatal(err)
	}
	fmt.Fprintf(in, "%s\nready\ndrive\n", text)
	reports := json.NewDecoder(out)
	for {
		var report stopwatt.DriveReport
		if err := reports.Decode(&report); err != nil || report.Failure != "" {
			b.Fatal(err, report.Failure)
		}
		if result := report.Result; result != nil {
			if len(result.Errors) > 0 {
				b.Fatal(result.FirstErrors)
			}
			n := float64(result.Requests)
			return figures{perSecond: n / result.Window.Duration().Seconds(), cpuSeconds: result.CPU.Seconds() / n, memory: highWater(b, command.Process.Pid)}
		}
	}
}

// highWater is the most memory that a process has held, in bytes (VmHWM). A
// child's ru_maxrss would begin at its parent's.
func highWater(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	return number(b, regexp.MustCompile(`VmHWM:\s+(\d+) kB`), status) * 1024
}

// number finds a number in what a tool prints.
func number(b *testing.B, pattern *regexp.Regexp, text []byte) float64 {
	b.Helper()
	found := pattern.FindSubmatch(text)
	if found == nil {
		b.Fatalf("no %v in %s", pattern, text)
	}
	n, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// tool runs a tool and understands what it prints.
func (c contest) tool(b *testing.B, stdin, requests, rate, program string, args ...string) figures {
	b.Helper()
	command := c.command(program, args...)
	command.Stdin = strings.NewReader(stdin)
	out, err := command.Output()
	if err != nil {
		b.Fatal(program, err)
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	n := number(b, regexp.MustCompile(requests), out)
	return figures{perSecond: number(b, regexp.MustCompile(rate), out), cpuSeconds: used.Seconds() / n}
}

func (c contest) driveWrk(b *testing.B) figures {
	threads := Epoll{}.threads(c.users) // as many as ours
	if c.pinned {
		threads = 1
	}
	args := []string{"-t" + strconv.Itoa(threads), "-c" + strconv.Itoa(c.users), "-d1s", c.url()}
	if c.closing {
		args = append(args, "-H", "Connection: close")
	}
	return c.tool(b, "", `(\d+) requests in `, `Requests/sec: +([0-9.]+)`, "wrk", args...)
}

func (c contest) driveAb(b *testing.B) figures {
	args := []string{"-q", "-c", strconv.Itoa(c.users), "-t", "1", "-n", "100000000", c.url()}
	if !c.closing {
		args = append([]string{"-k"}, args...)
	}
	return c.tool(b, "", `Complete requests: +(\d+)`, `Requests per second: +([0-9.]+)`, "ab", args...)
}

func (c contest) driveSiege(b *testing.B) figures {
	settings := filepath.Join(b.TempDir(), "siegerc")
	connection := map[bool]string{true: "close", false: "keep-alive"}[c.closing]
	text := "verbose = false\nlogging = false\njson_output = true\nbenchmark = true\nlimit = 255\nparser = false\nconnection = " + connection + "\n"
	if err := os.WriteFile(settings, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	return c.tool(b, "", `"transactions":\s+(\d+)`, `"transaction_rate":\s+([0-9.]+)`, "siege", "-R", settings, "-c", strconv.Itoa(c.users), "-t", "1S", "-b", c.url())
}

func (c contest) driveH2load(b *testing.B) figures {
	return c.tool(b, "", `requests: \d+ total, \d+ started, (\d+) done`, `finished in [^,]+, ([0-9.]+) req/s`, "h2load", "--h1", "-c", strconv.Itoa(c.users), "-D", "1", c.url())
}

// driveVegeta counts the CPU time of the attack alone: what it found is reported
// by another process.
func (c contest) driveVegeta(b *testing.B) figures {
	results := filepath.Join(b.TempDir(), "results")
	attack := c.command("vegeta", "attack", "-rate", "0", "-max-workers", strconv.Itoa(c.users), "-duration", "1s", "-max-body", "0",
		fmt.Sprintf("-keepalive=%v", !c.closing), "-output", results)
	attack.Stdin = strings.NewReader("GET " + c.url() + "\n")
	if out, err := attack.CombinedOutput(); err != nil {
		b.Fatalf("vegeta: %v\n%s", err, out)
	}
	report, err := exec.Command("vegeta", "report", "-type", "json", results).Output()
	if err != nil {
		b.Fatal(err)
	}
	used := attack.ProcessState.UserTime() + attack.ProcessState.SystemTime()
	n := number(b, regexp.MustCompile(`"requests":(\d+)`), report)
	return figures{perSecond: number(b, regexp.MustCompile(`"throughput":([0-9.]+)`), report), cpuSeconds: used.Seconds() / n}
}
