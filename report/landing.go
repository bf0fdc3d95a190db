package report

import (
	"fmt"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// mostLandings is how many commits are listed under a change: a range that is longer
// is better asked of git.
const mostLandings = 10

// landingsOf are the commits among which a change lies, the newest first.
func (h History) landingsOf(c stopwatt.ChangePoint) []stopwatt.Landing {
	var within []stopwatt.Landing
	for _, landing := range slices.Backward(h.Landings) {
		if c.Brings(landing.Position) {
			within = append(within, landing)
		}
	}
	return within
}

// landingLines tell of each commit among which a change lies who wrote it, and who
// merged it.
func (h History) landingLines(c stopwatt.ChangePoint, columns int) []string {
	within := h.landingsOf(c)
	var lines []string
	for _, landing := range within[:min(len(within), mostLandings)] {
		lines = append(lines, wrap(landingText(landing), columns, 2)...)
	}
	if more := len(within) - mostLandings; more > 0 {
		lines = append(lines, fmt.Sprintf("and %s", plural(more, "more commit")))
	}
	return lines
}

// landingText says what a commit is, and how it came onto the branch.
func landingText(l stopwatt.Landing) string {
	text := fmt.Sprintf("%s  %s  ", Clean(l.Commit.Short()), l.Commit.Time.Format("2006-01-02"))
	subject := short(l.Commit.Subject)
	switch {
	case len(l.Commit.Parents) > 1:
		text += fmt.Sprintf("merged by %s: %s", short(l.Merger), subject)
	case l.Merger != l.Commit.Author && l.Merger != "":
		text += fmt.Sprintf("%s, brought by %s: %s", short(l.Commit.Author), short(l.Merger), subject)
	default:
		text += fmt.Sprintf("%s: %s", short(l.Commit.Author), subject)
	}
	if l.MergeRequest != "" {
		text += " (" + short(l.MergeRequest) + ")"
	}
	return text + broughtText(l.Brought)
}

// broughtText says whose commits a merge brought.
func broughtText(brought []stopwatt.Commit) string {
	if len(brought) == 0 {
		return ""
	}
	newest := brought[0]
	text := fmt.Sprintf("; of %s: %s", short(newest.Author), short(newest.Subject))
	if more := len(brought) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

type jsonLanding struct {
	Commit       string        `json:"commit"`
	Time         string        `json:"committed_at"`
	Author       string        `json:"author"`
	Merger       string        `json:"merger"`
	Subject      string        `json:"subject"`
	MergeRequest string        `json:"merge_request,omitempty"`
	Brought      []jsonBrought `json:"brought,omitempty"`
}

type jsonBrought struct {
	Commit  string `json:"commit"`
	Author  string `json:"author"`
	Subject string `json:"subject"`
}

// jsonLandings are all commits among which a change lies, the newest first.
func (h History) jsonLandings(c stopwatt.ChangePoint) []jsonLanding {
	var all []jsonLanding
	for _, l := range h.landingsOf(c) {
		one := jsonLanding{
			Commit: l.Commit.SHA, Time: instant(l.Commit.Time), Author: l.Commit.Author, Merger: l.Merger,
			Subject: l.Commit.Subject, MergeRequest: l.MergeRequest,
		}
		for _, b := range l.Brought {
			one.Brought = append(one.Brought, jsonBrought{b.SHA, b.Author, b.Subject})
		}
		all = append(all, one)
	}
	return all
}
