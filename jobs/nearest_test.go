package jobs

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	t.Parallel()
	words := []string{"request", "requests", "stop-signal", "for", "port", "ready-within"}
	for _, test := range []struct{ name, written, want string }{
		{"a letter is missing", "reqest", "request"},
		{"a letter too many", "portt", "port"},
		{"two letters are swapped", "prot", "port"},
		{"a wrong letter", "fort", "for"},
		{"capitals instead of a hyphen", "stopSignal", "stop-signal"},
		{"an underscore instead of a hyphen", "ready_within", "ready-within"},
		{"the same word", "requests", "requests"},
		{"the nearest of two", "rquests", "requests"},
		{"another word", "timeout", ""},
		{"nothing", "", ""},
		{"a word without end", strings.Repeat("for", 100), ""},
		{"letters of several bytes", "pört", "port"},
	} {
		if got, ok := nearest(test.written, words); got != test.want || ok != (test.want != "") {
			t.Errorf("%s: nearest(%q) is %q, %t, want %q", test.name, test.written, got, ok, test.want)
		}
	}
}
