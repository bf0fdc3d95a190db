package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/regression"
	"gitlab.com/stopwatt/stopwatt/report"
)

// A comparePage says what became better and what worse, from one side to the other.
type comparePage struct {
	frame
	Suite     stopwatt.SuiteName
	Answer    string // the first sentence
	From, To  sideShown
	Rows      []comparedShown // what is certain, the largest first
	Quiet     []comparedShown // folded
	QuietName string
	Two       *twoShown // nil where fewer metrics are compared
	Means     []meanShown
	Notes     []string
	Why       string // nothing is compared
	compareForms
	At      string
	Profile string
}

// A sideShown is one of the two things that are compared.
type sideShown struct {
	Name string
	Run  *runShown
}

// A comparedShown is one comparison.
type comparedShown struct {
	Case, Metric, Change, Interval, Values, Verdict string
	Sense                                           report.Sense
	Whisker                                         template.HTML
	Remarks                                         []string
	Link, Ratio                                     string
	comparison                                      stopwatt.Comparison
}

// A meanShown is the means of one metric over all that was compared.
type meanShown struct {
	Metric, Arithmetic, Geometric string
	Count                         int
}

// A compared is what two sides amount to.
type compared struct {
	a, b      stopwatt.RunLine
	names     [2]string
	judgement stopwatt.Judgement
	judged    bool // by pairs; else numbers without a verdict
	run       stopwatt.Run
	notes     []string
}

// compare shows two revisions, or two implementations of one run.
func (s *Server) compare(w http.ResponseWriter, r *http.Request) error {
	contents, err := s.suiteAsked(r)
	if err != nil {
		return err
	}
	p := comparePage{frame: s.frame(r, "Compare", crumb{contents.Suite.Suite, suiteAddress(contents.Suite)}), Suite: contents.Suite,
		compareForms: compareForms{CompareTo: suitePath(contents.Suite) + "/compare", A: r.FormValue("a"), B: r.FormValue("b")}, At: r.FormValue("at"), Profile: r.FormValue("profile")}
	p.JSON = with(r, "/api/v1/suites/"+strings.TrimPrefix(suitePath(contents.Suite), "/s/")+"/compare")
	from := cmp.Or(r.FormValue("from"), contents.Baseline)
	p.Baselines, p.Others = choices(implementations(contents), from, itself), otherChoices(contents, from)
	if to := r.FormValue("to"); to != "" {
		p.Others = choices(implementations(contents), to, itself)
	}
	c, err := s.compared(r, contents)
	var asked askedWrongly
	switch {
	case errors.As(err, &asked):
		p.Why = asked.Error()
	case err != nil:
		return err
	default:
		p.tell(c, contents)
	}
	s.writePage(w, http.StatusOK, "compare", p)
	return nil
}

// compared finds both sides and lays them beside each other.
func (s *Server) compared(r *http.Request, contents stopwatt.SuiteContents) (compared, error) {
	ask := r.FormValue
	switch {
	case ask("from") != "" || ask("to") != "":
		return s.comparedImplementations(r, contents)
	case ask("a") == "" || ask("b") == "":
		return compared{}, wrongly("Name two sides: two commits, or the numbers of two runs; or two implementations.")
	}
	return s.comparedRuns(r, contents)
}

// side finds the run that a side names: by its number, or by its commit.
func (s *Server) side(ctx context.Context, place stopwatt.RunPlace, named string) (stopwatt.Results, stopwatt.RunLine, error) {
	run, err := strconv.ParseInt(named, 10, 64)
	if err != nil || len(named) >= 7 {
		if !shaLike.MatchString(named) {
			return stopwatt.Results{}, stopwatt.RunLine{}, wrongly("%q is neither the number of a run nor seven digits of a commit.", named)
		}
		place.Commit = strings.ToLower(named)
		if run, err = s.Archive.RunAt(ctx, place); errors.Is(err, stopwatt.ErrNotFound) {
			return stopwatt.Results{}, stopwatt.RunLine{}, wrongly("No finished run of commit %s is stored on this machine.", named)
		} else if err != nil {
			return stopwatt.Results{}, stopwatt.RunLine{}, err
		}
	}
	results, err := s.Archive.Results(ctx, run)
	if errors.Is(err, stopwatt.ErrNotFound) {
		return results, stopwatt.RunLine{}, wrongly("There is no run %s.", named)
	}
	if err != nil {
		return results, stopwatt.RunLine{}, err
	}
	line, err := s.Archive.Line(ctx, run)
	return results, line, err
}

// comparedRuns compares two runs: by the verdicts of the later one where it was
// measured against the other's commit, else number by number.
func (s *Server) comparedRuns(r *http.Request, contents stopwatt.SuiteContents) (compared, error) {
	place := stopwatt.RunPlace{Suite: contents.Suite, Profile: r.FormValue("profile"), Machine: machineAsked(r, contents)}
	base, a, err := s.side(r.Context(), place, r.FormValue("a"))
	if err != nil {
		return compared{}, err
	}
	head, b, err := s.side(r.Context(), place, r.FormValue("b"))
	if err != nil {
		return compared{}, err
	}
	if a.ID == b.ID && head.Judgement == nil {
		return compared{}, wrongly("Both sides are run %d: name two.", a.ID)
	}
	c := compared{a: a, b: b, run: head.Run, names: [2]string{sideName(a), sideName(b)}}
	if head.Judgement != nil && (a.ID == b.ID || head.Run.Against.Commit.SHA == base.Run.Checkout.Commit.SHA) {
		c.judgement, c.judged = *head.Judgement, true
		return c, nil
	}
	c.notes = append(c.notes, "Two runs at two times: numbers without a verdict, for a machine is not the same at two times. stopwatt run --against measures both side by side.")
	if a.Machine != b.Machine {
		c.notes = append(c.notes, fmt.Sprintf("Two machines, %s and %s: their figures stand beside each other for reading.", report.Clean(a.MachineName), report.Clean(b.MachineName)))
	}
	c.judgement = besideRuns(base, head)
	return c, nil
}

func sideName(line stopwatt.RunLine) string {
	if line.Commit.SHA == "" {
		return fmt.Sprintf("run %d", line.ID)
	}
	return fmt.Sprintf("%s (run %d)", shortSHA(line.Commit.SHA), line.ID)
}

// besideRuns lays what both runs have of the later one's judged metrics, of the
// case's heads, beside each other.
func besideRuns(base, head stopwatt.Results) stopwatt.Judgement {
	var j stopwatt.Judgement
	for _, result := range head.Cases {
		if result.Revision != stopwatt.Head {
			continue
		}
		earlier := headOf(base, result.Case)
		for _, metric := range judgedOf(head, result.Case) {
			base, head := summaryOf(earlier, metric), summaryOf(result, metric)
			if base.N+head.N > 0 {
				j.Comparisons = append(j.Comparisons, regression.Beside(result.Case, metric, base, head))
			}
		}
	}
	for _, result := range base.Cases {
		if result.Revision == stopwatt.Head && headOf(head, result.Case).Case == (stopwatt.Case{}) {
			for _, metric := range judgedOf(base, result.Case) {
				j.Comparisons = append(j.Comparisons, regression.Beside(result.Case, metric, summaryOf(result, metric), stopwatt.Summary{}))
			}
		}
	}
	j.Family = len(j.Comparisons)
	return j
}

func headOf(results stopwatt.Results, of stopwatt.Case) stopwatt.CaseResult {
	for _, result := range results.Cases {
		if result.Case == of && result.Revision == stopwatt.Head {
			return result
		}
	}
	return stopwatt.CaseResult{}
}

func summaryOf(result stopwatt.CaseResult, metric stopwatt.Metric) stopwatt.Summary {
	summary, _ := result.Summary(metric.Name)
	return summary
}

// judgedOf are the metrics that a case is judged by. A part is judged as the
// workload that it is a part of.
func judgedOf(results stopwatt.Results, of stopwatt.Case) []stopwatt.Metric {
	workload, known := results.Run.Settings.Workload(of.Workload)
	if name, _, isPart := strings.Cut(of.Workload, "/"); !known && isPart {
		workload, _ = results.Run.Settings.Workload(name)
	}
	var metrics []stopwatt.Metric
	for _, threshold := range results.Run.Thresholds(workload) {
		if metric, known := results.Metric(threshold.Judged()); known {
			metrics = append(metrics, metric)
		}
	}
	return metrics
}

// comparedImplementations compares two implementations of one run.
func (s *Server) comparedImplementations(r *http.Request, contents stopwatt.SuiteContents) (compared, error) {
	from, to := r.FormValue("from"), r.FormValue("to")
	names := implementations(contents)
	for _, name := range []string{from, to} {
		if !slices.Contains(names, name) {
			return compared{}, wrongly("There is no implementation %q; there are %s.", name, strings.Join(names, ", "))
		}
	}
	if from == to {
		return compared{}, wrongly("Both sides are %s: name two.", from)
	}
	place := stopwatt.RunPlace{Suite: contents.Suite, Profile: r.FormValue("profile"), Machine: machineAsked(r, contents), Commit: strings.ToLower(r.FormValue("at"))}
	if place.Commit != "" && !shaLike.MatchString(place.Commit) {
		return compared{}, wrongly("%q names no commit: write seven digits of its SHA at least.", place.Commit)
	}
	run, err := s.Archive.RunAt(r.Context(), place)
	if errors.Is(err, stopwatt.ErrNotFound) {
		return compared{}, wrongly("No finished run is stored that has both.")
	}
	if err != nil {
		return compared{}, err
	}
	results, line, err := s.side(r.Context(), place, strconv.FormatInt(run, 10))
	if err != nil {
		return compared{}, err
	}
	c := compared{a: line, b: line, run: results.Run, names: [2]string{report.Clean(from), report.Clean(to)}}
	for _, result := range results.Cases {
		if result.Revision != stopwatt.Head || result.Case.Implementation != to {
			continue
		}
		base := headOf(results, stopwatt.Case{Implementation: from, Workload: result.Case.Workload})
		for _, metric := range judgedOf(results, result.Case) {
			one, other := summaryOf(base, metric), summaryOf(result, metric)
			if one.N+other.N > 0 {
				c.judgement.Comparisons = append(c.judgement.Comparisons, regression.Beside(result.Case, metric, one, other))
			}
		}
	}
	c.judgement.Family = len(c.judgement.Comparisons)
	c.notes = append(c.notes, "Two implementations of one run, measured in turns. For reading: no verdict is given between implementations.")
	return c, nil
}

// tell lays a comparison out: what is certain first, the largest before others.
func (p *comparePage) tell(c compared, contents stopwatt.SuiteContents) {
	shownA, shownB := runOf(c.a), runOf(c.b)
	p.From, p.To = sideShown{c.names[0], &shownA}, sideShown{c.names[1], &shownB}
	p.Title = c.names[0] + " → " + c.names[1]
	rows := rowsOf(c, contents.Suite)
	for _, row := range rows {
		if quiet(row.comparison, c.judged) {
			p.Quiet = append(p.Quiet, row)
		} else {
			p.Rows = append(p.Rows, row)
		}
	}
	if c.judged {
		p.Answer, p.QuietName = report.Answer(c.judgement)+".", "unchanged, identical or new"
		p.Notes = append(p.Notes, report.RestsOn(c.run, c.judgement)...)
	} else {
		p.Answer, p.QuietName = besideAnswer(rows, c.names), "without a difference that the trials show"
		p.Notes = append(p.Notes, "Intervals are of 95 %, one by one: of twenty that show a difference one may be chance.")
	}
	if len(rows) == 0 {
		p.Why = "The two sides have nothing in common that this suite is judged by."
	}
	p.Two = twoOf(rows)
	p.Means = meansOf(c.judgement.Comparisons)
	p.Notes = append(c.notes, p.Notes...)
}

// quiet tells whether a comparison has nothing to say.
func quiet(c stopwatt.Comparison, judged bool) bool {
	switch c.Verdict {
	case stopwatt.Unchanged, stopwatt.Identical, stopwatt.New:
		return true
	case stopwatt.NotJudged:
		return !judged && c.Estimate.Ratio.Bounded && report.Certain(c) == 0
	}
	return false
}

// rowsOf are all comparisons, those that matter most first.
func rowsOf(c compared, suite stopwatt.SuiteName) []comparedShown {
	var comparisons []stopwatt.Comparison
	for _, of := range report.JudgedCases(c.judgement) {
		comparisons = append(comparisons, of.Comparisons...)
	}
	if !c.judged {
		slices.SortStableFunc(comparisons, func(a, b stopwatt.Comparison) int {
			return cmp.Or(cmp.Compare(report.Certain(b), report.Certain(a)), cmp.Compare(changeOfRatio(b), changeOfRatio(a)))
		})
	}
	whiskers := report.Whiskers(comparisons)
	var rows []comparedShown
	for i, one := range comparisons {
		row := comparedShown{
			Case: report.Clean(one.Case.String()), Metric: report.Label(one.Metric), Change: report.ChangeWords(one), Interval: report.ChangeInterval(one), Values: report.FromTo(one),
			Verdict: string(one.Verdict), Sense: report.SenseOf(one), Whisker: whiskers[i], comparison: one,
			Link: seriesAddress(suite, "profile", c.b.Profile, "case", one.Case.String(), "metric", one.Metric.Name, "machine", c.b.Machine),
		}
		if one.Estimate.Ratio.Known {
			row.Ratio = exact(one.Estimate.Ratio.Value)
		}
		if c.judged {
			row.Remarks = report.Remarks(one)
		} else if one.Verdict == stopwatt.NotJudged {
			row.Verdict = map[report.Sense]string{report.SenseBetter: "better", report.SenseWorse: "worse", report.SenseNone: ""}[row.Sense]
		}
		rows = append(rows, row)
	}
	return rows
}

// changeOfRatio is how far a ratio lies from 1, whether that is certain or not.
func changeOfRatio(c stopwatt.Comparison) float64 {
	ratio := c.Estimate.Ratio.Value
	switch {
	case ratio <= 0:
		return 0
	case ratio < 1:
		return 1 / ratio
	}
	return ratio
}

// besideAnswer is the first sentence about numbers without verdicts.
func besideAnswer(rows []comparedShown, names [2]string) string {
	better, worse, none, single := 0, 0, 0, 0
	for _, row := range rows {
		switch {
		case row.Sense == report.SenseBetter:
			better++
		case row.Sense == report.SenseWorse:
			worse++
		case row.comparison.Estimate.Ratio.Bounded:
			none++
		default:
			single++
		}
	}
	text := fmt.Sprintf("%s: %d of %s worse, %d better, %d without a difference that the trials show", names[1], worse, report.Count(len(rows), "figure"), better, none)
	if single > 0 {
		text += fmt.Sprintf(", %d without an interval", single)
	}
	return text + "."
}

// meansOf are the means of the ratios, metric by metric.
func meansOf(comparisons []stopwatt.Comparison) []meanShown {
	var means []meanShown
	for _, m := range regression.MeanRatios(comparisons) {
		write := func(ratio float64) string {
			return report.Ratio(m.Metric, stopwatt.Ratio{Value: ratio, Known: true}, report.AsPercent)
		}
		means = append(means, meanShown{report.Label(m.Metric), write(m.Arithmetic), write(m.Geometric), m.Count})
	}
	return means
}
