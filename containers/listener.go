package containers

import (
	"context"
	"net"
	"net/url"

	"golang.org/x/sys/unix"
)

// Listener is the PID of the process that listens at the engine's socket (the
// engine, or the service manager that has made the socket for it), as this
// process sees it. It is 0 when it cannot be seen from here, because it is in
// another PID namespace or behind a network: see SO_PEERCRED in unix(7).
func (d *Docker) Listener(ctx context.Context) int {
	at, err := url.Parse(d.client.DaemonHost())
	if err != nil || at.Scheme != "unix" {
		return 0
	}
	ctx, cancel := d.client.within(ctx, callWithin)
	defer cancel()
	connection, err := new(net.Dialer).DialContext(ctx, "unix", at.Path)
	if err != nil {
		return 0
	}
	defer closing(connection)
	raw, err := connection.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	pid := 0
	err = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	if err != nil {
		return 0
	}
	return pid
}
