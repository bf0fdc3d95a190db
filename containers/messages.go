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

// readMessages hands on each message of a stream until its end. A message that
// carries an error becomes the error that is returned, after the rest of the
// stream has been read.
func readMessages(stream io.Reader, each func(message)) error {
	var failure error
	for decoder := json.NewDecoder(stream); ; {
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
