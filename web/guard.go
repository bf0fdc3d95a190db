package web

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/netip"
	"strings"
)

// An access says what a route needs.
type access string

// What routes need.
const (
	open          access = "nothing"       // no word of the archive is in it
	reading       access = "reading"       // the token or a trusted user, where the server asks for one
	acknowledging access = "acknowledging" // the token or a trusted user always, and the form's own token
)

// policyOf is what a page may do: nothing but show our own files.
const policy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// limit bounds what is asked, and how much at a time.
func (s *Server) limit(next http.Handler) http.Handler {
	places := make(chan struct{}, mostAtOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		secure(w.Header())
		if len(r.URL.EscapedPath()) > longestPath || len(r.URL.RawQuery) > longestQuery {
			http.Error(w, "the address is too long", http.StatusRequestURITooLong)
			return
		}
		if !s.files && !s.questions.may(s.clientOf(r), 1) {
			tooOften(w, "you ask too often: wait a moment")
			return
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many questions at a time", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// secure sets what every answer carries.
func secure(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // commits and runs are named in addresses
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Cache-Control", "private, no-cache")
}

// guard lets in who may come in, and answers within the time there is.
func (s *Server) guard(of route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, known := s.user(r)
		if known && s.Token != "" && !s.guesses.may(s.clientOf(r), 0) {
			known = false // who guesses fast is not told when it was right
		}
		switch {
		case of.needs == open:
		case of.needs == reading && s.Token == "" && s.TrustHeader == "":
		case !known && s.Token == "" && s.TrustHeader == "":
			http.Error(w, "acknowledging needs a token: start stopwatt serve with STOPWATT_WEB_TOKEN", http.StatusForbidden)
			return
		case !known && sent(r) && !s.guesses.may(s.clientOf(r), 1):
			tooOften(w, "too many tokens were wrong: wait a moment")
			return
		case !known:
			w.Header().Set("WWW-Authenticate", `Basic realm="stopwatt", charset="UTF-8"`)
			http.Error(w, "this needs the token", http.StatusUnauthorized)
			return
		}
		if of.needs == acknowledging {
			r.Body = http.MaxBytesReader(w, r.Body, largestForm)
			if !s.fromOurForm(r) {
				http.Error(w, "this form was not ours, or is too old: load the page again", http.StatusForbidden)
				return
			}
		}
		ctx, cancel := context.WithTimeout(context.WithValue(r.Context(), userKey{}, user), s.Timeout)
		defer cancel()
		r = r.WithContext(ctx)
		if err := of.answer(s, w, r); err != nil {
			s.fail(w, r, of, err)
		}
	})
}

// sent tells whether a request carries a token, right or wrong.
func sent(r *http.Request) bool { return r.Header.Get("Authorization") != "" }

// userKey is where a request's context holds its user.
type userKey struct{}

// userOf is who asks, empty when nobody knows.
func userOf(r *http.Request) string {
	name, _ := r.Context().Value(userKey{}).(string)
	return name
}

// user tells who asks, and whether that is known: by the proxy's word, or by the
// token, whose user may call itself anything.
func (s *Server) user(r *http.Request) (name string, known bool) {
	if s.TrustHeader != "" && s.trusted(r.RemoteAddr) {
		if name := r.Header.Get(s.TrustHeader); name != "" {
			return name, true
		}
	}
	if s.Token == "" {
		return "", false
	}
	if bearer, has := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); has {
		return "", same(bearer, s.Token)
	}
	name, password, has := r.BasicAuth()
	return name, has && same(password, s.Token)
}

// same compares in a time that says nothing about where they differ, or how long
// the token is.
func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// trusted tells whether the proxy's word comes from a proxy.
func (s *Server) trusted(remote string) bool {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return remote == "@" || remote == "" // a socket of this machine
	}
	for _, prefix := range s.TrustFrom {
		if prefix.Contains(at.Addr().Unmap()) {
			return true
		}
	}
	return false
}

// formToken is what a form of ours carries, and nobody else's page can know.
func (s *Server) formToken(r *http.Request) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(userOf(r)))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// fromOurForm tells whether a form was sent by a page of ours.
func (s *Server) fromOurForm(r *http.Request) bool {
	if http.NewCrossOriginProtection().Check(r) != nil {
		return false
	}
	if err := r.ParseForm(); err != nil {
		return false
	}
	name, _ := s.user(r)
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte(name))
	return same(r.PostForm.Get("form"), base64.RawURLEncoding.EncodeToString(mac.Sum(nil)))
}
