package report

import (
	"io"

	"gitlab.com/stopwatt/stopwatt"
)

type jsonJudgement struct {
	Suite       string           `json:"suite"`
	Run         int64            `json:"run"`
	Base        string           `json:"base"`
	Head        string           `json:"head"`
	Machine     string           `json:"machine"`
	Answer      string           `json:"answer"`
	Family      int              `json:"family"`
	Look        int              `json:"look"`
	Looks       []jsonLook       `json:"looks"`
	Stopped     string           `json:"stopped,omitempty"`
	Notes       []string         `json:"notes,omitempty"`
	Comparisons []jsonComparison `json:"comparisons"`
}

type jsonLook struct {
	Rounds    int     `json:"rounds"`
	Suspect   float64 `json:"suspect"`
	Unchanged float64 `json:"unchanged"`
}

type jsonComparison struct {
	Implementation string        `json:"implementation"`
	Workload       string        `json:"workload"`
	Metric         string        `json:"metric"`
	Unit           string        `json:"unit"`
	Better         string        `json:"better"`
	Verdict        string        `json:"verdict"`
	Threshold      float64       `json:"threshold"`
	Look           int           `json:"look"`
	More           int           `json:"more,omitempty"`
	Estimate       jsonEstimate  `json:"estimate"`
	Found          *jsonEstimate `json:"found,omitempty"`
	Doubts         []string      `json:"doubts,omitempty"`
}

// Numbers that are not known are null.
type jsonEstimate struct {
	N        int      `json:"n"`
	Base     *float64 `json:"base"`
	Head     *float64 `json:"head"`
	Ratio    *float64 `json:"ratio"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Worse    *float64 `json:"p_worse"`
	Better   *float64 `json:"p_better"`
	Smallest *float64 `json:"smallest"`
}

// JudgementJSON writes a judgement as one JSON object.
func JudgementJSON(w io.Writer, run stopwatt.Run, j stopwatt.Judgement) error {
	document := jsonJudgement{
		Suite: run.Suite, Run: run.ID, Base: run.Against.Commit.SHA, Head: run.Checkout.Commit.SHA, Machine: run.Machine.Name,
		Answer: Answer(j), Family: j.Family, Look: j.Look, Stopped: j.Stopped, Notes: j.Notes, Comparisons: []jsonComparison{},
	}
	for _, look := range j.Procedure.Looks {
		document.Looks = append(document.Looks, jsonLook(look))
	}
	for _, c := range j.Comparisons {
		document.Comparisons = append(document.Comparisons, jsonOfComparison(c))
	}
	return encode(w, document)
}

func jsonOfComparison(c stopwatt.Comparison) jsonComparison {
	out := jsonComparison{
		Implementation: c.Case.Implementation, Workload: c.Case.Workload, Metric: c.Metric.Name, Unit: c.Metric.Unit,
		Better: string(c.Metric.Better), Verdict: string(c.Verdict), Threshold: c.Threshold, Look: c.Look, More: c.More,
		Estimate: jsonOfEstimate(c.Estimate),
	}
	if c.Found != nil {
		found := jsonOfEstimate(*c.Found)
		out.Found = &found
	}
	for _, doubt := range c.Doubts {
		out.Doubts = append(out.Doubts, DoubtText(doubt))
	}
	return out
}

func jsonOfEstimate(e stopwatt.Estimate) jsonEstimate {
	when := func(is bool, value float64) *float64 {
		if !is {
			return nil
		}
		return finite(value)
	}
	some := e.N > 0
	return jsonEstimate{
		N: e.N, Base: when(some, e.Base), Head: when(some, e.Head), Ratio: when(e.Ratio.Known, e.Ratio.Value),
		Low: when(e.Ratio.Bounded, e.Ratio.Low), High: when(e.Ratio.Bounded, e.Ratio.High),
		Worse: when(some, e.Worse), Better: when(some, e.Better), Smallest: when(e.Sees, e.Smallest),
	}
}
