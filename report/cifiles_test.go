package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// suiteLines are those of the draft's suite.
func suiteLines() SuiteLines {
	return SuiteLines{Path: "bench/stopwatt.yml", Implementations: map[string]int{"rust-arena": 12, "go": 4}, Workloads: map[string]int{"csv-svg-path": 30, "other": 40}}
}

// runsOf are the results behind a note.
func runsOf(of NoteOf) []stopwatt.Results {
	var runs []stopwatt.Results
	for _, m := range of.Machines {
		runs = append(runs, m.Results)
	}
	return runs
}

// ciFiles write each of the files of a CI report.
func ciFiles(of NoteOf) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"junit.xml":        func(w io.Writer) error { return JUnit(w, "bench/stopwatt.yml", runsOf(of)...) },
		"metrics.txt":      func(w io.Writer) error { return OpenMetrics(w, runsOf(of)...) },
		"codequality.json": func(w io.Writer) error { return CodeQuality(w, suiteLines(), runsOf(of)...) },
		"annotations.json": func(w io.Writer) error { return Annotations(w, of.Links, "https://gitlab.example.org/note") },
		"stopwatt.env":     func(w io.Writer) error { return Dotenv(w, of) },
	}
}

// ciFile is one of the files.
func ciFile(t *testing.T, of NoteOf, file string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := ciFiles(of)[file](&out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestFilesOfACIReport(t *testing.T) {
	t.Parallel()
	for kind, of := range map[string]NoteOf{"regressed": notes()["note-regressed.md"], "missing": everythingMissing(), "machines": severalMachines()} {
		for file := range ciFiles(of) {
			t.Run(kind+"-"+file, func(t *testing.T) {
				t.Parallel()
				golden(t, "ci-"+kind+"-"+file, ciFile(t, of, file))
			})
		}
	}
}

func TestTheFilesOfACIReportKeepTheirFormsWhateverNamesThereAre(t *testing.T) {
	t.Parallel()
	for name, of := range notes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkForms(t, of)
		})
	}
}

func FuzzFilesOfACIReport(f *testing.F) {
	for i := range evil {
		f.Add(evil[i], evil[(i+1)%len(evil)])
	}
	f.Fuzz(func(t *testing.T, a, b string) { checkForms(t, hostileNoteOf([]string{a, b})) })
}

// checkForms reads the files back, as strictly as their forms ask for.
func checkForms(t *testing.T, of NoteOf) {
	t.Helper()
	checkJUnit(t, of, ciFile(t, of, "junit.xml"))
	checkOpenMetrics(t, ciFile(t, of, "metrics.txt"))
	checkCodeQuality(t, ciFile(t, of, "codequality.json"))
	checkDotenv(t, string(ciFile(t, of, "stopwatt.env")))
	if text := ciFile(t, of, "annotations.json"); !json.Valid(text) || !bytes.Contains(text, []byte(`"external_link"`)) {
		t.Errorf("annotations: %s", text)
	}
}

func checkJUnit(t *testing.T, of NoteOf, text []byte) {
	t.Helper()
	var all junitSuites
	if err := xml.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	tests, failed := 0, 0
	for _, suite := range all.Suites {
		for _, c := range suite.Cases {
			tests++
			if c.Failure != nil {
				failed++
			}
			if c.Failure != nil && c.Skipped != nil {
				t.Errorf("%s failed and was skipped", c.Name)
			}
			if c.Skipped != nil && c.Skipped.Message == "" {
				t.Errorf("%s was skipped for no reason", c.Name)
			}
		}
	}
	want := 0
	for _, results := range runsOf(of) {
		if results.Judgement != nil {
			for _, c := range results.Judgement.Comparisons {
				if isWorse(c) {
					want++
				}
			}
		}
	}
	if tests == 0 || failed != want {
		t.Errorf("%d tests, %d failed, want %d", tests, failed, want)
	}
}

var (
	metricLine = regexp.MustCompile(`^([a-z_][a-zA-Z0-9_]*)(\{(?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)*\}) (-?[0-9]+(?:\.[0-9]+)?)$`)
	metaLine   = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-z_][a-zA-Z0-9_]*) (.+)$`)
)

// checkOpenMetrics is a strict reader of what we write of OpenMetrics 1.0: families
// together, each named once, a unit that ends its name, no series twice, and an end.
func checkOpenMetrics(t *testing.T, text []byte) {
	t.Helper()
	body, ended := strings.CutSuffix(string(text), "# EOF\n")
	if !ended || strings.Contains(body, "# EOF") {
		t.Fatalf("it does not end with # EOF alone:\n%s", text)
	}
	family := ""
	families, series := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if meta := metaLine.FindStringSubmatch(line); meta != nil {
			switch {
			case meta[1] == "TYPE" && (families[meta[2]] || meta[3] != "gauge"):
				t.Errorf("a family twice, or of another type: %s", line)
			case meta[1] == "TYPE":
				family, families[meta[2]] = meta[2], true
			case meta[2] != family:
				t.Errorf("outside of its family: %s", line)
			case meta[1] == "UNIT" && !strings.HasSuffix(family, "_"+meta[3]):
				t.Errorf("a unit that does not end the name: %s", line)
			}
			continue
		}
		found := metricLine.FindStringSubmatch(line)
		if found == nil {
			t.Fatalf("no line of OpenMetrics: %q", line)
		}
		if found[1] != family {
			t.Errorf("not of the family %s: %s", family, line)
		}
		if _, err := strconv.ParseFloat(found[3], 64); err != nil {
			t.Error(err)
		}
		series[found[1]+found[2]] = true
	}
}

func checkCodeQuality(t *testing.T, text []byte) {
	t.Helper()
	var issues []qualityIssue
	if err := json.Unmarshal(text, &issues); err != nil || issues == nil {
		t.Fatalf("%v in %s", err, text)
	}
	for _, issue := range issues {
		if issue.Description == "" || issue.Check == "" || len(issue.Fingerprint) != 64 || issue.Location.Path == "" || issue.Location.Lines.Begin < 1 {
			t.Errorf("an issue that GitLab drops: %+v", issue)
		}
		if !slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, issue.Severity) {
			t.Errorf("severity %q", issue.Severity)
		}
	}
}

func checkDotenv(t *testing.T, text string) {
	t.Helper()
	line := regexp.MustCompile(`^STOPWATT_[A-Z_]+=[a-z0-9,-]*$`)
	for _, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !line.MatchString(l) {
			t.Errorf("GitLab refuses the line %q", l)
		}
	}
}

func TestANoteSaysInOneWordHowItStands(t *testing.T) {
	t.Parallel()
	all := notes()
	for file, want := range map[string]struct {
		status      string
		regressions int
	}{
		"note-regressed.md": {"regressed", 3}, "note-nothing-worse.md": {"fine", 0}, "note-accepted.md": {"accepted", 0},
		"note-retry-same.md": {"regressed", 2}, "note-retry-gone.md": {"regressed", 1}, "note-no-baseline.md": {"no-baseline", 0},
		"note-energy-not-judged.md": {"missing", 0}, "note-everything-missing.md": {"missing", 0}, "note-machines.md": {"regressed", 3},
	} {
		of := all[file]
		if of.Status() != want.status || of.Regressions() != want.regressions || of.Worse() != (want.regressions > 0) {
			t.Errorf("%s: %s, %d, worse %t, want %+v", file, of.Status(), of.Regressions(), of.Worse(), want)
		}
	}
}

func TestAnIssueStaysTheSameWhileFiguresChange(t *testing.T) {
	t.Parallel()
	prints := func(ratio float64) []string {
		comparisons := draftComparisons()
		for i := range comparisons {
			comparisons[i].Estimate.Ratio.Value = ratio
		}
		var issues []qualityIssue
		if err := json.Unmarshal(ciFile(t, noteOf(comparisons...), "codequality.json"), &issues); err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, issue := range issues {
			all = append(all, issue.Fingerprint)
		}
		return all
	}
	one, two := prints(1.08), prints(1.11)
	if !slices.Equal(one, two) {
		t.Errorf("%v and %v", one, two)
	}
	if distinct := slices.Sorted(maps.Keys(count(one))); len(distinct) != 3 {
		t.Errorf("%d fingerprints of 3 issues", len(distinct))
	}
}

func count(words []string) map[string]int {
	n := map[string]int{}
	for _, word := range words {
		n[word]++
	}
	return n
}

func TestAnIssueStandsAtTheLineOfItsCase(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what                     string
		implementation, workload string
		want                     int
	}{
		{"an implementation", "go", "csv-svg-path", 4},
		{"an implementation that the file does not list", "zig", "csv-svg-path", 30},
		{"a workload of several params", "zig", "other/n=1", 40},
		{"neither", "zig", "none", 1},
	} {
		if got := suiteLines().line(stopwatt.Case{Implementation: row.implementation, Workload: row.workload}); got != row.want {
			t.Errorf("%s: line %d, want %d", row.what, got, row.want)
		}
	}
}

func TestJUnitShowsWhatXMLHasNoPlaceFor(t *testing.T) {
	t.Parallel()
	comparisons := draftComparisons()[:1]
	comparisons[0].Case.Implementation = "a\x00\x0b\xff\uFFFE<b>"
	if text := string(ciFile(t, noteOf(comparisons...), "junit.xml")); !strings.Contains(text, `a\x00\v\xff\ufffe&lt;b&gt;/csv-svg-path time`) {
		t.Errorf("a name was changed or lost:\n%s", text)
	}
}
