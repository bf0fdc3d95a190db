package stopwatt

import (
	"bufio"
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

// NewLineReader reads lines of at most so many bytes.
func NewLineReader(from io.Reader, most int) *LineReader {
	return &LineReader{bufio.NewReaderSize(from, min(64<<10, most)), most}
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
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, io.ErrUnexpectedEOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}
