package gitlab_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/gitlab"
	"gitlab.com/stopwatt/stopwatt/gitlab/gitlabtest"
)

// A desk is a GitLab with a client whose waiting is written down and not done.
type desk struct {
	t      *testing.T
	server *gitlabtest.Server
	client *gitlab.Client
	mutex  sync.Mutex
	waited []time.Duration
}

func newDesk(t *testing.T, change ...func(*gitlab.Settings)) *desk {
	t.Helper()
	d := &desk{t: t, server: gitlabtest.Start(t)}
	d.server.MergeRequest(7)
	settings := gitlab.Settings{API: d.server.URL, Token: d.server.Token, Wait: func(ctx context.Context, length time.Duration) error {
		d.mutex.Lock()
		defer d.mutex.Unlock()
		d.waited = append(d.waited, length)
		return ctx.Err()
	}}
	for _, f := range change {
		f(&settings)
	}
	client, err := gitlab.Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	d.client = client
	return d
}

// began is when the pipelines of the tests begin.
var began = time.Date(2026, 11, 30, 9, 41, 7, 0, time.UTC)

func (d *desk) pipeline(id int64) stopwatt.Pipeline {
	return stopwatt.Pipeline{Kind: stopwatt.SourceBranch, ID: id, API: d.server.URL,
		MergeRequest: stopwatt.MergeRequest{IID: 7, ProjectID: d.server.Project, ProjectURL: d.server.ProjectURL}}
}

// post posts a note and fails the test when that fails.
func (d *desk) post(pipeline int64, note stopwatt.Note) gitlab.Posted {
	d.t.Helper()
	posted, err := d.client.Post(d.t.Context(), d.pipeline(pipeline), note)
	if err != nil {
		d.t.Fatal(err)
	}
	return posted
}

// count counts the requests whose names begin so.
func (d *desk) count(prefix string) int {
	n := 0
	for _, name := range d.server.Requests() {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// bodies are the notes below their markers.
func (d *desk) bodies() []string {
	var all []string
	for _, n := range d.server.Notes(7) {
		_, text, _ := strings.Cut(n.Body, "\n")
		all = append(all, text)
	}
	return all
}

func note(body string) stopwatt.Note {
	return stopwatt.Note{Suite: "web-servers", Body: body, Created: began}
}

const allNotes = "/projects/12/merge_requests/7/notes"

func TestANoteIsEditedInPlace(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.post(1, note("### one"))
	if first.Did != gitlab.Created || first.URL != fmt.Sprintf("%s/-/merge_requests/7#note_%d", d.server.ProjectURL, first.NoteID) {
		t.Errorf("posted %+v", first)
	}
	stored := d.server.Notes(7)[0].Body
	if line, _, _ := strings.Cut(stored, "\n"); !strings.HasPrefix(line, "<!-- stopwatt:v1 suite=web-servers pipeline=1 created=2026-11-30T09:41:07Z hash=sha256:") {
		t.Errorf("the marker is %q", line)
	}
	if again := d.post(1, note("### one")); again.Did != gitlab.Unchanged || again.NoteID != first.NoteID {
		t.Errorf("the same once more: %+v", again)
	}
	if n := d.count("PUT"); n != 0 {
		t.Errorf("%d edits of a note that says the same", n)
	}
	if second := d.post(2, note("### two")); second.Did != gitlab.Edited || second.NoteID != first.NoteID {
		t.Errorf("the next pipeline: %+v", second)
	}
	other := note("### other")
	other.Suite = "web-servers-2"
	if posted := d.post(2, other); posted.Did != gitlab.Created {
		t.Errorf("another suite: %+v", posted)
	}
	if got := d.bodies(); len(got) != 2 || got[0] != "### two" || got[1] != "### other" {
		t.Errorf("notes are %q", got)
	}
}

func TestWhoseNoteStays(t *testing.T) {
	t.Parallel()
	later := func(n stopwatt.Note, by time.Duration) stopwatt.Note { n.Created = n.Created.Add(by); return n }
	tests := []struct {
		name          string
		there         int64 // the pipeline whose note is there
		thereNote     stopwatt.Note
		pipeline      int64
		note          stopwatt.Note
		did           gitlab.Done
		body          string
		pipelineAfter int64
	}{
		{"an older pipeline comes late", 9, note("new"), 8, later(note("old"), time.Hour), gitlab.NewerThere, "new", 9},
		{"a newer pipeline", 8, note("old"), 9, note("new"), gitlab.Edited, "new", 9},
		{"a job that was retried in the same pipeline", 8, note("first"), 8, later(note("second"), time.Minute), gitlab.Edited, "second", 8},
		{"the first attempt, sent after the second", 8, later(note("second"), time.Minute), 8, note("first"), gitlab.NewerThere, "second", 8},
		{"a newer pipeline that says the same, so that one between does not edit it", 8, note("same"), 10, note("same"), gitlab.Edited, "same", 10},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.post(test.there, test.thereNote)
			if posted := d.post(test.pipeline, test.note); posted.Did != test.did || posted.URL == "" {
				t.Errorf("posted %+v, want %s", posted, test.did)
			}
			if got := d.bodies(); len(got) != 1 || got[0] != test.body {
				t.Errorf("notes are %q, want %q", got, test.body)
			}
			if body := d.server.Notes(7)[0].Body; !strings.Contains(body, fmt.Sprintf(" pipeline=%d ", test.pipelineAfter)) {
				t.Errorf("%q is not of pipeline %d", body, test.pipelineAfter)
			}
		})
	}
}

func TestNotesOfOthersAreLeftAlone(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(1, note("ours"))
	quoted := d.server.Notes(7)[0].Body
	d.server.Delete(7, d.server.Notes(7)[0].ID)
	d.server.Write(7, gitlabtest.Note{Author: gitlabtest.User{ID: 5, Username: "ada"}, Body: quoted})
	d.server.Write(7, gitlabtest.Note{Author: gitlabtest.User{ID: 1001}, Body: quoted, System: true})
	d.server.Write(7, gitlabtest.Note{Author: gitlabtest.User{ID: 1001}, Body: "Look:\n" + quoted})
	if posted := d.post(2, note("ours again")); posted.Did != gitlab.Created {
		t.Errorf("posted %+v", posted)
	}
	if n := d.count("PUT") + d.count("DELETE"); n != 0 {
		t.Errorf("%d of the others' notes were touched", n)
	}
}

func TestANoteIsFoundBehindManyPages(t *testing.T) {
	t.Parallel()
	for _, onlyLink := range []bool{false, true} {
		t.Run(fmt.Sprintf("by the header Link alone: %v", onlyLink), func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.server.OnlyLink = onlyLink
			for i := range 230 {
				// The whole second page is hidden from the token's user.
				d.server.Write(7, gitlabtest.Note{Author: gitlabtest.User{ID: 5}, Body: "talk", Hidden: i >= 100 && i < 200})
			}
			d.post(1, note("one"))
			if posted := d.post(2, note("two")); posted.Did != gitlab.Edited {
				t.Errorf("posted %+v", posted)
			}
		})
	}
}

func TestANoteIsMadeOnceWhateverGitLabAnswers(t *testing.T) {
	t.Parallel()
	create := "POST " + allNotes
	tests := []struct {
		name   string
		way    gitlabtest.Way
		times  int
		posts  int
		waited time.Duration
	}{
		{"a gateway that fails after the note was made", gitlabtest.After(gitlabtest.BadGateway), 1, 1, 2 * time.Second},
		{"a gateway that fails before", gitlabtest.BadGateway, 1, 2, 2 * time.Second},
		{"a gateway that fails twice before", gitlabtest.BadGateway, 2, 3, 6 * time.Second},
		{"a connection that breaks off after the note was made", gitlabtest.After(gitlabtest.Break), 1, 1, 2 * time.Second},
		{"an answer that ends halfway", gitlabtest.After(gitlabtest.Answer(201, `{"id": 50`, "Content-Type", "application/json")), 1, 1, 2 * time.Second},
		{"an answer without a note", gitlabtest.After(gitlabtest.Answer(201, `{}`, "Content-Type", "application/json")), 1, 1, 2 * time.Second},
		{"the limit on all requests, which says for how long", gitlabtest.TooManyRequests, 1, 2, time.Minute},
		{"the limit on notes, which does not", gitlabtest.TooManyNotes, 2, 3, 40 * time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.server.RateLimit = "2" // by which go-gitlab would slow itself down to one request in half a minute
			d.server.Trouble(create, test.times, test.way)
			if posted := d.post(1, note("one")); posted.Did != gitlab.Created {
				t.Errorf("posted %+v", posted)
			}
			if got := d.bodies(); len(got) != 1 || got[0] != "one" {
				t.Errorf("notes are %q", got)
			}
			if got := d.count(create); got != test.posts {
				t.Errorf("%d posts, want %d", got, test.posts)
			}
			waited := time.Duration(0)
			for _, length := range d.waited {
				waited += length
			}
			if waited != test.waited {
				t.Errorf("waited %v, want %v", d.waited, test.waited)
			}
		})
	}
}

func TestReadingAndEditingIsTriedAgain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.post(1, note("one"))
	d.server.Trouble("GET /user", 1, gitlabtest.Break)
	d.server.Trouble("GET "+allNotes, 3, gitlabtest.BadGateway)
	d.server.Trouble("PUT "+allNotes+"/.*", 1, gitlabtest.After(gitlabtest.BadGateway))
	d.server.Trouble("PUT "+allNotes+"/.*", 1, gitlabtest.TooManyRequests)
	if posted := d.post(2, note("two")); posted.Did != gitlab.Edited {
		t.Errorf("posted %+v", posted)
	}
	if got := d.bodies(); len(got) != 1 || got[0] != "two" {
		t.Errorf("notes are %q", got)
	}
}

func TestTwoJobsThatBeginANoteAtOnceLeaveOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		other int64 // pipeline of the other job
		body  string
		did   gitlab.Done
	}{
		{"the other's is older", 1, "ours", gitlab.Created},
		{"the other's is newer", 9, "theirs", gitlab.NewerThere},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.server.Trouble("POST "+allNotes, 1, gitlabtest.First(func() {
				if _, err := d.client.Post(t.Context(), d.pipeline(test.other), note("theirs")); err != nil {
					t.Error(err)
				}
			}))
			posted := d.post(5, note("ours"))
			notes := d.server.Notes(7)
			if len(notes) != 1 || d.bodies()[0] != test.body || int64(notes[0].ID) != posted.NoteID || posted.Did != test.did {
				t.Errorf("posted %+v, notes are %q", posted, d.bodies())
			}
			if again, err := d.client.Post(t.Context(), d.pipeline(10), note("next")); err != nil || again.NoteID != posted.NoteID {
				t.Errorf("next: %+v, %v", again, err)
			}
		})
	}
}

func TestANoteThatAPersonDeletesIsMadeAnew(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.post(1, note("one"))
	d.server.Trouble("PUT "+allNotes+"/.*", 1, gitlabtest.First(func() { d.server.Delete(7, int(first.NoteID)) }))
	if posted := d.post(2, note("two")); posted.Did != gitlab.Created || posted.NoteID == first.NoteID {
		t.Errorf("posted %+v after %+v", posted, first)
	}
	if got := d.bodies(); len(got) != 1 || got[0] != "two" {
		t.Errorf("notes are %q", got)
	}
}

func TestAQuietNoteBeginsWhenSomethingIsWorse(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	quiet := func(body string, worse bool) stopwatt.Note {
		n := note(body)
		n.Quiet, n.Worse = true, worse
		return n
	}
	steps := []struct {
		note stopwatt.Note
		did  gitlab.Done
	}{
		{quiet("nothing worse", false), gitlab.KeptQuiet},
		{quiet("worse", true), gitlab.Created},
		{quiet("nothing worse any more", false), gitlab.Edited},
	}
	for i, step := range steps {
		if posted := d.post(int64(i+1), step.note); posted.Did != step.did {
			t.Errorf("%s: %+v, want %s", step.note.Body, posted, step.did)
		}
	}
}

func TestAThreadIsOpenWhileSomethingIsWorse(t *testing.T) {
	t.Parallel()
	d := newDesk(t, func(s *gitlab.Settings) { s.Token = "developer" })
	d.server.Add("developer", gitlabtest.User{ID: 1002, Role: gitlabtest.Developer})
	for i := range 120 { // a page of threads before ours
		d.server.Write(7, gitlabtest.Note{Author: gitlabtest.User{ID: 5}, Body: fmt.Sprint("talk ", i)})
	}
	thread := func(body string, worse, thread bool) stopwatt.Note {
		n := note(body)
		n.Worse, n.Thread = worse, thread
		return n
	}
	steps := []struct {
		note     stopwatt.Note
		did      gitlab.Done
		resolved bool
	}{
		{thread("worse", true, true), gitlab.Created, false},
		{thread("better", false, true), gitlab.Edited, true},
		{thread("better again", false, true), gitlab.Edited, true},
		{thread("worse again", true, true), gitlab.Edited, false},
		{thread("a plain note is wanted now", false, false), gitlab.Edited, true},
	}
	for i, step := range steps {
		posted := d.post(int64(i+1), step.note)
		last := d.server.Notes(7)[120]
		if posted.Did != step.did || last.Resolved != step.resolved || last.Single || len(d.server.Notes(7)) != 121 {
			t.Errorf("%s: %+v, %+v", step.note.Body, posted, last)
		}
	}
	if n := d.count("PUT /projects/12/merge_requests/7/discussions/"); n != 3 {
		t.Errorf("the thread was touched %d times, want 3", n)
	}
}

func TestAPlainNoteStaysPlain(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	first := d.post(1, note("plain"))
	thread := note("a thread is wanted now")
	thread.Thread, thread.Worse = true, true
	if posted := d.post(2, thread); posted.Did != gitlab.Edited || posted.NoteID != first.NoteID {
		t.Errorf("posted %+v", posted)
	}
}

func TestHostileTextIsStoredAndNotCarriedOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	n := note("\r\n/merge\n> /close\n\r/approve\n/shrug\n```\n/label x\n```\n@all `/merge`\r\n\x00/close \xff  \n")
	n.Suite = "--> <script>\n/merge 日本"
	posted := d.post(1, n)
	if got := d.server.Commands(); len(got) != 0 {
		t.Errorf("GitLab carried out %q", got)
	}
	stored := d.server.Notes(7)[0].Body
	line, _, _ := strings.Cut(stored, "\n")
	if strings.Contains(strings.TrimSuffix(line, "-->"), "-->") || !strings.HasSuffix(line, " -->") {
		t.Errorf("the marker is %q", line)
	}
	if again := d.post(1, n); again.Did != gitlab.Unchanged || again.NoteID != posted.NoteID {
		t.Errorf("again: %+v", again)
	}
}
