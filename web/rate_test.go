package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// hands is a clock that stands until it is moved.
type hands struct{ at time.Time }

func (h *hands) now() time.Time { return h.at }

// rated is a server with a token whose rates go by a clock of the test's.
func rated() (*Server, *hands) {
	s, clock := serverOf(pastOf(plainNames)), &hands{today}
	s.Token = "secret"
	s.questions, s.guesses = newRate(mostQuestions, questionsPerSecond, clock.now), newRate(mostGuesses, guessesPerSecond, clock.now)
	return s, clock
}

// asked is the status of one question from an address, with a token or none.
func asked(handler http.Handler, from, token string) int {
	request := httptest.NewRequest(http.MethodGet, "/static/pages.css", nil)
	if token != "" {
		request = httptest.NewRequest(http.MethodGet, "/machines", nil)
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.RemoteAddr = from
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code
}

func TestWhoAsksTooOftenWaits(t *testing.T) {
	t.Parallel()
	s, clock := rated()
	handler := s.Handler()
	for n := range mostQuestions {
		if got := asked(handler, "192.0.2.7:1", ""); got != http.StatusOK {
			t.Fatalf("question %d is answered with %d", n+1, got)
		}
	}
	if got := asked(handler, "192.0.2.7:2", ""); got != http.StatusTooManyRequests {
		t.Errorf("one more is answered with %d", got)
	}
	if got := asked(handler, "192.0.2.8:1", ""); got != http.StatusOK {
		t.Errorf("somebody else is answered with %d", got)
	}
	clock.at = clock.at.Add(time.Second)
	for n := range questionsPerSecond {
		if got := asked(handler, "192.0.2.7:1", ""); got != http.StatusOK {
			t.Fatalf("a second later question %d is answered with %d", n+1, got)
		}
	}
	if got := asked(handler, "192.0.2.7:1", ""); got != http.StatusTooManyRequests {
		t.Errorf("then one more is answered with %d", got)
	}
}

func TestWhoGuessesTheTokenIsNotToldWhenItWasRight(t *testing.T) {
	t.Parallel()
	s, clock := rated()
	handler := s.Handler()
	for n := range mostGuesses {
		if got := asked(handler, "[2001:db8::1]:1", fmt.Sprint("guess ", n)); got != http.StatusUnauthorized {
			t.Fatalf("guess %d is answered with %d", n+1, got)
		}
	}
	for _, token := range []string{"wrong", "secret"} { // from the same network
		if got := asked(handler, "[2001:db8::2]:1", token); got != http.StatusTooManyRequests {
			t.Errorf("the token %q is answered with %d", token, got)
		}
	}
	if got := asked(handler, "192.0.2.7:1", "secret"); got != http.StatusOK {
		t.Errorf("who knows it is answered with %d", got)
	}
	clock.at = clock.at.Add(time.Minute)
	if got := asked(handler, "[2001:db8::1]:1", "secret"); got != http.StatusOK {
		t.Errorf("a minute later the right one is answered with %d", got)
	}
}

func TestManyClientsTakeLittleMemory(t *testing.T) {
	t.Parallel()
	clock := &hands{today}
	r := newRate(2, 1, clock.now)
	for n := range 3 * mostClients {
		r.may(fmt.Sprint(n), 1)
	}
	if len(r.clients) > mostClients+1 {
		t.Errorf("%d clients are kept", len(r.clients))
	}
	if r.may("one more", 1) {
		t.Error("who is one of too many may do what it likes")
	}
	clock.at = clock.at.Add(time.Minute)
	if !r.may("one more", 1) || len(r.clients) > 2 {
		t.Errorf("a minute later %d clients are kept", len(r.clients))
	}
}

func TestAProxysUsersAreToldApart(t *testing.T) {
	t.Parallel()
	s := &Server{TrustHeader: "X-User"}
	s.begin()
	request := func(from, user string) *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = from
		r.Header.Set("X-User", user)
		return r
	}
	for _, row := range []struct{ from, user, want string }{
		{"127.0.0.1:1", "ada", "user ada"}, {"127.0.0.1:1", "bob", "user bob"}, {"192.0.2.7:9", "ada", "192.0.2.7"}, {"[2001:db8:1:2:3::4]:5", "ada", "2001:db8:1:2::/64"},
	} {
		if got := s.clientOf(request(row.from, row.user)); got != row.want {
			t.Errorf("%s, who says to be %s, counts as %q; want %q", row.from, row.user, got, row.want)
		}
	}
}
