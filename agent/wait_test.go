//go:build linux

package agent

import (
	"net"
	"strings"
	"testing"
	"time"
)

func TestWaitReturnsWhenAPortTakesConnections(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := Wait(t.Context(), address, 20*time.Second); err != nil {
		t.Error(err)
	}
	listener.Close()
	if err := Wait(t.Context(), address, 20*time.Millisecond); err == nil || !strings.Contains(err.Error(), "nothing takes connections at "+address+" within 20ms") {
		t.Errorf("error %v", err)
	}
}
