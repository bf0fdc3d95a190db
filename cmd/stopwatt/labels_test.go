package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseLabels(t *testing.T) {
	for _, row := range []struct {
		flags []string
		want  map[string]string
		says  string
	}{
		{nil, nil, ""},
		{[]string{"board=rev B", "empty=", "url=https://example.org/?a=b"}, map[string]string{"board": "rev B", "empty": "", "url": "https://example.org/?a=b"}, ""},
		{[]string{"board"}, nil, `--label "board": write KEY=VALUE`},
		{[]string{"=x"}, nil, "write KEY=VALUE"},
		{[]string{" board=x"}, nil, "write KEY=VALUE"},
		{[]string{"a=1", "a=2"}, nil, `the key "a" is given twice`},
		{[]string{"a=\xff"}, nil, "UTF-8"},
		{[]string{"a=" + strings.Repeat("x", 201)}, nil, "at most 200 bytes"},
	} {
		got, err := parseLabels(row.flags)
		if diff := cmp.Diff(row.want, got); diff != "" || (err == nil) != (row.says == "") || err != nil && !strings.Contains(err.Error(), row.says) {
			t.Errorf("%q: %v, %v", row.flags, got, err)
		}
	}
}

func TestUntilWhen(t *testing.T) {
	now := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                     {},
		"30d":                  now.AddDate(0, 0, 30),
		"12h":                  now.Add(12 * time.Hour),
		"2027-01-31T00:00:00Z": time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC),
		"2027-01-31":           time.Date(2027, 1, 31, 0, 0, 0, 0, time.Local),
	} {
		if got, err := untilWhen(text, now); err != nil || !got.Equal(want) {
			t.Errorf("until %q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"0d", "-3d", "d", "-1h", "0s", "2026-11-29", "soon", "99999999d"} {
		if got, err := untilWhen(text, now); err == nil || !strings.Contains(err.Error(), "a date in the future") {
			t.Errorf("until %q: %v, %v", text, got, err)
		}
	}
}
