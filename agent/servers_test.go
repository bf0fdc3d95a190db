//go:build linux

package agent

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// need fails a test under CI where a program is missing, and skips it elsewhere.
func need(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err == nil {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%s is not installed", program)
	}
	t.Skipf("%s is not installed", program)
}

// freeAddress is one that nobody listens on, for a server to take.
func freeAddress(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() // for the server
	return listener.Addr().String()
}

// runServer runs a server until the test ends.
func runServer(t testing.TB, name string, args ...string) {
	t.Helper()
	command := exec.Command(name, args...)
	command.Stderr = os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Signal(syscall.SIGTERM)
		command.Wait()
	})
}

// nginx serves files of these sizes and logs every request to a file, which is
// returned.
func nginx(t testing.TB, sizes map[string]int) (address, log string) {
	t.Helper()
	need(t, "nginx")
	folder := t.TempDir()
	for name, size := range sizes {
		if err := os.WriteFile(filepath.Join(folder, name), make([]byte, size), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	address, log = freeAddress(t), filepath.Join(folder, "access")
	config := fmt.Sprintf(`worker_processes 1; daemon off; pid %[1]s/pid; error_log stderr crit; user root;
		events { worker_connections 1024; }
		http { log_format short "$status"; access_log %[2]s short; keepalive_requests 1000; sendfile on;
			client_body_temp_path %[1]s/1; proxy_temp_path %[1]s/2; fastcgi_temp_path %[1]s/3; uwsgi_temp_path %[1]s/4; scgi_temp_path %[1]s/5;
			server { listen %[3]s; root %[1]s; } }`, folder, log, address)
	file := filepath.Join(folder, "conf")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	runServer(t, "nginx", "-c", file, "-p", folder, "-e", "stderr")
	return address, log
}

const nodeServer = `
const http = require('http'), fs = require('fs'); let asked = 0;
http.createServer((q, s) => { asked++; q.resume(); q.on('end', () => { s.end(q.url === '/asked' ? String(asked) : 'x'.repeat(1000)) }) }).listen(+process.argv[1], '127.0.0.1');`

// drivenLoads are loads that every server must be accounted for under.
func drivenLoads() map[string]stopwatt.Load {
	const timeout = 20 * time.Second
	open := stopwatt.Load{Users: 16, For: 400 * time.Millisecond, Timeout: timeout, Poisson: true,
		Stages: []stopwatt.Stage{{From: 100, To: 2000, For: 200 * time.Millisecond}, {From: 500, To: 500, For: 200 * time.Millisecond}}}
	return map[string]stopwatt.Load{
		"kept":            {Users: 4, Requests: 800, Timeout: timeout},
		"closed":          {Users: 4, Requests: 100, Close: true, Timeout: timeout},
		"for time":        {Users: 7, For: 200 * time.Millisecond, Timeout: timeout},
		"closed for time": {Users: 7, For: 200 * time.Millisecond, Close: true, Timeout: timeout}, // no phantom ends of connections
		"thinking":        {Users: 3, Requests: 10, Think: time.Millisecond, Timeout: timeout},
		"open":            open,
	}
}

func TestNginxCountsWhatTheDriverCounts(t *testing.T) {
	address, log := nginx(t, map[string]int{"small": 100, "large": 300_000})
	order := orderFor(address)
	order.Request.Path = "/small"
	order.Others = []stopwatt.Ask{
		{Request: stopwatt.Request{Method: "GET", Path: "/large", Weight: 2}, Expect: stopwatt.Expect{Status: 200}},
		{Request: stopwatt.Request{Method: "GET", Path: "/missing"}, Expect: stopwatt.Expect{Status: 404}},
		{Request: stopwatt.Request{Method: "HEAD", Path: "/large"}, Expect: stopwatt.Expect{Status: 200}},
	}
	first, err := ready(t.Context(), order)
	if err != nil {
		t.Fatal(err)
	}
	logged := await(t, func() int { return lines(t, log) }, first.Attempts+len(order.Others))
	for name, load := range drivenLoads() {
		order.Load = load
		got := drive(t, order)
		if len(got.Errors) > 0 || got.Requests == 0 {
			t.Errorf("%s: %d right, errors %v", name, got.Requests, got.FirstErrors)
		}
		now := await(t, func() int { return lines(t, log) }, logged+int(got.Requests))
		if now-logged != int(got.Requests) {
			t.Errorf("%s: nginx logged %d requests, %d right answers were counted", name, now-logged, got.Requests)
		}
		logged = now
	}
}

// await waits, for a while, until a count has come as far as wanted: a server
// may log an answer only after it was read.
func await(t *testing.T, count func() int, want int) int {
	t.Helper()
	for range 2000 {
		if count() >= want {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return count()
}

func lines(t *testing.T, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), "\n")
}

func TestNodeCountsWhatTheDriverCounts(t *testing.T) {
	need(t, "node")
	address := freeAddress(t)
	_, port, _ := net.SplitHostPort(address)
	runServer(t, "node", "-e", nodeServer, port)
	order := orderFor(address)
	if _, err := ready(t.Context(), order); err != nil {
		t.Fatal(err)
	}
	asked := askedOfNode(t, order)
	for name, load := range drivenLoads() {
		order.Load = load
		got := drive(t, order, 1000)
		now := askedOfNode(t, order)
		if len(got.Errors) > 0 || now-asked-1 != int(got.Requests) {
			t.Errorf("%s: node counted %d requests, %d right answers were counted, errors %v", name, now-asked-1, got.Requests, got.FirstErrors)
		}
		asked = now
	}
}

// askedOfNode is how many requests node has counted, this one too.
func askedOfNode(t *testing.T, order stopwatt.DriveOrder) int {
	t.Helper()
	r := ask(t.Context(), order, stopwatt.Ask{Request: stopwatt.Request{Method: "GET", Path: "/asked"}}, time.Now().Add(20*time.Second))
	n, err := strconv.Atoi(string(r.body))
	if err != nil {
		t.Fatalf("%q: %v, %v", r.body, err, r.err)
	}
	return n
}
