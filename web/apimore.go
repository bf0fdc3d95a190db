package web

import (
	"net/http"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// More of the documented shapes.
type (
	jsonCompared struct {
		From        jsonRun          `json:"from"`
		To          jsonRun          `json:"to"`
		Judged      bool             `json:"judged"`
		Comparisons []jsonComparison `json:"comparisons"`
		Notes       []string         `json:"notes"`
	}
	jsonComparison struct {
		Implementation string   `json:"implementation"`
		Workload       string   `json:"workload"`
		Metric         string   `json:"metric"`
		Unit           string   `json:"unit"`
		Verdict        string   `json:"verdict"`
		Base           *float64 `json:"base"`
		Head           *float64 `json:"head"`
		Ratio          *float64 `json:"ratio"`
		Low            *float64 `json:"low"`
		High           *float64 `json:"high"`
		N              int      `json:"n"`
	}
	jsonPercentile struct {
		Share float64  `json:"share"`
		Value *float64 `json:"value"`
	}
	jsonFigure struct {
		Metric string   `json:"metric"`
		Unit   string   `json:"unit"`
		Value  *float64 `json:"value"`
		Absent string   `json:"absent"`
	}
	jsonSamples struct {
		Meter    string  `json:"meter"`
		Quantity string  `json:"quantity"`
		Times    []int64 `json:"times"`
		Values   []int64 `json:"values"`
	}
	jsonTrial struct {
		Run            int64            `json:"run"`
		Position       int              `json:"position"`
		Round          int              `json:"round"`
		Implementation string           `json:"implementation"`
		Workload       string           `json:"workload"`
		Revision       string           `json:"revision"`
		Status         string           `json:"status"`
		Reason         string           `json:"reason"`
		Started        *time.Time       `json:"started"`
		WindowStart    int64            `json:"window_start"`
		WindowEnd      int64            `json:"window_end"`
		Warnings       []string         `json:"warnings"`
		Figures        []jsonFigure     `json:"figures"`
		Latency        []jsonPercentile `json:"latency"`
		Samples        []jsonSamples    `json:"samples"`
	}
	jsonEpoch struct {
		Fingerprint string     `json:"fingerprint"`
		First       *time.Time `json:"first"`
		Last        *time.Time `json:"last"`
		Kernel      string     `json:"kernel"`
		CommandLine string     `json:"command_line"`
		Microcode   string     `json:"microcode"`
		Governor    string     `json:"governor"`
		ClockSource string     `json:"clock_source"`
		Docker      string     `json:"docker"`
		Cgroups     string     `json:"cgroups"`
	}
	jsonIdleSeen struct {
		Run   int64      `json:"run"`
		At    *time.Time `json:"at"`
		Place string     `json:"place"`
		jsonIdle
	}
	jsonCalibration struct {
		Suite  string     `json:"suite"`
		Taken  *time.Time `json:"taken"`
		Alarms int        `json:"alarms"`
		Of     int        `json:"of"`
	}
	jsonMachineHistory struct {
		Machine      jsonMachine       `json:"machine"`
		CPUInfo      string            `json:"cpuinfo"`
		Epochs       []jsonEpoch       `json:"epochs"`
		Idle         []jsonIdleSeen    `json:"idle"`
		Calibrations []jsonCalibration `json:"calibrations"`
		Runs         []jsonRun         `json:"runs"`
	}
)

// apiCompare is what the compare page shows.
func (s *Server) apiCompare(w http.ResponseWriter, r *http.Request) error {
	contents, err := s.suiteAsked(r)
	if err != nil {
		return err
	}
	c, err := s.compared(r, contents)
	if err != nil {
		return err
	}
	out := jsonCompared{From: runJSON(c.a), To: runJSON(c.b), Judged: c.judged, Comparisons: []jsonComparison{}, Notes: append([]string{}, c.notes...)}
	for _, row := range rowsOf(c, contents.Suite) {
		one := row.comparison
		shown := jsonComparison{Implementation: one.Case.Implementation, Workload: one.Case.Workload, Metric: one.Metric.Name, Unit: one.Metric.Unit, Verdict: string(one.Verdict), N: one.Estimate.N}
		if one.Estimate.N > 0 {
			shown.Base, shown.Head = number(one.Estimate.Base), number(one.Estimate.Head)
		}
		if one.Estimate.Ratio.Known {
			shown.Ratio = number(one.Estimate.Ratio.Value)
		}
		if one.Estimate.Ratio.Bounded {
			shown.Low, shown.High = number(one.Estimate.Ratio.Low), number(one.Estimate.Ratio.High)
		}
		out.Comparisons = append(out.Comparisons, shown)
	}
	return sendJSON(w, out)
}

// apiTrial is a trial with all that it holds.
func (s *Server) apiTrial(w http.ResponseWriter, r *http.Request) error {
	id, err := numberAsked(r, "run")
	if err != nil {
		return err
	}
	position, err := numberAsked(r, "position")
	if err != nil {
		return err
	}
	t, err := s.Archive.Trial(r.Context(), id, int(position))
	if err != nil {
		return err
	}
	out := jsonTrial{Run: id, Position: t.Position, Round: t.Round, Implementation: t.Case.Implementation, Workload: t.Case.Workload, Revision: string(t.Revision), Status: string(t.Status),
		Reason: t.Reason, Started: when(t.Started), WindowStart: t.Window.Start, WindowEnd: t.Window.End, Warnings: append([]string{}, t.Warnings...),
		Figures: []jsonFigure{}, Latency: latencyJSON(t.Latency), Samples: []jsonSamples{}}
	for _, m := range t.Measurements {
		metric, _ := t.Metric(m.Metric)
		out.Figures = append(out.Figures, jsonFigure{Metric: m.Metric, Unit: metric.Unit, Value: number(m.Value)})
	}
	for _, a := range t.Absent {
		metric, _ := t.Metric(a.Metric)
		out.Figures = append(out.Figures, jsonFigure{Metric: a.Metric, Unit: metric.Unit, Absent: a.Reason})
	}
	for _, one := range t.Samples {
		out.Samples = append(out.Samples, jsonSamples{one.Meter, string(one.Quantity), append([]int64{}, one.Times...), append([]int64{}, one.Values...)})
	}
	return sendJSON(w, out)
}

// latencyJSON are the percentiles of latencies in seconds, as far as there are
// answers enough.
func latencyJSON(h *stopwatt.Histogram) []jsonPercentile {
	out := []jsonPercentile{}
	if h == nil {
		return out
	}
	for _, share := range report.PercentileShares(h) {
		out = append(out, jsonPercentile{share, number(float64(h.Quantile(share)) / 1e9)})
	}
	return out
}

// apiMachine is all that is known of a machine.
func (s *Server) apiMachine(w http.ResponseWriter, r *http.Request) error {
	h, err := s.Archive.MachineHistory(r.Context(), r.PathValue("machine"))
	if err != nil {
		return err
	}
	out := jsonMachineHistory{Machine: machinesJSON([]stopwatt.MachineLine{h.Line})[0], CPUInfo: h.Machine.Identity.CPUInfo, Epochs: []jsonEpoch{}, Idle: []jsonIdleSeen{},
		Calibrations: []jsonCalibration{}, Runs: runsJSON(h.Runs)}
	for _, e := range h.Epochs {
		out.Epochs = append(out.Epochs, jsonEpoch{e.Fingerprint, when(e.First), when(e.Last), e.Epoch.Kernel, e.Epoch.CommandLine, e.Epoch.Microcode, e.Epoch.Governor, e.Epoch.ClockSource, e.Epoch.EngineVersion, e.Epoch.CgroupVersion})
	}
	for _, i := range h.Idle {
		out.Idle = append(out.Idle, jsonIdleSeen{i.Run, when(i.At), string(i.Place), idlesJSON([]stopwatt.IdlePower{i.Power})[0]})
	}
	for _, c := range h.Calibrations {
		out.Calibrations = append(out.Calibrations, jsonCalibration{c.Suite, when(c.Taken), c.Alarms.Count, c.Alarms.Of})
	}
	return sendJSON(w, out)
}
