package harness

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"gitlab.com/stopwatt/stopwatt"
)

// maxFaults bounds how many faults of one file are told: a file of another
// format has one in every line.
const maxFaults = 20

// A source is a text that is being read, and what was found wrong with it.
type source struct {
	text    string
	options Options
	faults  stopwatt.Faults
	ended   bool // a fault ended the reading: what seems missing now may stand behind it
}

// open decodes a text: UTF-8 with or without a byte order mark, or UTF-16 with
// one, as PowerShell's > writes it.
func open(text []byte, options Options) (*source, error) {
	s := &source{options: options}
	if s.options.File == "" {
		s.options.File = "results"
	}
	switch {
	case len(text) > MaxBytes:
		s.faultAt(-1, "is larger than %d MiB", MaxBytes>>20)
	case bytes.HasPrefix(text, []byte("\xEF\xBB\xBF")):
		s.text = string(text[3:])
	case bytes.HasPrefix(text, []byte("\xFF\xFE")):
		s.text = decodeUTF16(text[2:], binary.LittleEndian)
	case bytes.HasPrefix(text, []byte("\xFE\xFF")):
		s.text = decodeUTF16(text[2:], binary.BigEndian)
	default:
		s.text = string(text)
	}
	if strings.IndexByte(s.text, 0) >= 0 && len(s.faults) == 0 {
		s.faultAt(-1, "is no text; write UTF-8")
	}
	if len(s.faults) > 0 {
		return nil, s.faults
	}
	s.text = strings.ToValidUTF8(s.text, string(utf8.RuneError))
	if strings.TrimSpace(s.text) == "" {
		s.faultAt(-1, "is empty")
		return nil, s.faults
	}
	return s, nil
}

// Check says what is wrong with a text whatever its format: that it is empty, too
// large, or no text at all.
func Check(text []byte, options Options) error {
	_, err := open(text, options)
	return err
}

// decodeUTF16 decodes UTF-16. Half a character at the end is left out.
func decodeUTF16(text []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16(text[2*i:])
	}
	return string(utf16.Decode(units))
}

// faultAt adds a fault at an offset in the text; -1 is the text as a whole.
func (s *source) faultAt(offset int, format string, args ...any) {
	if s.broken() {
		return
	}
	fault := stopwatt.Fault{File: s.options.File, Message: fmt.Sprintf(format, args...)}
	if offset >= 0 {
		fault.Line, fault.Column = s.place(offset)
	}
	s.faults = append(s.faults, fault)
}

// faultInLine adds a fault about a line, counted from 1.
func (s *source) faultInLine(line int, format string, args ...any) {
	before := len(s.faults)
	s.faultAt(-1, format, args...)
	for i := before; i < len(s.faults); i++ {
		s.faults[i].Line, s.faults[i].Column = line, 1
	}
}

// place is where an offset lies, in lines and characters from 1.
func (s *source) place(offset int) (line, column int) {
	before := s.text[:min(offset, len(s.text))]
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}

// broken says whether enough is wrong that reading on is no use.
func (s *source) broken() bool { return s.ended || len(s.faults) >= maxFaults }
