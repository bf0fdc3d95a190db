package report

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// cells measures text in columns of a terminal. It does not ask the
// environment, so that the same results look the same everywhere: characters of
// ambiguous width, ± and × among them, count as one.
var cells = &runewidth.Condition{StrictEmojiNeutral: true}

func width(text string) int { return cells.StringWidth(text) }

// Clean makes foreign text safe to show: one line of visible characters. White
// space of any kind becomes a blank; control characters, those that change the
// direction of writing or show nothing, and bytes that are no UTF-8 become
// visible escapes, so that nothing is hidden either.
func Clean(text string) string {
	var out strings.Builder
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"):
			out.WriteString(`\x` + strconv.FormatUint(uint64(text[i])|0x100, 16)[1:])
		case r == '\n' || r == '\t' || r == '\r' || unicode.Is(unicode.Z, r):
			out.WriteByte(' ')
		case unicode.Is(unicode.C, r) || !unicode.IsPrint(r) && !unicode.Is(unicode.M, r):
			escaped := strconv.QuoteRuneToASCII(r)
			out.WriteString(escaped[1 : len(escaped)-1])
		default:
			out.WriteRune(r)
		}
	}
	return strings.TrimSpace(out.String())
}

// longestForeign bounds a reason or a subject that is shown within a sentence.
const longestForeign = 160

// short is clean text that does not run on for pages.
func short(text string) string { return cut(Clean(text), longestForeign) }

// longestWhy bounds a reason in a table: two SHA-256 and the first bytes of a
// wrong body go into it.
const longestWhy = 320

// Brief is clean text of one line that is no longer than a reason in a table: what
// a program printed last may be kilobytes of bytes that are no text.
func Brief(text string) string { return cut(Clean(text), longestWhy) }

// reasonShown is a reason in one line. Of the lines of a log, which its first one
// announces, as many of the last are kept as there is room for; other lines are
// left out with "…".
func reasonShown(reason string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(reason), "\n")
	first, rest = Clean(first), strings.TrimSpace(rest)
	about, announced := strings.CutSuffix(first, "; its last lines:")
	room := longestWhy - width(first) - 1
	switch {
	case announced && rest != "" && room >= shortestLog:
		return first + " " + lastLines(rest, room)
	case rest != "":
		return cut(about, longestWhy-2) + " …"
	}
	return cut(about, longestWhy)
}

// shortestLog is less room than a line of a log is worth.
const shortestLog = 24

// lastLines are as many of the last lines of a text as fit the width, joined; the
// last is cut where it does not fit alone.
func lastLines(text string, columns int) string {
	lines := strings.Split(text, "\n")
	shown := cut(Clean(lines[len(lines)-1]), columns)
	for i := len(lines) - 2; i >= 0; i-- {
		longer := Clean(lines[i]) + " " + shown
		if width(longer) > columns-2 {
			return cut("… "+shown, columns)
		}
		shown = longer
	}
	return shown
}

// cut shortens text to a width in columns, ending it with … when it was longer.
func cut(text string, columns int) string { return cells.Truncate(text, columns, "…") }

// left and right pad text to a width in columns.
func left(text string, columns int) string  { return text + blanks(columns-width(text)) }
func right(text string, columns int) string { return blanks(columns-width(text)) + text }

func blanks(n int) string { return strings.Repeat(" ", max(n, 0)) }

// wrap breaks text into lines of at most so many columns; all but the first
// are indented. A word longer than a line is broken.
func wrap(text string, columns, indent int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, strings.TrimRight(line, " "))
			line = blanks(indent) + word
		}
		for width(line) > columns {
			head := cells.Truncate(line, columns, "")
			lines = append(lines, head)
			line = blanks(indent) + line[len(head):]
		}
	}
	return append(lines, line)
}

// broken breaks a metric's name into lines of at most so many columns, behind an
// underscore or at a blank where it can.
func broken(name string, columns int) []string {
	var lines []string
	for width(name) > columns {
		head := cells.Truncate(name, columns, "")
		if strings.HasPrefix(name[len(head):], " ") {
			head += " "
		} else if at := strings.LastIndexAny(head, "_ "); at > 0 {
			head = name[:at+1]
		}
		lines = append(lines, strings.TrimRight(head, " "))
		name = name[len(head):]
	}
	return append(lines, name)
}

// shorten cuts names to a width in columns, each to a beginning of its own;
// where two would look alike they are numbered. Names that fit stay as they are.
func shorten(names []string, columns int) []string {
	shown := make([]string, len(names))
	used := map[string]bool{}
	for i, name := range names {
		if name = Clean(name); width(name) <= columns && !used[name] {
			shown[i] = name
			used[name] = true
		}
	}
	for i, name := range names {
		if shown[i] != "" {
			continue
		}
		name = Clean(name)
		beginning := cut(name, columns)
		for n := 2; used[beginning]; n++ {
			mark := "…" + strconv.Itoa(n)
			beginning = cells.Truncate(name, columns-width(mark), "") + mark
		}
		shown[i] = beginning
		used[beginning] = true
	}
	return shown
}

// listShortened says which shown names stand for which longer ones.
func listShortened(names, shown []string) []string {
	var list []string
	for i, name := range names {
		if full := Clean(name); shown[i] != full {
			list = append(list, shown[i]+" = "+full)
		}
	}
	return list
}
