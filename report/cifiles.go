package report

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// SuiteLines say where a suite file tells of what: lines from 1.
type SuiteLines struct {
	Path            string // relative to the repository
	Implementations map[string]int
	Workloads       map[string]int
}

// line is where a case is written: at its implementation, else at its workload. A
// workload without its params stands for all of them.
func (l SuiteLines) line(of stopwatt.Case) int {
	name, _, _ := strings.Cut(of.Workload, "/")
	for _, line := range []int{l.Implementations[of.Implementation], l.Workloads[of.Workload], l.Workloads[name]} {
		if line > 0 {
			return line
		}
	}
	return 1
}

type qualityIssue struct {
	Description string          `json:"description"`
	Check       string          `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string       `json:"path"`
	Lines qualityLines `json:"lines"`
}

type qualityLines struct {
	Begin int `json:"begin"`
}

// CodeQuality writes what regressed as issues at lines of the suite file, as Code
// Climate has them. An issue's fingerprint is that of its case, metric and machine,
// so that it is the same one in the next pipeline. What somebody accepted is for
// information.
func CodeQuality(w io.Writer, lines SuiteLines, runs ...stopwatt.Results) error {
	issues := []qualityIssue{}
	for _, results := range runs {
		if results.Judgement == nil {
			continue
		}
		for _, c := range results.Judgement.Comparisons {
			if c.Verdict == stopwatt.Regressed {
				issues = append(issues, qualityOf(results.Run, c, lines))
			}
		}
	}
	return encode(w, issues)
}

func qualityOf(run stopwatt.Run, c stopwatt.Comparison, lines SuiteLines) qualityIssue {
	severity := "major"
	if c.Accepted != nil {
		severity = "info"
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q", run.Suite, run.Machine.Name, c.Case.Implementation, c.Case.Workload, c.Metric.Name))
	return qualityIssue{
		Description: fmt.Sprintf("%s %s %s, on %s", Clean(c.Case.String()), Clean(label(c.Metric)), verdictLine(c), Clean(run.Machine.Name)),
		Check:       "stopwatt/" + Clean(c.Metric.Name),
		Fingerprint: hex.EncodeToString(sum[:]),
		Severity:    severity,
		Location:    qualityLocation{lines.Path, qualityLines{lines.line(c.Case)}},
	}
}

type annotation struct {
	Link annotationLink `json:"external_link"`
}

type annotationLink struct {
	Label string `json:"label"`
	URL   string `json:"url"`
}

// Annotations writes the links that GitLab shows on a job's page. Those that are no
// addresses of the web are left out.
func Annotations(w io.Writer, links Links, note string) error {
	all := []annotation{}
	for _, l := range []annotationLink{{"Note on the merge request", note}, {"Report", links.Report}, {"History of the suite", links.History}} {
		if l.URL = address(l.URL); l.URL != "" {
			all = append(all, annotation{l})
		}
	}
	return encode(w, map[string][]annotation{"stopwatt": all})
}

// Dotenv writes what later jobs may want to know, as variables: STOPWATT_STATUS
// (regressed, accepted, missing, undecided, not-judged, no-baseline, fine),
// STOPWATT_REGRESSIONS, those that nobody accepted, and STOPWATT_RUN_ID. None of it is foreign text.
func Dotenv(w io.Writer, of NoteOf) error {
	var runs []string
	for _, m := range of.Machines {
		if id := m.Results.Run.ID; id > 0 { // 0: nothing was stored
			runs = append(runs, fmt.Sprint(id))
		}
	}
	_, err := fmt.Fprintf(w, "STOPWATT_STATUS=%s\nSTOPWATT_REGRESSIONS=%d\nSTOPWATT_RUN_ID=%s\n", of.Status(), of.Regressions(), strings.Join(runs, ","))
	return err
}

// Regressions counts what is worse and was accepted by nobody, now or in an earlier
// measurement.
func (of NoteOf) Regressions() int {
	count := 0
	for _, m := range of.Machines {
		for _, s := range standingsOf(m) {
			for _, c := range s.comparisons {
				if isWorse(c) {
					count++
				}
			}
			for _, e := range s.earlier {
				if e.Comparison.Accepted == nil {
					count++
				}
			}
		}
	}
	return count
}

// Status is the weightiest thing that a note says, in one word.
func (of NoteOf) Status() string {
	if of.Worse() {
		return "regressed"
	}
	count := map[stopwatt.Verdict]int{}
	judged := false
	for _, m := range of.Machines {
		if j := m.Results.Judgement; j != nil {
			judged = true
			for _, c := range j.Comparisons {
				count[c.Verdict]++
			}
		}
	}
	switch {
	case count[stopwatt.Regressed] > 0:
		return "accepted"
	case len(of.Missing) > 0 || of.Unmeasurable() || count[stopwatt.Missing] > 0:
		return "missing"
	case count[stopwatt.Undecided] > 0:
		return "undecided"
	case count[stopwatt.NotJudged] > 0:
		return "not-judged"
	case !judged:
		return "no-baseline"
	}
	return "fine"
}
