package gitlabtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxNoteCharacters is GitLab's limit.
const maxNoteCharacters = 1_000_000

func (s *Server) user(x exchange) { write(x.w, http.StatusOK, person(x.user)) }

// person is a user as GitLab tells of one.
func person(u User) map[string]any {
	return map[string]any{"id": u.ID, "username": u.Username, "name": u.Username, "state": "active"}
}

// request is the merge request that is meant, nil after it was said that there is none.
func (s *Server) request(x exchange) *MergeRequest {
	iid, _ := strconv.Atoi(x.r.PathValue("iid"))
	m := s.requests[iid]
	if m == nil {
		refuse(x.w, http.StatusNotFound, "404 Not found")
	}
	return m
}

// note is the note that is meant, nil after it was said that there is none.
func (s *Server) note(x exchange) (*MergeRequest, *Note) {
	m := s.request(x)
	if m == nil {
		return nil, nil
	}
	for _, n := range m.notes {
		if fmt.Sprint(n.ID) == x.r.PathValue("note") && !n.Hidden {
			return m, n
		}
	}
	refuse(x.w, http.StatusNotFound, "404 Note Not Found")
	return nil, nil
}

// shown is a note as GitLab tells of one.
func (s *Server) shown(m *MergeRequest, n *Note) map[string]any {
	var kind any
	if !n.Single {
		kind = "DiscussionNote"
	}
	return map[string]any{
		"id": n.ID, "type": kind, "body": n.Body, "author": person(n.Author), "system": n.System,
		"created_at": n.Created.Format(time.RFC3339), "updated_at": n.Created.Format(time.RFC3339),
		"noteable_id": 900 + m.IID, "noteable_iid": m.IID, "noteable_type": "MergeRequest", "project_id": s.Project,
		"resolvable": !n.Single, "resolved": n.Resolved, "confidential": false, "internal": false,
	}
}

// list lists notes, the youngest first unless it is asked otherwise.
func (s *Server) list(x exchange) {
	m := s.request(x)
	if m == nil {
		return
	}
	notes := slices.Clone(m.notes)
	if x.r.URL.Query().Get("sort") != "asc" {
		slices.Reverse(notes)
	}
	var shown []map[string]any
	for _, n := range page(s, x, notes) {
		if !n.Hidden { // taken out after the page was filled
			shown = append(shown, s.shown(m, n))
		}
	}
	write(x.w, http.StatusOK, slices.Concat([]map[string]any{}, shown))
}

// page is the page that is asked for, and says in the headers whether there is another.
func page[T any](s *Server, x exchange, all []T) []T {
	query := x.r.URL.Query()
	number, _ := strconv.Atoi(query.Get("page"))
	length, _ := strconv.Atoi(query.Get("per_page"))
	if length < 1 {
		length = 20
	}
	number, length = max(number, 1), min(length, 100)
	from, to := min((number-1)*length, len(all)), min(number*length, len(all))
	next := ""
	if to < len(all) {
		next = fmt.Sprint(number + 1)
		query.Set("page", next)
		x.w.Header().Set("Link", fmt.Sprintf(`<%s%s?%s>; rel="next"`, strings.TrimSuffix(s.URL, "/api/v4"), x.r.URL.Path, query.Encode()))
	}
	if !s.OnlyLink {
		x.w.Header().Set("X-Next-Page", next)
	}
	return all[from:to]
}

func (s *Server) show(x exchange) {
	if m, n := s.note(x); n != nil {
		write(x.w, http.StatusOK, s.shown(m, n))
	}
}

// written is the text that is to be stored; false after it was refused, or was commands alone.
func (s *Server) written(x exchange) (string, bool) {
	body, _ := x.body["body"].(string)
	if strings.TrimSpace(body) == "" {
		refuse(x.w, http.StatusBadRequest, `400 Bad request - Note {:note=>["can't be blank"]}`)
		return "", false
	}
	if len([]rune(body)) > maxNoteCharacters {
		refuse(x.w, http.StatusBadRequest, `400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}`)
		return "", false
	}
	text, commands := extract(body)
	s.commands = append(s.commands, commands...)
	if text == "" && x.r.Method == http.MethodPost {
		write(x.w, http.StatusAccepted, map[string]any{"commands_changes": map[string]any{}, "summary": commands})
		return "", false
	}
	return text, true
}

// make stores a note of the user's.
func (s *Server) make(x exchange, thread string) (*MergeRequest, *Note) {
	m := s.request(x)
	if m == nil {
		return nil, nil
	}
	if x.user.Role < Guest {
		refuse(x.w, http.StatusForbidden, "403 Forbidden")
		return nil, nil
	}
	text, ok := s.written(x)
	if !ok {
		return nil, nil
	}
	return m, s.store(m, Note{Author: x.user, Body: text, Thread: thread})
}

func (s *Server) create(x exchange) {
	if m, n := s.make(x, ""); n != nil {
		write(x.w, http.StatusCreated, s.shown(m, n))
	}
}

// mine tells whether the user may change a note, after it was refused otherwise.
func mine(x exchange, n *Note) bool {
	if n.Author.ID == x.user.ID || x.user.Role >= Maintainer {
		return true
	}
	refuse(x.w, http.StatusForbidden, "403 Forbidden")
	return false
}

// update edits a note. One that is nothing but commands now is deleted.
func (s *Server) update(x exchange) {
	m, n := s.note(x)
	if n == nil || !mine(x, n) {
		return
	}
	text, ok := s.written(x)
	if !ok {
		return
	}
	n.Body = text
	write(x.w, http.StatusOK, s.shown(m, n))
	if text == "" {
		m.notes = slices.DeleteFunc(m.notes, func(o *Note) bool { return o == n })
	}
}

func (s *Server) remove(x exchange) {
	m, n := s.note(x)
	if n == nil || !mine(x, n) {
		return
	}
	m.notes = slices.DeleteFunc(m.notes, func(o *Note) bool { return o == n })
	write(x.w, http.StatusNoContent, nil)
}

// thread is a discussion as GitLab tells of one. Single notes are discussions too.
func (s *Server) thread(m *MergeRequest, id string) map[string]any {
	notes, single := []map[string]any{}, false
	for _, n := range m.notes {
		if n.Thread == id && !n.Hidden {
			notes, single = append(notes, s.shown(m, n)), n.Single
		}
	}
	return map[string]any{"id": id, "individual_note": single, "notes": notes}
}

func (s *Server) threads(x exchange) {
	m := s.request(x)
	if m == nil {
		return
	}
	var ids []string
	for _, n := range m.notes {
		if !slices.Contains(ids, n.Thread) {
			ids = append(ids, n.Thread)
		}
	}
	threads := []map[string]any{}
	for _, id := range page(s, x, ids) {
		threads = append(threads, s.thread(m, id))
	}
	write(x.w, http.StatusOK, threads)
}

func (s *Server) begin(x exchange) {
	if m, n := s.make(x, fmt.Sprintf("%040x", 1_000_000+s.last)); n != nil {
		write(x.w, http.StatusCreated, s.thread(m, n.Thread))
	}
}

// resolve takes a Developer.
func (s *Server) resolve(x exchange) {
	m := s.request(x)
	if m == nil {
		return
	}
	id := x.r.PathValue("id")
	resolved, ok := x.body["resolved"].(bool)
	if text := x.r.URL.Query().Get("resolved"); text != "" {
		resolved, ok = text == "true", true
	}
	at := slices.IndexFunc(m.notes, func(n *Note) bool { return n.Thread == id && !n.Single })
	switch {
	case !ok:
		refuse(x.w, http.StatusBadRequest, "resolved is missing")
	case at < 0:
		refuse(x.w, http.StatusNotFound, "404 Discussion Not Found")
	case x.user.Role < Developer:
		refuse(x.w, http.StatusForbidden, "403 Forbidden")
	default:
		m.notes[at].Resolved = resolved
		write(x.w, http.StatusOK, s.thread(m, id))
	}
}

// brought lists the merge requests that hold a commit, merged or not.
func (s *Server) brought(x exchange) {
	sha := x.r.PathValue("sha")
	var found []map[string]any
	for _, m := range s.requests {
		if !slices.Contains(append([]string{m.SHA, m.Merge, m.Squash}, m.Commits...), sha) {
			continue
		}
		answer := map[string]any{"id": 900 + m.IID, "iid": m.IID, "project_id": s.Project, "state": m.State, "target_branch": m.Target,
			"source_branch": fmt.Sprint("source-", m.IID), "sha": m.SHA, "merge_commit_sha": m.Merge, "squash_commit_sha": m.Squash}
		if !m.Merged.IsZero() {
			answer["merged_at"] = m.Merged.Format(time.RFC3339)
		}
		found = append(found, answer)
	}
	slices.SortFunc(found, func(a, b map[string]any) int { return b["iid"].(int) - a["iid"].(int) })
	write(x.w, http.StatusOK, slices.Concat([]map[string]any{}, page(s, x, found)))
}
