package gitlabtest

import (
	"net/http"
	"net/http/httptest"
	"regexp"
)

// A Way is how a request is answered in place of GitLab's usual way.
type Way func(usual http.Handler) http.Handler

// trouble waits for requests.
type trouble struct {
	request *regexp.Regexp
	left    int
	way     Way
}

// Trouble answers the next requests that match, "POST .*/notes", in another way.
func (s *Server) Trouble(request string, times int, way Way) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.troubles = append(s.troubles, &trouble{regexp.MustCompile("^" + request + "$"), times, way})
}

// troubled is the way of the first trouble that waits for a request.
func (s *Server) troubled(name string) Way {
	for _, t := range s.troubles {
		if t.left > 0 && t.request.MatchString(name) {
			t.left--
			return t.way
		}
	}
	return func(usual http.Handler) http.Handler { return usual }
}

// Answer gives one answer to all: headers in pairs, then the body.
func Answer(code int, body string, headers ...string) Way {
	return func(http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(headers); i += 2 {
				w.Header().Set(headers[i], headers[i+1])
			}
			w.WriteHeader(code)
			w.Write([]byte(body))
		})
	}
}

// The pages of others, and refusals.
var (
	// BadGateway is the page of a proxy whose GitLab does not answer.
	BadGateway = Answer(http.StatusBadGateway, "<html><body><h1>502 Bad Gateway</h1></body></html>", "Content-Type", "text/html")
	// Login is a page that a proxy shows to whom it does not know.
	Login = Answer(http.StatusOK, "<!DOCTYPE html><html><form>", "Content-Type", "text/html; charset=utf-8")
	// TooManyRequests is how the limit on all requests refuses.
	TooManyRequests = Answer(http.StatusTooManyRequests, "Retry later\n", "Content-Type", "text/plain", "Retry-After", "60", "RateLimit-Limit", "600")
	// TooManyNotes is how the limit on notes refuses, which tells no time.
	TooManyNotes = Answer(http.StatusTooManyRequests,
		`{"message":{"error":"This endpoint has been requested too many times. Try again later."}}`, "Content-Type", "application/json")
)

// After carries the request out as usual, and answers in another way.
func After(way Way) Way {
	return func(usual http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			usual.ServeHTTP(httptest.NewRecorder(), r)
			way(nil).ServeHTTP(w, r)
		})
	}
}

// First does something before a request is answered as usual: what another job or a person
// does between two looks.
func First(do func()) Way {
	return func(usual http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			do()
			usual.ServeHTTP(w, r)
		})
	}
}

// Hang answers with half a body, and no more until the client has gone.
func Hang(http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.Write([]byte(`{"id": `))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
}

// Break breaks the connection off.
func Break(http.Handler) http.Handler {
	return http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
}
