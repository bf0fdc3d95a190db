//go:build linux

package agent

import (
	"encoding/json"
	"fmt"
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

// BenchmarkAgainstWrk drives one server by the agent and by wrk, in pairs of
// random order, and reports the driver's requests per second and its CPU per
// request as ratios to wrk's: the Hodges-Lehmann estimate over the pairs. One
// iteration is one pair of a second each, so give -benchtime=10x or more. The
// server is nginx where there is one, else the null server.
func BenchmarkAgainstWrk(b *testing.B) {
	wrk, err := exec.LookPath("wrk")
	if err != nil {
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
			{4, false, "/1k"}, {4, true, "/1k"}, {64, false, "/1k"}, {64, true, "/1k"}, {4, false, "/64k"}, {4, false, "/1m"},
		} {
			name := fmt.Sprintf("%d users close=%v %s pinned=%v", load.users, load.closing, load.path, pinned)
			b.Run(strings.ReplaceAll(name, "/", ""), func(b *testing.B) {
				c := contest{agent: agent, wrk: wrk, address: startBenchServer(b, pinned), users: load.users, closing: load.closing, path: load.path, pinned: pinned}
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

// A contest is one load that both drivers drive at one server.
type contest struct {
	agent, wrk, address, path string
	users                     int
	closing, pinned           bool
}

// figures are what one run of a driver came to.
type figures struct {
	perSecond  float64
	cpuSeconds float64 // per request
}

func (c contest) run(b *testing.B) {
	var speeds, costs []float64
	var oursLast, wrksLast figures
	for range b.N {
		var ours, wrks figures
		if rand.IntN(2) == 0 {
			ours, wrks = c.driveAgent(b), c.driveWrk(b)
		} else {
			wrks = c.driveWrk(b)
			ours = c.driveAgent(b)
		}
		speeds = append(speeds, math.Log(ours.perSecond/wrks.perSecond))
		costs = append(costs, math.Log(ours.cpuSeconds/wrks.cpuSeconds))
		oursLast, wrksLast = ours, wrks
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(math.Exp(hodgesLehmann(speeds)), "req/s÷wrk")
	b.ReportMetric(math.Exp(hodgesLehmann(costs)), "cpu÷wrk")
	b.ReportMetric(oursLast.perSecond, "req/s")
	b.ReportMetric(oursLast.cpuSeconds*1e6, "µs-cpu/req")
	b.ReportMetric(wrksLast.cpuSeconds*1e6, "µs-cpu/req-wrk")
}

// hodgesLehmann is the median of all pairwise means.
func hodgesLehmann(values []float64) float64 {
	var means []float64
	for i, a := range values {
		for _, b := range values[i:] {
			means = append(means, (a+b)/2)
		}
	}
	slices.Sort(means)
	return means[len(means)/2]
}

// command is a program, on the second core when cores are told apart.
func (c contest) command(program string, args ...string) *exec.Cmd {
	if c.pinned {
		return exec.Command("taskset", append([]string{"-c", "1", program}, args...)...)
	}
	return exec.Command(program, args...)
}

func (c contest) driveAgent(b *testing.B) figures {
	b.Helper()
	order := orderFor(c.address)
	order.Request.Path = c.path
	order.Load = stopwatt.Load{Users: c.users, For: time.Second, Close: c.closing, Timeout: 10 * time.Second}
	text, err := json.Marshal(order)
	if err != nil {
		b.Fatal(err)
	}
	command := c.command(c.agent, "drive")
	command.Stdin = strings.NewReader(string(text) + "\nready\ndrive\n")
	out, err := command.Output()
	if err != nil {
		b.Fatal(err)
	}
	var report stopwatt.DriveReport
	for line := range strings.Lines(string(out)) {
		if err := json.Unmarshal([]byte(line), &report); err != nil || report.Failure != "" {
			b.Fatal(err, report.Failure)
		}
	}
	result := report.Result
	if len(result.Errors) > 0 {
		b.Fatal(result.FirstErrors)
	}
	n := float64(result.Requests)
	return figures{perSecond: n / result.Window.Duration().Seconds(), cpuSeconds: result.CPU.Seconds() / n}
}

var wrkRequests = regexp.MustCompile(`(\d+) requests in `)
var wrkRate = regexp.MustCompile(`Requests/sec: +([0-9.]+)`)

func (c contest) driveWrk(b *testing.B) figures {
	b.Helper()
	threads := Epoll{}.threads(c.users) // as many as ours
	if c.pinned {
		threads = 1
	}
	args := []string{"-t" + strconv.Itoa(threads), "-c" + strconv.Itoa(c.users), "-d1s"}
	if c.closing {
		args = append(args, "-H", "Connection: close")
	}
	command := c.command(c.wrk, append(args, "http://"+c.address+c.path)...)
	out, err := command.Output()
	if err != nil {
		b.Fatal(err)
	}
	n, err1 := strconv.ParseFloat(string(wrkRequests.FindSubmatch(out)[1]), 64)
	rate, err2 := strconv.ParseFloat(string(wrkRate.FindSubmatch(out)[1]), 64)
	if err1 != nil || err2 != nil {
		b.Fatalf("wrk says %s", out)
	}
	used := command.ProcessState.UserTime() + command.ProcessState.SystemTime()
	return figures{perSecond: rate, cpuSeconds: used.Seconds() / n}
}
