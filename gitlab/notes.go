package gitlab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	gitlab "github.com/xanzy/go-gitlab"
)

// maxPages is a bound on lists: a hundred thousand notes.
const maxPages = 1000

// whoAmI is the ID of the token's user.
func (e *errand) whoAmI(ctx context.Context) (int, error) {
	var user *gitlab.User
	err := e.do(ctx, "ask who the token's user is", func(o ...gitlab.RequestOptionFunc) (answer *gitlab.Response, err error) {
		user, answer, err = e.api.Users.CurrentUser(o...)
		return answer, err
	})
	if errors.Is(err, ErrGone) { // every API has it
		return 0, errors.New("ask who the token's user is: GitLab answers 404 Not Found: CI_API_V4_URL is not the API's address, which ends in /api/v4")
	}
	if err != nil {
		return 0, err
	}
	if user.ID == 0 {
		return 0, errors.New("ask who the token's user is: GitLab names none")
	}
	return user.ID, nil
}

// ours lists the notes of a letter's suite that this user wrote. A marker alone would not
// do: whoever quotes a note quotes its marker. What was just made is among them even
// where a list does not show it yet.
func (e *errand) ours(ctx context.Context, l letter, me int, made *gitlab.Note) ([]own, error) {
	var found []own
	options := gitlab.ListMergeRequestNotesOptions{OrderBy: gitlab.Ptr("created_at"), Sort: gitlab.Ptr("asc")}
	err := e.pages(ctx, "list notes", func(page gitlab.ListOptions, o ...gitlab.RequestOptionFunc) (*gitlab.Response, error) {
		options.ListOptions = page
		notes, answer, err := e.api.Notes.ListMergeRequestNotes(l.project, l.request, &options, o...)
		for _, n := range notes {
			if m, text, ok := parseMarker(n.Body); ok && m.suite == l.marker.suite && n.Author.ID == me && !n.System {
				found = append(found, own{n, m, text})
			}
		}
		return answer, err
	})
	if made != nil && !slices.ContainsFunc(found, func(n own) bool { return n.ID == made.ID }) {
		found = append(found, own{made, l.marker, l.text})
	}
	return found, err
}

// pages asks for one page after the other. That there are more is told by headers alone: what the
// token's user may not see is taken out after a page was filled.
func (e *errand) pages(ctx context.Context, what string, ask func(gitlab.ListOptions, ...gitlab.RequestOptionFunc) (*gitlab.Response, error)) error {
	for page := 1; page > 0; {
		if page > maxPages {
			return fmt.Errorf("%s: there are more than %d pages", what, maxPages)
		}
		var last *gitlab.Response
		err := e.do(ctx, what, func(o ...gitlab.RequestOptionFunc) (answer *gitlab.Response, err error) {
			last, err = ask(gitlab.ListOptions{Page: page, PerPage: 100}, o...)
			return last, err
		})
		if err != nil {
			return err
		}
		next := nextPage(last)
		if next != 0 && next <= page {
			return fmt.Errorf("%s: after page %d GitLab names page %d", what, page, next)
		}
		page = next
	}
	return nil
}

// nextPage is the page that an answer names, 0 when there is none.
func nextPage(answer *gitlab.Response) int {
	if answer.NextPage != 0 || answer.NextLink == "" {
		return answer.NextPage
	}
	link, err := url.Parse(answer.NextLink)
	if err != nil {
		return 0
	}
	page, _ := strconv.Atoi(link.Query().Get("page"))
	return page
}

// begin makes a note or a thread.
func (e *errand) begin(ctx context.Context, l letter) (*gitlab.Note, error) {
	var made *gitlab.Note
	err := e.once(ctx, "write the note", func(o ...gitlab.RequestOptionFunc) (answer *gitlab.Response, err error) {
		if !l.note.Thread {
			options := gitlab.CreateMergeRequestNoteOptions{Body: gitlab.Ptr(l.body())}
			made, answer, err = e.api.Notes.CreateMergeRequestNote(l.project, l.request, &options, o...)
			return answer, taken(answer, err)
		}
		options := gitlab.CreateMergeRequestDiscussionOptions{Body: gitlab.Ptr(l.body())}
		thread, answer, err := e.api.Discussions.CreateMergeRequestDiscussion(l.project, l.request, &options, o...)
		if err == nil && len(thread.Notes) > 0 {
			made = thread.Notes[0]
		}
		return answer, taken(answer, err)
	})
	if err == nil && (made == nil || made.ID == 0) {
		err = fmt.Errorf("write the note: GitLab names none; %w", errUnclear)
	}
	if err != nil {
		return nil, err
	}
	return made, nil
}

// errOnlyCommands stands for the answer 202, which go-gitlab takes for success.
var errOnlyCommands = errors.New("GitLab took the note for commands and made none: this is a mistake of stopwatt's, please report it with the note")

// taken is the error of an answer that made nothing.
func taken(answer *gitlab.Response, err error) error {
	if err == nil && status(answer) == http.StatusAccepted {
		return errOnlyCommands
	}
	return err
}

func (e *errand) edit(ctx context.Context, l letter, id int, body string) error {
	options := gitlab.UpdateMergeRequestNoteOptions{Body: gitlab.Ptr(body)}
	return e.do(ctx, "edit the note", func(o ...gitlab.RequestOptionFunc) (*gitlab.Response, error) {
		_, answer, err := e.api.Notes.UpdateMergeRequestNote(l.project, l.request, id, &options, o...)
		return answer, err
	})
}

// remove deletes a note of ours that was made twice. Another job may have been faster.
func (e *errand) remove(ctx context.Context, l letter, id int) error {
	err := e.do(ctx, "delete the second note", func(o ...gitlab.RequestOptionFunc) (*gitlab.Response, error) {
		return e.api.Notes.DeleteMergeRequestNote(l.project, l.request, id, o...)
	})
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

// resolve resolves the thread that a note begins, or opens it again. The thread has an ID
// of its own, which the note does not tell.
func (e *errand) resolve(ctx context.Context, l letter, id int) error {
	thread := ""
	var options gitlab.ListMergeRequestDiscussionsOptions
	err := e.pages(ctx, "list threads", func(page gitlab.ListOptions, o ...gitlab.RequestOptionFunc) (*gitlab.Response, error) {
		options = gitlab.ListMergeRequestDiscussionsOptions(page)
		threads, answer, err := e.api.Discussions.ListMergeRequestDiscussions(l.project, l.request, &options, o...)
		for _, t := range threads {
			if slices.ContainsFunc(t.Notes, func(n *gitlab.Note) bool { return n.ID == id }) {
				thread = t.ID
			}
		}
		return answer, err
	})
	if err != nil || thread == "" {
		return err
	}
	resolved := gitlab.ResolveMergeRequestDiscussionOptions{Resolved: gitlab.Ptr(!l.note.Worse)}
	return e.do(ctx, "resolve the thread", func(o ...gitlab.RequestOptionFunc) (*gitlab.Response, error) {
		_, answer, err := e.api.Discussions.ResolveMergeRequestDiscussion(l.project, l.request, thread, &resolved, o...)
		return answer, err
	})
}
