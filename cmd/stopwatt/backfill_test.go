package main

import (
	"strings"
	"testing"
)

func TestARunOfABackfillIsRepeatedByItsCommit(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ typed, want string }{
		{"stopwatt backfill HEAD~14..HEAD --gaps", "stopwatt backfill 'abc~1..abc'"},
		{"stopwatt backfill v1.0.. suites/web --every 10 --budget=4h --profile short --db postgres://u:secret@h/d", "stopwatt backfill 'abc~1..abc' suites/web --profile short"},
		{"stopwatt backfill --case go/* --every=3 --budget 4h ..main", "stopwatt backfill --case 'go/*' 'abc~1..abc'"},
	} {
		if got := commandLine(backfillOf(strings.Fields(row.typed), "abc")); got != row.want {
			t.Errorf("%s is repeated by %s, want %s", row.typed, got, row.want)
		}
	}
	if got := backfillOf([]string{"stopwatt", "ci", "--backfill", "3"}, "abc"); got != nil {
		t.Errorf("a pipeline's job is repeated by %v", got)
	}
}
