package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/gitlab"
)

// parcelName is the file of a note that could not be written.
const parcelName = "note.json"

// postWithin bounds the writing of a note: the job waits for it, with everything else
// done.
const postWithin = 2 * time.Minute

// post has a note written. Where that fails it says why and what to do, and keeps the
// note in a file; the verdict and what is stored are the same.
func (j ciJob) post(ctx context.Context, note stopwatt.Note) (url string) {
	ctx, cancel := context.WithTimeout(ctx, postWithin)
	defer cancel()
	posted, err := j.posted(ctx, j.pipeline, note)
	switch {
	case err == nil:
		j.tellPosted(posted)
		return posted.URL
	case posted.NoteID != 0: // it stands there, and something beside it could not be done
		j.tellPosted(posted)
		fmt.Fprintf(j.stderr, "note    %v\n", harmless(err))
		return posted.URL
	case j.pipeline.Fork && errors.Is(err, gitlab.ErrNoToken):
		fmt.Fprintln(j.stderr, "note    not written: this is the pipeline of a fork, which has no credentials; it lies in the job's artifacts")
		return ""
	}
	fmt.Fprintf(j.stderr, "note    not written: %v\n", harmless(err))
	var parcel bytes.Buffer
	if err := (gitlab.Parcel{Pipeline: j.pipeline, Note: note}).Encode(&parcel); err != nil {
		fmt.Fprintf(j.stderr, "note    %v\n", harmless(err))
		return ""
	}
	j.writeFile(parcelName, parcel.Bytes())
	fmt.Fprintf(j.stderr, "note    it is kept: stopwatt ci --send %s writes it\n", filepath.Join(j.flags.out, parcelName))
	return ""
}

// posted writes a note with the token of the environment, which is read here and given
// to nobody else.
func (d *desk) posted(ctx context.Context, pipeline stopwatt.Pipeline, note stopwatt.Note) (gitlab.Posted, error) {
	client, err := d.client(pipeline)
	if err != nil {
		return gitlab.Posted{}, err
	}
	return client.Post(ctx, pipeline, note)
}

// client speaks to the GitLab of a pipeline.
func (d *desk) client(pipeline stopwatt.Pipeline) (*gitlab.Client, error) {
	return gitlab.Open(gitlab.Settings{API: pipeline.API, Token: d.getenv(gitlab.TokenVariable), CAFile: d.getenv("CI_SERVER_TLS_CA_FILE")})
}

// tellPosted says what became of a note.
func (d *desk) tellPosted(posted gitlab.Posted) {
	fmt.Fprintln(d.stderr, strings.TrimSpace(fmt.Sprintf("note    %s %s", posted.Did, posted.URL)))
}

// sendParcel writes the note that an earlier job has kept.
func (d *desk) sendParcel(ctx context.Context, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return askedWrongly(fmt.Errorf("read the note: %w", err))
	}
	defer file.Close() // which was only read from
	parcel, err := gitlab.DecodeParcel(file)
	if err != nil {
		return askedWrongly(fmt.Errorf("%s: %w", path, err))
	}
	// The file may come from anywhere, and must not decide whom the token is shown to.
	if strings.TrimRight(d.getenv("CI_API_V4_URL"), "/") != parcel.Pipeline.API {
		return askedWrongly(fmt.Errorf("the note is for the GitLab at %s; if that is yours, set CI_API_V4_URL to it", quote(parcel.Pipeline.API)))
	}
	ctx, cancel := context.WithTimeout(ctx, postWithin)
	defer cancel()
	posted, err := d.posted(ctx, parcel.Pipeline, parcel.Note)
	if err != nil {
		return surroundings(fmt.Errorf("the note could not be written: %w", err))
	}
	d.tellPosted(posted)
	if err := os.Remove(path); err != nil {
		fmt.Fprintf(d.stderr, "note    %v\n", harmless(err)) // sent twice, it is found unchanged
	}
	return nil
}
