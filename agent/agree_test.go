//go:build linux

package agent

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// limitedVariable names the environment variable that turns the test binary into
// a server with a limit of its own, far below what either driver can ask.
const limitedVariable = "STOPWATT_TEST_LIMITED"

// A limited server serves one request at a time: each at its slot, one every two
// milliseconds, or each with about a millisecond of work.
type limited struct {
	works bool
	block []byte // that is hashed; half a MiB takes a millisecond or so

	one   sync.Mutex // held while a request is served
	slot  time.Time  // of the next request
	users int        // connections
}

const slotEvery = 2 * time.Millisecond

// comes counts a connection. The slots of a load begin with its first one: what
// was not used before is gone.
func (s *limited) comes(by int) {
	s.one.Lock()
	defer s.one.Unlock()
	if s.users == 0 {
		s.slot = time.Now()
	}
	s.users += by
}

// serve serves one request. A slot that came while nobody could run is made up
// for, so that a busy machine does not lower the limit.
func (s *limited) serve() {
	s.one.Lock()
	defer s.one.Unlock()
	if s.works {
		sha256.Sum256(s.block)
		return
	}
	s.slot = s.slot.Add(slotEvery)
	time.Sleep(time.Until(s.slot))
}

func (s *limited) converse(conn net.Conn) {
	defer conn.Close()
	s.comes(1)
	defer s.comes(-1)
	reader := bufio.NewReader(conn)
	for {
		if _, err := http.ReadRequest(reader); err != nil {
			return
		}
		s.serve()
		if _, err := io.WriteString(conn, okAnswer); err != nil {
			return
		}
	}
}

// serveLimited serves until ctx ends.
func serveLimited(ctx context.Context, kind string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { listener.Close() })()
	s := &limited{works: kind == "works", block: make([]byte, 512<<10)}
	fmt.Println(listener.Addr())
	for {
		conn, err := listener.Accept()
		if err != nil {
			return nil
		}
		go s.converse(conn)
	}
}

// apart tells whether driver and server can have a core each.
func apart() bool { return runtime.NumCPU() >= 2 && installed("taskset") }

// onFirstCore is a program on the first core, where drivers are on another.
func onFirstCore(program string) *exec.Cmd {
	if !apart() {
		return exec.Command(program)
	}
	return exec.Command("taskset", "-c", "0", program)
}

// toSecondCore puts all threads of this process, and so those that they start, on
// the second core until the benchmark ends: a driver that takes time off its
// server is a limit too.
func toSecondCore(b *testing.B) {
	b.Helper()
	if !apart() {
		return
	}
	to := func(cores string) {
		if out, err := exec.Command("taskset", "-a", "-c", "-p", cores, strconv.Itoa(os.Getpid())).CombinedOutput(); err != nil {
			b.Fatalf("taskset: %v\n%s", err, out)
		}
	}
	to("1")
	b.Cleanup(func() { to(fmt.Sprintf("0-%d", runtime.NumCPU()-1)) })
}

// startLimited starts one of serveLimited's servers, in a process of its own.
func startLimited(b *testing.B, kind string) stopwatt.DriveOrder {
	b.Helper()
	server := onFirstCore(os.Args[0])
	server.Env = append(os.Environ(), limitedVariable+"="+kind)
	server.Stderr = os.Stderr
	in, err1 := server.StdinPipe()
	out, err2 := server.StdoutPipe()
	if err := errors.Join(err1, err2, server.Start()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		server.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return orderFor(strings.TrimSpace(address))
}

// webServerAddress is where the servers of the suite web-servers listen.
const webServerAddress = "127.0.0.1:8080"

// webServer is the Go server of the suite web-servers. The suite says what its
// programs are asked.
func webServer(b *testing.B, method, path string, closing bool) stopwatt.DriveOrder {
	b.Helper()
	program := filepath.Join(b.TempDir(), "server")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = "../docker/web-servers/go"
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("build the server: %v\n%s", err, out)
	}
	if conn, err := net.Dial("tcp", webServerAddress); err == nil {
		conn.Close()
		b.Skipf("something listens at %s already", webServerAddress)
	}
	server := onFirstCore(program)
	server.Env = append(os.Environ(), "THREADS=4") // as in the suite
	server.Stderr = os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	order := orderFor(webServerAddress)
	order.Request = stopwatt.Request{Method: method, Path: path}
	order.Load.Close = closing
	if method == "POST" {
		points, err := os.ReadFile("../suites/web-servers/points.csv")
		if err != nil {
			b.Fatal(err)
		}
		order.Request.Body, order.Request.Headers = points, map[string]string{"Content-Type": "text/csv"}
	}
	return order
}

// BenchmarkAgreement drives servers by this driver and by the reference on
// net/http, in turns, and tells the ratio of their requests per second, as
// BenchmarkAgainstOthers does. An iteration is a pair of a second each. The first
// two servers are their own limit, and any driver must come to the same; of the
// web servers that holds where a request is much work. Driver and server have a
// core each, where there are two.
func BenchmarkAgreement(b *testing.B) {
	for _, row := range []struct {
		name  string
		start func(b *testing.B) stopwatt.DriveOrder
	}{
		{"a slot every 2ms", func(b *testing.B) stopwatt.DriveOrder { return startLimited(b, "slots") }},
		{"works for 1ms", func(b *testing.B) stopwatt.DriveOrder { return startLimited(b, "works") }},
		{"go varying-allocations", func(b *testing.B) stopwatt.DriveOrder { return webServer(b, "GET", "/varying-allocations?n=8", false) }},
		{"go csv-svg-path", func(b *testing.B) stopwatt.DriveOrder { return webServer(b, "POST", "/csv-svg-path", false) }},
		{"go send-static-file", func(b *testing.B) stopwatt.DriveOrder { return webServer(b, "GET", "/static", true) }},
	} {
		b.Run(row.name, func(b *testing.B) {
			order := row.start(b)
			if _, err := ready(b.Context(), order); err != nil {
				b.Fatal(err)
			}
			order.Load.Users, order.Load.Requests, order.Load.For = 4, 0, time.Second
			toSecondCore(b)
			driveByBoth(b, order)
		})
	}
}

// driveByBoth drives b.N pairs and tells their ratio.
func driveByBoth(b *testing.B, order stopwatt.DriveOrder) {
	var ours, theirs []figures
	for range b.N {
		pair := []struct {
			driver Driver
			to     *[]figures
		}{{Epoll{}, &ours}, {reference{}, &theirs}}
		rand.Shuffle(len(pair), func(i, j int) { pair[i], pair[j] = pair[j], pair[i] })
		for _, one := range pair {
			result, err := one.driver.Drive(b.Context(), order)
			if err != nil || len(result.Errors) > 0 || result.Requests == 0 {
				b.Fatal(err, result.Requests, result.FirstErrors)
			}
			n := float64(result.Requests)
			*one.to = append(*one.to, figures{perSecond: n / result.Window.Duration().Seconds(), cpuSeconds: result.CPU.Seconds() / n})
		}
	}
	speed := ratioTo(ours, theirs, func(f figures) float64 { return f.perSecond })
	cost := ratioTo(ours, theirs, func(f figures) float64 { return f.cpuSeconds })
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(speed.estimate, "req/s÷net/http")
	b.ReportMetric(cost.estimate, "cpu÷net/http")
	b.Logf("agent ÷ net/http: requests per second %v (%.0f/s and %.0f/s in the last pair), CPU per request %v",
		speed, ours[len(ours)-1].perSecond, theirs[len(theirs)-1].perSecond, cost)
}
