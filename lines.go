package stopwatt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// A LineReader reads what an agent says, or whoever has got hold of its stream: line
// after line, each with its line feed, none longer than Most bytes.
type LineReader struct {
	from *bufio.Reader
	most int
}

// errTooManyValues is a line of which no more than its bytes can be held.
var errTooManyValues = fmt.Errorf("a line of more than %d objects and lists", mostValues)

// NewLineReader reads lines of at most so many bytes.
func NewLineReader(from io.Reader, most int) *LineReader {
	return &LineReader{bufio.NewReaderSize(from, min(64<<10, most)), most}
}

// mostValues bounds the objects, lists and nulls of a line: each takes two bytes or
// four there, and in a list of structs some hundreds here. A million repetitions are
// the most that is meant.
const mostValues = 4 << 20

// TooManyValues tells whether a line of JSON, whatever its length, would take more
// memory than any that is meant.
func TooManyValues(line []byte) bool {
	return bytes.Count(line, []byte("{"))+bytes.Count(line, []byte("["))+bytes.Count(line, []byte("null")) > mostValues
}

// Next is the next line. Behind the last one the error is io.EOF, within one that is
// cut off io.ErrUnexpectedEOF. Of a line that is too long no more is read than Most
// bytes and a buffer; nothing can be read after it.
func (r *LineReader) Next() ([]byte, error) {
	var line []byte
	for {
		piece, err := r.from.ReadSlice('\n')
		line = append(line, piece...)
		switch {
		case len(line) > r.most:
			return nil, fmt.Errorf("a line of more than %d MiB", r.most>>20)
		case err == nil && TooManyValues(line):
			return nil, errTooManyValues
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
