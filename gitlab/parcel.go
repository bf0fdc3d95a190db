package gitlab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"

	"gitlab.com/stopwatt/stopwatt"
)

// A Parcel is a note that could not be posted, with where it belongs, to be sent later.
// Nothing in it is secret.
type Parcel struct {
	Pipeline stopwatt.Pipeline
	Note     stopwatt.Note
}

// parcelForm tells a parcel from other JSON.
const parcelForm = "stopwatt note 1"

// maxParcelBytes is that of the longest note, four bytes a character and each of those
// written as \u00XX at worst.
const maxParcelBytes = 6*4*maxNoteCharacters + 1<<20

// wrapped is a parcel as it lies in a file.
type wrapped struct {
	Form string
	Parcel
}

// Encode writes a parcel.
func (p Parcel) Encode(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(wrapped{parcelForm, p})
}

// DecodeParcel reads a parcel. The file may come from anywhere: what Post relies on is
// checked here, and Post asks no GitLab but the client's own.
func DecodeParcel(r io.Reader) (Parcel, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxParcelBytes+1))
	if err != nil {
		return Parcel{}, err
	}
	if len(text) > maxParcelBytes {
		return Parcel{}, errors.New("no note to send: the file is longer than any note")
	}
	var w wrapped
	if err := json.Unmarshal(text, &w); err != nil {
		return Parcel{}, fmt.Errorf("no note to send: %w", err)
	}
	if w.Form != parcelForm {
		return Parcel{}, fmt.Errorf("no note to send: the form is %q, not %q", w.Form, parcelForm)
	}
	return w.Parcel, w.Parcel.check()
}

// check finds what no parcel of ours has.
func (p Parcel) check() error {
	api, err := url.Parse(p.Pipeline.API)
	switch {
	case err != nil || api.Host == "" || api.Scheme != "http" && api.Scheme != "https" || api.User != nil:
		return errors.New("no note to send: Pipeline.API is no address of an API")
	case p.Pipeline.ID <= 0:
		return errors.New("no note to send: Pipeline.ID is not above 0")
	case p.Pipeline.MergeRequest.IID <= 0 || p.Pipeline.MergeRequest.ProjectID <= 0:
		return errors.New("no note to send: Pipeline.MergeRequest names none")
	case p.Note.Created.IsZero() || p.Note.Created.Year() < 1 || p.Note.Created.Year() > 9999:
		return errors.New("no note to send: Note.Created is no time")
	case clean(p.Note.Body) == "":
		return errors.New("no note to send: Note.Body is empty")
	}
	return nil
}
