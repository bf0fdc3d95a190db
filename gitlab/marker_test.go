package gitlab

import (
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

func TestAMarkerIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	for _, suite := range []string{"web-servers", "", "a--b", "-", "->", "-->", "a b=c\nd", "日本", "100%", "\xff"} {
		m := mark(48213, stopwatt.Note{Suite: suite, Created: time.Date(2026, 11, 30, 9, 41, 7, 123456789, time.UTC)}, "text")
		line := m.String()
		if inner := line[len("<!--") : len(line)-len("-->")]; strings.Contains(inner, "--") || strings.ContainsAny(inner, ">\n") {
			t.Errorf("suite %q ends the comment: %s", suite, line)
		}
		if got, text, ok := parseMarker(line + "\ntext\nmore"); !ok || got != m || text != "text\nmore" {
			t.Errorf("%s was read as %+v with %q, %v; want %+v", line, got, text, ok, m)
		}
	}
}

func TestWhatIsNoMarker(t *testing.T) {
	t.Parallel()
	whole := mark(1, stopwatt.Note{Suite: "x", Created: time.Unix(0, 0)}, "text").String()
	tests := []struct{ name, body string }{
		{"nothing", ""},
		{"one on the second line", "\n" + whole},
		{"one behind a blank", " " + whole},
		{"one with something behind it", whole + " x"},
		{"one of another form", strings.Replace(whole, "v1", "v2", 1)},
		{"one with half a hash", strings.Replace(whole, "sha256:", "sha256:0", 1)},
		{"one of no time", strings.Replace(whole, "created=1970", "created=x", 1)},
		{"one of a pipeline beyond numbers", strings.Replace(whole, "pipeline=1", "pipeline=99999999999999999999", 1)},
		{"one with a broken name", strings.Replace(whole, "suite=x", "suite=%zz", 1)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if m, _, ok := parseMarker(test.body); ok {
				t.Errorf("%q was read as %+v", test.body, m)
			}
		})
	}
}

func FuzzParseMarker(f *testing.F) {
	f.Add(mark(1, stopwatt.Note{Suite: "a--b", Created: time.Unix(0, 0)}, "text").String() + "\ntext")
	f.Add("<!-- stopwatt:v1 suite= pipeline=0 created=0000-01-01T00:00:00Z hash=sha256: -->")
	f.Fuzz(func(t *testing.T, body string) {
		m, _, ok := parseMarker(body)
		if !ok {
			return
		}
		m.created = m.created.Truncate(time.Millisecond)
		if again, _, ok := parseMarker(m.String()); !ok || again != m {
			t.Errorf("%q was read as %+v, and that again as %+v, %v", body, m, again, ok)
		}
	})
}
