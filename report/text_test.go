package report

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"plain text stays", "rust-tokio (naïve) ± 3 µs 名前", "rust-tokio (naïve) ± 3 µs 名前"},
		{"escape sequences become visible", "\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"one-character control sequences too", "a\u009b31mb", `a\u009b31mb`},
		{"a title cannot be set", "\x1b]0;x\a", `\x1b]0;x\a`},
		{"lines become one", "a\nb\r\nc\td", "a b  c d"},
		{"exotic spaces and line ends become blanks", "a\u00a0b\u2028c", "a b c"},
		{"text cannot be turned round", "txt.\u202eexe", `txt.\u202eexe`},
		{"nothing is invisible", "a\u200bb\ufeff", `a\u200bb\ufeff`},
		{"bytes that are no text become visible", "a\xffb", `a\xffb`},
		{"a real replacement character stays", "a\uFFFDb", "a\uFFFDb"},
		{"accents may be characters of their own", "e\u0301", "e\u0301"},
		{"blanks at the ends go", "  a ", "a"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := Clean(test.text); got != test.want {
				t.Errorf("Clean(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("\x1b[0m\u202e\xff\u2028")
	f.Fuzz(func(t *testing.T, text string) {
		got := Clean(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool {
			return unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
		}) {
			t.Errorf("Clean(%q) = %q", text, got)
		}
		if again := Clean(got); again != got {
			t.Errorf("cleaned twice, %q became %q", got, again)
		}
	})
}

func TestBytesThatAreNoTextDoNotFillTheTerminal(t *testing.T) {
	if got := Brief(strings.Repeat("\x00", 4096)); width(got) != longestWhy || !strings.HasSuffix(got, "…") {
		t.Errorf("%d columns: %.40q…", width(got), got)
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		names   []string
		columns int
		want    []string
	}{
		{"names that fit stay", []string{"go", "rust"}, 8, []string{"go", "rust"}},
		{"long ones are cut to their beginning", []string{"imperative", "lazy-params"}, 9, []string{"imperati…", "lazy-par…"}},
		{"never to two equal words", []string{"hash-refactoring", "hash-refinement"}, 9, []string{"hash-ref…", "hash-re…2"}},
		{"nor to the name of another", []string{"abcdefghij", "abcd…"}, 5, []string{"abc…2", "abcd…"}},
		{"wide characters count twice", []string{"測試服務器"}, 7, []string{"測試服…"}},
		{"two that look alike are numbered", []string{"a\nb", "a b"}, 8, []string{"a b", "a b…2"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, shorten(test.names, test.columns)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestBroken(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		text string
		want []string
	}{
		{"a short name stays", "time", []string{"time"}},
		{"a long one is broken behind an underscore", "context_switches_server", []string{"context_", "switches_", "server"}},
		{"or at a blank", "energy_cpu net", []string{"energy_cpu", "net"}},
		{"or anywhere", "a-very-long-name net", []string{"a-very-lon", "g-name net"}},
		{"as few lines as can be", "a_b_c_d_e_f_g", []string{"a_b_c_d_e_", "f_g"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, broken(test.text, 10)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		text    string
		columns int
		want    []string
	}{
		{"a short line stays", "one two", 10, []string{"one two"}},
		{"words go to the next line, indented", "one two three", 9, []string{"one two", "  three"}},
		{"a word longer than a line is broken", "abcdefghijklmno", 10, []string{"abcdefghij", "  klmno"}},
		{"wide characters count twice", "測試 測試", 8, []string{"測試", "  測試"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, wrap(test.text, test.columns, 2)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReasonShown(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0123456789abcdef", 4)
	wrong := "expected a body of SHA-256 " + sum + ", found " + sum + "; the body begins \"" + strings.Repeat("x", 60) + "\"; still so after 2s"
	tests := []struct{ name, reason, want string }{
		{"one line stays", "exited with 1", "exited with 1"},
		{"a line end behind it is nothing", "exited with 1\n", "exited with 1"},
		{"other lines are left out", "exited with 1\r\nits log\nmore", "exited with 1 …"},
		{"so are those behind empty ones", "\n\nthe log begins late\nand ends", "the log begins late …"},
		{"nothing stays nothing", "", ""},
		{"the lines of a log are kept", "exited with 1; its last lines:\none\ntwo", "exited with 1; its last lines: one two"},
		{"of many, the last", "exited with 1; its last lines:\n" + strings.Repeat("z", 280) + "\nlast but one\nlast", "exited with 1; its last lines: … last but one last"},
		{"no lines are announced that are not there", "exited with 1; its last lines:", "exited with 1"},
		{"nor where there is no room for them", strings.Repeat("y", 290) + "; its last lines:\none", strings.Repeat("y", 290) + " …"},
		{"a wrong body is said whole", wrong, wrong},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := reasonShown(test.reason); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
	if width(wrong) < 260 {
		t.Errorf("the wrong body's reason has %d characters, and proves little", width(wrong))
	}
}

func TestReasonShownIsBounded(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{strings.Repeat("名", 1000), "a; its last lines:\n" + strings.Repeat("名", 1000), strings.Repeat("a\n", 1000), strings.Repeat("b", 400) + "; its last lines:\nc"} {
		if got := reasonShown(reason); width(got) > longestWhy || width(got) < 3 || strings.Contains(got, "\n") || strings.HasSuffix(got, "lines:") {
			t.Errorf("%d columns of %q", width(got), got)
		}
	}
}
