//go:build linux

package agent

import (
	"context"
	"fmt"
	"net"
	"time"
)

// Wait waits until an address (host:port) takes a connection, at most so long.
func Wait(ctx context.Context, address string, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond) // a connection that is refused costs a thousandth of that
	defer ticker.Stop()
	var dialer net.Dialer
	for {
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return connection.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("nothing takes connections at %s within %v: %w", address, within, err)
		case <-ticker.C:
		}
	}
}
