package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// bases say what was measured against what, where, and where there is more to read:
// a line for each machine, and one of links.
func (n *note) bases() []string {
	if !n.several() {
		return n.basesOfOne()
	}
	var lines []string
	shared := ""
	for i, m := range n.of.Machines[:min(len(n.of.Machines), max(1, n.room.remarks))] {
		line := n.baseLine(m)
		if i == 0 {
			shared = line
			lines = append(lines, line)
		}
		parts := []string{"On " + n.machine(i)}
		if line != shared {
			parts = append(parts, line)
		}
		parts = append(parts, roundsText(m))
		lines = append(lines, dotted(append(parts, n.links(m.Links)...)...))
	}
	if more := len(n.of.Machines) - len(lines) + 1; more > 0 && len(lines) > 0 {
		lines = append(lines, fmt.Sprintf("%d more, of which the report tells", more))
	}
	if links := n.links(n.of.Links); len(links) > 0 {
		lines = append(lines, strings.Join(links, " · "))
	}
	return lines
}

// basesOfOne are those of a note about one machine.
func (n *note) basesOfOne() []string {
	var lines []string
	links := n.of.Links
	for _, m := range n.of.Machines {
		lines = append(lines, dotted(n.baseLine(m), n.name(m.Results.Run.Machine.Name), roundsText(m)))
		links = completed(links, m.Links)
	}
	if texts := n.links(links); len(texts) > 0 {
		lines = append(lines, strings.Join(texts, " · "))
	}
	return lines
}

// roundsText is how many rounds were measured, where that is known. Of what is
// identical in base and head there was none.
func roundsText(m Measured) string {
	if j := m.Results.Judgement; j != nil && !slices.ContainsFunc(j.Comparisons, func(c stopwatt.Comparison) bool { return c.Verdict != stopwatt.Identical }) {
		return ""
	}
	if rounds := roundsOf(m); rounds > 0 {
		return plural(rounds, "round")
	}
	return ""
}

// completed are links of a whole, and where it has none those of its one part.
func completed(whole, part Links) Links {
	return Links{
		Report: cmp.Or(whole.Report, part.Report), Job: cmp.Or(whole.Job, part.Job),
		History: cmp.Or(whole.History, part.History), Project: cmp.Or(whole.Project, part.Project),
	}
}

// links are those that there are, as many as there is room for.
func (n *note) links(of Links) []string {
	var links []string
	for _, l := range []struct{ text, url string }{{"Report", of.Report}, {"Job", of.Job}, {"History", of.History}} {
		if address(l.url) != "" && len(links) < n.room.links {
			links = append(links, link(l.text, l.url))
		}
	}
	return links
}

// baseLine names base and head, and the rule by which the base was found.
func (n *note) baseLine(m Measured) string {
	run := m.Results.Run
	head := "head " + n.headText(run)
	if run.Against.Commit.SHA == "" {
		return capital(head)
	}
	about := []string{}
	if run.Choice.Rule != "" {
		about = append(about, plainly(short(run.Choice.Rule)))
	}
	if ahead := n.ahead(run); ahead != "" {
		about = append(about, ahead)
	}
	line := "Base " + n.commitLink(run.Against.Commit.SHA)
	if len(about) > 0 {
		line += " (" + strings.Join(about, "; ") + ")"
	}
	return line + " · " + head
}

// ahead says how far the target branch has gone on from the base.
func (n *note) ahead(run stopwatt.Run) string {
	if run.Pipeline == nil || !run.Pipeline.Kind.OfMergeRequest() {
		return ""
	}
	target := n.name(cmp.Or(run.Pipeline.MergeRequest.TargetBranch, run.Pipeline.DefaultBranch, "the target branch"))
	switch behind := run.Choice.Behind; {
	case behind < 0:
		return "how far " + target + " is ahead is not known"
	case behind == 0:
		return "the tip of " + target
	default:
		return fmt.Sprintf("%s is %s ahead", target, plural(behind, "commit"))
	}
}

// headText names the commit that was measured: of a merged result the one that
// people know, for the merge itself is on no branch.
func (n *note) headText(run stopwatt.Run) string {
	p := run.Pipeline
	if p == nil || p.SourceHead == "" || p.SourceHead == run.Checkout.Commit.SHA {
		text := n.commitLink(run.Checkout.Commit.SHA)
		if run.Checkout.Dirty {
			text += " with uncommitted changes"
		}
		return text
	}
	return n.commitLink(p.SourceHead) + " merged into " + n.name(cmp.Or(p.MergeRequest.TargetBranch, "the target branch"))
}

var isSHA = regexp.MustCompile(`^[0-9a-f]{7,64}$`)

// shaSpan is the beginning of a SHA, as people read it.
func shaSpan(sha string) string {
	if sha == "" {
		return "no commit"
	}
	return codeWithin(stopwatt.Commit{SHA: sha}.Short(), 8)
}

// commitLink leads to a commit, where the project's address is known.
func (n *note) commitLink(sha string) string {
	project := n.of.Links.Project
	for _, m := range n.of.Machines {
		project = cmp.Or(project, m.Links.Project)
		if p := m.Results.Run.Pipeline; p != nil {
			project = cmp.Or(project, p.ProjectURL)
		}
	}
	if project == "" || !isSHA.MatchString(sha) || n.room.links < 2 {
		return shaSpan(sha)
	}
	return link(shaSpan(sha), strings.TrimRight(project, "/")+"/-/commit/"+sha)
}

// commands say how a change for the worse is accepted, and how it is repeated.
func (n *note) commands(told []standing) {
	at := slices.IndexFunc(told, standing.worse)
	if at < 0 {
		return
	}
	s := told[at]
	run := n.of.Machines[s.machine].Results.Run
	n.paragraph("Meant? Say so in a commit message: "+code(`Stopwatt-Accept: `+acceptable(s)+` "reason"`), n.repeat(run, s))
}

// acceptable is how a trailer names what became worse: the case, and the metric where
// it is one alone.
func acceptable(s standing) string {
	var metrics []string
	for _, c := range s.comparisons {
		if isWorse(c) {
			metrics = append(metrics, c.Metric.Name)
		}
	}
	name := globbed(s.of.String())
	if len(metrics) == 1 && globbed(metrics[0]) == metrics[0] {
		return name + " " + metrics[0]
	}
	return name
}

// globbed is a name as a glob that stands for it and needs no quotes: what a
// trailer or a shell would take for its own is any character.
func globbed(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && !('0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || strings.ContainsRune("._-/=,", r)) {
			return '?'
		}
		return r
	}, cut(Clean(name), 120))
}

// repeat is one line that measures the case again.
func (n *note) repeat(run stopwatt.Run, s standing) string {
	parts := []string{"stopwatt run"}
	if n.of.SuiteFile != "" {
		parts = append(parts, quoted(n.of.SuiteFile))
	}
	if sha := run.Against.Commit.SHA; isSHA.MatchString(sha) {
		parts = append(parts, "--against "+run.Against.Commit.Short())
	}
	parts = append(parts, "--case "+quoted(globbed(s.of.String())))
	if run.Seed != 0 {
		parts = append(parts, fmt.Sprintf("--seed %d", run.Seed))
	}
	return "Repeat: " + code(strings.Join(parts, " "))
}

var needsNoQuotes = regexp.MustCompile(`^[A-Za-z0-9._/=,+:@%-]+$`)

// quoted is a word as a shell takes it.
func quoted(word string) string {
	word = Clean(word)
	if needsNoQuotes.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
