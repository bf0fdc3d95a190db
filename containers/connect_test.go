package containers

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// socketOf is the socket that the engine of this machine listens at.
func socketOf(t *testing.T, d *Docker) string {
	t.Helper()
	socket, found := strings.CutPrefix(d.client.DaemonHost(), "unix://")
	if !found {
		t.Skip("the engine does not listen at a socket")
	}
	return socket
}

// connect finds an engine by DOCKER_HOST and what else is in env.
func connect(t *testing.T, env map[string]string) (*Docker, error) {
	t.Helper()
	d, err := Connect(t.Context(), Config{Home: t.TempDir(), Getenv: func(name string) string { return env[name] }})
	if err == nil {
		t.Cleanup(func() { d.Close() })
	}
	return d, err
}

// TestEngineBehindSSH changes PATH, to an ssh that goes nowhere, and cannot be
// parallel.
func TestEngineBehindSSH(t *testing.T) {
	socket := socketOf(t, docker(t))
	binary, err := programBinary()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	script := "#!/bin/sh\nexec " + filepath.Join(folder, "program") + " dial " + socket + "\n"
	for name, content := range map[string]string{"ssh": script, "program": string(binary)} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", folder)
	d, err := connect(t, map[string]string{"DOCKER_HOST": "ssh://me@board"})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Engine(); !got.Remote || got.Version != docker(t).Engine().Version {
		t.Errorf("the engine is %+v", got)
	}
	converse(t, d)
}

func TestEngineBehindTLS(t *testing.T) {
	t.Parallel()
	socket := socketOf(t, docker(t))
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "docker"})
	proxy.Transport = &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}
	server := httptest.NewUnstartedServer(proxy)
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the knock at its door is no handshake
	server.StartTLS()
	t.Cleanup(server.Close)
	folder := t.TempDir()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	writeFile(t, filepath.Join(folder, "ca.pem"), string(certificate))
	env := map[string]string{"DOCKER_HOST": "tcp://" + server.Listener.Addr().String(), "DOCKER_CERT_PATH": folder, "DOCKER_TLS_VERIFY": "1"}
	d, err := connect(t, env)
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Engine(); got.Version != docker(t).Engine().Version {
		t.Errorf("the engine is %+v", got)
	}
	delete(env, "DOCKER_CERT_PATH") // a folder without the certificate
	if _, err := connect(t, env); !errors.Is(err, stopwatt.ErrUnreachable) {
		t.Errorf("error %v; want one that is ErrUnreachable", err)
	}
}

func TestEngineThatIsGoneMeanwhile(t *testing.T) {
	t.Parallel()
	socket := listening(t, t.TempDir())
	api, err := endpoint{host: "unix://" + socket}.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(socket); err != nil {
		t.Fatal(err)
	}
	d := &Docker{client: bounded{Client: api}}
	for what, attempt := range map[string]func() error{
		"create": func() error { _, err := d.Create(t.Context(), stopwatt.ContainerOrder{}); return err },
		"attach": func() error { _, err := d.Attach(t.Context(), "x"); return err },
		"remove": func() error { return d.Remove(t.Context(), "x", "SIGTERM") },
		"pull":   func() error { _, err := d.Pull(t.Context(), "x", nil); return err },
		"list":   func() error { _, err := d.Images(t.Context()); return err },
	} {
		if err := attempt(); !errors.Is(err, stopwatt.ErrUnreachable) {
			t.Errorf("%s: error %v; want one that is ErrUnreachable", what, err)
		}
	}
}
