//go:build linux

package agent

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// A testServer hands each connection to a function and counts.
type testServer struct {
	listener    net.Listener
	connections atomic.Int64
	requests    atomic.Int64 // that were read whole
	open        sync.Map     // net.Conn, closed at the end of the test
	closing     chan struct{}
	ended       sync.WaitGroup
}

// startServer serves until the test ends. serve need not close its connection.
func startServer(t testing.TB, serve func(*testServer, *testConn)) *testServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &testServer{listener: listener, closing: make(chan struct{})}
	t.Cleanup(s.close)
	s.ended.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			s.connections.Add(1)
			s.open.Store(conn, true)
			s.ended.Go(func() {
				c := &testConn{Conn: conn, server: s, reader: bufio.NewReader(conn)}
				serve(s, c)
				conn.Close()
				s.open.Delete(conn)
			})
		}
	})
	return s
}

// close ends the server and all its connections.
func (s *testServer) close() {
	close(s.closing)
	s.listener.Close()
	s.open.Range(func(conn, _ any) bool {
		conn.(net.Conn).Close()
		return true
	})
	s.ended.Wait()
}

func (s *testServer) address() string { return s.listener.Addr().String() }

// A testConn is one connection to a testServer.
type testConn struct {
	net.Conn
	server *testServer
	reader *bufio.Reader
}

// question reads one request whole. It returns nil when there is none.
func (c *testConn) question() *http.Request {
	request, err := http.ReadRequest(c.reader)
	if err != nil {
		return nil
	}
	if _, err := io.Copy(io.Discard, request.Body); err != nil {
		return nil
	}
	c.server.requests.Add(1)
	return request
}

// say writes an answer, or a part of one.
func (c *testConn) say(text string) {
	if _, err := io.WriteString(c, text); err != nil {
		c.Close() // what is asked next finds it closed
	}
}

// reset ends the connection with a reset.
func (c *testConn) reset() {
	c.Conn.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// sayLast writes an answer and ends this half of the connection in the same
// packet.
func (c *testConn) sayLast(text string) {
	tcp := c.Conn.(*net.TCPConn)
	if raw, err := tcp.SyscallConn(); err == nil {
		raw.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, 1) })
	}
	c.say(text)
	tcp.CloseWrite()
}

// untilGone waits until the client has closed.
func (c *testConn) untilGone() { io.Copy(io.Discard, c.Conn) }

// always answers every request with the same text, over kept connections.
func always(text string) func(*testServer, *testConn) {
	return func(_ *testServer, c *testConn) {
		for c.question() != nil {
			c.say(text)
		}
	}
}

// once answers one request of every connection and closes it.
func once(text string) func(*testServer, *testConn) {
	return func(_ *testServer, c *testConn) {
		if c.question() != nil {
			c.say(text)
		}
	}
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

// orderFor is a small order for a server, to be changed as the test needs.
func orderFor(address string) stopwatt.DriveOrder {
	return stopwatt.DriveOrder{
		Address:     address,
		Request:     stopwatt.Request{Method: "GET", Path: "/"},
		Expect:      stopwatt.Expect{Status: 200},
		Load:        stopwatt.Load{Users: 2, Requests: 3, Timeout: 20 * time.Second},
		ReadyWithin: 20 * time.Second,
	}
}

// serveVariable names the environment variable that turns the test binary into
// a null server, so that the server's doings are not this process's.
const serveVariable = "STOPWATT_TEST_SERVE"

func TestMain(m *testing.M) {
	var err error
	switch {
	case os.Getenv(truthVariable) != "":
		err = serveTruth(os.Getenv(truthVariable) == "stalls")
	case os.Getenv(deserterVariable) != "":
		err = desert()
	case os.Getenv(limitedVariable) != "":
		err = serveLimited(contextUntilEOF(os.Stdin), os.Getenv(limitedVariable))
	case os.Getenv(serveVariable) != "":
		err = Serve(contextUntilEOF(os.Stdin), "127.0.0.1:0", func(address string) { fmt.Println(address) })
	default:
		goleak.VerifyTestMain(m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// startNullServer starts a null server in a process of its own and returns its
// address. It ends with the test, even when the test's process is killed.
func startNullServer(t testing.TB) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(self)
	command.Env = append(os.Environ(), serveVariable+"=1")
	command.Stderr = os.Stderr
	in, err1 := command.StdinPipe()
	out, err2 := command.StdoutPipe()
	if err := errors.Join(err1, err2, command.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("null server: %v", err)
		}
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}
