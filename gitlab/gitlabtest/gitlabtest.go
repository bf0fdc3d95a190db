// Package gitlabtest is a GitLab for tests: a server that answers as GitLab does where
// notes on merge requests are concerned, its odd ways among them.
//
// What it stores depends on what it is sent alone. It deletes carriage returns, carries out
// commands and takes them out of notes, answers 202 when nothing else was in one, and deletes
// a note that is edited to commands alone. It misbehaves where a test tells it to; see
// Trouble. It renders no Markdown.
package gitlabtest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Roles of a project's members, as GitLab counts them.
const (
	Guest      = 10
	Reporter   = 20
	Developer  = 30
	Maintainer = 40
)

// A User is whom a token belongs to.
type User struct {
	ID       int
	Username string
	Role     int
	ReadOnly bool // the token lacks the scope api
	Expired  bool // the token does
	Job      bool // the token is that of a job
}

// A Note is one that is stored.
type Note struct {
	ID       int
	Author   User
	Body     string
	System   bool
	Hidden   bool   // takes its place on a page and is not shown
	Thread   string // ID of its discussion
	Single   bool   // it can be no thread
	Resolved bool
	Created  time.Time
}

// A Server is a GitLab with one project. Its fields are set before it is asked.
type Server struct {
	URL        string // of the API: http://127.0.0.1:1/api/v4
	ProjectURL string
	Token      string // of a bot that is a Reporter
	Project    int64
	OnlyLink   bool   // pages are told by the header Link alone
	RateLimit  string // the header RateLimit-Limit; empty: none

	mutex    sync.Mutex
	tokens   map[string]User
	requests map[int]*MergeRequest
	troubles []*trouble
	asked    []string
	commands []string
	last     int // ID of the last note
}

// A MergeRequest is one of the project's.
type MergeRequest struct {
	IID     int
	Target  string
	State   string // opened, merged
	SHA     string // head of its source branch
	Merge   string // the commit of the merge
	Squash  string
	Merged  time.Time
	Commits []string // those that it brought
	notes   []*Note
}

// Start starts a server, which ends with the test.
func Start(t testing.TB) *Server {
	t.Helper()
	s := &Server{Token: "glpat-quite-secret+/=", Project: 12, tokens: map[string]User{}, requests: map[int]*MergeRequest{}}
	s.tokens[s.Token] = User{ID: 1001, Username: "project_12_bot", Role: Reporter}
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	s.URL, s.ProjectURL = web.URL+"/api/v4", web.URL+"/team/servers"
	return s
}

// Add lets another token in.
func (s *Server) Add(token string, u User) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.tokens[token] = u
}

// MergeRequest opens a merge request to main, or changes one.
func (s *Server) MergeRequest(iid int, change ...func(*MergeRequest)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.requests[iid] == nil {
		s.requests[iid] = &MergeRequest{IID: iid, Target: "main", State: "opened"}
	}
	for _, f := range change {
		f(s.requests[iid])
	}
}

// Notes are those of a merge request, the oldest first.
func (s *Server) Notes(iid int) []Note {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all []Note
	for _, n := range s.requests[iid].notes {
		all = append(all, *n)
	}
	return all
}

// Write stores a note as it is, whoever wrote it, and returns its ID.
func (s *Server) Write(iid int, n Note) int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.store(s.requests[iid], n).ID
}

// Delete deletes a note, as a person may at any time.
func (s *Server) Delete(iid, id int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.requests[iid].notes = slices.DeleteFunc(s.requests[iid].notes, func(n *Note) bool { return n.ID == id })
}

// Requests are the requests so far: "POST /projects/12/merge_requests/7/notes".
func (s *Server) Requests() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.asked)
}

// Commands are those that were carried out: "/merge".
func (s *Server) Commands() []string {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return slices.Clone(s.commands)
}

// store keeps a note. Each is a second younger than the one before.
func (s *Server) store(m *MergeRequest, n Note) *Note {
	s.last++
	n.ID = 5000 + s.last
	n.Created = time.Date(2026, 11, 30, 9, 0, s.last, 0, time.UTC)
	if n.Thread == "" {
		n.Thread, n.Single = fmt.Sprintf("%040x", n.ID), true
	}
	m.notes = append(m.notes, &n)
	return &n
}

// routes are all that is answered, below /api/v4.
var routes = map[string]func(*Server, exchange){
	"GET /user": (*Server).user,
	"GET /projects/{project}/merge_requests/{iid}/notes":              (*Server).list,
	"POST /projects/{project}/merge_requests/{iid}/notes":             (*Server).create,
	"GET /projects/{project}/merge_requests/{iid}/notes/{note}":       (*Server).show,
	"PUT /projects/{project}/merge_requests/{iid}/notes/{note}":       (*Server).update,
	"DELETE /projects/{project}/merge_requests/{iid}/notes/{note}":    (*Server).remove,
	"GET /projects/{project}/merge_requests/{iid}/discussions":        (*Server).threads,
	"POST /projects/{project}/merge_requests/{iid}/discussions":       (*Server).begin,
	"PUT /projects/{project}/merge_requests/{iid}/discussions/{id}":   (*Server).resolve,
	"GET /projects/{project}/repository/commits/{sha}/merge_requests": (*Server).brought,
}

// An exchange is one request with what it is about.
type exchange struct {
	w    http.ResponseWriter
	r    *http.Request
	user User
	body map[string]any
}

// ServeHTTP answers a request, in the way of a trouble that waits for it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := r.Method + " " + strings.TrimPrefix(r.URL.Path, "/api/v4")
	s.mutex.Lock()
	s.asked = append(s.asked, name)
	next := s.troubled(name)
	s.mutex.Unlock()
	if s.RateLimit != "" {
		w.Header().Set("RateLimit-Limit", s.RateLimit)
	}
	next(http.HandlerFunc(s.answer)).ServeHTTP(w, r)
}

// answer answers as GitLab does on a good day.
func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	mux := http.NewServeMux()
	for pattern, handle := range routes {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" /api/v4"+path, func(w http.ResponseWriter, r *http.Request) { s.admit(w, r, handle) })
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { refuse(w, http.StatusNotFound, "404 Not Found") })
	mux.ServeHTTP(w, r)
}

// admit asks for the token, and for the body to be JSON.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, handle func(*Server, exchange)) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	token := r.Header.Get("PRIVATE-TOKEN")
	user, known := s.tokens[token]
	if token == "" {
		user, known = s.tokens[r.Header.Get("JOB-TOKEN")]
	}
	project := r.PathValue("project")
	body := map[string]any{}
	switch {
	case !known || user.Job && r.Method != http.MethodGet:
		refuse(w, http.StatusUnauthorized, "401 Unauthorized")
	case user.Expired:
		write(w, http.StatusUnauthorized, map[string]string{"error": "invalid_token",
			"error_description": "Token is expired. You can either do re-authorization or token refresh."})
	case user.ReadOnly && r.Method != http.MethodGet:
		write(w, http.StatusForbidden, map[string]string{"error": "insufficient_scope", "scope": "api",
			"error_description": "The request requires higher privileges than provided by the access token."})
	case project != "" && project != fmt.Sprint(s.Project):
		refuse(w, http.StatusNotFound, "404 Project Not Found")
	case r.Method != http.MethodGet && r.ContentLength != 0 && json.NewDecoder(r.Body).Decode(&body) != nil:
		refuse(w, http.StatusBadRequest, "400 Bad request")
	default:
		handle(s, exchange{w, r, user, body})
	}
}

// write answers in JSON.
func write(w http.ResponseWriter, code int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	if code != http.StatusNoContent {
		json.NewEncoder(w).Encode(value)
	}
}

func refuse(w http.ResponseWriter, code int, message string) {
	write(w, code, map[string]string{"message": message})
}
