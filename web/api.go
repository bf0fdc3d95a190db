package web

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"time"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/report"
)

// These types are the documented shape of the answers (static/openapi.json). Values
// are in base units; what is not known is null.
type (
	jsonSuiteName struct {
		Project string `json:"project"`
		Suite   string `json:"suite"`
	}
	jsonMetric struct {
		Name   string `json:"name"`
		Unit   string `json:"unit"`
		Better string `json:"better"`
		What   string `json:"what"`
	}
	jsonCommit struct {
		SHA     string     `json:"sha"`
		Author  string     `json:"author"`
		Time    *time.Time `json:"time"`
		Subject string     `json:"subject"`
	}
	jsonRun struct {
		Run          int64         `json:"run"`
		Suite        jsonSuiteName `json:"suite"`
		Profile      string        `json:"profile"`
		Commit       jsonCommit    `json:"commit"`
		Branch       string        `json:"branch"`
		Default      bool          `json:"default_branch"`
		Dirty        bool          `json:"dirty"`
		Imported     bool          `json:"imported"`
		Against      string        `json:"against"`
		Machine      string        `json:"machine"`
		MachineName  string        `json:"machine_name"`
		Status       string        `json:"status"`
		Started      *time.Time    `json:"started"`
		Ended        *time.Time    `json:"ended"`
		Planned      int           `json:"planned"`
		Valid        int           `json:"valid"`
		Marked       int           `json:"marked"`
		Invalid      int           `json:"invalid"`
		MergeRequest int           `json:"merge_request"`
		Regressed    int           `json:"regressed"`
		Improved     int           `json:"improved"`
	}
	jsonChange struct {
		Suite          jsonSuiteName `json:"suite"`
		Profile        string        `json:"profile"`
		Implementation string        `json:"implementation"`
		Workload       string        `json:"workload"`
		Metric         string        `json:"metric"`
		Unit           string        `json:"unit"`
		Machine        string        `json:"machine"`
		State          string        `json:"state"`
		Withheld       string        `json:"withheld"`
		First          jsonCommit    `json:"first"`
		After          string        `json:"after"`
		UpTo           string        `json:"up_to"`
		Before         *float64      `json:"before"`
		Now            *float64      `json:"now"`
		Ratio          *float64      `json:"ratio"`
		Low            *float64      `json:"low"`
		High           *float64      `json:"high"`
		P              *float64      `json:"p"`
		Merger         string        `json:"merger"`
		MergeRequest   int           `json:"merge_request"`
	}
	jsonIdle struct {
		Meter  string   `json:"meter"`
		Watts  *float64 `json:"watts"`
		Error  *float64 `json:"error"`
		Absent string   `json:"absent"`
	}
	jsonMachine struct {
		Machine     string     `json:"machine"`
		Name        string     `json:"name"`
		Named       bool       `json:"named"`
		CPUModel    string     `json:"cpu_model"`
		Threads     int        `json:"threads"`
		MemoryBytes int64      `json:"memory_bytes"`
		Virtual     bool       `json:"virtual"`
		FirstSeen   *time.Time `json:"first_seen"`
		LastSeen    *time.Time `json:"last_seen"`
		Calibrated  *time.Time `json:"calibrated"`
		Idle        []jsonIdle `json:"idle"`
	}
	jsonSuiteLine struct {
		Suite           jsonSuiteName `json:"suite"`
		Implementations int           `json:"implementations"`
		Workloads       int           `json:"workloads"`
		Latest          jsonRun       `json:"latest"`
	}
	jsonOverview struct {
		Worse    []jsonChange    `json:"worse"`
		Suites   []jsonSuiteLine `json:"suites"`
		Runs     []jsonRun       `json:"runs"`
		Machines []jsonMachine   `json:"machines"`
	}
	jsonCase struct {
		Implementation string `json:"implementation"`
		Workload       string `json:"workload"`
	}
	jsonContents struct {
		Suite    jsonSuiteName `json:"suite"`
		Profiles []string      `json:"profiles"`
		Machines []jsonMachine `json:"machines"`
		Metrics  []jsonMetric  `json:"metrics"`
		Cases    []jsonCase    `json:"cases"`
		Baseline string        `json:"baseline"`
		Judged   []string      `json:"judged"`
	}
	jsonPoint struct {
		Position     int        `json:"position"`
		Commit       jsonCommit `json:"commit"`
		MergeRequest int        `json:"merge_request"`
		Run          int64      `json:"run"`
		Epoch        string     `json:"epoch"`
		Value        *float64   `json:"value"`
		SD           *float64   `json:"sd"`
		N            int        `json:"n"`
		Absent       string     `json:"absent"`
		Commits      int        `json:"commits"`
		Low          *float64   `json:"low"`
		High         *float64   `json:"high"`
	}
	jsonCourse struct {
		Implementation string      `json:"implementation"`
		Workload       string      `json:"workload"`
		Against        string      `json:"against"`
		Machine        string      `json:"machine"`
		Commits        int         `json:"commits"`
		Points         []jsonPoint `json:"points"`
	}
	jsonSeries struct {
		Metric  jsonMetric   `json:"metric"`
		Courses []jsonCourse `json:"courses"`
		Changes []jsonChange `json:"changes"`
	}
)

// apiOverview is the first page.
func (s *Server) apiOverview(w http.ResponseWriter, r *http.Request) error {
	o, err := s.Archive.Overview(r.Context())
	if err != nil {
		return err
	}
	out := jsonOverview{Worse: changesJSON(o.Worse), Suites: []jsonSuiteLine{}, Runs: runsJSON(o.Runs), Machines: machinesJSON(o.Machines)}
	for _, line := range o.Suites {
		out.Suites = append(out.Suites, jsonSuiteLine{jsonSuiteName(line.Suite), line.Implementations, line.Workloads, runJSON(line.Latest)})
	}
	return sendJSON(w, out)
}

// apiSuite is what a suite can be asked about.
func (s *Server) apiSuite(w http.ResponseWriter, r *http.Request) error {
	c, err := s.suiteAsked(r)
	if err != nil {
		return err
	}
	out := jsonContents{Suite: jsonSuiteName(c.Suite), Profiles: append([]string{}, c.Profiles...), Machines: machinesJSON(c.Machines),
		Metrics: []jsonMetric{}, Cases: []jsonCase{}, Baseline: c.Baseline, Judged: append([]string{}, c.Judged...)}
	for _, m := range c.Metrics {
		out.Metrics = append(out.Metrics, metricJSON(m))
	}
	for _, one := range c.Cases {
		out.Cases = append(out.Cases, jsonCase(one))
	}
	return sendJSON(w, out)
}

// apiSeries is what the series page draws.
func (s *Server) apiSeries(w http.ResponseWriter, r *http.Request) error {
	a, courses, err := s.courses(r)
	if err != nil {
		return err
	}
	changes, err := s.Archive.Changes(r.Context(), a.query)
	if err != nil {
		return err
	}
	out := jsonSeries{Metric: metricJSON(a.metric), Courses: []jsonCourse{}, Changes: changesJSON(changes)}
	for _, course := range courses {
		one := jsonCourse{course.Case.Implementation, course.Case.Workload, course.Against, course.Machine, course.Commits, []jsonPoint{}}
		for _, p := range course.Points {
			point := jsonPoint{Position: p.Position, Commit: jsonCommit{p.SHA, p.Author, when(p.Time), p.Subject}, MergeRequest: p.MergeRequest, Run: p.Run, Epoch: p.Epoch,
				N: p.N, Absent: p.Absent, Commits: p.Commits}
			if p.Absent == "" {
				point.Value, point.SD, point.Low, point.High = number(p.Value), number(p.SD), number(p.Low), number(p.High)
			}
			one.Points = append(one.Points, point)
		}
		out.Courses = append(out.Courses, one)
	}
	return sendJSON(w, out)
}

// apiRun is a run with its results, as results.json has them.
func (s *Server) apiRun(w http.ResponseWriter, r *http.Request) error {
	id, err := numberAsked(r, "run")
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
	var out bytes.Buffer
	if err := report.JSON(&out, results, trials); err != nil {
		return err
	}
	return send(w, "application/json", out.Bytes())
}

// apiMachines lists all machines.
func (s *Server) apiMachines(w http.ResponseWriter, r *http.Request) error {
	o, err := s.Archive.Overview(r.Context())
	if err != nil {
		return err
	}
	return sendJSON(w, struct {
		Machines []jsonMachine `json:"machines"`
	}{machinesJSON(o.Machines)})
}

func runsJSON(lines []stopwatt.RunLine) []jsonRun {
	out := []jsonRun{}
	for _, line := range lines {
		out = append(out, runJSON(line))
	}
	return out
}

func runJSON(l stopwatt.RunLine) jsonRun {
	return jsonRun{l.ID, jsonSuiteName(l.Suite), l.Profile, commitJSON(l.Commit), l.Branch, l.Default, l.Dirty, l.Imported, l.Against, l.Machine, l.MachineName,
		string(l.Status), when(l.Started), when(l.Ended), l.Planned, l.Valid, l.Marked, l.Invalid, l.MergeRequest, l.Regressed, l.Improved}
}

func commitJSON(c stopwatt.Commit) jsonCommit {
	return jsonCommit{c.SHA, c.Author, when(c.Time), c.Subject}
}

func metricJSON(m stopwatt.Metric) jsonMetric {
	return jsonMetric{m.Name, m.Unit, string(m.Better), m.What}
}

func changesJSON(changes []stopwatt.SeriesChange) []jsonChange {
	out := []jsonChange{}
	for _, c := range changes {
		one := jsonChange{Suite: jsonSuiteName(c.Suite), Profile: c.Profile, Implementation: c.Case.Implementation, Workload: c.Case.Workload, Metric: c.Metric.Name, Unit: c.Metric.Unit,
			Machine: c.Machine, State: string(c.Change.State), Withheld: string(c.Change.Withheld), First: commitJSON(c.Commit), After: c.Change.Past.SHA, UpTo: c.Change.Reached.SHA,
			Before: number(c.Change.Before.Mean), Now: number(c.Change.After.Mean), P: number(c.Change.P), Merger: c.Merger, MergeRequest: c.MergeRequest}
		if c.Change.Ratio.Known {
			one.Ratio = number(c.Change.Ratio.Value)
		}
		if c.Change.Ratio.Bounded {
			one.Low, one.High = number(c.Change.Ratio.Low), number(c.Change.Ratio.High)
		}
		out = append(out, one)
	}
	return out
}

func machinesJSON(lines []stopwatt.MachineLine) []jsonMachine {
	out := []jsonMachine{}
	for _, l := range lines {
		out = append(out, jsonMachine{l.Fingerprint, l.Name, l.Named, l.CPUModel, l.Threads, l.MemoryBytes, l.Virtual, when(l.FirstSeen), when(l.LastSeen), when(l.Calibrated), idlesJSON(l.Idle)})
	}
	return out
}

func idlesJSON(idle []stopwatt.IdlePower) []jsonIdle {
	out := []jsonIdle{}
	for _, i := range idle {
		one := jsonIdle{Meter: i.Meter, Absent: i.Absent}
		if i.Absent == "" {
			one.Watts, one.Error = number(i.Watts), number(i.Error)
		}
		out = append(out, one)
	}
	return out
}

// number is a finite number, nil otherwise: JSON has no others.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// when is a known time, nil otherwise.
func when(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	utc := t.UTC()
	return &utc
}

func sendJSON(w http.ResponseWriter, of any) error {
	text, err := json.Marshal(of)
	if err != nil {
		return err
	}
	return send(w, "application/json", append(text, '\n'))
}

// openAPI describes all of this.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) error {
	return send(w, "application/json", []byte(content("static/openapi.json")))
}
