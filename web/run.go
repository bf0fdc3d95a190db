package web

import (
	"html/template"
	"net/http"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
)

// mostTrials is how many trials a page lists: a table of more is none that anybody
// reads. The JSON has them all.
const mostTrials = 2000

// A runPage says how a run went.
type runPage struct {
	frame
	Run        runShown
	Project    string
	Headline   string
	Answer     string // of its judgement
	Judgement  string // address of its comparison
	Counted    string
	Table      []tableShown
	Failures   []failureShown
	Warnings   []string
	Idle       []report.IdleFigure
	Trials     []trialLine
	TrialsLeft int // that are not listed
	Order      template.HTML
	Facts      []report.Fact
	Command    string
	Cite       string
	Labels     []string
}

// A tableShown is one metric's cells.
type tableShown struct {
	report.CellGrid
	Open bool // the first is unfolded
}

// A failureShown is a case that has failures, and why.
type failureShown struct{ Case, Why string }

type trialLine struct {
	report.TrialLine
	Link string
}

// run shows one run.
func (s *Server) run(w http.ResponseWriter, r *http.Request) error {
	id, err := numberAsked(r, "run")
	if err != nil {
		return err
	}
	line, err := s.Archive.Line(r.Context(), id)
	if err != nil {
		return err
	}
	results, err := s.Archive.Results(r.Context(), id)
	if err != nil {
		return err
	}
	trials, err := s.Archive.TrialList(r.Context(), id)
	if err != nil {
		return err
	}
	shown := runOf(line)
	p := runPage{frame: s.frame(r, "Run "+strings.TrimPrefix(shown.Link, "/runs/"), crumb{line.Suite.Suite, suiteAddress(line.Suite, "profile", line.Profile)}), Run: shown,
		Headline: strings.Join(report.Headline(results.Run), " · "), Project: report.Clean(line.Suite.Project), Facts: report.Provenance(results.Run),
		Command: results.Run.Command, Cite: report.CiteText(results), Idle: report.IdleFigures(results.Run)}
	p.JSON = "/api/v1" + shown.Link
	for name, value := range results.Run.Labels {
		p.Labels = append(p.Labels, report.Clean(name+"="+value))
	}
	slices.Sort(p.Labels)
	if results.Judgement != nil {
		p.Answer = report.Answer(*results.Judgement) + "."
		p.Judgement = compareAddress(line.Suite, "profile", line.Profile, "a", strings.TrimPrefix(shown.Link, "/runs/"), "b", strings.TrimPrefix(shown.Link, "/runs/"))
	}
	if err := p.tell(results); err != nil {
		return err
	}
	for _, trial := range report.TrialLines(trials[:min(len(trials), mostTrials)]) {
		p.Trials = append(p.Trials, trialLine{trial, trialAddress(id, trial.Position)})
	}
	p.TrialsLeft = len(trials) - len(p.Trials)
	p.Order = report.TrialOrder("order", trials[:len(p.Trials)], orderMetric(results))
	s.writePage(w, http.StatusOK, "run", p)
	return nil
}

// orderMetric is what the order of trials is drawn by: the first metric that is shown.
func orderMetric(results stopwatt.Results) stopwatt.Metric {
	if metrics := report.DefaultMetrics(results); len(metrics) > 0 {
		return metrics[0]
	}
	return stopwatt.Metric{Name: "time"}
}

// tell lays the figures of a run out, and what went wrong.
func (p *runPage) tell(results stopwatt.Results) error {
	for _, result := range results.Cases {
		for _, reason := range result.Reasons {
			p.Failures = append(p.Failures, failureShown{report.Clean(result.Case.String()), report.Count(reason.Count, "trial") + ": " + report.Brief(reason.Reason)})
		}
	}
	p.Warnings = report.WarningKinds(results)
	if results.Run.Baseline == "" && len(results.Run.Settings.Implementations) == 0 {
		return nil
	}
	for _, metric := range report.DefaultMetrics(results) {
		contrast, err := regression.Lay(results, results.Run.Baseline, []stopwatt.Metric{metric}, stopwatt.Arithmetic)
		if err != nil {
			return err
		}
		p.Counted = report.CountedTrials(results.Run, contrast)
		p.Table = append(p.Table, tableShown{report.CellsOf(results.Run, contrast, report.Options{As: report.AsPercent}), len(p.Table) == 0})
	}
	return nil
}

// A trialPage looks at one trial from inside.
type trialPage struct {
	frame
	Run          runShown
	Line         report.TrialLine
	Figures      template.HTML
	Latency      template.HTML
	Percentiles  []report.Percentile
	Measurements []report.TrialFigure
	Log          string // why it failed, with what was printed last
	Before, Next string // addresses of its neighbours
	Revision     string
	Why          string // there are no figures
}

// trial shows one trial.
func (s *Server) trial(w http.ResponseWriter, r *http.Request) error {
	id, err := numberAsked(r, "run")
	if err != nil {
		return err
	}
	position, err := numberAsked(r, "position")
	if err != nil {
		return err
	}
	line, err := s.Archive.Line(r.Context(), id)
	if err != nil {
		return err
	}
	trial, err := s.Archive.Trial(r.Context(), id, int(position))
	if err != nil {
		return err
	}
	shown := runOf(line)
	number := strings.TrimPrefix(shown.Link, "/runs/")
	p := trialPage{frame: s.frame(r, trial.Case.String()+", trial "+r.PathValue("position"), crumb{line.Suite.Suite, suiteAddress(line.Suite, "profile", line.Profile)}, crumb{"run " + number, shown.Link}),
		Run: shown, Line: report.TrialLines([]stopwatt.Trial{trial})[0], Figures: report.TrialFigures("trial", trial), Latency: report.Distribution("latency", trial.Latency),
		Percentiles: report.Percentiles(trial.Latency), Measurements: report.TrialFigureList(trial), Log: report.CleanLines(trial.Reason), Revision: string(trial.Revision)}
	p.JSON = "/api/v1" + trialAddress(id, trial.Position)
	if p.Figures == "" {
		p.Why = "Nothing was sampled in this trial: no meter was read, or its samples were pruned. Measurements and summaries are kept."
	}
	if trial.Position > 1 {
		p.Before = trialAddress(id, trial.Position-1)
	}
	if trial.Position < line.Valid+line.Invalid {
		p.Next = trialAddress(id, trial.Position+1)
	}
	s.writePage(w, http.StatusOK, "trial", p)
	return nil
}
