package runfile

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// longestLine is how many bytes a line may have: an hour of samples of all meters
// of a machine, ten times a second, has a fifth of it.
const longestLine = 128 << 20

// copyAgain is the remedy where a file is not as it was written.
const copyAgain = "copy or export the file again"

// A Reader reads runs.
type Reader struct {
	name   string
	from   *bufio.Reader
	number int  // of the line that was read last, from 1
	begun  bool // the first line was read
	run    *stopwatt.Run
	told   bool // its summaries were
	lines  int
	sum    hash.Hash
}

// NewReader reads from an io.Reader; name is the file's, for what is told.
func NewReader(name string, from io.Reader) *Reader {
	return &Reader{name: name, from: bufio.NewReaderSize(from, 64<<10)}
}

// Looks tells whether a file that begins so is one of runs.
func Looks(beginning []byte) bool { return bytes.HasPrefix(beginning, []byte(`{"stopwatt":`)) }

// Next returns the next line: a run, what belongs to it, or its end, in the order
// in which a Writer writes them. An end is returned only when all lines of its run
// were as they had been written: until then they are not to be kept. Behind the last
// run the error is io.EOF. What is wrong makes Faults, with its line and the remedy.
func (r *Reader) Next() (Line, error) {
	text, err := r.line()
	switch {
	case errors.Is(err, io.EOF) && r.begun && r.run == nil:
		return Line{}, io.EOF
	case errors.Is(err, io.EOF):
		r.number++
		return Line{}, r.fault("the file is cut off; " + copyAgain)
	case err != nil:
		return Line{}, err
	}
	line, err := r.parse(text)
	if err != nil {
		return Line{}, err
	}
	if !r.begun {
		return r.first(line)
	}
	return line, r.take(line, text)
}

// line reads a line, with its line feed.
func (r *Reader) line() ([]byte, error) {
	var text []byte
	for {
		piece, err := r.from.ReadSlice('\n')
		text = append(text, piece...)
		if len(text) > longestLine {
			r.number++
			return nil, r.fault(fmt.Sprintf("the line is longer than %d MiB; this is no file of stopwatt export", longestLine>>20))
		}
		switch {
		case err == nil:
			r.number++
			return text, nil
		case errors.Is(err, io.EOF) && len(text) > 0:
			r.number++
			return nil, r.fault("the file is cut off within this line; " + copyAgain)
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (r *Reader) parse(text []byte) (Line, error) {
	if stopwatt.TooManyValues(text) {
		return Line{}, r.fault("the line holds more objects and lists than any of stopwatt export")
	}
	var line Line
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // what is not understood would be lost
	if err := decoder.Decode(&line); err != nil {
		if field, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return Line{}, r.fault("the field " + field + " is not known here; import it with the stopwatt that has exported it, or a newer one")
		}
		return Line{}, r.fault("this is no line of stopwatt export (" + err.Error() + "); " + copyAgain)
	}
	if rest, err := io.ReadAll(decoder.Buffered()); err != nil || len(bytes.TrimSpace(rest)) > 0 || line.fields() != 1 {
		return Line{}, r.fault("this is no line of stopwatt export; " + copyAgain)
	}
	return line, nil
}

// first takes the first line, and returns the one behind it.
func (r *Reader) first(line Line) (Line, error) {
	if line.Version != version {
		return Line{}, r.fault(fmt.Sprintf("the first line names no version that is known here, which is %d; import it with the stopwatt that has exported it", version))
	}
	r.begun = true
	return r.Next()
}

// take checks that a line may stand where it stands.
func (r *Reader) take(line Line, text []byte) error {
	switch {
	case line.Run != nil && r.run == nil && line.Run.Key != "":
		r.run, r.told, r.lines, r.sum = line.Run, false, 0, sha256.New()
	case line.Version != 0 || line.Run != nil || r.run == nil || line.Trial != nil && r.told || line.Summaries != nil && r.told ||
		(line.Judgement != nil || line.Calibration != nil || line.End != nil) && !r.told:
		return r.fault("this line does not belong here; " + copyAgain)
	case line.Summaries != nil:
		r.told = true
	case line.End != nil:
		return r.end(*line.End)
	}
	r.lines++
	r.sum.Write(text) // a hash's never fails
	return nil
}

// end ends a run, if all of its lines were there and are unchanged.
func (r *Reader) end(end End) error {
	if end != (End{Key: r.run.Key, Lines: r.lines, SHA256: hex.EncodeToString(r.sum.Sum(nil))}) {
		return r.fault("the run that ends here is not as it was exported: its checksum differs; " + copyAgain)
	}
	r.run = nil
	return nil
}

// fault is what is wrong with the line that was read last.
func (r *Reader) fault(message string) error {
	return stopwatt.Faults{{File: r.name, Line: r.number, Column: 1, Message: message}}
}

// Place adds the file's name and the line that was read last to an error, unless it
// names a place already.
func (r *Reader) Place(err error) error {
	var faults stopwatt.Faults
	if errors.As(err, &faults) {
		return faults
	}
	return fmt.Errorf("%s:%d: %w", r.name, r.number, err)
}
