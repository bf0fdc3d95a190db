//go:build linux

package agent

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// mostRedirects is how many redirects of one request are followed: those who
// need more go round in circles, as browsers and net/http think too.
const mostRedirects = 10

var (
	errCircles   = fmt.Errorf("the answer is one redirect more than the %d that are followed", mostRedirects)
	errElsewhere = errors.New("the redirect leads to another server, where nothing is asked")
	errLocation  = errors.New("the Location of the redirect cannot be understood")
)

// redirects tells whether an answer of this status sends its asker elsewhere,
// when its Location says where.
func redirects(status int) bool {
	switch status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

// redirected composes, behind to, the request that a redirect asks for in place
// of one that was sent. What the server wrote is only ever put into its first
// line, as a path that holds no character that ends it.
func redirected(to, request []byte, status int, location, origin string) ([]byte, error) {
	first, rest, _ := bytes.Cut(request, []byte("\r\n"))
	method, path, _ := bytes.Cut(first, []byte(" "))
	path, _, _ = bytes.Cut(path, []byte(" "))
	target, err := targetOf(string(path), location, origin)
	if err != nil {
		return to, err
	}
	if becomesGet(status, string(method)) {
		to = fmt.Appendf(to, "GET %s HTTP/1.1\r\n", target)
		return appendWithoutBody(to, rest), nil
	}
	to = fmt.Appendf(to, "%s %s HTTP/1.1\r\n", method, target)
	return append(to, rest...), nil
}

// becomesGet tells whether the next request is a GET, whatever this one was (RFC
// 9110, section 15.4: 303 says so, and of POST all askers make it with 301 and 302).
func becomesGet(status int, method string) bool {
	switch status {
	case 303:
		return method != "HEAD"
	case 301, 302:
		return method == "POST"
	}
	return false
}

// targetOf is the path that a Location leads to from another, on the same server.
func targetOf(path, location, origin string) (string, error) {
	base, err := url.Parse(origin + path)
	if err != nil {
		return "", errLocation
	}
	to, err := base.Parse(location)
	if err != nil || to.Host == "" {
		return "", errLocation
	}
	if to.Scheme != base.Scheme || !strings.EqualFold(withPort(to), withPort(base)) {
		return "", errElsewhere
	}
	target := to.RequestURI()
	if !strings.HasPrefix(target, "/") || strings.ContainsFunc(target, isNoPath) {
		return "", errLocation
	}
	return target, nil
}

// withPort is the server of a URL, its port said.
func withPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return u.Hostname() + ":" + port
}

// appendWithoutBody appends the head of a request that loses its body, from its
// second line on, without what is said of the body.
func appendWithoutBody(to, head []byte) []byte {
	for {
		line, rest, _ := bytes.Cut(head, []byte("\r\n"))
		if len(line) == 0 {
			return append(to, "\r\n"...)
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		if !equalFold(name, "content-length") && !equalFold(name, "content-type") {
			to = append(append(to, line...), "\r\n"...)
		}
		head = rest
	}
}

// originOf is the server that a request is sent to, as the beginning of a URL.
func originOf(order stopwatt.DriveOrder, request stopwatt.Request) string {
	name, scheme := host(order), "http://"
	for given, value := range request.Headers {
		if strings.EqualFold(given, "Host") {
			name = value
		}
	}
	if order.TLS != nil {
		scheme = "https://"
	}
	return scheme + name
}

// redirect has the user's next request be what a redirect asks for, and tells
// whether the answer is one: of a status that is not the right one, where the
// order follows them.
func (u *user) redirect() (is bool, err error) {
	a, q := &u.answer, u.question
	if q.origin == "" || a.status == q.status || !redirects(a.status) || a.location == "" {
		return false, nil
	}
	if u.hops++; u.hops > mostRedirects {
		return true, errCircles
	}
	next, err := redirected(u.spare[:0], u.request, a.status, a.location, q.origin)
	if err != nil {
		return true, fmt.Errorf("%w: %q", err, a.location)
	}
	u.spare, u.own = u.own, next // the request may be our own, of the hop before
	u.request = next
	if a.body != nil {
		u.check.hash.Reset()
	}
	a.await(q.head)
	u.sent, u.seenLen = 0, 0
	return true, nil
}
