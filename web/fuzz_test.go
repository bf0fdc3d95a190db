package web

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// FuzzAsk asks a server for anything, in any way.
func FuzzAsk(f *testing.F) {
	for _, address := range addresses(plainNames) {
		path, query, _ := strings.Cut(address, "?")
		f.Add("GET", path, query, "Authorization", "Bearer secret", "")
	}
	for _, r := range routes {
		f.Add("GET", addressOf(r), "", "Accept", "application/json", "")
	}
	f.Add("POST", "/alerts/00000000/acknowledge", "", "Content-Type", "application/x-www-form-urlencoded", "form=x&reason=%00")
	f.Add("HEAD", "/runs/-1", "metric=%zz&metric=a;b", "Cookie", "\x01", "")
	f.Add("GET", "/s/web-servers/series", "case=go/csv-svg-path&from=9999-99-99&to=\x00&zoom=-1", "If-None-Match", `W/"`, "")
	plain, hostile := pastOf(plainNames), pastOf(hostileNames)
	f.Fuzz(func(t *testing.T, method, path, query, header, value, body string) {
		address := &url.URL{Path: "/" + strings.TrimPrefix(path, "/"), RawQuery: query}
		request, err := http.NewRequestWithContext(t.Context(), method, address.String(), strings.NewReader(body))
		if err != nil {
			return // no server is ever handed it
		}
		request.RemoteAddr = "192.0.2.7:1"
		request.Header[http.CanonicalHeaderKey(header)] = []string{value}
		for _, past := range []*memory{plain, hostile} {
			answer := httptest.NewRecorder()
			s := serverOf(past)
			s.Token = "secret"
			s.Handler().ServeHTTP(answer, request)
			kind := answer.Header().Get("Content-Type")
			said := answer.Body.String()
			switch {
			case answer.Code >= 500:
				t.Errorf("%s %s is answered by %d: %.300s", method, address, answer.Code, said)
			case strings.Contains(kind, "html") && (strings.Contains(said, "<script>alert") || strings.Contains(said, "\x1b")):
				t.Errorf("%s %s: a name acts", method, address)
			case strings.Contains(kind, "json") && said != "" && !json.Valid([]byte(said)):
				t.Errorf("%s %s is no JSON: %.300s", method, address, said)
			}
			for name, values := range answer.Header() {
				if strings.ContainsAny(strings.Join(values, ""), "\r\n\x00") {
					t.Errorf("%s %s: the header %s is %q", method, address, name, values)
				}
			}
		}
	})
}
