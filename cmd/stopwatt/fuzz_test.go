package main

import (
	"strings"
	"testing"
	"time"
)

// FuzzFlags reads what people write behind flags.
func FuzzFlags(f *testing.F) {
	for _, seed := range []string{"board=rev-B", "a=b=c", "debian:bookworm=mirror/debian", "99999d", "2026-11-01T14:30", "12h", "=", "\x00=\xff", "3f2a901..HEAD"} {
		f.Add(seed)
	}
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		labels, err := parseLabels([]string{text})
		if err == nil {
			for key, value := range labels {
				if key == "" || len(key) > longestLabel || len(value) > longestLabel || strings.ContainsRune(key+value, 0) {
					t.Errorf("%q is a label", text)
				}
			}
		}
		if _, err := parseBases(nil, text); err != nil && strings.ContainsRune(err.Error(), '\x1b') {
			t.Errorf("%q reaches the terminal", text)
		}
		if moment, err := momentOf(text, now); err == nil && ago.MatchString(text) && moment.After(now) {
			t.Errorf("%q is %s", text, moment)
		}
		if word := shellWord(text); word == "" || strings.Contains(word, "\n") && !strings.ContainsAny(word, `'"`) {
			t.Errorf("%q is the word %q", text, word)
		}
	})
}
