package containers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api"
	"github.com/docker/docker/api/types/versions"

	"gitlab.com/stopwatt/stopwatt"
)

// versionInPath is what a request says that it speaks.
var versionInPath = regexp.MustCompile(`^/v(1\.\d+)/`)

// engineThatSpeaks is the real engine, which says that it speaks no newer version than this,
// and is asked by the newest of its own that is not newer.
func engineThatSpeaks(t *testing.T, real *Docker, version string) (socket string, spoken *sync.Map) {
	t.Helper()
	own := real.Engine().API
	if versions.LessThan(version, own) {
		own = version
	}
	spoken = &sync.Map{}
	to := socketOf(t, real)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(&url.URL{Scheme: "http", Host: "docker"})
			if found := versionInPath.FindStringSubmatch(r.In.URL.Path); found != nil {
				spoken.Store(found[1], true)
				r.Out.URL.Path = "/v" + own + "/" + strings.TrimPrefix(r.In.URL.Path, found[0])
			}
		},
		ModifyResponse: func(answer *http.Response) error {
			answer.Header.Set("Api-Version", version)
			return nil
		},
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", to)
		}},
	}
	socket = filepath.Join(t.TempDir(), "engine")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: proxy}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
	return socket, spoken
}

func TestEveryVersionOfTheAPIFromTheOldestToTheNewestIsSpoken(t *testing.T) {
	t.Parallel()
	real := docker(t)
	minor := func(version string) (n int) {
		if _, err := fmt.Sscanf(version, "1.%d", &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	oldest := oldestAPI
	for n := minor(oldest); n <= minor(api.DefaultVersion)+1; n++ { // and one that is newer than the client
		version := fmt.Sprintf("1.%d", n)
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			socket, spoken := engineThatSpeaks(t, real, version)
			d, err := connect(t, map[string]string{"DOCKER_HOST": "unix://" + socket})
			if err != nil {
				t.Fatal(err)
			}
			want := version
			if versions.GreaterThan(version, api.DefaultVersion) {
				want = api.DefaultVersion
			}
			if got := d.Engine().API; got != want {
				t.Errorf("it speaks %s; want %s", got, want)
			}
			converse(t, d)
			spoken.Range(func(version, _ any) bool {
				if version != want {
					t.Errorf("a request was made by version %v; want %s", version, want)
				}
				return true
			})
		})
	}
}

func TestAnEngineThatIsTooOldOrTooNewIsToldSo(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		api     string
		version http.HandlerFunc
		want    []string
	}{
		"too old": {"1.40", nil, []string{"speaks API 1.40", "needs 1.41", "upgrade Docker to 20.10 or newer"}},
		"too new": {"1.99", refuses(http.StatusBadRequest, "client version 1.51 is too old. Minimum supported API version is 1.60, please upgrade your client to a newer version"),
			[]string{"Minimum supported API version is 1.60", "use a newer stopwatt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newFakeEngine(t, map[string]http.HandlerFunc{"GET /version": test.version})
			e.api = test.api
			_, err := connect(t, map[string]string{"DOCKER_HOST": "unix://" + e.socket})
			if !errors.Is(err, stopwatt.ErrUnreachable) {
				t.Fatalf("error %v; want one that is ErrUnreachable", err)
			}
			for _, words := range test.want {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("error %q does not say %q", err, words)
				}
			}
		})
	}
}
