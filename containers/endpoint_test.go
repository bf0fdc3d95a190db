package containers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// writeFile writes a file and the folders above it.
func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeContext writes a context as Docker's client does.
func writeContext(t *testing.T, docker, name, meta string) {
	t.Helper()
	hash := sha256.Sum256([]byte(name))
	writeFile(t, filepath.Join(docker, "contexts", "meta", hex.EncodeToString(hash[:]), "meta.json"), meta)
}

// listening is a socket that answers in a folder.
func listening(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "docker.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	return path
}

func TestWhereTheEngineIs(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	docker := filepath.Join(home, ".docker")
	writeContext(t, docker, "board", `{"Name":"board","Metadata":{},"Endpoints":{"docker":{"Host":"ssh://me@board","SkipTLSVerify":false}}}`)
	writeContext(t, docker, "cloud", `{"Endpoints":{"docker":{"Host":"tcp://cloud:2376"}}}`)
	chosen := t.TempDir()
	writeFile(t, filepath.Join(chosen, "config.json"), `{"currentContext":"cloud"}`)
	writeContext(t, chosen, "cloud", `{"Endpoints":{"docker":{"Host":"tcp://cloud:2376"}}}`)
	tests := []struct {
		name       string
		env        map[string]string
		host, said string
	}{
		{"DOCKER_HOST", map[string]string{"DOCKER_HOST": "tcp://x:1", "DOCKER_CONTEXT": "board"}, "tcp://x:1", "DOCKER_HOST"},
		{"a context by name", map[string]string{"DOCKER_CONTEXT": "board"}, "ssh://me@board", `context "board"`},
		{"the current context", map[string]string{"DOCKER_CONFIG": chosen}, "tcp://cloud:2376", `context "cloud"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got, err := findEngine(t.Context(), Config{Home: home, Getenv: func(name string) string { return test.env[name] }})
			if err != nil {
				t.Fatal(err)
			}
			if got.host != test.host || got.source != test.said {
				t.Errorf("%s by %s; want %s by %s", got.host, got.source, test.host, test.said)
			}
		})
	}
}

func TestFirstSocketThatAnswers(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	rootless := endpoint{host: "unix://" + listening(t, folder)}
	usual := endpoint{host: "unix://" + filepath.Join(folder, "none.sock")}
	if got := firstThatAnswers(t.Context(), []endpoint{usual, rootless}); got != rootless {
		t.Errorf("the rootless engine answers alone, and %s was taken", got)
	}
	if got := firstThatAnswers(t.Context(), []endpoint{usual, usual}); got != usual {
		t.Errorf("nobody answers, and %s was taken", got)
	}
	guessed := guesses(Config{Getenv: func(name string) string { return map[string]string{"XDG_RUNTIME_DIR": "/run/user/7"}[name] }})
	if len(guessed) != 2 || guessed[1].host != "unix:///run/user/7/docker.sock" {
		t.Errorf("guesses are %v", guessed)
	}
}

func TestContextsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	docker := t.TempDir()
	writeContext(t, docker, "torn", `{"Endpoints":`)
	writeContext(t, docker, "other", `{"Endpoints":{"kubernetes":{"Host":"x"}}}`)
	tests := []struct {
		name, context, want string
	}{
		{"one that does not exist", "none", `names "none", which does not exist`},
		{"one that is torn", "torn", `context "torn": meta.json: `},
		{"one of something else", "other", "names no Docker host"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := contextEndpoint(docker, test.context, "DOCKER_CONTEXT")
			if !errors.Is(err, stopwatt.ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v; want one that is ErrUnreachable and says %q", err, test.want)
			}
		})
	}
}

func TestCertificatesOfTheEnvironment(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		env  map[string]string
		want tlsFiles
	}{
		{"none", nil, tlsFiles{}},
		{"a folder, the engine is believed", map[string]string{"DOCKER_CERT_PATH": "/c"}, tlsFiles{folder: "/c"}},
		{"a folder, the engine must prove itself", map[string]string{"DOCKER_CERT_PATH": "/c", "DOCKER_TLS_VERIFY": "1"}, tlsFiles{folder: "/c", verify: true}},
		{"the usual folder", map[string]string{"DOCKER_TLS_VERIFY": "1"}, tlsFiles{folder: "/home/x/.docker", verify: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := tlsOfEnvironment(Config{Home: "/home/x", Getenv: func(name string) string { return test.env[name] }})
			if got != test.want {
				t.Errorf("%+v; want %+v", got, test.want)
			}
		})
	}
}

func TestRemote(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"unix:///var/run/docker.sock": false,
		"tcp://127.0.0.1:2375":        false,
		"tcp://[::1]:2375":            false,
		"tcp://localhost:2375":        false,
		"tcp://docker:2376":           true,
		"tcp://192.0.2.1:2376":        true,
		"ssh://board":                 true,
		"ssh://localhost":             true,
	} {
		if got := (endpoint{host: host}).remote(); got != want {
			t.Errorf("%s is on another machine: %v; want %v", host, got, want)
		}
	}
}

func TestRemedyForAnEngineThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	guess, named := endpoint{host: "unix://" + usualSocket}, endpoint{host: "tcp://board:2375", source: "DOCKER_HOST"}
	tests := []struct {
		name string
		at   endpoint
		err  error
		want string
		line string // to paste; empty: there is none
	}{
		{"no permission", guess, &fs.PathError{Err: syscall.EACCES}, "group docker", "sudo usermod -aG docker $USER"},
		{"no socket", guess, syscall.ENOENT, "systemctl start docker", "sudo systemctl start docker"},
		{"nobody listens at the socket", guess, syscall.ECONNREFUSED, "systemctl start docker", "sudo systemctl start docker"},
		{"nobody listens at the port", named, syscall.ECONNREFUSED, "start Docker there, or correct DOCKER_HOST", ""},
		{"no such host", named, &net.DNSError{IsNotFound: true}, "correct DOCKER_HOST", ""},
		{"it takes too long", named, context.DeadlineExceeded, "is DOCKER_HOST right", ""},
		{"interrupted", guess, context.Canceled, "interrupted", ""},
		{"something else", guess, errors.New("x"), "start it", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			err := test.at.unreachable(test.err)
			if !errors.Is(err, stopwatt.ErrUnreachable) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v; want one that is ErrUnreachable and says %q", err, test.want)
			}
			line := ""
			for _, remedy := range Remedies(fmt.Errorf("connect: %w", err)) {
				line += remedy.Line
			}
			if line != test.line {
				t.Errorf("remedies %q; want %q", line, test.line)
			}
		})
	}
}

func FuzzContext(f *testing.F) {
	f.Add([]byte(`{"Endpoints":{"docker":{"Host":"ssh://me@board","SkipTLSVerify":true}}}`))
	f.Fuzz(func(t *testing.T, meta []byte) {
		got, err := parseContext(meta)
		if (err == nil) != (got.host != "") {
			t.Errorf("host %q, error %v", got.host, err)
		}
	})
}
