package containers

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLineBytes is what is kept of one line.
const maxLineBytes = 500

// escapeSequences are the colours and movements that programs write for a
// terminal: CSI sequences of ECMA-48, and the titles that OSC sequences set.
var escapeSequences = regexp.MustCompile(`\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(\x07|\x1b\\)`)

// tail is the last n lines of a text, made safe to show.
func tail(text []byte, n int) []string {
	whole := strings.TrimRight(string(text), "\r\n")
	if whole == "" {
		return nil
	}
	lines := strings.Split(whole, "\n")
	lines = lines[max(0, len(lines)-n):]
	safe := make([]string, len(lines))
	for i, line := range lines {
		safe[i] = printable(line)
	}
	return safe
}

// printable makes a line of a stranger's output safe to show on a terminal:
// without escape sequences, and with � for what else would act and not be
// seen. Of a line that overwrites itself the last state is kept, as a terminal
// would. It is cut to 500 bytes.
func printable(line string) string {
	line = strings.TrimRight(line, "\r")
	line = line[strings.LastIndexByte(line, '\r')+1:]
	line = escapeSequences.ReplaceAllString(cutBytes(line, 4*maxLineBytes), "")
	line = strings.Map(visible, strings.ToValidUTF8(line, "�"))
	if len(line) > maxLineBytes {
		line = cutBytes(line, maxLineBytes-len("…")) + "…"
	}
	return line
}

// oneLine makes a text of several lines one that is printable.
func oneLine(text string) string { return printable(strings.Join(strings.Fields(text), " ")) }

// visible keeps the characters that are seen, and tabs.
func visible(r rune) rune {
	if r == '\t' || unicode.IsPrint(r) {
		return r
	}
	return utf8.RuneError
}

// cutBytes returns the first n bytes of s, fewer where a character would be
// cut in two.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
