package gitlab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	gitlab "github.com/xanzy/go-gitlab"
)

// ErrGone says that something is not there, or not shown to the token's user.
var ErrGone = errors.New("GitLab answers 404 Not Found")

// explain turns what went wrong into an error that says what to do. Nothing of
// go-gitlab's errors is wrapped, for they hold requests, and those the token. What
// GitLab says is cut short, since a failing proxy answers with pages.
func (e *errand) explain(ctx context.Context, what string, answer *gitlab.Response, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", what, ctx.Err())
	}
	code := status(answer)
	if code < 300 {
		return fmt.Errorf("%s: %s", what, e.unspoken(err))
	}
	if code == http.StatusNotFound {
		return fmt.Errorf("%s: %w: %s", what, ErrGone, remedies[code])
	}
	plain := fmt.Sprintf("%d %s", code, http.StatusText(code))
	text := fmt.Sprintf("%s: GitLab answers %s", what, plain)
	if said := e.said(err); said != "" && said != plain {
		text += " (" + said + ")"
	}
	if remedy := remedies[code]; remedy != "" {
		text += ": " + remedy
	}
	if strings.Contains(text, "insufficient_scope") {
		text = what + ": the token in " + TokenVariable + " lacks the scope api: make one that has it"
	}
	return errors.New(text)
}

// remedies are what to do about an answer.
var remedies = map[int]string{
	http.StatusUnauthorized: "the token in " + TokenVariable + " is not accepted. It has expired or was revoked, it is that of a job, or it is for another" +
		" GitLab. Make a new project access token (role Reporter, scope api)",
	http.StatusForbidden: "the role of the token in " + TokenVariable + " is too low. Notes take Reporter, threads that are to be resolved Developer",
	http.StatusNotFound: "either it is not there, or the token in " + TokenVariable + " may not see it. The token has to be one of the project that is merged" +
		" into, or of its group",
	http.StatusMethodNotAllowed:      "the project has moved, or a proxy refuses to write",
	http.StatusMovedPermanently:      "CI_API_V4_URL is not where the API is now, perhaps http in place of https",
	http.StatusFound:                 "CI_API_V4_URL is not the API's address, or a proxy asks to log in",
	http.StatusTemporaryRedirect:     "CI_API_V4_URL is not where the API is now, perhaps http in place of https",
	http.StatusPermanentRedirect:     "CI_API_V4_URL is not where the API is now, perhaps http in place of https",
	http.StatusTooManyRequests:       "it is asked too often. Send the note later",
	http.StatusProxyAuthRequired:     "the proxy of HTTPS_PROXY wants a password",
	http.StatusRequestEntityTooLarge: "a proxy takes no note of this size",
}

// said is GitLab's own explanation on one line, empty for pages.
func (e *errand) said(err error) string {
	var refusal *gitlab.ErrorResponse
	if !errors.As(err, &refusal) || strings.HasPrefix(refusal.Message, "failed to parse") {
		return ""
	}
	message := refusal.Message // go-gitlab writes an object of one message so
	if inner, ok := strings.CutPrefix(message, "{message: "); ok {
		message = strings.TrimSuffix(inner, "}")
	}
	return e.brief(message)
}

// unspoken says why there is no answer.
func (e *errand) unspoken(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err // without the address, which a redirect may have written
	}
	var slow net.Error
	switch {
	case errors.Is(err, errPage), errors.Is(err, errElsewhere), errors.Is(err, errOnlyCommands):
		return e.brief(err.Error())
	case distrust(err):
		return e.brief(err.Error()) + ": give the runner tls-ca-file, so that CI_SERVER_TLS_CA_FILE is set"
	case errors.As(err, &slow) && slow.Timeout():
		return fmt.Sprintf("no whole answer in %v", e.settings.Timeout)
	}
	return "no answer that can be read: " + e.brief(err.Error())
}

// distrust tells whether a server could not show who it is.
func distrust(err error) bool {
	var unverified *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	return errors.As(err, &unverified) || errors.As(err, &authority) || errors.As(err, &name)
}

// brief is foreign text on one line of at most 200 characters, without the token.
func (e *errand) brief(text string) string {
	for _, form := range []string{e.settings.Token, url.QueryEscape(e.settings.Token), url.PathEscape(e.settings.Token)} {
		text = strings.ReplaceAll(text, form, "[token]")
	}
	runes := []rune(printable(strings.Join(strings.Fields(text), " ")))
	if len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return string(runes)
}
