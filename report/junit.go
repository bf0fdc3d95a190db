package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

type junitSuites struct {
	XMLName xml.Name     `xml:"testsuites"`
	Suites  []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string      `xml:"name,attr"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Cases    []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	File    string      `xml:"file,attr,omitempty"`
	Failure *junitWords `xml:"failure"`
	Skipped *junitWords `xml:"skipped"`
	Output  string      `xml:"system-out,omitempty"`
}

type junitWords struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// JUnit writes a test for each case and metric, of the runs of one suite on one or
// several machines. What regressed failed, unless somebody accepted it; what is
// undecided, missing or not judged was skipped, with the reason; all else passed.
// File is the suite file's path in the repository.
func JUnit(w io.Writer, file string, runs ...stopwatt.Results) error {
	var all junitSuites
	for _, results := range runs {
		suite := junitSuite{Name: Clean(results.Run.Suite)}
		if len(runs) > 1 {
			suite.Name += " on " + Clean(results.Run.Machine.Name)
		}
		suite.Cases = junitCases(results, file)
		for _, c := range suite.Cases {
			suite.Tests++
			if c.Failure != nil {
				suite.Failures++
			}
			if c.Skipped != nil {
				suite.Skipped++
			}
		}
		all.Suites = append(all.Suites, suite)
	}
	out := xml.NewEncoder(w)
	out.Indent("", "  ")
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	if err := out.Encode(all); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// junitCases are the tests of one run. Without a judgement each case is one that was
// skipped: nobody can say whether it became worse.
func junitCases(results stopwatt.Results, file string) []junitCase {
	var cases []junitCase
	class := Clean(results.Run.Suite)
	if results.Judgement == nil {
		for _, result := range results.Cases {
			if result.Revision == stopwatt.Base {
				continue
			}
			why := "no baseline: nothing to compare with"
			if result.Valid == 0 {
				why = "not measured: " + whyInvalid(result)
			}
			cases = append(cases, junitCase{Class: class, Name: Clean(result.Case.String()), File: Clean(file), Skipped: &junitWords{Message: Clean(why)}})
		}
		return cases
	}
	for _, c := range results.Judgement.Comparisons {
		test := junitCase{Class: class, Name: Clean(c.Case.String() + " " + c.Metric.Name), File: Clean(file)}
		text := strings.Join(comparisonLines(results, c), "\n")
		switch {
		case isWorse(c):
			test.Failure = &junitWords{Message: verdictLine(c), Type: string(c.Verdict), Text: text}
		case c.Verdict == stopwatt.Undecided, c.Verdict == stopwatt.Missing, c.Verdict == stopwatt.NotJudged:
			test.Skipped = &junitWords{Message: whySkipped(results, c), Text: text}
		default:
			test.Output = text
		}
		cases = append(cases, test)
	}
	return cases
}

// whySkipped is the verdict with the first reason that there is for it.
func whySkipped(results stopwatt.Results, c stopwatt.Comparison) string {
	var whys []string
	if c.Verdict != stopwatt.Undecided {
		whys = missingReasons(results, c)
	}
	if whys = append(whys, remarks(c)...); len(whys) == 0 {
		return verdictLine(c)
	}
	return verdictLine(c) + "; " + Clean(whys[0])
}

// comparisonLines tell all of a comparison, a line for each thing.
func comparisonLines(results stopwatt.Results, c stopwatt.Comparison) []string {
	lines := []string{verdictLine(c)}
	if values := FromTo(c); values != "" {
		lines = append(lines, Clean(values)+", medians of "+plural(c.Estimate.N, "pair"))
	}
	if a := c.Accepted; a != nil {
		lines = append(lines, fmt.Sprintf("accepted by %s in %s: %s", short(a.By), stopwatt.Commit{SHA: Clean(a.Commit)}.Short(), short(a.Reason)))
	}
	for _, remark := range remarks(c) {
		lines = append(lines, Clean(remark))
	}
	if c.Verdict == stopwatt.Missing || c.Verdict == stopwatt.NotJudged {
		lines = append(lines, missingReasons(results, c)...)
	}
	if base := results.Run.Against; base.Commit.SHA != "" {
		lines = append(lines, fmt.Sprintf("base %s, head %s, on %s", checkout(base), checkout(results.Run.Checkout), Clean(results.Run.Machine.Name)))
	}
	return lines
}

// verdictLine is a comparison in one line: "regressed: +8.3 % slower (+7.4 … +9.2 %)".
func verdictLine(c stopwatt.Comparison) string {
	text := string(c.Verdict)
	if c.Accepted != nil {
		text += ", accepted"
	}
	if c.Estimate.Ratio.Known {
		text += ": " + Change(c)
	}
	if interval := ChangeInterval(c); interval != "" {
		text += " (" + interval + ")"
	}
	return text
}

// missingReasons are why the trials of a case have no number.
func missingReasons(results stopwatt.Results, c stopwatt.Comparison) []string {
	var lines []string
	for _, result := range results.Cases {
		if result.Case != c.Case {
			continue
		}
		side := map[bool]string{true: "base", false: "head"}[result.Revision == stopwatt.Base]
		for _, reason := range result.Reasons {
			lines = append(lines, fmt.Sprintf("%s: %s in %s", side, reasonShown(reason.Reason), plural(reason.Count, "trial")))
		}
		if why := reasonsIn(absences(result, c.Metric.Name), result.Valid); why != "" {
			lines = append(lines, side+": "+why)
		}
	}
	return lines
}
