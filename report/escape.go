package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// code puts foreign text into a code span, in which GitLab and others expand neither
// HTML nor links, mentions, references or emoji. Its fence is longer than any run of
// backticks in the text. A text with an upright bar stands in a <code> element, all
// signs as numeric entities: in a table the bar would begin a cell, and "\|" is read
// otherwise outside of one. So does a text with more backticks in a row than anybody
// means: cmark, and what GitLab renders by, take more than 80 for no fence at all.
func code(text string) string {
	text = Clean(text)
	switch {
	case text == "":
		return ""
	case strings.Contains(text, "|"), longestRun(text, '`') > mostBackticks:
		return "<code>" + entities(text) + "</code>"
	}
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " " // which a renderer takes off again
	}
	return fence + text + fence
}

const mostBackticks = 7

// entities writes all signs of ASCII as numeric entities.
func entities(text string) string {
	var out strings.Builder
	for _, r := range text {
		if r < utf8.RuneSelf && r != ' ' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			fmt.Fprintf(&out, "&#%d;", r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// longestRun is how often a sign stands in a row at most.
func longestRun(text string, sign rune) int {
	longest, run := 0, 0
	for _, r := range text {
		run++
		if r != sign {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

// codeWithin is code of so many columns at most. Marks that take no column of their
// own count too: a letter may carry thousands.
func codeWithin(text string, columns int) string {
	text = cut(Clean(text), columns)
	if runes := []rune(text); len(runes) > 2*columns {
		text = string(runes[:2*columns]) + "…"
	}
	return code(text)
}

// plainSigns are the signs that mean nothing to Markdown, or nothing where
// spellings lets them stand.
const plainSigns = " ,.;:()=?!'’\"–−+±…→%÷×≈≤≥·/-_"

// spellings are what GitLab makes something else of in plain text: words that may
// be commits, issues of other trackers, milestones, emoji, addresses, emphasis,
// highlighting, lists, or a quick action.
var spellings = regexp.MustCompile(`(?i)\b[0-9a-f]{7,}\b|[A-Z]{2,}-[0-9]|%[^ ,.;:)]|![^ ]|:([^ ]|$)|\.[^ .)0-9]|==|__|\b_|_\b|--|^[^\pL\pN(]|^[0-9]+[.)]( |$)|^=+$|www`)

// plainly is a sentence of ours that may hold a foreign word or two: it stands in a
// code span unless nothing in it can be taken for anything else than text.
func plainly(text string) string {
	text = Clean(text)
	odd := strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(plainSigns, r)
	})
	if odd || spellings.MatchString(text) {
		return code(text)
	}
	return text
}

// longestURL bounds a link. Browsers take more, and a note has no room for it.
const longestURL = 300

// link is a Markdown link whose text is ours or a code span. Where the URL is no
// address of the web, or is too long, the text stands alone.
func link(text, url string) string {
	if url = address(url); url == "" {
		return text
	}
	return "[" + text + "](" + url + ")"
}

// address is a URL of the web in which nothing ends a link, or shows a table an
// edge; empty for what is none.
func address(url string) string {
	if !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		return ""
	}
	var out strings.Builder
	for _, b := range []byte(url) {
		if b < utf8.RuneSelf && (unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b)) || strings.IndexByte("-._~:/?#@=&+%,;", b) >= 0) {
			out.WriteByte(b)
		} else {
			fmt.Fprintf(&out, "%%%02X", b)
		}
	}
	if out.Len() > longestURL {
		return ""
	}
	return out.String()
}
