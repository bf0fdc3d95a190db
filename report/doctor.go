package report

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// doctorFormat names the shape that FindingsJSON writes; see jsonFormat.
const doctorFormat = "stopwatt.doctor/1"

// Findings writes what was found on a machine for people: the machine, every
// finding behind its verdict, with its remedies below it, whether the machine is
// fit for each of the judged metrics, and how many findings are unfit or
// doubtful. No line is wider than 80 columns but those of remedies: each is one
// line to paste.
func Findings(w io.Writer, machine stopwatt.Machine, findings []stopwatt.Finding, judged ...string) error {
	lines := wrap(machineLine(machine), defaultWidth, 2)
	lines = append(lines, "")
	subject := 0
	for _, f := range findings {
		subject = max(subject, width(findingSubject(f)))
	}
	for _, f := range findings {
		lines = append(lines, findingLines(f, subject)...)
	}
	if len(findings) > 0 {
		lines = append(lines, "")
	}
	if text := fitness(findings, judged); text != "" {
		lines = append(lines, wrap(text, defaultWidth, 2)...)
	}
	lines = append(lines, verdicts(findings))
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// machineLine says what a machine is in a line.
func machineLine(m stopwatt.Machine) string {
	cpu := short(m.Identity.CPUModel)
	if m.Identity.Cores > 0 {
		cpu = strings.TrimPrefix(fmt.Sprintf("%s, %s, %s", cpu, plural(m.Identity.Cores, "core"), plural(m.Identity.Threads, "thread")), ", ")
	}
	memory := ""
	if m.Identity.MemoryBytes > 0 {
		memory = Value(stopwatt.Metric{Unit: "B"}, float64(m.Identity.MemoryBytes))
	}
	return dotted(short(m.Name), cpu, memory, named("Linux", short(m.Epoch.Kernel)))
}

// longestSubject bounds what findings are called, so that there is room for
// what they say.
const longestSubject = 20

func findingSubject(f stopwatt.Finding) string { return cut(Clean(f.Subject), longestSubject) }

// findingLines are a finding, wrapped behind its verdict and its subject, and
// its remedies.
func findingLines(f stopwatt.Finding, subject int) []string {
	verdict := left(cut(Clean(string(f.Verdict)), 5), 7)
	head := verdict + left(findingSubject(f), subject) + blanks(gap)
	var lines []string
	for i, line := range wrap(Clean(f.Says), defaultWidth-width(head), 0) {
		if i > 0 {
			head = blanks(width(head))
		}
		lines = append(lines, strings.TrimRight(head+line, " "))
	}
	for _, remedy := range f.Remedies {
		line := Clean(remedy.Line)
		if when := Clean(remedy.When); when != "" {
			line = when + ":  " + line
		}
		lines = append(lines, blanks(width(verdict))+line)
	}
	return lines
}

// fitness says for which of the judged metrics the machine is fit.
func fitness(findings []stopwatt.Finding, judged []string) string {
	var parts []string
	for _, metric := range judged {
		word := "fit"
		if !stopwatt.FitFor(findings, metric) {
			word = "NOT fit"
		}
		parts = append(parts, short(metric)+" "+word)
	}
	if parts == nil {
		return ""
	}
	return "For what is judged: " + strings.Join(parts, ", ") + "."
}

// verdicts counts what is not well.
func verdicts(findings []stopwatt.Finding) string {
	unfit, doubtful := countVerdicts(findings)
	switch {
	case unfit > 0:
		return fmt.Sprintf("%d unfit, %s.", unfit, plural(doubtful, "warning"))
	case doubtful > 0:
		return plural(doubtful, "warning") + "."
	}
	return "All is well."
}

func countVerdicts(findings []stopwatt.Finding) (unfit, doubtful int) {
	for _, f := range findings {
		switch f.Verdict {
		case stopwatt.Unfit:
			unfit++
		case stopwatt.Doubtful:
			doubtful++
		}
	}
	return unfit, doubtful
}

// The documented shape of `stopwatt doctor --json` (docs/results.md).
type (
	jsonDoctor struct {
		Format   string          `json:"format"`
		Machine  jsonMachine     `json:"machine"`
		Findings []jsonFinding   `json:"findings"`
		Fit      map[string]bool `json:"fit"`
		Unfit    int             `json:"unfit"`
		Warnings int             `json:"warnings"`
	}
	jsonFinding struct {
		Subject  string       `json:"subject"`
		Verdict  string       `json:"verdict"`
		Says     string       `json:"says"`
		Metrics  []string     `json:"metrics,omitempty"`
		Remedies []jsonRemedy `json:"remedies,omitempty"`
	}
	jsonRemedy struct {
		When string `json:"when,omitempty"`
		Line string `json:"line"`
	}
)

// FindingsJSON writes the same as Findings, in the shape that docs/results.md
// describes.
func FindingsJSON(w io.Writer, machine stopwatt.Machine, findings []stopwatt.Finding, judged ...string) error {
	document := jsonDoctor{Format: doctorFormat, Machine: jsonOfMachine(machine), Findings: []jsonFinding{}, Fit: map[string]bool{}}
	document.Unfit, document.Warnings = countVerdicts(findings)
	for _, metric := range judged {
		document.Fit[metric] = stopwatt.FitFor(findings, metric)
	}
	for _, f := range findings {
		finding := jsonFinding{Subject: f.Subject, Verdict: string(f.Verdict), Says: f.Says, Metrics: f.Metrics}
		for _, remedy := range f.Remedies {
			finding.Remedies = append(finding.Remedies, jsonRemedy(remedy))
		}
		document.Findings = append(document.Findings, finding)
	}
	return encode(w, document)
}

// encode writes a document as JSON for people who look at it too. Characters of
// HTML stay as they are: it is no page, and remedies are to be pasted.
func encode(w io.Writer, document any) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}
