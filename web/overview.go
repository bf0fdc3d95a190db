package web

import (
	"fmt"
	"net/http"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// mostWorse is how many changes stand open on the first page: more would push all else
// out of sight.
const mostWorse = 12

// An overviewPage answers what is worse now than it was.
type overviewPage struct {
	frame
	Empty    bool
	Worse    []changeShown
	Rest     []changeShown // folded
	Standing string        // what the list is, in words
	Suites   []suiteShown
	Runs     []runShown
	Machines []machineShown
}

// A suiteShown is a suite in the list.
type suiteShown struct {
	stopwatt.SuiteLine
	Link, RunLink, MachineLink string
	Size                       string
	Worse                      int
}

// overview is the first page.
func (s *Server) overview(w http.ResponseWriter, r *http.Request) error {
	o, err := s.Archive.Overview(r.Context())
	if err != nil {
		return err
	}
	p := overviewPage{frame: s.frame(r, "Overview"), Empty: len(o.Suites) == 0}
	p.Crumbs, p.JSON = nil, "/api/v1/overview"
	said, err := s.said(r.Context())
	if err != nil {
		return err
	}
	for _, change := range o.Worse {
		shown := changeOf(change, machineName(o.Machines, change.Machine), projectURLOf(o.Suites, change.Suite))
		shown.Said = said[alertOf(change)]
		p.Worse = append(p.Worse, shown)
	}
	if len(p.Worse) > mostWorse {
		p.Worse, p.Rest = p.Worse[:mostWorse], p.Worse[mostWorse:]
	}
	p.Standing = standing(o.Worse)
	for _, line := range o.Suites {
		shown := suiteShown{SuiteLine: line, Link: suiteAddress(line.Suite), RunLink: runAddress(line.Latest.ID), MachineLink: machineAddress(line.Latest.Machine),
			Size: fmt.Sprintf("%s × %s", report.Count(line.Implementations, "implementation"), report.Count(line.Workloads, "workload"))}
		for _, change := range o.Worse {
			if change.Suite == line.Suite {
				shown.Worse++
			}
		}
		p.Suites = append(p.Suites, shown)
	}
	for _, line := range o.Runs {
		p.Runs = append(p.Runs, runOf(line))
	}
	for _, line := range o.Machines {
		p.Machines = append(p.Machines, machineOf(line))
	}
	s.writePage(w, http.StatusOK, "overview", p)
	return nil
}

// standing says what the changes for the worse are.
func standing(worse []stopwatt.SeriesChange) string {
	confirmed := 0
	for _, change := range worse {
		if change.Change.State == stopwatt.Confirmed {
			confirmed++
		}
	}
	switch {
	case len(worse) == 0:
		return "Nothing is worse than it was: no change for the worse stands on the default branch."
	case confirmed == len(worse):
		return fmt.Sprintf("%s for the worse, confirmed by later commits.", report.Count(len(worse), "change"))
	}
	return fmt.Sprintf("%s for the worse: %d confirmed by later commits, the others suspected or withheld.", report.Count(len(worse), "change"), confirmed)
}

func machineName(machines []stopwatt.MachineLine, fingerprint string) string {
	i := slices.IndexFunc(machines, func(m stopwatt.MachineLine) bool { return m.Fingerprint == fingerprint })
	if i < 0 {
		return fingerprint[:min(8, len(fingerprint))]
	}
	return machines[i].Name
}

func projectURLOf(suites []stopwatt.SuiteLine, suite stopwatt.SuiteName) string {
	for _, line := range suites {
		if line.Suite == suite {
			return line.Latest.ProjectURL
		}
	}
	return ""
}

// A changeShown is a change point in words.
type changeShown struct {
	stopwatt.SeriesChange
	Metric                       string
	Size, Bounds, Levels         string
	Commits, Withheld, Machine   string
	By                           string // who wrote the commit, and who merged it
	Link                         string // of the series
	CommitLink, MergeRequestLink string
	Sense                        report.Sense
	Said                         string // what somebody said to it; empty where nobody did
}

// broughtBy is who wrote the commit of a change, and who brought it to the default
// branch where that was somebody else; of a merge they are one.
func broughtBy(c stopwatt.SeriesChange) string {
	author, merger := report.Brief(c.Commit.Author), report.Brief(c.Merger)
	switch {
	case len(c.Commit.Parents) > 1 && author != "":
		return "merged by " + author
	case author == "":
		return ""
	case merger != "" && merger != author:
		return "by " + author + ", merged by " + merger
	}
	return "by " + author
}

// changeOf puts a change point into words.
func changeOf(c stopwatt.SeriesChange, machine, project string) changeShown {
	shown := changeShown{
		SeriesChange: c, Metric: report.Label(c.Metric), Size: report.ChangeSize(c.Metric, c.Change), Bounds: report.ChangeBounds(c.Change),
		Levels: report.ChangeLevels(c.Metric, c.Change), Commits: report.ChangeCommits(c.Change), Withheld: report.WithheldText(c.Change), Machine: machine, By: broughtBy(c),
		Link:       seriesAddress(c.Suite, "profile", c.Profile, "case", c.Case.String(), "metric", c.Metric.Name, "machine", c.Machine),
		CommitLink: commitAddress(project, c.Commit.SHA), MergeRequestLink: mergeRequestAddress(project, c.MergeRequest),
	}
	if worse, known := report.Worse(c.Metric, c.Change); known {
		shown.Sense = report.SenseBetter
		if worse {
			shown.Sense = report.SenseWorse
		}
	}
	return shown
}

// A runShown is a run in a list.
type runShown struct {
	stopwatt.RunLine
	Link, SuiteLink, MachineLink string
	CommitLink, MergeRequestLink string
	Trials, Outcome              string
}

// runOf puts a run into a list.
func runOf(line stopwatt.RunLine) runShown {
	shown := runShown{
		RunLine: line, Link: runAddress(line.ID), SuiteLink: suiteAddress(line.Suite, "profile", line.Profile), MachineLink: machineAddress(line.Machine),
		CommitLink: commitAddress(line.ProjectURL, line.Commit.SHA), MergeRequestLink: mergeRequestAddress(line.ProjectURL, line.MergeRequest),
		Trials: fmt.Sprintf("%d of %d trials valid", line.Valid, max(line.Planned, line.Valid+line.Invalid)),
	}
	if line.Marked > 0 {
		shown.Trials += fmt.Sprintf(", %d marked", line.Marked)
	}
	if line.Invalid > 0 {
		shown.Trials += fmt.Sprintf(", %d failed", line.Invalid)
	}
	switch {
	case line.Regressed > 0:
		shown.Outcome = fmt.Sprintf("%d regressed", line.Regressed)
	case line.Improved > 0:
		shown.Outcome = fmt.Sprintf("%d improved", line.Improved)
	case line.Against != "":
		shown.Outcome = "nothing regressed"
	}
	return shown
}

// A machineShown is a machine in a list.
type machineShown struct {
	stopwatt.MachineLine
	Link, About string
	Idle        []string
}

// machineOf puts a machine into a list.
func machineOf(line stopwatt.MachineLine) machineShown {
	shown := machineShown{MachineLine: line, Link: machineAddress(line.Fingerprint)}
	switch {
	case line.Named:
		shown.About = "known by its name alone: its figures were brought in from elsewhere"
	default:
		shown.About = line.CPUModel
		if line.Threads > 0 {
			shown.About += fmt.Sprintf(", %s, %s", report.Count(line.Threads, "thread"), report.Value(stopwatt.Metric{Unit: "B"}, float64(line.MemoryBytes)))
		}
		if line.Virtual {
			shown.About += ", virtual"
		}
	}
	for _, idle := range line.Idle {
		shown.Idle = append(shown.Idle, idle.Meter+" "+report.WattsOf(idle))
	}
	return shown
}

// nothing answers what no other route does.
func (s *Server) nothing(http.ResponseWriter, *http.Request) error { return stopwatt.ErrNotFound }
