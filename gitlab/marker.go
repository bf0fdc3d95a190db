package gitlab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A marker is the first line of a note, an HTML comment that is not shown: by it the
// note is found again, and an older pipeline knows that it comes too late.
type marker struct {
	suite    string
	pipeline int64
	created  time.Time // to the millisecond
	hash     string    // of the text below it, in hexadecimal
}

// mark is the marker of a note whose text is as it will be sent.
func mark(pipeline int64, note stopwatt.Note, text string) marker {
	sum := sha256.Sum256([]byte(text))
	return marker{suite: note.Suite, pipeline: pipeline, created: note.Created.UTC().Truncate(time.Millisecond), hash: hex.EncodeToString(sum[:])}
}

// createdForm is RFC 3339 with as many milliseconds as there are.
const createdForm = "2006-01-02T15:04:05.999Z07:00"

func (m marker) String() string {
	return fmt.Sprintf("<!-- stopwatt:v1 suite=%s pipeline=%d created=%s hash=sha256:%s -->",
		escape(m.suite), m.pipeline, m.created.Format(createdForm), m.hash)
}

// newerThan tells whether a marker belongs to a later word on the same suite: that of a
// later pipeline, or of a later attempt of the same one.
func (m marker) newerThan(other marker) bool {
	if m.pipeline != other.pipeline {
		return m.pipeline > other.pipeline
	}
	return m.created.After(other.created)
}

// escape writes a foreign name so that it cannot end the comment: letters, digits, points,
// low lines and single hyphens as they are, all else as in URLs.
func escape(name string) string {
	var out strings.Builder
	hyphen := false
	for _, c := range []byte(name) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-' && !hyphen
		if plain {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "%%%02X", c)
		}
		hyphen = plain && c == '-'
	}
	return out.String()
}

// markerForm is what String writes.
var markerForm = regexp.MustCompile(`^<!-- stopwatt:v1 suite=(\S*) pipeline=(\d{1,18}) created=(\S+) hash=sha256:([0-9a-f]{64}) -->$`)

// parseMarker reads the marker of a note's body, and returns the text below it. It is
// false when the first line is no marker.
func parseMarker(body string) (marker, string, bool) {
	line, text, _ := strings.Cut(body, "\n")
	parts := markerForm.FindStringSubmatch(line)
	if parts == nil {
		return marker{}, "", false
	}
	suite, err := url.PathUnescape(parts[1])
	if err != nil {
		return marker{}, "", false
	}
	created, err := time.Parse(time.RFC3339, parts[3])
	if err != nil {
		return marker{}, "", false
	}
	pipeline, err := strconv.ParseInt(parts[2], 10, 64)
	return marker{suite: suite, pipeline: pipeline, created: created.UTC(), hash: parts[4]}, text, err == nil
}
