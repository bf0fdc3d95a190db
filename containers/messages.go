package containers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// A message is one JSON value of the streams in which the engine tells of
// builds, pulls and imports.
type message struct {
	ID       string                         // of a layer, or the kind of Aux
	Status   string                         // what is done
	Stream   string                         // output of the classic builder
	Aux      json.RawMessage                // of the builders
	Error    string                         // why it came to nothing
	Progress struct{ Current, Total int64 } `json:"progressDetail"`
}

// mostMessage bounds a message, in bytes: a step's output comes in pieces of some
// KiB, and a trace of BuildKit's has what was new within a tenth of a second.
const mostMessage = 16 << 20

// errMessage is a message that is longer.
var errMessage = fmt.Errorf("a message of more than %d MiB", mostMessage>>20)

// A ration is a stream of which no more is read than what is left.
type ration struct {
	from io.Reader
	left int
}

func (r *ration) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, errMessage
	}
	n, err := r.from.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}

// readMessages hands on each message of a stream until its end. A message that
// carries an error becomes the error that is returned, after the rest of the
// stream has been read. One of more than 16 MiB ends the reading.
func readMessages(stream io.Reader, each func(message)) error {
	var failure error
	rationed := &ration{from: stream}
	for decoder := json.NewDecoder(rationed); ; {
		rationed.left = mostMessage
		var m message
		err := decoder.Decode(&m)
		if err == io.EOF {
			return failure
		}
		if err != nil {
			return fmt.Errorf("read the engine's answer: %w", err)
		}
		if m.Error != "" {
			failure = errors.New(m.Error)
		}
		each(m)
	}
}
