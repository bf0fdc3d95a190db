package gitlabtest

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gitlab "github.com/xanzy/go-gitlab"
	clientgo "gitlab.com/gitlab-org/api/client-go/v2"
)

func TestOnlyRoutesOfGitLabAreServed(t *testing.T) {
	t.Parallel()
	parameter := regexp.MustCompile(`\{[a-z]+\}`)
	for pattern := range routes {
		_, path, _ := strings.Cut(pattern, " ")
		route, known := clientgo.MatchRoute(parameter.ReplaceAllString(path, "1"))
		if want := parameter.ReplaceAllString(path, ":id"); !known || route.String() != want {
			t.Errorf("%s is the route %q of GitLab's own client, want %q", pattern, route, want)
		}
	}
	if route, known := clientgo.MatchRoute("/projects/1/merge_requests/1/remarks"); known {
		t.Errorf("the client knows a route that there is not: %s", route)
	}
}

// client is go-gitlab's, as it comes.
//
//lint:ignore SA1019 this module was asked for; its successor is one room away (ARCHITECTURE.md)
func client(t *testing.T, s *Server, token string) *gitlab.Client {
	t.Helper()
	//lint:ignore SA1019 this module was asked for; its successor is one room away (ARCHITECTURE.md)
	c, err := gitlab.NewClient(token, gitlab.WithBaseURL(s.URL), gitlab.WithoutRetries())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestEveryRouteIsCalledByGoGitLab(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.Add("developer", User{ID: 7, Role: Developer})
	sha := strings.Repeat("a", 40)
	s.MergeRequest(1, func(m *MergeRequest) { m.Commits = []string{sha} })
	c := client(t, s, "developer")
	check := func(what string, answer *gitlab.Response, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	user, answer, err := c.Users.CurrentUser()
	check("user", answer, err)
	note, answer, err := c.Notes.CreateMergeRequestNote(12, 1, &gitlab.CreateMergeRequestNoteOptions{Body: gitlab.Ptr("one")})
	check("create", answer, err)
	if note.Author.ID != user.ID || note.ID == 0 || note.Body != "one" || note.Resolvable || note.CreatedAt == nil {
		t.Errorf("created %+v", note)
	}
	_, answer, err = c.Notes.UpdateMergeRequestNote(12, 1, note.ID, &gitlab.UpdateMergeRequestNoteOptions{Body: gitlab.Ptr("two")})
	check("update", answer, err)
	note, answer, err = c.Notes.GetMergeRequestNote(12, 1, note.ID)
	check("show", answer, err)
	if note.Body != "two" {
		t.Errorf("edited to %q", note.Body)
	}
	thread, answer, err := c.Discussions.CreateMergeRequestDiscussion(12, 1, &gitlab.CreateMergeRequestDiscussionOptions{Body: gitlab.Ptr("three")})
	check("begin", answer, err)
	_, answer, err = c.Discussions.ResolveMergeRequestDiscussion(12, 1, thread.ID, &gitlab.ResolveMergeRequestDiscussionOptions{Resolved: gitlab.Ptr(true)})
	check("resolve", answer, err)
	threads, answer, err := c.Discussions.ListMergeRequestDiscussions(12, 1, nil)
	check("threads", answer, err)
	if len(threads) != 2 || !threads[0].IndividualNote || threads[1].IndividualNote || !threads[1].Notes[0].Resolved {
		t.Errorf("threads are %+v", threads)
	}
	answer, err = c.Notes.DeleteMergeRequestNote(12, 1, note.ID)
	check("remove", answer, err)
	notes, answer, err := c.Notes.ListMergeRequestNotes(12, 1, nil)
	check("list", answer, err)
	if len(notes) != 1 || notes[0].Body != "three" || !notes[0].Resolvable {
		t.Errorf("notes are %+v", notes)
	}
	requests, answer, err := c.Commits.ListMergeRequestsByCommit(12, sha)
	check("brought", answer, err)
	if len(requests) != 1 || requests[0].IID != 1 || requests[0].State != "opened" {
		t.Errorf("merge requests are %+v", requests)
	}
	if asked := s.Requests(); len(asked) != len(routes) {
		t.Errorf("%d requests for %d routes: %q", len(asked), len(routes), asked)
	}
}

func TestWhatIsStoredOfANote(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body, stored string
		commands           []string
	}{
		{"text with carriage returns and white space at the end", "a\r\nb \r\n\n", "a\nb", nil},
		{"a command between lines", "a\n/close\nb", "a\nb", []string{"/close"}},
		{"a command that a carriage return hid", "a\n\r/Close", "a", []string{"/Close"}},
		{"commands alone", "/label ~x\n/merge", "", []string{"/label ~x", "/merge"}},
		{"a word that is no command", "/dev/null\n/closed", "/dev/null\n/closed", nil},
		{"a command in code", "```\n/close\n```", "```\n/close\n```", nil},
		{"a command in code that nobody closes", "```\n/close", "```", []string{"/close"}},
		{"a command in a quote", ">>>\n/close\n>>>\n/close", ">>>\n/close\n>>>", []string{"/close"}},
		{"a command behind a blank", " /close", " /close", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			stored, commands := extract(test.body)
			if stored != test.stored {
				t.Errorf("stored %q, want %q", stored, test.stored)
			}
			if diff := cmp.Diff(test.commands, commands); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCommandsAloneMakeNoNoteAndDeleteOne(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.MergeRequest(1)
	c := client(t, s, s.Token)
	note, answer, err := c.Notes.CreateMergeRequestNote(12, 1, &gitlab.CreateMergeRequestNoteOptions{Body: gitlab.Ptr("/close")})
	if err != nil || answer.StatusCode != http.StatusAccepted || note.ID != 0 || len(s.Notes(1)) != 0 {
		t.Errorf("%+v, %v", note, err)
	}
	id := s.Write(1, Note{Author: User{ID: 1001}, Body: "x"})
	if _, _, err = c.Notes.UpdateMergeRequestNote(12, 1, id, &gitlab.UpdateMergeRequestNoteOptions{Body: gitlab.Ptr("/merge")}); err != nil {
		t.Error(err)
	}
	if _, _, err = c.Notes.GetMergeRequestNote(12, 1, id); !errors.Is(err, gitlab.ErrNotFound) {
		t.Errorf("the note is there yet: %v", err)
	}
	if diff := cmp.Diff([]string{"/close", "/merge"}, s.Commands()); diff != "" {
		t.Error(diff)
	}
}

func TestWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name         string
		user         User
		list, create int
		foreign      int // editing another's note
	}{
		{"a reporter", User{ID: 1, Role: Reporter}, 200, 201, 403},
		{"a maintainer", User{ID: 1, Role: Maintainer}, 200, 201, 200},
		{"a stranger", User{ID: 1, Role: 0}, 200, 403, 403},
		{"the token of a job", User{ID: 1, Role: Maintainer, Job: true}, 200, 401, 401},
		{"a token that may read", User{ID: 1, Role: Maintainer, ReadOnly: true}, 200, 403, 403},
		{"a token that has expired", User{ID: 1, Role: Maintainer, Expired: true}, 401, 401, 401},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := Start(t)
			s.MergeRequest(1)
			s.Add("x", test.user)
			id := s.Write(1, Note{Author: User{ID: 2}, Body: "y"})
			c := client(t, s, "x")
			_, list, _ := c.Notes.ListMergeRequestNotes(12, 1, nil)
			_, create, _ := c.Notes.CreateMergeRequestNote(12, 1, &gitlab.CreateMergeRequestNoteOptions{Body: gitlab.Ptr("z")})
			_, foreign, _ := c.Notes.UpdateMergeRequestNote(12, 1, id, &gitlab.UpdateMergeRequestNoteOptions{Body: gitlab.Ptr("z")})
			if list.StatusCode != test.list || create.StatusCode != test.create || foreign.StatusCode != test.foreign {
				t.Errorf("%d, %d, %d; want %d, %d, %d", list.StatusCode, create.StatusCode, foreign.StatusCode, test.list, test.create, test.foreign)
			}
		})
	}
}

func TestPagesGoBackInTimeAndMayBeShort(t *testing.T) {
	t.Parallel()
	s := Start(t)
	s.MergeRequest(1)
	var ids []int
	for i := range 45 {
		ids = append(ids, s.Write(1, Note{Body: "x", Hidden: i >= 25 && i < 30}))
	}
	c := client(t, s, s.Token)
	var lengths, got []int
	options := &gitlab.ListMergeRequestNotesOptions{}
	for {
		notes, answer, err := c.Notes.ListMergeRequestNotes(12, 1, options)
		if err != nil {
			t.Fatal(err)
		}
		lengths = append(lengths, len(notes))
		for _, n := range notes {
			got = append(got, n.ID)
		}
		if (answer.NextLink == "") != (answer.NextPage == 0) {
			t.Errorf("the headers say %q and %d", answer.NextLink, answer.NextPage)
		}
		if options.Page = answer.NextPage; options.Page == 0 {
			break
		}
	}
	if diff := cmp.Diff([]int{15, 20, 5}, lengths); diff != "" {
		t.Error(diff)
	}
	slices.Reverse(got)
	if diff := cmp.Diff(slices.Concat(ids[:25], ids[30:]), got); diff != "" {
		t.Error(diff)
	}
}
