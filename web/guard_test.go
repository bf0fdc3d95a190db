package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// everyRoute is what each route needs. One that is missing here is not meant.
var everyRoute = []string{
	"GET /: nothing",
	"GET /alerts: reading",
	"GET /api/v1/alerts: reading",
	"GET /api/v1/machines/{machine}: reading",
	"GET /api/v1/machines: reading",
	"GET /api/v1/openapi.json: nothing",
	"GET /api/v1/overview: reading",
	"GET /api/v1/runs/{run}/trials/{position}: reading",
	"GET /api/v1/runs/{run}: reading",
	"GET /api/v1/suites/{suite}/compare: reading",
	"GET /api/v1/suites/{suite}/grid: reading",
	"GET /api/v1/suites/{suite}/series: reading",
	"GET /api/v1/suites/{suite}: reading",
	"GET /badges/{suite}: reading",
	"GET /machines/{machine}: reading",
	"GET /machines: reading",
	"GET /runs/{run}/trials/{position}: reading",
	"GET /runs/{run}: reading",
	"GET /s/{suite}/compare: reading",
	"GET /s/{suite}/grid.csv: reading",
	"GET /s/{suite}/series.csv: reading",
	"GET /s/{suite}/series: reading",
	"GET /s/{suite}: reading",
	"GET /static/{file}: nothing",
	"GET /{$}: reading",
	"POST /alerts/{alert}/acknowledge: acknowledging",
}

func TestEveryRouteSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range routes {
		got = append(got, r.pattern+": "+string(r.needs))
		if !strings.HasPrefix(r.pattern, "GET ") && r.needs != acknowledging {
			t.Errorf("%s changes something and does not ask who", r.pattern)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(everyRoute, got); diff != "" {
		t.Error(diff)
	}
}

// addressOf fills a route's pattern in.
func addressOf(r route) string {
	_, path, _ := strings.Cut(r.pattern, " ")
	if path == "/" {
		return "/no/such/page" // which is what the pattern is for
	}
	return strings.NewReplacer("{$}", "", "{suite}", "web-servers", "{run}", "412", "{position}", "1", "{machine}", boardFingerprint, "{file}", "pages.css", "{alert}", "00000000").Replace(path)
}

func TestWhoMayComeIn(t *testing.T) {
	t.Parallel()
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	basic := httptest.NewRequest(http.MethodGet, "/", nil)
	basic.SetBasicAuth("ada", "secret")
	for _, row := range []struct {
		name   string
		server Server
		header http.Header
		remote string
		lets   bool
	}{
		{"without a token everybody may read", Server{}, nil, "192.0.2.7:1", true},
		{"with a token nobody without it", Server{Token: "secret"}, nil, "127.0.0.1:1", false},
		{"the token lets in as a bearer", Server{Token: "secret"}, header("Authorization", "Bearer secret"), "192.0.2.7:1", true},
		{"the token lets in as a password", Server{Token: "secret"}, basic.Header, "192.0.2.7:1", true},
		{"another token does not", Server{Token: "secret"}, header("Authorization", "Bearer secreT"), "192.0.2.7:1", false},
		{"the beginning of the token does not", Server{Token: "secret"}, header("Authorization", "Bearer secre"), "192.0.2.7:1", false},
		{"an empty token does not", Server{Token: "secret"}, header("Authorization", "Bearer "), "192.0.2.7:1", false},
		{"a proxy's word lets in", Server{TrustHeader: "X-Forwarded-User"}, header("X-Forwarded-User", "ada"), "127.0.0.1:1", true},
		{"a proxy that names nobody does not", Server{TrustHeader: "X-Forwarded-User"}, header("X-Forwarded-User", ""), "127.0.0.1:1", false},
		{"a stranger who says what the proxy would does not come in", Server{TrustHeader: "X-Forwarded-User"}, header("X-Forwarded-User", "ada"), "192.0.2.7:1", false},
		{"a proxy elsewhere does where it is named", Server{TrustHeader: "X-Forwarded-User", TrustFrom: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}, header("X-Forwarded-User", "ada"), "192.0.2.7:1", true},
		{"another header means nothing", Server{TrustHeader: "X-Forwarded-User"}, header("X-Remote-User", "ada"), "127.0.0.1:1", false},
	} {
		past := pastOf(plainNames)
		row.server.Archive, row.server.Alarms, row.server.Now = past, past, func() time.Time { return today }
		handler := row.server.Handler()
		for _, r := range routes {
			if r.needs == acknowledging {
				continue
			}
			request := httptest.NewRequest(http.MethodGet, addressOf(r), nil)
			request.RemoteAddr = row.remote
			if row.header != nil {
				request.Header = row.header.Clone()
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			refused := answer.Code == http.StatusUnauthorized || answer.Code == http.StatusTooManyRequests // who guesses on
			if let := !refused; let != (row.lets || r.needs == open) {
				t.Errorf("%s: %s answers %d", row.name, r.pattern, answer.Code)
			}
			if refused && strings.Contains(answer.Body.String(), "web-servers") {
				t.Errorf("%s: %s tells of the archive while it refuses", row.name, r.pattern)
			}
		}
	}
}

func TestNothingButReadingIsAllowed(t *testing.T) {
	t.Parallel()
	handler := serverOf(pastOf(plainNames)).Handler()
	for _, r := range routes {
		if r.needs == acknowledging {
			continue
		}
		for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodPatch, "TRACE"} {
			if strings.HasPrefix(r.pattern, method) {
				continue
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, httptest.NewRequest(method, addressOf(r), nil))
			if answer.Code != http.StatusMethodNotAllowed {
				t.Errorf("%s %s answers %d", method, addressOf(r), answer.Code)
			}
		}
	}
}

func TestWhoMayAcknowledge(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name         string
		token, sent  string
		origin, form string // form: ours, none or another's
		why, until   string
		status       int
		said         bool
	}{
		{"with the token and our form it is kept", "secret", "secret", "same-origin", "ours", "validates  every\nline now", "2027-01-31", http.StatusSeeOther, true},
		{"a server without a token keeps nothing", "", "", "same-origin", "ours", "why", "", http.StatusForbidden, false},
		{"without the token nothing is kept", "secret", "", "same-origin", "ours", "why", "", http.StatusUnauthorized, false},
		{"another site's form is refused", "secret", "secret", "cross-site", "ours", "why", "", http.StatusForbidden, false},
		{"a form without its token is refused", "secret", "secret", "same-origin", "none", "why", "", http.StatusForbidden, false},
		{"another user's form is refused", "secret", "secret", "same-origin", "another's", "why", "", http.StatusForbidden, false},
		{"a reason is needed", "secret", "secret", "same-origin", "ours", " ", "", http.StatusBadRequest, false},
		{"a reason that never ends is refused", "secret", "secret", "same-origin", "ours", strings.Repeat("why", 500), "", http.StatusBadRequest, false},
		{"a form that never ends is refused", "secret", "secret", "same-origin", "ours", strings.Repeat("why", 50_000), "", http.StatusForbidden, false},
		{"a day of the past is refused", "secret", "secret", "same-origin", "ours", "why", "2020-01-31", http.StatusBadRequest, false},
	} {
		past := pastOf(plainNames)
		s := serverOf(past)
		s.Token = row.token
		handler := s.Handler()
		id := alertOf(past.changes[0])
		request := func(user string, form url.Values) *http.Request {
			r := httptest.NewRequest(http.MethodPost, "/alerts/"+id+"/acknowledge", strings.NewReader(form.Encode()))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Sec-Fetch-Site", row.origin)
			if row.sent != "" {
				r.SetBasicAuth(user, row.sent)
			}
			return r
		}
		form := url.Values{"why": {row.why}, "until": {row.until}}
		if row.form != "none" {
			user := map[string]string{"ours": "ada", "another's": "bob"}[row.form]
			form.Set("form", s.formToken(httptest.NewRequest(http.MethodGet, "/", nil).WithContext(context.WithValue(context.Background(), userKey{}, user))))
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request("ada", form))
		by, said := past.said[id]
		if answer.Code != row.status || said != row.said {
			t.Errorf("%s: %d, kept: %v: %.100s", row.name, answer.Code, said, answer.Body)
		}
		if said && (by.By != "ada" || by.Reason != "validates every line now" || date(by.Until) != row.until) {
			t.Errorf("%s: kept is %+v", row.name, by)
		}
	}
}

func TestEveryAnswerIsSecured(t *testing.T) {
	t.Parallel()
	s := serverOf(pastOf(plainNames))
	for _, r := range append(slices.Clone(routes), route{pattern: "GET /no/such/page"}, route{pattern: "GET /runs/0"}) {
		h := ask(t, s, addressOf(r)).Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") || strings.Contains(policy, "http") {
			t.Errorf("%s: the policy is %q", r.pattern, policy)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "same-origin"} {
			if got := h.Get(name); got != want {
				t.Errorf("%s: %s is %q", r.pattern, name, got)
			}
		}
	}
}

func TestWhatIsAskedIsBounded(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, address string
		status        int
	}{
		{"a long path", "/s/" + strings.Repeat("x", 2000), http.StatusRequestURITooLong},
		{"a long query", "/s/web-servers?at=" + strings.Repeat("0", 5000), http.StatusRequestURITooLong},
		{"a suite that is not there", "/s/none", http.StatusNotFound},
		{"a run that is not there", "/runs/999999", http.StatusNotFound},
		{"a run that is no number", "/runs/one", http.StatusNotFound},
		{"a run of too many digits", "/runs/99999999999999999999", http.StatusNotFound},
		{"a trial that is not there", "/runs/412/trials/999", http.StatusNotFound},
		{"a machine that is not there", "/machines/none", http.StatusNotFound},
		{"a page that is not there", "/admin", http.StatusNotFound},
		{"a file that is not ours", "/static/..%2fserver.go", http.StatusNotFound},
		{"a form that is none", "/s/web-servers?as=bars", http.StatusBadRequest},
		{"a metric that is none", "/s/web-servers?metric=speed", http.StatusBadRequest},
		{"a baseline that is none", "/s/web-servers?baseline=cobol", http.StatusBadRequest},
		{"a commit that is none", "/s/web-servers?at=main", http.StatusBadRequest},
		{"a commit that was not measured", "/s/web-servers?at=ffffffff", http.StatusOK},
		{"a case that is none", "/s/web-servers/series?case=x/y", http.StatusBadRequest},
		{"a time that is none", "/s/web-servers/series?from=yesterday", http.StatusBadRequest},
		{"a stretch that ends before it begins", "/s/web-servers/series?from=2026-11-01&to=2026-10-01", http.StatusBadRequest},
		{"a stretch without a commit", "/s/web-servers/series?from=2001-01-01&to=2001-01-02", http.StatusOK},
		{"a commit as the beginning of a stretch", "/s/web-servers/series?from=935170bb", http.StatusOK},
		{"one side alone", "/s/web-servers/compare?a=411", http.StatusOK},
	} {
		answer := ask(t, serverOf(pastOf(plainNames)), row.address)
		if answer.Code != row.status {
			t.Errorf("%s: %d, want %d: %.200s", row.name, answer.Code, row.status, answer.Body)
		}
	}
}

func TestASlowArchiveIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	slow := pastOf(plainNames)
	slow.wait = time.Hour
	s := serverOf(slow)
	s.Timeout = time.Millisecond
	answer := ask(t, s, "/")
	if answer.Code != http.StatusServiceUnavailable || !strings.Contains(answer.Body.String(), "took too long") {
		t.Errorf("a database that does not answer makes %d: %s", answer.Code, answer.Body)
	}
}

func TestNamesAreTextInEveryAnswer(t *testing.T) {
	t.Parallel()
	s := serverOf(pastOf(hostileNames))
	for name, address := range addresses(hostileNames) {
		answer := ask(t, s, address)
		body := answer.Body.String()
		if answer.Code != http.StatusOK {
			t.Errorf("%s: %d %.300s", name, answer.Code, body)
		}
		// What a form sends back must be the very name; it is not shown.
		body = regexp.MustCompile(` (value|data-absent)="[^"]*"`).ReplaceAllString(body, "")
		for _, markup := range []string{"<script>alert", "<img src=x", `href="javascript:`, "\x1b", "\u202e"} {
			if strings.Contains(body, markup) {
				t.Errorf("%s: %q is in the page as it was given", name, markup)
			}
		}
		for name, values := range answer.Header() {
			if strings.ContainsAny(strings.Join(values, ""), "<\r\n") {
				t.Errorf("%s: the header %s carries %q", name, name, values)
			}
		}
	}
}

// connected speaks to a server over a connection of its own.
func connected(t *testing.T, s *Server) func() net.Conn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, listener, s) }()
	t.Cleanup(func() { cancel(); <-ended })
	return func() net.Conn {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
}

func TestAHeaderThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	conn := connected(t, serverOf(pastOf(plainNames)))()
	sent := 0
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\nX: "); err != nil {
		t.Fatal(err)
	}
	for piece := make([]byte, 4096); sent < 64<<20; sent += len(piece) {
		if _, err := conn.Write(piece); err != nil {
			break // it has been answered, and hung up on
		}
	}
	answer, _ := io.ReadAll(io.LimitReader(conn, 4096)) // a reset takes the answer along at times
	if sent >= 64<<20 || len(answer) > 0 && !strings.Contains(string(answer), " 431 ") && !strings.Contains(string(answer), " 400 ") {
		t.Errorf("%d bytes of a header were taken: %.100q", sent, answer)
	}
}

func TestASlowHeaderIsHungUpOn(t *testing.T) {
	t.Parallel()
	conn := connected(t, serverOf(pastOf(plainNames)))()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost:"); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil && errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the rest of a header is still waited for after a minute")
	}
}

func TestNoMoreConnectionsAreTakenThanThereArePlaces(t *testing.T) {
	t.Parallel()
	pair, there := net.Pipe()
	defer pair.Close()
	defer there.Close()
	accepted := make(chan net.Conn)
	l := limited(listenerOf(func() (net.Conn, error) { return pair, nil }), 2)
	go func() {
		for range 3 {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	first := <-accepted
	<-accepted
	select {
	case <-accepted:
		t.Fatal("a third connection was taken in two places")
	default:
	}
	for range 2 { // closing it twice gives one place back
		first.Close()
	}
	<-accepted
	if taken := len(l.(*limitedListener).places); taken != 2 {
		t.Errorf("%d places are taken, want 2", taken)
	}
}

// listenerOf is a listener without an address.
type listenerOf func() (net.Conn, error)

func (l listenerOf) Accept() (net.Conn, error) { return l() }
func (listenerOf) Close() error                { return nil }
func (listenerOf) Addr() net.Addr              { return nil }
