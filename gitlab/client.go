package gitlab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	gitlab "github.com/xanzy/go-gitlab"
)

// TokenVariable is where the token for notes stands. The job's own token will not do:
// with it notes can be read, and none written.
const TokenVariable = "STOPWATT_GITLAB_TOKEN"

// ErrNoToken is returned by Open without a token.
var ErrNoToken = errors.New(TokenVariable + " is empty: make a project access token (role Reporter, scope api) and keep it as a masked" +
	" variable of the project; a protected variable is empty on branches that are not protected, and a fork has none")

// Settings say how GitLab is reached. Proxies are those of the environment.
type Settings struct {
	API     string        // base URL with its version, as that of a Pipeline
	Token   string        // that may write notes
	CAFile  string        // certificates to be believed beside the system's, as CI_SERVER_TLS_CA_FILE names them; empty: none
	Timeout time.Duration // of one request to the last byte of its answer; 0: half a minute
	// Patience is for how long one errand may wait until GitLab is ready; 0: two minutes,
	// because GitLab counts notes by the minute.
	Patience time.Duration
	// Wait waits, or ends early with the context's error; nil: by the clock.
	Wait func(ctx context.Context, length time.Duration) error
	// Now is the time; nil: the clock's.
	Now func() time.Time
}

// A Client speaks to one GitLab with one token.
type Client struct {
	settings Settings
	//lint:ignore SA1019 this module was asked for; its successor is one room away (ARCHITECTURE.md)
	api *gitlab.Client
}

// Open makes a client. Nothing is asked yet.
func Open(s Settings) (*Client, error) {
	if s.Token = strings.TrimSpace(s.Token); s.Token == "" {
		return nil, ErrNoToken
	}
	if strings.HasPrefix(s.Token, "glcbt-") {
		return nil, fmt.Errorf("%s holds the token of a job, which may not write notes: make a project access token (role Reporter, scope api)", TokenVariable)
	}
	address, err := url.Parse(s.API)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, errors.New("the address of GitLab's API is no URL of http or https: is CI_API_V4_URL set?")
	}
	s = withDefaults(s)
	trusted, err := certificates(s.CAFile)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 this module was asked for; its successor is one room away (ARCHITECTURE.md)
	api, err := gitlab.NewClient(s.Token, gitlab.WithBaseURL(s.API), gitlab.WithoutRetries(), gitlab.WithCustomLimiter(unlimited{}),
		gitlab.WithHTTPClient(&http.Client{Transport: newCourier(trusted), Timeout: s.Timeout, CheckRedirect: stay}))
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", address.Host, err)
	}
	return &Client{settings: s, api: api}, nil
}

// withDefaults fills in what was left out.
func withDefaults(s Settings) Settings {
	if s.Timeout == 0 {
		s.Timeout = 30 * time.Second
	}
	if s.Patience == 0 {
		s.Patience = 2 * time.Minute
	}
	if s.Wait == nil {
		s.Wait = wait
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	s.API = strings.TrimRight(s.API, "/")
	return s
}

func wait(ctx context.Context, length time.Duration) error {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// certificates are those of the system and of a file.
func certificates(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("certificates of GitLab (CI_SERVER_TLS_CA_FILE): %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("certificates of GitLab (CI_SERVER_TLS_CA_FILE): %s holds no certificate", file)
	}
	return pool, nil
}

// unlimited never holds a request back: what GitLab says of its limits is honoured when
// it refuses, and go-gitlab's guess of them slows a handful of requests down.
type unlimited struct{}

func (unlimited) Wait(ctx context.Context) error { return ctx.Err() }

// maxAnswerBytes is more than a page of a hundred long notes has.
const maxAnswerBytes = 64 << 20

// A courier carries requests, and keeps answers within bounds.
type courier struct{ base http.RoundTripper }

func newCourier(trusted *x509.CertPool) courier {
	base := http.DefaultTransport.(*http.Transport).Clone() // which heeds the proxies of the environment
	if trusted != nil {
		base.TLSClientConfig = &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}
	}
	return courier{base}
}

var (
	errPage      = errors.New("a web page came in place of an answer: something between here and GitLab answers for it, or CI_API_V4_URL is not the API's address")
	errElsewhere = errors.New("it sends on to another host, which the token is not for: is CI_API_V4_URL right?")
)

// RoundTrip takes a page of success for what it is, a login or an error of a proxy.
func (c courier) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswerBytes)
	if answer.StatusCode < 300 && strings.Contains(answer.Header.Get("Content-Type"), "html") {
		_ = answer.Body.Close() // which is not read
		return nil, errPage
	}
	return answer, nil
}

// stay follows a reading request that GitLab sends on within itself, as for a project
// that has moved. Go would take the token along to any host, and would make a writing
// request a reading one.
func stay(next *http.Request, before []*http.Request) error {
	first := before[0]
	switch {
	case first.Method != http.MethodGet:
		return http.ErrUseLastResponse
	case next.URL.Host != first.URL.Host || first.URL.Scheme == "https" && next.URL.Scheme != "https":
		return errElsewhere
	case len(before) > 5:
		return errors.New("it sends on and on")
	}
	return nil
}
