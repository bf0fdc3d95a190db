package report

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// fragments are what hostile names are put together from.
var fragments = append([]string{" ", "\n", "\\", "-", "--", "_", "*", "~", "<", ">", "&", "&#64;", "&amp;", "a", "0", "deadbeef", ".", ":", "=", "+", "(", ")", "!", "%", "www.", "ABC-1", "\t", "\x00", "\xff", "\u2028", "\u200b", "\ufffe", "é", "名", "—"}, evil...)

// mixed is a text of some fragments.
func mixed(random *rand.Rand) string {
	text := ""
	for range 1 + random.IntN(6) {
		text += fragments[random.IntN(len(fragments))]
	}
	return text
}

func TestTextsOfHostileFragmentsStayText(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	for range 2000 {
		if text := mixed(random); !escaped(t, text) {
			t.Fatalf("%q", text)
		}
	}
}

func TestNotesOfHostileFragmentsAreWellFormed(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	for range 10 {
		var texts []string
		for range 40 {
			texts = append(texts, mixed(random))
		}
		wellFormed(t, Note(hostileNoteOf(texts)))
		if t.Failed() {
			t.Fatalf("%q", texts)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for _, text := range fragments {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) { escaped(t, text) })
}

// escaped puts a text wherever a note has foreign text: in a heading, in a table, in a
// list and in a sentence.
func escaped(t *testing.T, text string) bool {
	t.Helper()
	name, words, url := codeWithin(text, 40), plainly(text), link("Report", "https://x.example/"+text)
	wellFormed(t, strings.Join([]string{
		"### stopwatt " + name + ": " + words, "", row("a", "b"), "|:--|:--|", row("x<br>"+name, words), row(code(text), name+" "+words), "",
		"- On " + name + ": " + words + ".", "", "It was " + code(text) + ", " + url + " and " + name + ".<br>", "On " + words + ".", "",
	}, "\n"))
	return !t.Failed()
}

func TestPlainlyLeavesWordsAlone(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what, text string
		plain      bool
	}{
		{"a sentence", "no commit of main among the last 50 could be built", true},
		{"figures with units", "6.76 → 7.32 s", true},
		{"a change", "+8.3 % slower", false},
		{"a share within a sentence", "head failed in 100 % of its trials, base in 0 %", true},
		{"an underscore within a word", "time and energy_board_gross", true},
		{"a mention", "because @all said so", false},
		{"a milestone", "by %3", false},
		{"a commit", "since deadbeef", false},
		{"a number that may be a commit", "12345678 requests", false},
		{"an issue of another tracker", "as PROJ-12 says", false},
		{"an emoji", "fine :tada:", false},
		{"a host", "see www.example.org", false},
		{"a host without www", "see example.org", false},
		{"an address", "https://example.org", false},
		{"a quick action", "/close", false},
		{"the beginning of a list", "1. one", false},
		{"emphasis", "_x_", false},
	} {
		if got := plainly(row.text) == row.text; got != row.plain {
			t.Errorf("%s: %q stays as it is: %t", row.what, row.text, got)
		}
	}
}
