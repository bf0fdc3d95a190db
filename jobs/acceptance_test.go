package jobs_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/jobs"
)

const sha = "3f2a9010aa55aa55aa55aa55aa55aa55aa55aa55"

var committed = time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)

func TestAcceptancesOfAMessage(t *testing.T) {
	accepted := func(of, metric, reason string) stopwatt.Acceptance {
		return stopwatt.Acceptance{Case: of, Metric: metric, Reason: reason, By: "Ada", Commit: sha, At: committed}
	}
	for name, row := range map[string]struct {
		message string
		want    []stopwatt.Acceptance
	}{
		"a message without any": {"Serve faster\n\nStopwatt measures it.\n", nil},
		"one, for every metric": {
			"Validate\n\nStopwatt-Accept: go/csv \"validates every line now\"\n",
			[]stopwatt.Acceptance{accepted("go/csv", "", "validates every line now")},
		},
		"one, for a metric": {
			"Validate\n\nStopwatt-Accept: go/csv latency_p99.9 \"meant\"",
			[]stopwatt.Acceptance{accepted("go/csv", "latency_p99.9", "meant")},
		},
		"several, with globs, among other trailers": {
			"Validate\n\nSigned-off-by: Ada\nStopwatt-Accept: */csv-* time \"meant\"\nStopwatt-Accept: [rg]o/?sv \"too\"\nCo-authored-by: Bo\n",
			[]stopwatt.Acceptance{accepted("*/csv-*", "time", "meant"), accepted("[rg]o/?sv", "", "too")},
		},
		"one in the middle, as a squash leaves it, with CRLF": {
			"A\r\n\r\nstopwatt-accept:go/csv \"meant\"\r\n\r\n* B\r\n", []stopwatt.Acceptance{accepted("go/csv", "", "meant")},
		},
		"one of several lines": {
			"A\n\nStopwatt-Accept: go/csv\n  time\n\t\"validates   every\n line\"\nB\n", []stopwatt.Acceptance{accepted("go/csv", "time", "validates every line")},
		},
		"a benchmark of a harness": {
			"A\n\nStopwatt-Accept: go/sort/large \"meant\"", []stopwatt.Acceptance{accepted("go/sort/large", "", "meant")},
		},
		"one that is quoted or indented is somebody else's": {"A\n\n> Stopwatt-Accept: go/csv \"no\"\n  Stopwatt-Accept: go/csv \"no\"\n", nil},
	} {
		got, faults := jobs.Acceptances(row.message, sha, "Ada", committed)
		if diff := cmp.Diff(row.want, got); diff != "" || len(faults) > 0 {
			t.Errorf("%s: faults %v\n%s", name, faults, diff)
		}
	}
}

func TestAMalformedAcceptanceIsToldWithItsCommitAndTheRemedy(t *testing.T) {
	const form = `write Stopwatt-Accept: IMPLEMENTATION/WORKLOAD [METRIC] "reason"`
	for value, says := range map[string]string{
		`go/csv meant`:             "the reason in quotes is missing; " + form,
		`go/csv "meant`:            "the reason has no closing quote; " + form,
		`go/csv "meant" time`:      "something follows the reason; " + form,
		`go/csv " "`:               "the reason is empty; say in quotes why the change is meant",
		`"meant"`:                  "it names no case; " + form,
		`go/csv time cpu "meant"`:  "there are more than a case and a metric in front of the reason; " + form,
		`go "meant"`:               `case "go" names no workload; write IMPLEMENTATION/WORKLOAD, like "go/*"`,
		`[/csv "meant"`:            `case "[/csv" is malformed; write * for any text, ? for any character, [a-c] for one of some`,
		"go/csv \"\xff\"":          "it is no UTF-8; " + form,
		``:                         "the reason in quotes is missing; " + form,
		`go/csv time “typography”`: "the reason in quotes is missing; " + form,
	} {
		accepted, faults := jobs.Acceptances("A\n\nStopwatt-Accept: "+value+"\nStopwatt-Accept: go/x \"kept\"\n", sha, "Ada", committed)
		if len(accepted) != 1 || accepted[0].Case != "go/x" {
			t.Errorf("%s: accepted %+v", value, accepted)
		}
		if len(faults) != 1 || faults[0].Message != says || faults[0].Line != 3 || faults[0].File != "message of commit 3f2a9010" {
			t.Errorf("%s: %+v, want %s", value, faults, says)
		}
	}
}

func TestALongReasonIsCut(t *testing.T) {
	accepted, faults := jobs.Acceptances("Stopwatt-Accept: go/csv \""+strings.Repeat("ü", 400)+"\"", sha, "Ada", committed)
	if len(accepted) != 1 || len(faults) != 0 || len(accepted[0].Reason) > 500 || !strings.HasSuffix(accepted[0].Reason, "ü…") {
		t.Errorf("%+v, faults %v", accepted, faults)
	}
}

func FuzzAcceptances(f *testing.F) {
	for _, seed := range []string{"", "A\n\nStopwatt-Accept: go/csv time \"meant\"\n more\n", "stopwatt-accept: \"", "Stopwatt-Accept: [/\xff \"x\"\r\n\t\"y"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		accepted, faults := jobs.Acceptances(message, sha, "Ada", committed)
		if n := strings.Count(strings.ToLower(message), "stopwatt-accept:"); len(accepted)+len(faults) > n {
			t.Errorf("%d of %d", len(accepted)+len(faults), n)
		}
		for _, a := range accepted {
			if a.Reason == "" || len(a.Reason) > 500 || !utf8.ValidString(a.Reason) || strings.ContainsAny(a.Reason, "\"\n") || !strings.Contains(a.Case, "/") {
				t.Errorf("accepted %+v", a)
			}
			again, _ := jobs.Acceptances("Stopwatt-Accept: "+a.Case+" "+a.Metric+" \""+a.Reason+"\"", sha, "Ada", committed)
			if diff := cmp.Diff([]stopwatt.Acceptance{a}, again); diff != "" {
				t.Errorf("written again: %s", diff)
			}
		}
		for _, fault := range faults {
			if fault.Line < 1 || fault.Message == "" {
				t.Errorf("%+v", fault)
			}
		}
	})
}
