package gitlab_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/gitlab"
)

// answering is a GitLab that gives one answer to everything, as whatever stands
// between here and it may.
func answering(t *testing.T, way http.HandlerFunc) (*gitlab.Client, stopwatt.Pipeline) {
	t.Helper()
	s := httptest.NewServer(way)
	t.Cleanup(s.Close)
	client, err := gitlab.Open(gitlab.Settings{API: s.URL, Token: "secret", Patience: time.Second,
		Wait: func(context.Context, time.Duration) error { return context.DeadlineExceeded }})
	if err != nil {
		t.Fatal(err)
	}
	return client, stopwatt.Pipeline{ID: 1, API: s.URL, ProjectID: 3, DefaultBranch: "main", MergeRequest: stopwatt.MergeRequest{IID: 7, ProjectID: 3}}
}

// FuzzAnswer lets GitLab answer anything to each question that is asked of it.
func FuzzAnswer(f *testing.F) {
	f.Add(200, `{"id":1}`, "application/json", "2")
	f.Add(200, `[{"id":1,"body":"<!-- stopwatt -->","author":{"id":1}}]`, "application/json", "")
	f.Add(200, `[{"iid":7,"state":"merged","target_branch":"main","merged_at":"x"}]`, "application/json", "0")
	f.Add(403, `{"message":{"error":["\u001b[31m"]}}`, "application/json", "-1")
	f.Add(502, "<html><h1>Bad Gateway", "text/html", "99999999999999999999")
	f.Add(307, "", "", "")
	f.Fuzz(func(t *testing.T, status int, body, kind, next string) {
		if status < 200 || status > 599 {
			return
		}
		asked := 0
		client, p := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Content-Type", kind)
			w.Header().Set("X-Next-Page", next)
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		})
		for what, ask := range map[string]func() error{
			"post": func() error {
				_, err := client.Post(t.Context(), p, stopwatt.Note{Suite: "a", Body: "b", Created: began})
				return err
			},
			"standing": func() error { _, err := client.Standing(t.Context(), p, "a"); return err },
			"request":  func() error { _, err := client.MergeRequestOf(t.Context(), p, strings.Repeat("a", 40)); return err },
		} {
			asked = 0
			err := ask()
			if err != nil && (len(err.Error()) > 4096 || strings.ContainsFunc(err.Error(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })) {
				t.Errorf("%s says %q", what, err.Error())
			}
			if asked > 200 {
				t.Errorf("%s asked %d times", what, asked)
			}
		}
	})
}

// spaces never end, and count how many were read.
type spaces struct{ read int }

func (s *spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	s.read += len(p)
	return len(p), nil
}

func TestAParcelThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	s := &spaces{}
	if _, err := gitlab.DecodeParcel(s); err == nil || !strings.Contains(err.Error(), "longer than any note") || s.read > 64<<20 {
		t.Errorf("%v after %d bytes", err, s.read)
	}
}

func TestAnAnswerThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	client, p := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `[{"id":1,"title":"`)
		for piece := []byte(strings.Repeat("x", 1<<20)); ; {
			n, err := w.Write(piece)
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	})
	_, err := client.MergeRequestOf(t.Context(), p, strings.Repeat("a", 40))
	// What the kernel and the client hold on their way is not read.
	if err == nil || !strings.Contains(err.Error(), "too large") || sent.Load() > 64<<20+16<<20 {
		t.Errorf("%v after %d bytes", err, sent.Load())
	}
}
