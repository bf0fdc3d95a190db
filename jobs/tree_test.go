package jobs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/lexer"
)

var notPlain = []struct{ name, text, want string }{
	{"an empty file", "", "the file is empty; `stopwatt init` writes a suite to begin with"},
	{"a file of comments", "# suite\n---\n...\n", "the file is empty; `stopwatt init` writes a suite to begin with"},
	{"a file of white space", " \n\n  ", "the file is empty; `stopwatt init` writes a suite to begin with"},
	{"null", "~\n", "the file is empty; `stopwatt init` writes a suite to begin with"},
	{"a word alone", "suite\n", "1:1: the file is a single value here and must be a mapping; write key: value below it, indented, or in braces"},
	{"a list", "- suite: a\n", "1:1: the file is a list here and must be a mapping; write key: value below it, indented, or in braces"},
	{"two documents", "suite: a\n---\nsuite: b\n", "2:1: a second document begins here; a file holds one suite, put the other into a file of its own"},
	{"a document after the end", "suite: a\n...\n---\nsuite: b\n", "3:1: a second document begins here; a file holds one suite, put the other into a file of its own"},
	{"a tab as indent", "plan:\n\trounds: 1\n", "2:1: a tab cannot indent; write spaces"},
	{"a tab as indent after spaces", "plan:\n \trounds: 1\n", "2:2: a tab cannot indent; write spaces"},
	{"a tab as indent of the first line", "\tsuite: a\n", "1:1: a tab cannot indent; write spaces"},
	{"a tab as indent after a value", "suite: a\n\tplan: 1\n", "2:1: a tab cannot indent; write spaces"},
	{"a tab as indent of the second word", "a: [1,\n\t2]\n\tb: c\n", "3:1: a tab cannot indent; write spaces"},
	{"a value after a tab", "suite:\t\ta b\nimplementations: {a: {image: b}}\nworkloads: {a: {http: {port: 1, request: {path: /}}, load: {for: 1s}}}", "1:9: suite cannot be \"a b\"; write letters, digits, . _ and -, a letter or digit first"},
	{"an open single quote", "suite: 'a\n", "1:8: the text that begins with ' here never ends; close it with '"},
	{"an open double quote", "suite: \"a\n", `1:8: the text that begins with " here never ends; close it with "`},
	{"an apostrophe in single quotes", "suite: 'it's'\n", "1:12: this does not belong to the value before it; put the whole text in quotes, or indent the line like its neighbours"},
	{"an unknown escape", `suite: "a\q"`, `1:11: a backslash in double quotes begins an escape, and this is none; write \\ for a backslash, or take single quotes`},
	{"an open list", "a: [1, 2\n", "1:4: the list that begins with [ here never ends; close it with ]"},
	{"an open mapping", "a: {b: 1\n", "1:4: the mapping that begins with { here never ends; close it with }"},
	{"no comma", "a: {b: 1\n  c: 2}\n", "2:3: a comma or } is missing before this; add it, or put text that holds { } [ ] or , in quotes"},
	{"{sha} in braces without quotes", "a: {image: b:{sha}}\n", "1:14: a comma or } is missing before this; add it, or put text that holds { } [ ] or , in quotes"},
	{"two commas", "a: {b: 1,, c: 2}\n", "1:10: a key is missing here; remove the comma before it, or write key: value"},
	{"a closing bracket too many", "a: ]\n", "1:4: this bracket closes nothing; remove it, or put the text in quotes"},
	{"two colons", "a: b: c\n", `1:4: a value cannot hold ": " or be followed by deeper keys; put the text in quotes, or indent the keys alike`},
	{"a key that is indented too far", "a: 1\n b: 2\n", `1:4: a value cannot hold ": " or be followed by deeper keys; put the text in quotes, or indent the keys alike`},
	{"a key between two indents", "a:\n  b: 1\n c: 2\n", "3:2: this fits neither the value before it nor the keys above; indent it like its neighbours, or put text in quotes"},
	{"a line without a colon", "a: 1\nb\n", `2:1: this line is no "key: value"; add a colon and a space after the key`},
	{"a list beside its key", "a: - b\n", "1:4: a list with - begins on a line of its own; write it below its key, or as [a, b]"},
	{"a reserved character", "a: @b\n", "1:4: text cannot begin with this character; put it in quotes"},
	{"a percent sign", "a: %b\n", "1:4: directives (%) are not supported; remove it, or put text that begins with % in quotes"},
	{"a list as a key", "[a]: 1\n", "1:4: a key must be a word; write it as plain text before the colon"},
	{"an anchor", "a: &b 1\n", "1:4: anchors (&) are not supported; write the value out at each place"},
	{"an alias", "a: *b\n", "1:4: aliases (*) are not supported; write the value out, or put text that begins with * in quotes"},
	{"a merge key", "<<: 1\n", "1:1: merge keys (<<) are not supported; write the keys out"},
	{"a tag", "a: !!str 1\n", "1:4: tags (!) are not supported; remove it, or put text that begins with ! in quotes"},
	{"a marked key", "? a\n: b\n", `1:1: keys marked with ? are not supported; write "key: value"`},
	{"a directive", "%YAML 1.2\n---\na: 1\n", "1:1: directives (%) are not supported; remove it, or put text that begins with % in quotes"},
	{"Latin-1", "suite: caf\xe9\n", "1:11: this is not UTF-8 text; save the file as UTF-8"},
	{"an escape character", "a: 1\n# \x1b[31m\n", "2:3: the character U+001B cannot be seen; remove it, or write it as an escape in double quotes"},
	{"a line that runs backwards", "suite: \u202ea\n", "1:8: the character U+202E cannot be seen; remove it, or write it as an escape in double quotes"},
	{"a lone carriage return", "a: 1\rb: 2\n", "1:5: the character U+000D cannot be seen; remove it, or write it as an escape in double quotes"},
	{"a no-break space", "\u00a0suite: a\n", "1:1: the character U+00A0 cannot be seen; remove it, or write it as an escape in double quotes"},
	{"UTF-16", "\xff\xfes\x00u\x00", "1:1: this is not UTF-8 text; save the file as UTF-8"},
	{"more than a mebibyte", "#" + strings.Repeat(" ", mostBytes), "the file has 1048577 bytes, and a suite at most 1048576; put data into files of their own"},
	{"many words", "a: [" + strings.Repeat("b,", mostWords/2), "1:20002: the file has more than 20000 words and signs; divide it into several suites"},
	{"many brackets", "a: " + strings.Repeat("[", 50_000), "1:20002: the file has more than 20000 words and signs; divide it into several suites"},
	{"deep brackets", "a: " + strings.Repeat("[", mostDepth+1), "1:68: this is nested more than 64 deep; write it flatter"},
	{"deep dashes", strings.Repeat("- ", mostDepth+1), "1:129: this is nested more than 64 deep; write it flatter"},
	{"deep indents", staircase(mostDepth + 1), "64:64: this is nested more than 64 deep; write it flatter"},
}

func TestTextThatIsNoPlainYAMLIsOneFault(t *testing.T) {
	t.Parallel()
	for _, test := range notPlain {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := Read("s.yml", []byte(test.text), exampleFiles, Options{})
			faults := faultsOf(t, err)
			first, _, _ := strings.Cut(faults[0].String(), "\n")
			if got := strings.TrimPrefix(strings.TrimPrefix(first, "s.yml:"), " "); got != test.want || len(faults) > 1 {
				t.Errorf("%d faults, the first\n%s, want one\n%s", len(faults), got, test.want)
			}
		})
	}
}

// staircase is a mapping in a mapping, so many times.
func staircase(steps int) string {
	var b strings.Builder
	for i := range steps {
		fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
	}
	return b.String()
}

// TestNoTextOccupiesTheParser feeds what the parser is known to be slow at, as
// much of it as passes the limits, and more. A limit that does not hold is an
// hour of work, which go test gives up on.
func TestNoTextOccupiesTheParser(t *testing.T) {
	t.Parallel()
	for _, unit := range []string{
		"[", "{", "{a: ", "- ", ": ", "a: ", "k:\n", "k: v\n", "- k: v\n", "...\n", "'\n", "|\n", "k: |\n  x\n", "#\n", "? ", "&a ", "*a ", "---\n",
	} {
		words := len(lexer.Tokenize(strings.Repeat(unit, 100)))
		faultsOf(t, readError(strings.Repeat(unit, (mostWords-1)*100/words)))
	}
	for _, unit := range []string{"[", "- ", "k:\n"} {
		faultsOf(t, readError(strings.Repeat(unit, mostBytes/len(unit))))
	}
}

func readError(text string) error {
	_, err := Read("s.yml", []byte(text), exampleFiles, Options{})
	return err
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(everyKey))
	for _, test := range notPlain {
		f.Add([]byte(test.text[:min(len(test.text), 1000)]))
	}
	for _, seed := range []string{"suite: a", "a: |\n", "{a: [", "a: 'b\n c'", "- \t", "\ufeffa: {b, c}", "a: >-\n\n  b\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		suite, err := Read("s.yml", text, exampleFiles, Options{})
		if err == nil {
			if suite.Name == "" || len(suite.Cases()) == 0 || suite.Plan.Rounds < 1 {
				t.Errorf("a suite that lacks something: %+v", suite)
			}
			return
		}
		for _, fault := range faultsOf(t, err) {
			if strings.ContainsFunc(strings.ReplaceAll(fault.String(), "\n", ""), func(c rune) bool { return !visible(c) }) {
				t.Errorf("a fault that could harm a terminal: %q", fault.String())
			}
			if fault.Source != "" && fault.Column+fault.Width-1 > max(len([]rune(fault.Source)), fault.Column) {
				t.Errorf("a caret beyond its line: %+v", fault)
			}
		}
	})
}
