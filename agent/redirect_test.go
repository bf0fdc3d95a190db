//go:build linux

package agent

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestWhereARedirectLeads(t *testing.T) {
	t.Parallel()
	const post = "POST /a/b?c HTTP/1.1\r\nHost: h:80\r\nContent-Type: text/plain\r\nX-A: b\r\nContent-Length: 2\r\n\r\nhi"
	const get = "GET /a/b HTTP/1.1\r\nHost: h\r\n\r\n"
	for _, row := range []struct {
		name, request string
		status        int
		location      string
		want          string // or an error
	}{
		{"to another path", get, 302, "/c?d=e#f", "GET /c?d=e HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"to a neighbour", get, 301, "c", "GET /a/c HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"to the same server, with its port", get, 307, "http://H:80/c", "GET /c HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"to its root", get, 308, "http://h", "GET / HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"a POST becomes a GET and loses its body", post, 302, "/c", "GET /c HTTP/1.1\r\nHost: h:80\r\nX-A: b\r\n\r\n"},
		{"303 makes a GET of anything", strings.Replace(post, "POST", "PUT", 1), 303, "/c", "GET /c HTTP/1.1\r\nHost: h:80\r\nX-A: b\r\n\r\n"},
		{"but of a HEAD", strings.Replace(get, "GET", "HEAD", 1), 303, "/c", "HEAD /c HTTP/1.1\r\nHost: h\r\n\r\n"},
		{"307 keeps the body", post, 307, "/c", strings.Replace(post, "/a/b?c", "/c", 1)},
		{"a PUT stays one with 302", strings.Replace(post, "POST", "PUT", 1), 302, "/c", strings.Replace(post, "POST /a/b?c", "PUT /c", 1)},
		{"to another host", get, 302, "http://other/c", errElsewhere.Error()},
		{"to another host, in short", get, 302, "//other/c", errElsewhere.Error()},
		{"to another port", get, 302, "http://h:81/c", errElsewhere.Error()},
		{"to another protocol", get, 302, "https://h/c", errElsewhere.Error()},
		{"to nothing that is a URL", get, 302, "http://[", errLocation.Error()},
		{"to no server", get, 302, "mailto:a@b", errLocation.Error()},
		{"spaces are encoded", get, 302, "/c d", "GET /c%20d HTTP/1.1\r\nHost: h\r\n\r\n"},
	} {
		got, err := redirected(nil, []byte(row.request), row.status, row.location, "http://h")
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// wandering sends its askers about: /to/N takes N redirects to the end, with
// every status in turn, over connections that are kept or not.
func wandering(w http.ResponseWriter, r *http.Request) {
	var left int
	if _, err := fmt.Sscanf(r.URL.Path, "/to/%d", &left); err == nil && left > 0 {
		if left%3 == 0 {
			w.Header().Set("Connection", "close")
		}
		statuses := []int{301, 302, 303, 307, 308}
		w.Header().Set("Location", fmt.Sprintf("/to/%d", left-1))
		w.WriteHeader(statuses[left%len(statuses)])
		io.WriteString(w, "a body that nobody wants")
		return
	}
	if r.URL.Path == "/away" {
		http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		return
	}
	io.WriteString(w, "hello")
}

func TestRedirectsAreFollowedWhereTheOrderSaysSo(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(http.HandlerFunc(wandering))
	defer plain.Close()
	secret := httptest.NewTLSServer(http.HandlerFunc(wandering))
	defer secret.Close()
	for _, row := range []struct {
		path     string
		follow   bool
		hops     int64 // of each right answer
		wrong    string
		whatSaid string
	}{
		{"/to/0", true, 0, "", ""},
		{"/to/7", true, 7, "", ""},
		{"/to/10", true, 10, "", ""},
		{"/to/11", true, 0, stopwatt.ErrorProtocol, "one redirect more than the 10"},
		{"/away", true, 0, stopwatt.ErrorProtocol, `to another server, where nothing is asked: "http://192.0.2.1/"`},
		{"/to/1", false, 0, stopwatt.ErrorStatus, "status 302"},
	} {
		for _, closing := range []bool{false, true} {
			for server, driver := range map[*httptest.Server]Driver{plain: Epoll{Threads: 2}, secret: Streams{}} {
				order := orderFor(server.Listener.Addr().String())
				order.Request = stopwatt.Request{Method: "POST", Path: row.path, Body: []byte("hi")}
				order.Expect.BodySHA256, order.Expect.CheckOneIn = helloSHA256, 1
				order.Follow, order.Load.Close = row.follow, closing
				if server == secret {
					order.TLS = &stopwatt.TLS{}
				}
				got, err := driver.Drive(t.Context(), order, 5)
				if err != nil {
					t.Fatal(err)
				}
				all := int64(order.Load.Users * order.Load.Requests)
				if row.wrong == "" && (got.Requests != all || got.Redirects != all*row.hops || got.Checked != all) {
					t.Errorf("%T %s, close %v: %d right, %d redirects, %d checked, errors %v", driver, row.path, closing, got.Requests, got.Redirects, got.Checked, got.FirstErrors)
				}
				if row.wrong != "" && (got.Errors[row.wrong] != all || !strings.Contains(got.FirstErrors[row.wrong], row.whatSaid)) {
					t.Errorf("%T %s, close %v: %v %v", driver, row.path, closing, got.Errors, got.FirstErrors)
				}
				if _, _, err = verify(t.Context(), order); (err == nil) != (row.wrong == "") {
					t.Errorf("%s: asked once, it says %v", row.path, err)
				}
			}
		}
	}
}

// A redirect never makes more than one request, or one to somebody else, of what
// a server writes.
func FuzzRedirected(f *testing.F) {
	f.Add(302, "/a b", "http://h")
	f.Add(307, "//h/\r\nX: y", "http://h:80")
	f.Add(303, "http://u:p@h/?a#b", "http://h")
	f.Fuzz(func(t *testing.T, status int, location, origin string) {
		const request = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi"
		got, err := redirected(nil, []byte(request), status, location, origin)
		if err != nil {
			return
		}
		first, rest, _ := bytes.Cut(got, []byte("\r\n"))
		words := strings.Split(string(first), " ")
		if len(words) != 3 || !strings.HasPrefix(words[1], "/") || strings.ContainsFunc(words[1], isNoPath) {
			t.Errorf("the first line is %q", first)
		}
		if want := "Host: h\r\nContent-Length: 2\r\n\r\nhi"; string(rest) != want && string(rest) != "Host: h\r\n\r\n" {
			t.Errorf("the rest is %q", rest)
		}
	})
}
