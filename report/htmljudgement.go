package report

import (
	"gitlab.com/stopwatt/stopwatt"
)

// An htmlJudgement is a judgement as the page's template reads it.
type htmlJudgement struct {
	Answer, Base string
	Cases        []htmlJudged
	Quiet        string
	Notes        []string
}

// An htmlJudged is a case that has something to tell, a row for each metric.
type htmlJudged struct {
	Implementation, Workload, Verdict string
	Rows                              []htmlCompared
}

type htmlCompared struct {
	Metric, Change, Interval, Values, Verdict string
	Remarks                                   []string
}

// htmlJudgementOf lays a judgement out for the page; nil where there is none.
func htmlJudgementOf(results stopwatt.Results) *htmlJudgement {
	j := results.Judgement
	if j == nil {
		return nil
	}
	out := &htmlJudgement{
		Answer: Answer(*j), Base: checkout(results.Run.Against),
		Quiet: quietCount(*j), Notes: restsOn(results.Run, *j),
	}
	for _, of := range told(*j, false) {
		shown := htmlJudged{Implementation: Clean(of.of.Implementation), Workload: Clean(of.of.Workload), Verdict: of.verdict()}
		for _, c := range of.comparisons {
			shown.Rows = append(shown.Rows, htmlCompared{label(c.Metric), Change(c), ChangeInterval(c), FromTo(c), string(c.Verdict), remarks(c)})
		}
		out.Cases = append(out.Cases, shown)
	}
	return out
}
