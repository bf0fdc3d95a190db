package web

import (
	"context"
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/netip"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A Server shows an archive to whoever may see it.
type Server struct {
	Archive Archive
	// Alarms are the alerts; nil: there are none to be seen here.
	Alarms Alarms
	// Token lets in whoever sends it, as a bearer or as the password of any user.
	// Empty: everybody who reaches the listener may read, and nobody may acknowledge.
	Token string
	// TrustHeader names the header in which a proxy tells who the user is, who may then
	// read and acknowledge. It is believed from TrustFrom alone.
	TrustHeader string
	TrustFrom   []netip.Prefix // empty: from this machine
	Timeout     time.Duration  // of one question; 0: 10 s
	Now         func() time.Time
	Version     string      // of stopwatt, for the foot of each page
	Log         *log.Logger // what went wrong inside; nil: nowhere

	secret    []byte // of the forms' tokens
	questions *rate  // of each client
	guesses   *rate  // of tokens, by each client
	files     bool   // pages become files, which nobody can ask anything
}

const (
	// defaultTimeout bounds a question: a page that takes longer is one that nobody
	// waits for.
	defaultTimeout = 10 * time.Second
	// mostAtOnce is how many questions are answered at a time.
	mostAtOnce = 32
	// longestPath and longestQuery bound what is asked, in bytes.
	longestPath  = 1024
	longestQuery = 4096
	// largestForm bounds what is sent, in bytes.
	largestForm = 16 << 10
)

//go:embed pages static
var files embed.FS

// Handler answers requests.
func (s *Server) Handler() http.Handler {
	s.begin()
	mux := http.NewServeMux()
	for _, r := range routes {
		mux.Handle(r.pattern, s.guard(r))
	}
	return s.limit(mux)
}

// begin fills in what was left out.
func (s *Server) begin() {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Timeout == 0 {
		s.Timeout = defaultTimeout
	}
	if len(s.TrustFrom) == 0 {
		s.TrustFrom = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	}
	if s.questions == nil {
		s.questions = newRate(mostQuestions, questionsPerSecond, time.Now)
		s.guesses = newRate(mostGuesses, guessesPerSecond, time.Now)
	}
	if s.secret == nil {
		s.secret = make([]byte, 32)
		_, _ = rand.Read(s.secret) // never fails, see crypto/rand
	}
}

// An askedWrongly is a question that has no answer as it was asked; its text is for
// who asked.
type askedWrongly struct{ error }

func wrongly(format string, args ...any) error { return askedWrongly{fmt.Errorf(format, args...)} }

// statusOf is the status of an error, and what is told of it: what went wrong inside
// is nobody's business outside.
func statusOf(err error) (status int, told string) {
	var asked askedWrongly
	switch {
	case errors.As(err, &asked):
		return http.StatusBadRequest, asked.Error()
	case errors.Is(err, stopwatt.ErrNotFound):
		return http.StatusNotFound, "There is nothing of this name or number here."
	case errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, "The database took too long to answer. Ask for less: a shorter time, fewer cases."
	case errors.Is(err, stopwatt.ErrUnreachable):
		return http.StatusServiceUnavailable, "The database cannot be reached at present."
	}
	return http.StatusInternalServerError, "Something went wrong here; the log of stopwatt serve says what."
}

// fail answers with an error, in the form that the route speaks.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, of route, err error) {
	status, told := statusOf(err)
	if status >= http.StatusInternalServerError && !errors.Is(err, context.Canceled) {
		s.logf("%s %s: %v", r.Method, r.URL.EscapedPath(), err)
	}
	if of.kind != pageKind {
		http.Error(w, told, status)
		return
	}
	s.writePage(w, status, "error", errorPage{frame: s.frame(r, http.StatusText(status)), Told: told})
}

func (s *Server) logf(format string, args ...any) {
	if s.Log != nil {
		s.Log.Printf(format, args...)
	}
}

// An errorPage says why there is nothing.
type errorPage struct {
	frame
	Told string
}
