package web

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A memory is an archive that answers from what it was given.
type memory struct {
	runs     []remembered // in the order of their starts
	changes  []stopwatt.SeriesChange
	machines []stopwatt.MachineHistory
	said     map[string]stopwatt.Acceptance
	wait     time.Duration // before each answer, unless the question ends sooner
}

// A remembered is a run with all that it holds.
type remembered struct {
	line     stopwatt.RunLine
	epoch    string
	position int
	results  stopwatt.Results
	trials   []stopwatt.Trial
}

func (m *memory) answer(ctx context.Context) error {
	if m.wait == 0 {
		return ctx.Err()
	}
	<-ctx.Done()
	return ctx.Err()
}

func (m *memory) Overview(ctx context.Context) (stopwatt.Overview, error) {
	var o stopwatt.Overview
	for _, c := range slices.Backward(m.changes) {
		if worse := c.Change.Shift > 0 == (c.Metric.Better == stopwatt.Less); worse {
			o.Worse = append(o.Worse, c)
		}
	}
	for _, run := range slices.Backward(m.runs) {
		o.Runs = append(o.Runs, run.line)
		if !slices.ContainsFunc(o.Suites, func(s stopwatt.SuiteLine) bool { return s.Suite == run.line.Suite }) {
			o.Suites = append(o.Suites, stopwatt.SuiteLine{Suite: run.line.Suite, Implementations: len(run.results.Run.Settings.Implementations),
				Workloads: len(run.results.Run.Settings.Workloads), Latest: run.line})
		}
	}
	o.Runs = o.Runs[:min(len(o.Runs), 12)]
	for _, machine := range m.machines {
		o.Machines = append(o.Machines, machine.Line)
	}
	return o, m.answer(ctx)
}

func (m *memory) Contents(ctx context.Context, suite stopwatt.SuiteName) (stopwatt.SuiteContents, error) {
	c := stopwatt.SuiteContents{Suite: suite, Profiles: []string{""}}
	for _, run := range slices.Backward(m.runs) {
		if run.line.Suite.Suite != suite.Suite || suite.Project != "" && run.line.Suite.Project != suite.Project {
			continue
		}
		if c.Cases == nil {
			settings := run.results.Run.Settings
			c.Suite, c.Baseline, c.Cases, c.ProjectURL = run.line.Suite, settings.Baseline, settings.Cases(), run.line.ProjectURL
			for _, t := range run.results.Run.Thresholds(settings.Workloads[0]) {
				c.Judged = append(c.Judged, t.Judged())
			}
			c.Metrics = run.results.Metrics
		}
		for _, machine := range m.machines {
			if machine.Line.Fingerprint == run.line.Machine && !slices.ContainsFunc(c.Machines, func(l stopwatt.MachineLine) bool { return l.Fingerprint == run.line.Machine }) {
				c.Machines = append(c.Machines, machine.Line)
			}
		}
	}
	if c.Cases == nil {
		return c, stopwatt.ErrNotFound
	}
	return c, m.answer(ctx)
}

func (m *memory) RunAt(ctx context.Context, place stopwatt.RunPlace) (int64, error) {
	for _, ofDefault := range []bool{true, false} {
		for _, run := range slices.Backward(m.runs) {
			l := run.line
			if l.Suite != place.Suite || l.Profile != place.Profile || l.Status != stopwatt.Finished || place.Machine != "" && l.Machine != place.Machine {
				continue
			}
			if place.Commit != "" && strings.HasPrefix(l.Commit.SHA, place.Commit) || place.Commit == "" && l.Default == ofDefault {
				return l.ID, m.answer(ctx)
			}
		}
	}
	return 0, stopwatt.ErrNotFound
}

func (m *memory) find(id int64) (remembered, error) {
	for _, run := range m.runs {
		if run.line.ID == id {
			return run, nil
		}
	}
	return remembered{}, stopwatt.ErrNotFound
}

func (m *memory) Line(_ context.Context, id int64) (stopwatt.RunLine, error) {
	run, err := m.find(id)
	return run.line, err
}

func (m *memory) Results(_ context.Context, id int64) (stopwatt.Results, error) {
	run, err := m.find(id)
	return run.results, err
}

func (m *memory) TrialList(_ context.Context, id int64) ([]stopwatt.Trial, error) {
	run, err := m.find(id)
	return run.trials, err
}

func (m *memory) Trial(_ context.Context, id int64, position int) (stopwatt.Trial, error) {
	run, err := m.find(id)
	if err != nil || position > len(run.trials) {
		return stopwatt.Trial{}, stopwatt.ErrNotFound
	}
	return run.trials[position-1], nil
}

func (m *memory) Courses(ctx context.Context, q stopwatt.CourseQuery) ([]stopwatt.Course, error) {
	if err := m.answer(ctx); err != nil {
		return nil, err
	}
	cases := q.Cases
	if cases == nil {
		contents, err := m.Contents(ctx, q.Suite)
		if err != nil {
			return nil, err
		}
		cases = contents.Cases
	}
	var courses []stopwatt.Course
	for _, of := range cases {
		if course := m.course(of, q); len(course.Points) > 0 {
			courses = append(courses, course)
		}
	}
	return courses, nil
}

// course is one course; long ones are cut to their newest points, where the real
// archive pools.
func (m *memory) course(of stopwatt.Case, q stopwatt.CourseQuery) stopwatt.Course {
	course := stopwatt.Course{Case: of, Metric: q.Metric, Against: q.Against, Machine: q.Machine}
	for _, run := range m.runs {
		l := run.line
		if l.Suite != q.Suite || l.Profile != q.Profile || l.Machine != q.Machine || !l.Default || l.Commit.Time.Before(q.From) || !q.To.IsZero() && l.Commit.Time.After(q.To) {
			continue
		}
		p := stopwatt.CoursePoint{Position: run.position, SHA: l.Commit.SHA, Time: l.Commit.Time, Subject: l.Commit.Subject, Author: l.Commit.Author,
			MergeRequest: l.MergeRequest, Run: l.ID, Epoch: run.epoch, Commits: 1}
		result := headOf(run.results, of)
		summary, has := result.Summary(q.Metric)
		switch {
		case has && q.Against == "":
			p.Value, p.SD, p.N, p.Low, p.High = summary.Mean, summary.SD, summary.N, summary.Mean, summary.Mean
		case has:
			base, _ := headOf(run.results, stopwatt.Case{Implementation: q.Against, Workload: of.Workload}).Summary(q.Metric)
			p.Value, p.N = summary.Mean/base.Mean, summary.N
			p.Low, p.High = p.Value, p.Value
		default:
			p.Absent = "not measured"
			for _, a := range result.Absent {
				if a.Metric == q.Metric {
					p.Absent = a.Reason
				}
			}
		}
		course.Points = append(course.Points, p)
	}
	course.Commits = len(course.Points)
	if q.Most > 0 && len(course.Points) > q.Most {
		course.Points = course.Points[len(course.Points)-q.Most:]
	}
	return course
}

func (m *memory) Changes(ctx context.Context, q stopwatt.CourseQuery) ([]stopwatt.SeriesChange, error) {
	var changes []stopwatt.SeriesChange
	for _, c := range m.changes {
		if c.Suite == q.Suite && c.Profile == q.Profile && c.Metric.Name == q.Metric && c.Machine == q.Machine && q.Against == "" && (q.Cases == nil || slices.Contains(q.Cases, c.Case)) {
			changes = append(changes, c)
		}
	}
	return changes, m.answer(ctx)
}

func (m *memory) MachineHistory(_ context.Context, fingerprint string) (stopwatt.MachineHistory, error) {
	for _, machine := range m.machines {
		if machine.Line.Fingerprint == fingerprint {
			return machine, nil
		}
	}
	return stopwatt.MachineHistory{}, stopwatt.ErrNotFound
}

// names are what the made-up history is of; hostile ones try to be more than text.
type names struct {
	project, suite, machine, author, subject, reason, url string
	implementations, workloads                            []string
}

var plainNames = names{
	project: "team/servers", suite: "web-servers", machine: "odroid-h3", author: "Ada Lovelace", subject: "Parse lines without a copy", url: "https://gitlab.example.org/team/servers",
	reason: "energy_board: ina226 gave no reading (EAGAIN)", implementations: []string{"rust-tokio", "go", "rust-arena"}, workloads: []string{"csv-svg-path", "send-static-file", "varying-allocations"},
}

// attack is markup, a formula, and characters that turn text round.
const attack = `<script>alert(1)</script>"'><img src=x onerror=alert(2)>&{{.}}` + "\u202e\x1b[31m"

var hostileNames = names{
	project: "team/" + attack, suite: "suite " + attack, machine: "machine " + attack, author: attack, subject: "subject " + attack, url: "javascript:alert(1)",
	reason: "reason " + attack, implementations: []string{"base", attack, "=1+1"}, workloads: []string{"work", attack + "/b"},
}

var today = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const (
	boardFingerprint = "3f9c2e71aa04b8d2"
	commitsMeasured  = 60
	changedAt        = 42 // the commit from which on the last case takes more
	movedAt          = 30 // the commit from which on the kernel is another
)

// pastOf makes a history up, the same at every call.
func pastOf(n names) *memory {
	m := &memory{said: map[string]stopwatt.Acceptance{}}
	random := rand.New(rand.NewPCG(8, 1))
	settings := stopwatt.Suite{Name: n.suite, Baseline: n.implementations[0], Judge: stopwatt.Judge{Metrics: []stopwatt.Threshold{{Metric: "time", Relative: 0.03}, {Metric: "energy_board", Relative: 0.02}}}}
	for _, name := range n.implementations {
		settings.Implementations = append(settings.Implementations, stopwatt.Implementation{Name: name})
	}
	for _, name := range n.workloads {
		settings.Workloads = append(settings.Workloads, stopwatt.Workload{Name: name, HTTP: &stopwatt.HTTP{}, Load: stopwatt.Load{Users: 4, Requests: 5000}})
	}
	for i := range commitsMeasured {
		m.runs = append(m.runs, runUp(n, settings, i, random))
	}
	m.changes = changesUp(n, settings, m)
	m.machines = []stopwatt.MachineHistory{machineUp(n, m)}
	return m
}

// caseUp is the mean time of a case at a commit.
func caseUp(settings stopwatt.Suite, of stopwatt.Case, commit int) float64 {
	i := slices.IndexFunc(settings.Implementations, func(x stopwatt.Implementation) bool { return x.Name == of.Implementation })
	w := slices.IndexFunc(settings.Workloads, func(x stopwatt.Workload) bool { return x.Name == of.Workload })
	mean := []float64{6.7, 9.3, 4.9}[w%3] * []float64{1, 1.127, 1.076}[i%3]
	if commit >= changedAt && i == len(settings.Implementations)-1 && w == 0 {
		mean *= 1.083
	}
	return mean
}

// runUp makes one run up.
func runUp(n names, settings stopwatt.Suite, i int, random *rand.Rand) remembered {
	at := today.AddDate(0, 0, 3*(i-commitsMeasured)).Add(time.Duration(i%7) * time.Hour)
	commit := stopwatt.Commit{SHA: fmt.Sprintf("%08x%032x", uint32(i+1)*2654435761, i+1), Author: n.author, Time: at, Subject: fmt.Sprintf("%s (%d)", n.subject, i+1)}
	epoch := "6.1.0-27"
	if i >= movedAt {
		epoch = "6.1.0-28"
	}
	run := stopwatt.Run{
		ID: int64(353 + i), Key: fmt.Sprintf("key%d", i), Suite: n.suite, Project: n.project, Baseline: settings.Baseline, Seed: 48213, Rounds: 10, Settings: settings, Status: stopwatt.Finished,
		Started: at.Add(time.Hour), Ended: at.Add(2 * time.Hour), Checkout: stopwatt.Checkout{Commit: commit, Branch: "main", Default: true}, Command: "stopwatt run stopwatt.yml", Tool: "test",
		Machine: stopwatt.Machine{Name: n.machine, Identity: identityUp, Epoch: stopwatt.MachineEpoch{Kernel: epoch, Governor: "performance", EngineVersion: "27.3.1"}},
		Meters:  []stopwatt.Meter{{Name: "board", Source: "ina226 0-0040", Renewal: 140 * time.Millisecond}},
		Labels:  map[string]string{"colour": n.machine},
	}
	run.Planned = len(settings.Cases())
	results := stopwatt.Results{Run: run}
	for _, name := range []string{"time", "throughput", "latency_p99", "energy_board_gross", "energy_board", "power_board"} {
		metric, _ := stopwatt.MetricNamed(name)
		results.Metrics = append(results.Metrics, metric)
	}
	var trials []stopwatt.Trial
	for _, of := range settings.Cases() {
		result := stopwatt.CaseResult{Case: of, Revision: stopwatt.Head, Valid: 10, Marked: 1, Warnings: []stopwatt.WarningCount{{Warning: "other processes used 6.1 % of the CPU (" + n.machine + ")", Count: 1}}}
		mean := caseUp(settings, of, i) * (1 + 0.004*random.NormFloat64())
		summary := func(metric string, mean, spread float64) {
			result.Summaries = append(result.Summaries, stopwatt.Summary{Case: of, Revision: stopwatt.Head, Metric: metric, N: 10, Mean: mean, SD: mean * spread, Median: mean, Min: mean * (1 - 2*spread), Max: mean * (1 + 2*spread)})
		}
		summary("time", mean, 0.006)
		summary("throughput", 20000/mean, 0.006)
		summary("latency_p99", mean/4000, 0.02)
		if i >= 20 && i < 24 {
			for _, metric := range []string{"energy_board_gross", "energy_board", "power_board"} {
				result.Absent = append(result.Absent, stopwatt.AbsenceCount{Metric: metric, Reason: n.reason, Count: 10})
			}
		} else {
			summary("energy_board_gross", 14.2*mean, 0.009)
			summary("energy_board", 10.1*mean, 0.012)
			summary("power_board", 14.2, 0.01)
		}
		results.Cases = append(results.Cases, result)
		if i >= commitsMeasured-2 {
			trials = append(trials, trialUp(n, of, len(trials)+1, at, mean))
		}
	}
	line := stopwatt.RunLine{ID: run.ID, Suite: stopwatt.SuiteName{Project: n.project, Suite: n.suite}, Commit: commit, Branch: "main", Default: true, Machine: boardFingerprint, MachineName: n.machine,
		Status: stopwatt.Finished, Started: run.Started, Ended: run.Ended, Planned: run.Planned, Valid: run.Planned - 1, Marked: 1, Invalid: 1, MergeRequest: 170 + i, ProjectURL: n.url}
	return remembered{line: line, epoch: epoch, position: 2*i + 1, results: results, trials: trials}
}

var identityUp = stopwatt.MachineIdentity{ID: "1f", CPUModel: "Intel Celeron N5105", Cores: 4, Threads: 4, MemoryBytes: 16 << 30, SMT: "none", CPUInfo: "processor\t: 0\nvendor_id\t: GenuineIntel\n"}

// trialUp makes a trial up, with samples and latencies. The third is invalid.
func trialUp(n names, of stopwatt.Case, position int, at time.Time, seconds float64) stopwatt.Trial {
	t := stopwatt.Trial{PlannedTrial: stopwatt.PlannedTrial{Round: 1, Case: of, Revision: stopwatt.Head}, Position: position, Status: stopwatt.Valid, Started: at.Add(time.Duration(position) * 40 * time.Second),
		Window: stopwatt.Window{Start: 5e9, End: 5e9 + int64(seconds*1e9)}, Latency: &stopwatt.Histogram{},
		Measurements: []stopwatt.Measurement{{Metric: "time", Value: seconds}, {Metric: "throughput", Value: 20000 / seconds}, {Metric: "power_board", Value: 14.2}, {Metric: "energy_board_gross", Value: 14.2 * seconds}},
		Absent:       []stopwatt.Absence{{Metric: "memory_peak", Reason: n.reason}}}
	if position == 3 {
		t.Status, t.Reason = stopwatt.Invalid, "container exited with 137 (out of memory); its last lines:\n"+n.reason+"\nKilled"
	}
	if position == 2 {
		t.Warnings = []string{"other processes used 6.1 % of the CPU"}
	}
	for i := range 20000 {
		t.Latency.Record(int64(400_000 * (1 + 0.3*math.Sin(float64(i))) * math.Pow(1+float64(i%997)/997, 3)))
	}
	for _, sampled := range []struct {
		meter    string
		quantity stopwatt.Quantity
		value    func(float64) float64
	}{
		{"board", stopwatt.PowerDrawn, func(x float64) float64 { return 14.2e6 + 1.5e6*math.Sin(3*x) }},
		{"server", stopwatt.CPUUsed, func(x float64) float64 { return 2.4e9 * x }},
		{"vmstat", "cs", func(x float64) float64 { return 25_450_000 + 2e6*math.Cos(x) }},
		{"vmstat", "us", func(x float64) float64 { return 600 + 50*math.Sin(x) }},
		{"load", stopwatt.RightAnswers, func(x float64) float64 { return 2985 + 20*math.Sin(2*x) }},
	} {
		s := stopwatt.Samples{Meter: sampled.meter, Quantity: sampled.quantity}
		for x := 0.0; x < seconds; x += 0.1 {
			s.Times = append(s.Times, t.Window.Start+int64(x*1e9))
			s.Values = append(s.Values, int64(sampled.value(x)))
		}
		if sampled.meter == "board" {
			s.Gaps = []stopwatt.Gap{{From: t.Window.Start + 2e9, To: t.Window.Start + 23e8, Reason: n.reason}}
		}
		t.Samples = append(t.Samples, s)
	}
	return t
}

// changesUp are the change points of what was made up: of the last implementation
// under the first workload.
func changesUp(n names, settings stopwatt.Suite, m *memory) []stopwatt.SeriesChange {
	of := stopwatt.Case{Implementation: n.implementations[len(n.implementations)-1], Workload: n.workloads[0]}
	var changes []stopwatt.SeriesChange
	for _, name := range []string{"time", "energy_board_gross"} {
		metric, _ := stopwatt.MetricNamed(name)
		first, past := m.runs[changedAt], m.runs[changedAt-1]
		before := caseUp(settings, of, 0)
		scale := map[string]float64{"time": 1, "energy_board_gross": 14.2}[name]
		changes = append(changes, stopwatt.SeriesChange{Suite: first.line.Suite, Case: of, Metric: metric, Machine: boardFingerprint, Commit: first.line.Commit, MergeRequest: first.line.MergeRequest,
			Change: stopwatt.ChangePoint{State: stopwatt.Confirmed, First: stopwatt.CommitPlace{Position: first.position, SHA: first.line.Commit.SHA}, Past: stopwatt.CommitPlace{Position: past.position, SHA: past.line.Commit.SHA},
				Reached: stopwatt.CommitPlace{Position: first.position, SHA: first.line.Commit.SHA}, Before: stopwatt.Level{N: changedAt, Mean: before * scale}, After: stopwatt.Level{N: commitsMeasured - changedAt, Mean: before * scale * 1.083},
				Shift: before * scale * 0.083, Ratio: stopwatt.Interval{Value: 1.083, Known: true, Low: 1.074, High: 1.092, Bounded: true, Confidence: 0.95}, P: 0.0002}})
	}
	return changes
}

// machineUp is the machine of what was made up.
func machineUp(n names, m *memory) stopwatt.MachineHistory {
	last := m.runs[len(m.runs)-1]
	h := stopwatt.MachineHistory{Machine: last.results.Run.Machine, Line: stopwatt.MachineLine{Fingerprint: boardFingerprint, Name: n.machine, CPUModel: identityUp.CPUModel, Threads: 4, MemoryBytes: identityUp.MemoryBytes,
		FirstSeen: m.runs[0].line.Started, LastSeen: last.line.Ended, Calibrated: today.AddDate(0, 0, -4), Idle: []stopwatt.IdlePower{{Meter: "board", Watts: 4.18, Error: 0.02}}},
		Calibrations: []stopwatt.Calibration{{Suite: n.suite, Taken: today.AddDate(0, 0, -4), Alarms: stopwatt.Share{Count: 2, Of: 48, Low: 0.01, High: 0.14}}}}
	for _, of := range last.results.Run.Settings.Cases() {
		metric, _ := stopwatt.MetricNamed("time")
		h.Calibrations[0].Cases = append(h.Calibrations[0].Cases, stopwatt.CaseCalibration{Case: of, Metric: metric, N: 24, Smallest: 0.012})
	}
	for i, run := range m.runs {
		power := stopwatt.IdlePower{Meter: "board", Watts: 4.18 + 0.1*math.Sin(float64(i)/9), Error: 0.02}
		h.Idle = append(h.Idle, stopwatt.IdleSeen{Run: run.line.ID, At: run.line.Started, Place: stopwatt.IdleBefore, Power: power})
		h.Runs = append(h.Runs, run.line)
	}
	slices.SortFunc(h.Runs, func(a, b stopwatt.RunLine) int { return cmp.Compare(b.ID, a.ID) })
	h.Runs = h.Runs[:5]
	old, now := m.runs[0], last
	h.Epochs = []stopwatt.EpochSeen{{Fingerprint: now.epoch, Epoch: now.results.Run.Machine.Epoch, First: m.runs[movedAt].line.Started, Last: now.line.Ended},
		{Fingerprint: old.epoch, Epoch: old.results.Run.Machine.Epoch, First: old.line.Started, Last: m.runs[movedAt-1].line.Started}}
	return h
}

// Alerts are those of the memory's changes.
func (m *memory) Alerts(ctx context.Context) ([]stopwatt.Alert, error) {
	var alerts []stopwatt.Alert
	for _, c := range m.changes {
		a := stopwatt.Alert{ID: alertOf(c), Project: c.Suite.Project, Suite: c.Suite.Suite, Case: c.Case, Metric: c.Metric, Machine: c.Machine, State: stopwatt.AlertOpen, Change: c.Change, Found: today.AddDate(0, 0, -20)}
		if by, said := m.said[a.ID]; said {
			a.State, a.Accepted = stopwatt.AlertAcknowledged, &by
		}
		alerts = append(alerts, a)
	}
	return alerts, m.answer(ctx)
}

func (m *memory) Acknowledge(_ context.Context, id string, by stopwatt.Acceptance) error {
	for _, c := range m.changes {
		if alertOf(c) == id {
			m.said[id] = by
			return nil
		}
	}
	return stopwatt.ErrNotFound
}
