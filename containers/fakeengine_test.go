package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A fakeEngine answers as it is told, and counts what it is asked.
type fakeEngine struct {
	socket  string
	api     string // the newest version that it speaks; empty: the client's
	answers map[string]http.HandlerFunc
	ended   context.Context

	mu    sync.Mutex
	asked []string
}

// newFakeEngine answers requests by their method and the end of their path, as in
// "POST /start". A pattern that ends with a star matches the beginning of the path. What has
// no answer is never answered; but for pings, where anything is.
func newFakeEngine(t *testing.T, answers map[string]http.HandlerFunc) *fakeEngine {
	t.Helper()
	e := &fakeEngine{socket: filepath.Join(t.TempDir(), "engine"), answers: answers, api: "1.51"}
	var end context.CancelFunc
	e.ended, end = context.WithCancel(context.Background())
	listener, err := net.Listen("unix", e.socket)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(e)
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(func() { end(); server.Close() })
	return e
}

func (e *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Api-Version", e.api)
	path := r.URL.Path
	if version, rest, found := strings.Cut(strings.TrimPrefix(path, "/"), "/"); found && strings.HasPrefix(version, "v1.") {
		path = "/" + rest
	}
	asked := r.Method + " " + path
	e.mu.Lock()
	e.asked = append(e.asked, asked)
	answer := e.answer(r.Method, path)
	if answer == nil && e.answers != nil && path == "/_ping" {
		answer = says(http.StatusOK, "OK")
	}
	e.mu.Unlock()
	if answer != nil {
		answer(w, r)
		return
	}
	select {
	case <-e.ended.Done():
	case <-r.Context().Done():
	}
}

func (e *fakeEngine) answer(method, path string) http.HandlerFunc {
	for pattern, answer := range e.answers {
		wants, of, _ := strings.Cut(pattern, " ")
		begins, star := strings.CutSuffix(of, "*")
		if wants == method && (strings.HasSuffix(path, of) || star && strings.HasPrefix(path, begins)) {
			return answer
		}
	}
	return nil
}

// count tells how often it was asked this.
func (e *fakeEngine) count(asked string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, one := range e.asked {
		if strings.HasPrefix(one, asked) {
			n++
		}
	}
	return n
}

// docker is a client of the engine whose patience ends after this time; 0: as usual.
func (e *fakeEngine) docker(t *testing.T, hurry time.Duration) *Docker {
	t.Helper()
	api, err := endpoint{host: "unix://" + e.socket}.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d := &Docker{client: bounded{Client: api, hurry: hurry}, getenv: func(string) string { return "" }}
	d.quotas = new(atomic.Bool)
	d.quotas.Store(true)
	d.engine.OS, d.engine.Architecture = "linux", "amd64"
	t.Cleanup(func() { d.Close() })
	return d
}

// says answers with this status and JSON.
func says(status int, answer any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if status == http.StatusNoContent {
			return
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			panic(err)
		}
	}
}

// refuses answers with an error of the engine.
func refuses(status int, format string, values ...any) http.HandlerFunc {
	return says(status, map[string]string{"message": fmt.Sprintf(format, values...)})
}
