package gitlab

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	gitlab "github.com/xanzy/go-gitlab"
	"gitlab.com/stopwatt/stopwatt"
)

// Done says what became of a note.
type Done string

// What may become of a note.
const (
	Created    Done = "created"
	Edited     Done = "edited"
	Unchanged  Done = "unchanged"   // it says the same already
	NewerThere Done = "newer there" // that of a later pipeline, which stays
	KeptQuiet  Done = "kept quiet"  // nothing is worse, and none was begun
)

// Posted is what became of a note, and where it is.
type Posted struct {
	URL    string // empty where there is no note
	NoteID int64  // 0 where there is no note
	Did    Done
}

// maxNoteCharacters is GitLab's limit on the text of a note.
const maxNoteCharacters = 1_000_000

// rounds are how often Post begins anew when somebody deletes what it is editing, or
// GitLab does not say whether a note was made.
const rounds = 4

// A letter is a note as it is sent.
type letter struct {
	project string // the ID
	request int    // IID of the merge request
	page    string // URL of the merge request; empty where it is not known
	marker  marker
	text    string // below the marker
	note    stopwatt.Note
}

func (l letter) body() string { return l.marker.String() + "\n" + l.text }

// Post writes a note on a pipeline's merge request: the one of its suite is found by its
// author and marker and edited in place, and one is made where none is. A newer
// pipeline's stays. Of two that were made at once the older stays, with the newest text.
func (c *Client) Post(ctx context.Context, p stopwatt.Pipeline, note stopwatt.Note) (Posted, error) {
	l, err := c.letter(p, note)
	if err != nil {
		return Posted{}, err
	}
	posted, err := c.errand().post(ctx, l)
	if err != nil {
		err = fmt.Errorf("note of suite %s on merge request !%d: %w", printable(note.Suite), l.request, err)
	}
	return posted, err
}

// letter checks what is to be sent.
func (c *Client) letter(p stopwatt.Pipeline, note stopwatt.Note) (letter, error) {
	text := clean(note.Body)
	l := letter{project: fmt.Sprint(p.MergeRequest.ProjectID), request: p.MergeRequest.IID, note: note, text: text, marker: mark(p.ID, note, text)}
	if p.MergeRequest.ProjectURL != "" {
		l.page = fmt.Sprintf("%s/-/merge_requests/%d", strings.TrimRight(p.MergeRequest.ProjectURL, "/"), l.request)
	}
	switch length := utf8.RuneCountInString(l.body()); {
	case l.request <= 0 || p.MergeRequest.ProjectID <= 0:
		return l, errors.New("the pipeline is for no merge request, and a note has no other place")
	case strings.TrimRight(p.API, "/") != c.settings.API:
		// A parcel from elsewhere must not decide whom the token is shown to.
		return l, errors.New("the note is for another GitLab than the token")
	case text == "":
		return l, errors.New("the note is empty")
	case length > maxNoteCharacters:
		return l, fmt.Errorf("the note has %d characters, and GitLab takes %d", length, maxNoteCharacters)
	}
	return l, nil
}

// post lists, then makes or edits, then lists again: between two looks another job may
// have made the same note, and a person may have deleted it.
func (e *errand) post(ctx context.Context, l letter) (Posted, error) {
	me, err := e.whoAmI(ctx)
	if err != nil {
		return Posted{}, err
	}
	var made *gitlab.Note
	began := false
	for round := 1; ; round++ {
		found, err := e.ours(ctx, l, me, made)
		if err != nil {
			return Posted{}, err
		}
		if len(found) > 0 {
			posted, err := e.settle(ctx, l, found, began)
			if !errors.Is(err, ErrGone) || round == rounds {
				return posted, err
			}
			made, began = nil, false
			continue
		}
		if l.note.Quiet && !l.note.Worse {
			return Posted{Did: KeptQuiet}, nil
		}
		began = true
		if made, err = e.begin(ctx, l); err == nil {
			continue
		}
		if !errors.Is(err, errUnclear) || round == rounds || e.rest(ctx, time.Second<<round) != nil {
			return Posted{}, err
		}
	}
}

// An own note is one that we wrote, with its marker.
type own struct {
	*gitlab.Note
	marker marker
	text   string
}

// settle leaves one note of those found, the oldest, with the newest text, and its thread
// open or resolved as that says.
func (e *errand) settle(ctx context.Context, l letter, found []own, began bool) (Posted, error) {
	slices.SortFunc(found, func(a, b own) int { return a.ID - b.ID })
	keep, newest := found[0], found[0]
	for _, n := range found[1:] {
		if n.marker.newerThan(newest.marker) {
			newest = n
		}
	}
	did, body := Edited, l.body()
	switch {
	case newest.marker.newerThan(l.marker):
		did, body = NewerThere, newest.Body
	case began:
		did = Created
	case newest.marker.pipeline == l.marker.pipeline && newest.marker.hash == l.marker.hash && newest.text == l.text:
		did, body = Unchanged, newest.Body
	}
	if keep.Body != body && !(did == Created && keep.marker == l.marker) {
		if err := e.edit(ctx, l, keep.ID, body); err != nil {
			return Posted{}, err
		}
	}
	posted := Posted{NoteID: int64(keep.ID), Did: did}
	if l.page != "" {
		posted.URL = fmt.Sprintf("%s#note_%d", l.page, keep.ID)
	}
	for _, n := range found[1:] {
		if err := e.remove(ctx, l, n.ID); err != nil {
			return posted, err
		}
	}
	if did == NewerThere || !keep.Resolvable || keep.Resolved == !l.note.Worse {
		return posted, nil
	}
	return posted, e.resolve(ctx, l, keep.ID)
}
