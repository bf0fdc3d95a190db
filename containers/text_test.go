package containers

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"only ends of lines", "\n\r\n", nil},
		{"fewer lines than asked", "a\nb\n", []string{"a", "b"}},
		{"no end of the last line", "a\nb\nc\nd", []string{"b", "c", "d"}},
		{"ends of lines as on Windows", "a\r\nb\r\n", []string{"a", "b"}},
		{"an empty line between", "a\n\nb\n", []string{"a", "", "b"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, tail([]byte(test.text), 3)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, line, want string
	}{
		{"plain text", "hello, wörld\t✓", "hello, wörld\t✓"},
		{"colours", "\x1b[1;31mred\x1b[0m", "red"},
		{"a title", "\x1b]0;owned\x07text", "text"},
		{"an escape alone", "a\x1bc", "a�c"},
		{"a line that overwrites itself", "10 %\r50 %\r100 %\r", "100 %"},
		{"C1 control", "a\u009b2Jb", "a�2Jb"},
		{"text that runs backwards", "a\u202eb", "a�b"},
		{"bytes that are no text", "a\xff\xfeb", "a�b"},
		{"a long line", strings.Repeat("é", 300), strings.Repeat("é", 248) + "…"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := printable(test.line); got != test.want {
				t.Errorf("%q; want %q", got, test.want)
			}
		})
	}
}

func FuzzPrintable(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m\xff\u202e")
	f.Fuzz(func(t *testing.T, line string) {
		got := printable(line)
		if len(got) > maxLineBytes || !utf8.ValidString(got) {
			t.Errorf("%d bytes, valid %v", len(got), utf8.ValidString(got))
		}
		if strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 }) {
			t.Errorf("%q holds a control character", got)
		}
	})
}
