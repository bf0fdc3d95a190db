package report

import (
	"io"

	"gitlab.com/stopwatt/stopwatt"
)

type jsonHistory struct {
	Suite  string       `json:"suite"`
	Metric string       `json:"metric"`
	Unit   string       `json:"unit"`
	Better string       `json:"better"`
	Series []jsonSeries `json:"series"`
}

type jsonSeries struct {
	Implementation string       `json:"implementation"`
	Workload       string       `json:"workload"`
	Against        string       `json:"against,omitempty"`
	Machine        string       `json:"machine"`
	Fingerprint    string       `json:"fingerprint"`
	Points         []jsonPoint  `json:"points"`
	Changes        []jsonChange `json:"changes"`
}

type jsonPoint struct {
	Position int      `json:"position"`
	Commit   string   `json:"commit"`
	Value    *float64 `json:"value"`
	N        int      `json:"n"`
}

type jsonChange struct {
	State    string   `json:"state"`
	Withheld string   `json:"withheld,omitempty"`
	First    string   `json:"first"`
	After    string   `json:"after"`
	UpTo     string   `json:"up_to"`
	Before   *float64 `json:"before"`
	Now      *float64 `json:"now"`
	Ratio    *float64 `json:"ratio"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	P        *float64 `json:"p"`
	// Commits are those among which the change lies, the newest first.
	Commits []jsonLanding `json:"commits,omitempty"`
}

// HistoryJSON writes series and their change points as one JSON object.
func HistoryJSON(w io.Writer, h History) error {
	document := jsonHistory{Suite: h.Suite, Metric: h.Metric.Name, Unit: h.Metric.Unit, Better: string(h.Metric.Better), Series: []jsonSeries{}}
	for _, traced := range h.Traced {
		for _, search := range traced.Searches {
			document.Series = append(document.Series, h.jsonOf(traced, search))
		}
	}
	return encode(w, document)
}

func (h History) jsonOf(traced Traced, search stopwatt.ChangeSearch) jsonSeries {
	series := jsonSeries{
		Implementation: traced.Series.Case.Implementation, Workload: traced.Series.Case.Workload, Against: traced.Series.Against,
		Machine: h.Machines[search.Machine], Fingerprint: search.Machine, Points: []jsonPoint{}, Changes: []jsonChange{},
	}
	for _, point := range search.Points {
		series.Points = append(series.Points, jsonPoint{point.Position, point.SHA, finite(point.Value), point.N})
	}
	for _, c := range search.ChangePoints {
		change := jsonChange{
			State: string(c.State), Withheld: string(c.Withheld), First: c.First.SHA, After: c.Past.SHA, UpTo: c.Reached.SHA,
			Before: finite(c.Before.Mean), Now: finite(c.After.Mean), P: finite(c.P), Commits: h.jsonLandings(c),
		}
		if c.Ratio.Known {
			change.Ratio = finite(c.Ratio.Value)
		}
		if c.Ratio.Bounded {
			change.Low, change.High = finite(c.Ratio.Low), finite(c.Ratio.High)
		}
		series.Changes = append(series.Changes, change)
	}
	return series
}
