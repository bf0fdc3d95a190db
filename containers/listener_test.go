package containers

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/docker/docker/client"
)

func TestTheListenerIsAProcessThatIsSeenHere(t *testing.T) {
	t.Parallel()
	d := docker(t)
	if d.engine.Remote {
		t.Skip("the engine is behind a network")
	}
	pid := d.Listener(t.Context())
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); pid == 0 || err != nil {
		t.Errorf("the listener is process %d, %v; tests run on the engine's host", pid, err)
	}
}

func TestNobodyIsSeenBehindANetworkOrAtNoSocket(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"tcp://127.0.0.1:1", "unix:///nowhere/docker.sock"} {
		api, err := client.NewClientWithOpts(client.WithHost(host))
		if err != nil {
			t.Fatal(err)
		}
		if pid := (&Docker{client: bounded{Client: api}}).Listener(t.Context()); pid != 0 {
			t.Errorf("%s: process %d listens", host, pid)
		}
	}
}
