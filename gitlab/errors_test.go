package gitlab_test

import (
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/gitlab"
	"gitlab.com/stopwatt/stopwatt/gitlab/gitlabtest"
)

// echo is what a server says that repeats the token wherever it can.
func echo(code int, token string) gitlabtest.Way {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Location", "/api/v4/user?private_token="+token)
			w.Header().Set("WWW-Authenticate", token)
			w.WriteHeader(code)
			fmt.Fprintf(w, `{"message": "you sent %s"}`, token)
		})
	}
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	t.Parallel()
	as := func(u gitlabtest.User) func(*desk) {
		return func(d *desk) { d.server.Add("quite-another-secret", u) }
	}
	with := func(request string, way gitlabtest.Way) func(*desk) {
		return func(d *desk) {
			d.server.Add("quite-another-secret", gitlabtest.User{ID: 9, Role: gitlabtest.Reporter})
			d.server.Trouble(request, 100, way)
		}
	}
	create := "POST " + allNotes
	tests := []struct {
		name    string
		prepare func(*desk)
		change  func(*stopwatt.Pipeline, *stopwatt.Note)
		says    string
		posts   int
	}{
		{"a token that nobody knows", func(*desk) {}, nil, "401 Unauthorized: the token in STOPWATT_GITLAB_TOKEN is not accepted. It has expired", 0},
		{"a token that says that it has expired", as(gitlabtest.User{ID: 9, Expired: true}), nil, "Make a new project access token", 0},
		{"the token of a job", as(gitlabtest.User{ID: 9, Role: gitlabtest.Developer, Job: true}), nil, "it is that of a job", 1},
		{"a token without the scope", as(gitlabtest.User{ID: 9, Role: gitlabtest.Developer, ReadOnly: true}), nil, "lacks the scope api", 1},
		{"a role that is too low", as(gitlabtest.User{ID: 9, Role: 5}), nil, "403 Forbidden: the role of the token in STOPWATT_GITLAB_TOKEN is too low", 1},
		{"a merge request that the token does not see", as(gitlabtest.User{ID: 9, Role: gitlabtest.Reporter}),
			func(p *stopwatt.Pipeline, _ *stopwatt.Note) { p.MergeRequest.IID = 8 }, "may not see it", 0},
		{"a project that the token does not see", as(gitlabtest.User{ID: 9, Role: gitlabtest.Reporter}),
			func(p *stopwatt.Pipeline, _ *stopwatt.Note) { p.MergeRequest.ProjectID = 13 }, "one of the project that is merged into", 0},
		{"an answer that nothing was made", with(create, gitlabtest.Answer(202, `{"commands_changes":{},"summary":["Merged"]}`)), nil, "took the note for commands and made none", 1},
		{"a page in place of an answer", with("GET /user", gitlabtest.Login), nil, "a web page came in place of an answer", 0},
		{"a page in place of what was made", with(create, gitlabtest.Login), nil, "a web page came in place of an answer", 1},
		{"a gateway that fails for good", with("GET "+allNotes, gitlabtest.BadGateway), nil, "list notes: GitLab answers 502 Bad Gateway", 0},
		{"a gateway that fails all posts", with(create, gitlabtest.BadGateway), nil, "502 Bad Gateway; GitLab did not say whether it was done", 4},
		{"a limit that lasts an hour", with(create, gitlabtest.Answer(429, "Retry later", "Retry-After", "3600")), nil, "asked too often. Send the note later", 1},
		{"a limit without an end", with(create, gitlabtest.TooManyRequests), nil, "asked too often", 3},
		{"a connection that always breaks off", with("GET /user", gitlabtest.Break), nil, "no answer that can be read: EOF", 0},
		{"an address that is not the API's", with("GET /user", gitlabtest.Answer(404, `{"error":"404 Not Found"}`)), nil,
			"404 Not Found: CI_API_V4_URL is not the API's address", 0},
		{"an API that has moved", with(create, gitlabtest.Answer(301, "moved", "Location", "https://elsewhere.example.org/")), nil, "301 Moved Permanently: CI_API_V4_URL", 1},
		{"another host", with("GET /user", gitlabtest.Answer(302, "", "Location", "http://127.0.0.2:9/")), nil, "another host, which the token is not for", 0},
		{"a server that repeats the token", with("GET /user", echo(400, "quite-another-secret")), nil, "(you sent [token])", 0},
		{"a server that repeats it in an endless redirect", with("GET /user", echo(302, "quite-another-secret")), nil, "sends on and on", 0},
		{"a server that repeats it and is to create", with(create, echo(307, "quite-another-secret")), nil, "307 Temporary Redirect", 1},
		{"a note for another GitLab", as(gitlabtest.User{ID: 9}), func(p *stopwatt.Pipeline, _ *stopwatt.Note) { p.API = "https://evil.example.org/api/v4" },
			"for another GitLab than the token", 0},
		{"no merge request", as(gitlabtest.User{ID: 9}), func(p *stopwatt.Pipeline, _ *stopwatt.Note) { p.MergeRequest.IID = 0 }, "for no merge request", 0},
		{"an empty note", as(gitlabtest.User{ID: 9}), func(_ *stopwatt.Pipeline, n *stopwatt.Note) { n.Body = "\r\n \x00" }, "the note is empty", 0},
		{"a note that is too long", as(gitlabtest.User{ID: 9}), func(_ *stopwatt.Pipeline, n *stopwatt.Note) { n.Body = strings.Repeat("ä", 1_000_000) },
			"characters, and GitLab takes 1000000", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, func(s *gitlab.Settings) { s.Token = "quite-another-secret" })
			test.prepare(d)
			p, n := d.pipeline(1), note("one")
			if test.change != nil {
				test.change(&p, &n)
			}
			posted, err := d.client.Post(t.Context(), p, n)
			if err == nil {
				t.Fatalf("posted %+v", posted)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%q does not say %q", err, test.says)
			}
			for ; err != nil; err = errors.Unwrap(err) {
				if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "quite-another-secret") || strings.Contains(text, "<html") {
					t.Errorf("%q shows the token, or a page", text)
				}
			}
			if got := d.count(create); got != test.posts {
				t.Errorf("%d posts, want %d", got, test.posts)
			}
		})
	}
}

func TestAThreadThatMayNotBeResolvedIsPostedAndSaid(t *testing.T) {
	t.Parallel()
	d := newDesk(t) // as a Reporter
	n := note("better")
	n.Thread = true
	posted, err := d.client.Post(t.Context(), d.pipeline(1), n)
	if err == nil || !strings.Contains(err.Error(), "threads that are to be resolved Developer") || posted.Did != gitlab.Created {
		t.Errorf("%+v, %v", posted, err)
	}
}

func TestASlowAnswerIsNotWaitedForForever(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(s *gitlab.Settings) { s.Timeout = 50 * time.Millisecond })
	d.server.Trouble("GET /user", 100, gitlabtest.Hang)
	_, err := d.client.Post(t.Context(), d.pipeline(1), note("one"))
	if err == nil || !strings.Contains(err.Error(), "no whole answer in 50ms") {
		t.Errorf("%v", err)
	}
}

func TestACancelledPostSaysSo(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, cancel := context.WithCancel(t.Context())
	d.server.Trouble("POST "+allNotes, 1, gitlabtest.First(cancel))
	if _, err := d.client.Post(ctx, d.pipeline(1), note("one")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestAProjectThatMovedIsFollowed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(1, note("one"))
	d.server.Trouble("GET "+allNotes, 1, gitlabtest.Answer(301, "This resource has been moved permanently", "Location", "/api/v4"+allNotes+"?page=1&per_page=100"))
	if posted := d.post(2, note("two")); posted.Did != gitlab.Edited {
		t.Errorf("posted %+v", posted)
	}
}

func TestRetryAfterMayBeADate(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(s *gitlab.Settings) { s.Now = func() time.Time { return began } })
	d.server.Trouble("GET /user", 1, gitlabtest.Answer(429, "Retry later", "Retry-After", began.Add(37*time.Second).Format(http.TimeFormat)))
	d.server.Trouble("GET /user", 1, gitlabtest.Answer(429, "Retry later", "RateLimit-Reset", fmt.Sprint(began.Add(11*time.Second).Unix())))
	d.server.Trouble("GET /user", 1, gitlabtest.Answer(503, "", "Retry-After", "3"))
	d.post(1, note("one"))
	if got := fmt.Sprint(d.waited); got != "[37s 11s 3s]" {
		t.Errorf("waited %s", got)
	}
}

func TestOpenSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	broken := filepath.Join(folder, "broken.pem")
	if err := os.WriteFile(broken, []byte("-----BEGIN CERTIFICATE-----\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		settings gitlab.Settings
		says     string
	}{
		{"no token", gitlab.Settings{API: "https://h/api/v4"}, "a protected variable is empty on branches that are not protected"},
		{"a token of blanks", gitlab.Settings{API: "https://h/api/v4", Token: " \n"}, "STOPWATT_GITLAB_TOKEN is empty"},
		{"the token of a job", gitlab.Settings{API: "https://h/api/v4", Token: "glcbt-64_x"}, "the token of a job, which may not write notes"},
		{"no address", gitlab.Settings{Token: "x"}, "is CI_API_V4_URL set?"},
		{"a file of certificates that is not there", gitlab.Settings{API: "https://h/api/v4", Token: "x", CAFile: filepath.Join(folder, "none")}, "CI_SERVER_TLS_CA_FILE"},
		{"a file without certificates", gitlab.Settings{API: "https://h/api/v4", Token: "x", CAFile: broken}, "holds no certificate"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := gitlab.Open(test.settings)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v does not say %q", err, test.says)
			}
		})
	}
}

func TestACertificateOfOnesOwnIsBelievedWhenItIsNamed(t *testing.T) {
	t.Parallel()
	inner := gitlabtest.Start(t)
	inner.MergeRequest(7)
	front := httptest.NewUnstartedServer(inner)
	front.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshake that is to fail
	front.StartTLS()
	t.Cleanup(front.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}), 0o644); err != nil {
		t.Fatal(err)
	}
	p := stopwatt.Pipeline{ID: 1, API: front.URL + "/api/v4", MergeRequest: stopwatt.MergeRequest{IID: 7, ProjectID: 12}}
	for _, ca := range []string{"", file} {
		client, err := gitlab.Open(gitlab.Settings{API: p.API, Token: inner.Token, CAFile: ca})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Post(t.Context(), p, note("one"))
		if ca == "" && (err == nil || !strings.Contains(err.Error(), "give the runner tls-ca-file")) {
			t.Errorf("without the certificate: %v", err)
		}
		if ca != "" && err != nil {
			t.Errorf("with the certificate: %v", err)
		}
	}
}
