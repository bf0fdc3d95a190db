package embedded

import (
	"strings"
	"testing"
)

func TestPostmasterFileIsRead(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, text string
		want       postmaster
	}{
		{"a server that is ready", "123\n/data\n1700000000\n5432\n/run/x\n\n 1 2\nready   \n", postmaster{123, "/run/x", true}},
		{"a server that is starting", "123\n/data\n1700000000\n5432\n/run/x\n\n 1 2\nstarting\n", postmaster{123, "/run/x", false}},
		{"a file that is being written", "123\n/data\n", postmaster{pid: 123}},
		{"an empty file", "", postmaster{}},
		{"the number of every process", "0\n", postmaster{}},
		{"the number of a group", "-5\n", postmaster{}},
		{"no number", "x\n", postmaster{}},
	} {
		if got := parsePostmaster(row.text); got != row.want {
			t.Errorf("%s: %+v, want %+v", row.name, got, row.want)
		}
	}
}

func TestComplaintsAreFoundInTheOutput(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ output, want string }{
		{"fixing permissions ... ok\ninitdb: error: could not write file: No space left on device\ninitdb: removing contents of data directory\n", "initdb: error: could not write file: No space left on device"},
		{"initdb: error: could not access directory \"/x\": Permission denied\n", "must be open to the user"},
		{"2026 FATAL:  no\nbye\n", "2026 FATAL:  no"},
		{"Killed\n", "Killed"},
		{"", ""},
	} {
		if got := complaint(row.output); !strings.Contains(got, row.want) {
			t.Errorf("%q: %q, want %q", row.output, got, row.want)
		}
	}
}

func FuzzPostmasterFile(f *testing.F) {
	f.Add("123\n/data\n1700000000\n5432\n/run/x\n\n 1 2\nready   \n")
	f.Fuzz(func(t *testing.T, text string) {
		if p := parsePostmaster(text); p.pid != 0 && p.pid <= 1 {
			t.Errorf("process %d", p.pid)
		}
	})
}
