package jobs

import (
	"fmt"
	"strings"
	"unicode/utf8"

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
		line := r.lines[at.line-1]
		fault.Line, fault.Column = at.line, at.column
		fault.Width = max(1, min(at.width, len(line)-at.column+1))
		if len(line) <= longestShown {
			fault.Source = strings.Map(shown, string(line))
		}
	}
	r.faults = append(r.faults, fault)
}

// longestShown is the length of a line that is shown under a fault. A longer
// one fills the screen, and many faults of one line fill the memory.
const longestShown = 400

// shown is a character as it is printed in the line under a fault.
func shown(c rune) rune {
	if visible(c) {
		return c
	}
	return utf8.RuneError
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
