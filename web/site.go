package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// mostPages bounds a site: GitLab Pages has a limit, and so has patience.
const mostPages = 5000

// Site writes the history as plain files: the same pages, without what only a
// server can answer. It begins with the overview and goes on with what pages lead
// to, each once; write is given each file's name and content. It returns how many
// pages there are, and how many were left out because there are too many.
func (s *Server) Site(ctx context.Context, write func(name string, content []byte) error) (pages, left int, err error) {
	of := *s
	of.files, of.Token, of.TrustHeader = true, "", ""
	w := siteWriter{handler: of.Handler(), write: write, names: map[string]string{}}
	w.nameOf("/")
	for i := 0; i < len(w.order); i++ { // it grows meanwhile
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		if err := w.page(ctx, w.order[i]); err != nil {
			return 0, 0, err
		}
	}
	if w.left == 0 {
		return len(w.order), 0, nil
	}
	return len(w.order), w.left, w.write("left-out.html", []byte(leftOut))
}

// leftOut is what a link leads to whose page was one too many.
const leftOut = "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Left out</title><p>This site holds the first pages of the history alone; stopwatt serve shows all of it.</p></html>\n"

// A siteWriter knows which address becomes which file.
type siteWriter struct {
	handler http.Handler
	write   func(string, []byte) error
	names   map[string]string // of files, by address
	order   []string          // addresses, in the order in which they were met
	left    int
}

// page asks for one page and writes it, its links turned into those of files.
func (w *siteWriter) page(ctx context.Context, address string) error {
	request := httptest.NewRequest(http.MethodGet, address, nil).WithContext(ctx)
	answer := httptest.NewRecorder()
	w.handler.ServeHTTP(answer, request)
	// What is not found is a page that says so: a run may have been removed meanwhile.
	if answer.Code != http.StatusOK && answer.Code != http.StatusNotFound {
		return fmt.Errorf("make the page %s: %d: %s", address, answer.Code, http.StatusText(answer.Code))
	}
	name := w.names[address]
	content := answer.Body.Bytes()
	if strings.HasSuffix(name, ".html") {
		content = w.relinked(name, content)
	}
	return w.write(name, content)
}

// ours finds the links of a page that lead to the server itself; other text of this
// form is escaped in a page.
var ours = regexp.MustCompile(`(href|src)="(/[^"]*)"`)

// relinked turns links to the server into links to files, relative ones, so that a
// site may lie in any folder.
func (w *siteWriter) relinked(from string, page []byte) []byte {
	up := strings.Repeat("../", strings.Count(from, "/"))
	return ours.ReplaceAllFunc(page, func(link []byte) []byte {
		parts := ours.FindSubmatch(link)
		address, fragment, _ := strings.Cut(html.UnescapeString(string(parts[2])), "#")
		if fragment != "" {
			fragment = "#" + fragment
		}
		name := w.nameOf(address)
		if name == "" {
			return fmt.Appendf(nil, `%s="%sleft-out.html"`, parts[1], up)
		}
		return fmt.Appendf(nil, `%s="%s"`, parts[1], html.EscapeString(up+name+fragment))
	})
}

// nameOf is the file of an address, which is put in line when it is met first; empty
// when there are too many.
func (w *siteWriter) nameOf(address string) string {
	if name, known := w.names[address]; known {
		return name
	}
	if len(w.order) >= mostPages {
		w.left++
		return ""
	}
	name := fileOf(address)
	w.names[address], w.order = name, append(w.order, address)
	return name
}

// unplain is what no file is named by.
var unplain = regexp.MustCompile(`[^a-z0-9./_-]+`)

// fileOf names an address's file: readable as far as it is plain, and told apart by
// a hash where it asks for something.
func fileOf(address string) string {
	at, err := url.Parse(address)
	if err != nil {
		return digest(address) + ".html"
	}
	plain := unplain.ReplaceAllString(strings.ToLower(strings.TrimPrefix(at.Path, "/")), "-")
	plain = strings.Trim(path.Clean("/" + plain)[1:], ".-")
	switch {
	case plain == "" && at.RawQuery == "":
		return "index.html"
	case strings.HasPrefix(plain, "static/"):
		return plain
	}
	sum := sha256.Sum256([]byte(address))
	if at.RawQuery != "" || plain != strings.TrimPrefix(at.Path, "/") {
		plain += "-" + hex.EncodeToString(sum[:6])
	}
	return plain + ".html"
}
