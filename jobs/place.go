package jobs

import (
	"fmt"

	"gitlab.com/stopwatt/stopwatt"
)

// A place is a stretch of one line. The zero place is nowhere.
type place struct {
	line, column, width int // line and column from 1, in characters
}

// fault notes that something is wrong at a place. The message ends with the
// remedy. Text that the file or the outside gave goes into it by %q or brief
// only, so that a message can do nothing to a terminal.
func (r *reader) fault(at place, format string, args ...any) {
	fault := stopwatt.Fault{File: r.file, Message: fmt.Sprintf(format, args...)}
	if at.line > 0 && at.line <= len(r.lines) {
		fault.Line, fault.Column, fault.Width = at.line, at.column, max(at.width, 1)
		fault.Source = r.lines[at.line-1]
	}
	r.faults = append(r.faults, fault)
}

// brief quotes foreign text for a message, and cuts it where it is long.
func brief(text string) string {
	const most = 60
	runes := []rune(text)
	if len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return fmt.Sprintf("%q", text)
}
