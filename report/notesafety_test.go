package report

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	unsafe "github.com/yuin/goldmark/renderer/html"
)

// rendered is Markdown as HTML, with what GitLab's Markdown has in common with
// GitHub's, and raw HTML kept.
func rendered(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(renderer.Option(unsafe.WithUnsafe())))
	if err := md.Convert([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var (
	codeElement = regexp.MustCompile(`<code>[^<]*</code>`)
	aTag        = regexp.MustCompile(`<a href="(https?://[^"<>]*)">([^<]*)</a>`)
	ourTag      = regexp.MustCompile(`</?(h3|p|table|thead|tbody|tr|th|td|ul|li|strong|details|summary)( style="text-align:left")?>|<br />|<br>`)
	summaryTag  = regexp.MustCompile(`<summary>(.*)</summary>`)
	ourSummary  = regexp.MustCompile(`^[A-Za-z0-9 ,;:]+$`)
	commitAlone = regexp.MustCompile(`(?i)\b[0-9a-f]{7,}\b|\b_|_\b`)
	quickAction = regexp.MustCompile(`(?m)^[\s>*+-]*/`)
	emojiOrHost = regexp.MustCompile(`:[^ \n]|www\.|://`)
)

// wellFormed fails for a note in which foreign text became something else than text,
// or which is broken off.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	if !strings.HasPrefix(text, "### stopwatt ") {
		t.Errorf("no verdict first: %.80q", text)
	}
	if quickAction.MatchString(text) {
		t.Errorf("a line is a quick action: %q", quickAction.FindString(text))
	}
	for _, sign := range []string{"\r", "\x1b", "\x00", "\u202e"} {
		if strings.Contains(text, sign) {
			t.Errorf("a control character %q", sign)
		}
	}
	balanced(t, text)
	equalColumns(t, text)
	page := rendered(t, text)
	for _, found := range summaryTag.FindAllStringSubmatch(page, -1) {
		if !ourSummary.MatchString(found[1]) {
			t.Errorf("foreign text or Markdown in a summary: %q", found[1])
		}
	}
	rest := ourTag.ReplaceAllString(aTag.ReplaceAllString(codeElement.ReplaceAllString(page, ""), "$2"), "\n")
	rest = html.UnescapeString(rest)
	if at := strings.IndexAny(rest, "`<>@#$~^&*[]{}|\\"); at >= 0 {
		t.Errorf("outside of code: %q", rest[max(0, at-40):min(len(rest), at+40)])
	}
	for _, odd := range []*regexp.Regexp{commitAlone, emojiOrHost} {
		if at := odd.FindStringIndex(rest); at != nil {
			t.Errorf("GitLab would make something of %q", rest[max(0, at[0]-20):min(len(rest), at[1]+20)])
		}
	}
	if strings.ContainsFunc(rest, func(r rune) bool { return unicode.Is(unicode.C, r) && r != '\n' }) {
		t.Errorf("a character that nobody sees: %q", rest)
	}
}

// balanced fails where a folded part is not closed, or begins without an empty line.
func balanced(t *testing.T, text string) {
	t.Helper()
	open := false
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "<details>"):
			if open || lines[i+1] != "" {
				t.Errorf("folded within folded, or without an empty line: %q", line)
			}
			open = true
		case line == "</details>":
			open = false
		case strings.Contains(outsideOfCode(line), "details>"):
			t.Errorf("a stray tag: %q", line)
		}
	}
	if open {
		t.Error("a folded part is not closed")
	}
}

// equalColumns fails where rows of a table differ in their edges, or there are more
// rows or columns than a note may have.
func equalColumns(t *testing.T, text string) {
	t.Helper()
	edges, rows, folded := 0, 0, false
	for line := range strings.Lines(text) {
		folded = folded && !strings.HasPrefix(line, "</details>") || strings.HasPrefix(line, "<details>")
		if !strings.HasPrefix(line, "|") {
			edges, rows = 0, 0
			continue
		}
		if n := strings.Count(line, "|"); n > 4 || edges > 0 && n != edges {
			t.Errorf("a row has %d edges, the first one %d: %q", n, edges, line)
		}
		if edges, rows = strings.Count(line, "|"), rows+1; rows > 202 || !folded && rows > 22 {
			t.Errorf("%d rows", rows-2)
		}
	}
}

func TestEveryNoteIsWellFormedAtEveryBudget(t *testing.T) {
	t.Parallel()
	all := notes()
	all["a thousand cases"] = largeNote(1000)
	for name, of := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for bytes := 2000; bytes < 90_000; bytes += bytes / 3 {
				of.Bytes = bytes
				text := Note(of)
				if len(text) > bytes {
					t.Errorf("%d bytes for %d", len(text), bytes)
				}
				wellFormed(t, text)
			}
		})
	}
}

// largeNote has so many cases, each with a long name.
func largeNote(cases int) NoteOf {
	of := noteOf()
	j := of.Machines[0].Results.Judgement
	for i := range cases {
		for _, c := range draftComparisons()[i%4*2 : i%4*2+2] {
			c.Case.Workload = strings.Repeat("long-", 6) + string(rune('a'+i%26)) + strings.Repeat("x", i%60)
			c.Case.Implementation += strings.Repeat("y", i/60)
			j.Comparisons = append(j.Comparisons, c)
		}
	}
	return of
}

func TestANoteSaysHowManyRowsItLeftOut(t *testing.T) {
	t.Parallel()
	text := Note(largeNote(1000))
	for _, want := range []string{"Not in this table: 245 regressed, 250 faster but hungrier, 250 undecided.", "Left out here: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%.3000s", want, text)
		}
	}
}

func FuzzNote(f *testing.F) {
	for i := range evil {
		f.Add(evil[i], evil[(i+1)%len(evil)], evil[(i+2)%len(evil)])
	}
	f.Fuzz(func(t *testing.T, a, b, c string) {
		of := hostileNoteOf([]string{a, b, c})
		wellFormed(t, Note(of))
		of.Bytes = 2000
		if text := Note(of); len(text) > of.Bytes {
			t.Errorf("%d bytes for %d", len(text), of.Bytes)
		} else {
			wellFormed(t, text)
		}
	})
}
