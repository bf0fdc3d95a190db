package gitlab

import (
	"fmt"
	"strings"
	"time"
	"unicode"
)

// Section begins a part of a job's log that is folded up until somebody opens it. The
// header is shown; of foreign text in it, what steers terminals is left out.
func Section(name, header string, at time.Time) string {
	return fmt.Sprintf("\x1b[0Ksection_start:%d:%s[collapsed=true]\r\x1b[0K%s\n", at.Unix(), sectionName(name), printable(header))
}

// EndSection ends the part of this name.
func EndSection(name string, at time.Time) string {
	return fmt.Sprintf("\x1b[0Ksection_end:%d:%s\r\x1b[0K\n", at.Unix(), sectionName(name))
}

// sectionName keeps to what GitLab takes in the name of a section: letters, digits, low
// lines, points and hyphens.
func sectionName(name string) string {
	kept := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
			return r
		}
		return '_'
	}, name)
	if kept == "" {
		return "_"
	}
	return kept
}

// printable is a text on one line that steers nothing.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return -1
	}, strings.ToValidUTF8(text, "\uFFFD"))
}
