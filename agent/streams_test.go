//go:build linux

package agent

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

// tlsServer answers as Go does, over TLS, and counts.
func tlsServer(t *testing.T) (server *httptest.Server, asked *atomic.Int64) {
	t.Helper()
	asked = new(atomic.Int64)
	server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		asked.Add(1)
		answerAsGo(w, r)
	}))
	t.Cleanup(server.Close)
	return server, asked
}

// encrypted is the order over TLS.
func encrypted(order stopwatt.DriveOrder) stopwatt.DriveOrder {
	order.TLS = &stopwatt.TLS{}
	return order
}

func TestEncryptedConnections(t *testing.T) {
	t.Parallel()
	server, asked := tlsServer(t)
	address := server.Listener.Addr().String()
	open := openOrder(address, 500, 100*time.Millisecond)
	open.Load.Users = 4
	closing := orderFor(address)
	closing.Load.Close = true
	large := orderFor(address)
	large.Request = stopwatt.Request{Method: "POST", Path: "/large", Body: make([]byte, 300_000)}
	chunked := orderFor(address)
	chunked.Request.Path = "/chunked"
	tests := map[string]struct {
		order stopwatt.DriveOrder
		want  int64
		kept  bool
	}{
		"kept":     {orderFor(address), 6, true},
		"closed":   {closing, 6, false},
		"large":    {large, 6, true},
		"chunked":  {chunked, 6, true},
		"thinking": {thinkingOrder(address), 10, true},
		"open":     {open, 50, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			order := encrypted(test.order)
			if _, err := ready(t.Context(), order); err != nil {
				t.Fatal(err)
			}
			asked.Store(0)
			got := drive(t, order)
			if got.Requests != test.want || asked.Load() != test.want || len(got.Errors) > 0 || got.Latency.Count() != test.want {
				t.Errorf("%d right, %d asked, errors %v; want %d", got.Requests, asked.Load(), got.FirstErrors, test.want)
			}
			if connections := got.Connect.Count(); connections == 0 || test.kept && connections > int64(order.Load.Users) || !test.kept && connections != test.want {
				t.Errorf("%d connections", connections)
			}
			checkWindow(t, got)
		})
	}
}

func TestACertificateIsVerifiedWhenThatIsAsked(t *testing.T) {
	t.Parallel()
	server, _ := tlsServer(t)
	order := encrypted(orderFor(server.Listener.Addr().String()))
	order.TLS.Verify, order.TLS.Name = true, "example.com"
	got := drive(t, order)
	if got.Errors[stopwatt.ErrorConnect] != 6 || !strings.Contains(got.FirstErrors[stopwatt.ErrorConnect], "certificate") {
		t.Errorf("errors %v, first %v", got.Errors, got.FirstErrors)
	}
}

func TestOddEncryptedServers(t *testing.T) {
	t.Parallel()
	certified, _ := tlsServer(t)
	config := certified.TLS.Clone()
	config.NextProtos = nil
	tests := []struct {
		name  string
		serve func(net.Conn)
		want  map[string]int64
	}{
		{"never answers", func(c net.Conn) { io.Copy(io.Discard, c) }, map[string]int64{stopwatt.ErrorTimeout: 6}},
		{"closes without an answer", func(c net.Conn) { c.Read(make([]byte, 1000)) }, map[string]int64{stopwatt.ErrorClosed: 6}},
		{"closes within a body", func(c net.Conn) {
			c.Read(make([]byte, 1000))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello")
		}, map[string]int64{stopwatt.ErrorClosed: 6}},
		{"speaks another protocol", func(c net.Conn) { c.Read(make([]byte, 1000)); io.WriteString(c, "+PONG\r\n") }, map[string]int64{stopwatt.ErrorProtocol: 6}},
		{"answers with another status", func(c net.Conn) {
			c.Read(make([]byte, 1000))
			io.WriteString(c, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
		}, map[string]int64{stopwatt.ErrorStatus: 6}},
		{"answers with another length", func(c net.Conn) {
			c.Read(make([]byte, 1000))
			io.WriteString(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 1\r\n\r\nx")
		}, map[string]int64{stopwatt.ErrorBody: 6}},
		{"ends bodies by closing", func(c net.Conn) {
			c.Read(make([]byte, 1000))
			io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\nhello")
		}, map[string]int64{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, func(_ *testServer, c *testConn) {
				secure := tls.Server(c.Conn, config)
				test.serve(secure)
				secure.Close()
			})
			order := encrypted(orderFor(server.address()))
			order.Load.Close = true
			if test.want[stopwatt.ErrorTimeout] > 0 {
				order.Load.Timeout = 2 * time.Second
			}
			got := drive(t, order, 5)
			if diff := cmp.Diff(test.want, got.Errors); diff != "" || accounted(got) != 6 {
				t.Errorf("errors (-want +got):\n%s\nfirst: %v", diff, got.FirstErrors)
			}
		})
	}
}

func TestAServerThatDoesNotSpeakTLS(t *testing.T) {
	t.Parallel()
	order := encrypted(orderFor(startServer(t, always(okAnswer)).address()))
	order.Load.Timeout = 500 * time.Millisecond
	got := drive(t, order)
	if got.Errors[stopwatt.ErrorConnect] != 6 {
		t.Errorf("errors %v, first %v", got.Errors, got.FirstErrors)
	}
}
