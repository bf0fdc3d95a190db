package jobs

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// legible divides the text into lines and looks for characters that no person
// could see, and that would do mischief where a line is printed. It stops at
// the first: a file that holds one is probably no text at all.
func (r *reader) legible(text []byte) bool {
	for line := range bytes.SplitSeq(text, []byte("\n")) {
		r.lines = append(r.lines, []rune(string(line)))
	}
	for i, line := range r.lines {
		for j, c := range line {
			at := place{line: i + 1, column: j + 1, width: 1}
			switch {
			case c == utf8.RuneError: // or the trace of an older loss
				r.fault(at, "this is not UTF-8 text; save the file as UTF-8")
				return false
			case !visible(c):
				r.fault(at, "the character %U cannot be seen; remove it, or write it as an escape in double quotes", c)
				return false
			}
		}
	}
	return true
}

// visible says whether a character may stand in a suite file: what is printed,
// spaces and tabs, and the joiners that some scripts and emoji are made with.
func visible(c rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	return unicode.IsPrint(c) || c == '\t' || c == zeroWidthJoiner || c == zeroWidthNonJoiner
}
