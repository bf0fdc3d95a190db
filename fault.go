package stopwatt

import (
	"fmt"
	"strings"
)

// A Fault is something wrong in a file that a person wrote: where it is, what
// it is, and what to write instead.
type Fault struct {
	File   string // as the person named it
	Line   int    // from 1; 0 when the fault has no place
	Column int    // from 1, in characters
	// Message says what is wrong and the remedy in one line:
	// `unknown key "reqest" in http; did you mean "request"?`
	Message string
	// Source is the text of the line, empty when there is none to show, and
	// Width the number of characters that the caret underlines, at least 1.
	Source string
	Width  int
}

// String renders the fault as compilers do, with the line and a caret under
// its place when they are known.
func (f Fault) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s", f.File, f.Message)
	}
	place := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	if f.Source == "" {
		return place
	}
	margin := strings.Map(keepTabs, cut(f.Source, f.Column-1))
	return fmt.Sprintf("%s\n%5d | %s\n      | %s%s", place, f.Line, f.Source, margin, strings.Repeat("^", max(f.Width, 1)))
}

// keepTabs turns a line into the white space that puts a caret below its end.
func keepTabs(r rune) rune {
	if r == '\t' {
		return r
	}
	return ' '
}

// cut returns the first n characters of s, or all of it when it is shorter.
func cut(s string, n int) string {
	runes := []rune(s)
	return string(runes[:max(0, min(n, len(runes)))])
}

// Faults are all that is wrong with one file, in the order of their places.
// A non-empty Faults is an error.
type Faults []Fault

// Error lists every fault, one after the other.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}
