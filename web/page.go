package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// A frame is what stands round every page.
type frame struct {
	Title   string
	Crumbs  []crumb // from the overview down, the page itself left out
	Foot    string
	Style   string // address of the style sheet
	Script  string
	Alarmed bool   // there are alerts to be seen
	Files   bool   // it becomes a file
	Policy  string // only of a file: a server says it in a header
	Here    string
	JSON    string // the same for programs
	Now     time.Time
	Printed string // when it was made
}

// A crumb is a page above.
type crumb struct{ Name, Link string }

// frame makes the frame of a page.
func (s *Server) frame(r *http.Request, title string, crumbs ...crumb) frame {
	f := frame{Title: report.Clean(title), Crumbs: append([]crumb{{"stopwatt", "/"}}, crumbs...), Style: styleAddress, Script: scriptAddress,
		Files: s.files, Alarmed: s.Alarms != nil, Here: r.URL.RequestURI(), Now: s.Now(), Foot: "stopwatt"}
	if s.Version != "" {
		f.Foot += " " + s.Version
	}
	f.Printed = s.Now().UTC().Format("2006-01-02 15:04 MST")
	if s.files {
		f.Policy = strings.Replace(policy, "; frame-ancestors 'none'", "", 1) // which only a header can say
	}
	return f
}

// Our own files, addressed by what is in them, so that they can be kept for ever.
var (
	styleSheet    = report.Style() + content("static/pages.css")
	pageScript    = content("static/pages.js")
	styleAddress  = "/static/pages.css?v=" + digest(styleSheet)
	scriptAddress = "/static/pages.js?v=" + digest(pageScript)
)

func content(name string) string {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic(err) // it is embedded
	}
	return string(text)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:6])
}

// templates are the pages, each within the frame.
var templates = parsePages()

func parsePages() map[string]*template.Template {
	functions := template.FuncMap{
		"clean": report.Clean, "brief": report.Brief, "ago": report.Ago, "date": date, "instant": instant, "count": report.Count,
		"commit": shortSHA, "run": runAddress, "trial": trialAddress, "machine": machineAddress, "pick": pick,
	}
	base := template.Must(template.New("frame").Funcs(functions).ParseFS(files, "pages/frame.html.tmpl"))
	all := map[string]*template.Template{}
	for _, name := range []string{"overview", "suite", "series", "compare", "run", "trial", "machines", "machine", "alerts", "error"} {
		all[name] = template.Must(template.Must(base.Clone()).ParseFS(files, "pages/"+name+".html.tmpl"))
	}
	return all
}

// pick is one of two texts.
func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02")
}

func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04")
}

func shortSHA(sha string) string {
	return report.Clean(stopwatt.Commit{SHA: sha}.Short())
}

// writePage writes a page whole or not at all.
func (s *Server) writePage(w http.ResponseWriter, status int, name string, of any) {
	var out bytes.Buffer
	if err := templates[name].ExecuteTemplate(&out, "frame", of); err != nil {
		s.logf("write the page %s: %v", name, err)
		http.Error(w, "this page could not be written; the log of stopwatt serve says why", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(out.Bytes()) // who asked has gone away
}

// static answers with one of our own files.
func (s *Server) static(w http.ResponseWriter, r *http.Request) error {
	kinds := map[string]struct{ kind, text string }{
		"pages.css": {"text/css; charset=utf-8", styleSheet},
		"pages.js":  {"text/javascript; charset=utf-8", pageScript},
		"icon.svg":  {"image/svg+xml", string(report.Icon())},
	}
	file, known := kinds[r.PathValue("file")]
	if !known {
		return fmt.Errorf("static file: %w", stopwatt.ErrNotFound)
	}
	w.Header().Set("Content-Type", file.kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	_, err := w.Write([]byte(file.text))
	return ignoreGone(err)
}

// ignoreGone drops the error of a reader who has gone away: nobody is left to tell.
func ignoreGone(error) error { return nil }

// send answers with what was made whole.
func send(w http.ResponseWriter, kind string, body []byte) error {
	w.Header().Set("Content-Type", kind)
	_, err := w.Write(body)
	return ignoreGone(err)
}
