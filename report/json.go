package report

import (
	"encoding/json"
	"io"
	"math"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// jsonFormat names the shape that JSON writes. Fields may be added under the
// same name; a changed or removed one gives it the next number.
const jsonFormat = "stopwatt.results/1"

// These types are the documented shape of results.json (docs/results.md): base
// units, full precision, times in UTC. They are apart from the words, so that
// renaming a word changes no file that others read.
type (
	jsonResults struct {
		Format string      `json:"format"`
		Run    jsonRun     `json:"run"`
		Cases  []jsonCase  `json:"cases"`
		Trials []jsonTrial `json:"trials,omitempty"`
	}
	jsonRun struct {
		ID       int64                `json:"id"`
		Key      string               `json:"key"`
		Suite    string               `json:"suite"`
		Project  string               `json:"project"`
		Baseline string               `json:"baseline"`
		Profile  string               `json:"profile,omitempty"`
		Seed     uint64               `json:"seed,string"` // beyond 2^53, which JavaScript rounds
		Rounds   int                  `json:"rounds"`
		Planned  int                  `json:"planned_trials"`
		Status   string               `json:"status"`
		Started  *time.Time           `json:"started,omitempty"`
		Ended    *time.Time           `json:"ended,omitempty"`
		Imported bool                 `json:"imported,omitempty"`
		Source   string               `json:"source,omitempty"`
		Commit   jsonCommit           `json:"commit"`
		Against  *jsonCommit          `json:"against,omitempty"`
		Machine  jsonMachine          `json:"machine"`
		Meters   []jsonMeter          `json:"meters,omitempty"`
		Idle     []jsonIdle           `json:"idle,omitempty"`
		Driver   []jsonDriverShare    `json:"driver,omitempty"` // by itself
		Engine   jsonEngine           `json:"engine"`
		Images   map[string]jsonImage `json:"images"`
		// BaseImages are those of Against.
		BaseImages map[string]jsonImage `json:"base_images,omitempty"`
		Tool       string               `json:"tool"`
		Command    string               `json:"command"`
		// Settings repeat what the suite grants and sets, in words.
		Settings []string `json:"settings,omitempty"`
		// Granted is what no container has unless a suite says so.
		Granted string `json:"granted,omitempty"`
	}
	jsonCommit struct {
		SHA     string     `json:"sha"`
		Subject string     `json:"subject"`
		Author  string     `json:"author"`
		Time    *time.Time `json:"time,omitempty"`
		Branch  string     `json:"branch"`
		Dirty   bool       `json:"dirty"`
	}
	jsonMachine struct {
		Name        string `json:"name"`
		Named       bool   `json:"named,omitempty"` // known by its name alone
		ID          string `json:"id"`
		CPU         string `json:"cpu"`
		Cores       int    `json:"cores"`
		Threads     int    `json:"threads"`
		Caches      string `json:"caches,omitempty"`
		SMT         string `json:"smt,omitempty"`
		Turbo       string `json:"turbo,omitempty"`
		MemoryBytes int64  `json:"memory_bytes"`
		Virtual     bool   `json:"virtual"`
		Kernel      string `json:"kernel"`
		CommandLine string `json:"command_line,omitempty"` // of the kernel
		Microcode   string `json:"microcode"`
		Governor    string `json:"governor"`
		ClockSource string `json:"clock_source,omitempty"`
		CPUInfo     string `json:"cpuinfo,omitempty"`
	}
	jsonEngine struct {
		Version       string `json:"version"`
		API           string `json:"api"`
		OS            string `json:"os"`
		Architecture  string `json:"architecture"`
		StorageDriver string `json:"storage_driver"`
		CgroupVersion string `json:"cgroup_version"`
		CgroupDriver  string `json:"cgroup_driver"`
		Remote        bool   `json:"remote"`
	}
	jsonImage struct {
		ID      string     `json:"id"`
		Bytes   int64      `json:"bytes"`
		Digests []string   `json:"digests,omitempty"`
		Bases   []jsonBase `json:"bases,omitempty"`
	}
	jsonBase struct {
		Written string `json:"written"`
		Used    string `json:"used"`
		ID      string `json:"id"`
	}
	jsonCase struct {
		Implementation string        `json:"implementation"`
		Workload       string        `json:"workload"`
		Revision       string        `json:"revision"`
		Part           bool          `json:"part,omitempty"`
		Valid          int           `json:"valid"`
		Invalid        int           `json:"invalid"`
		Marked         int           `json:"marked"`
		Reasons        []jsonReason  `json:"reasons,omitempty"`
		Absent         []jsonAbsence `json:"absent,omitempty"`
		Warnings       []jsonWarning `json:"warnings,omitempty"`
		Metrics        []jsonSummary `json:"metrics"`
	}
	jsonWarning struct {
		Warning string `json:"warning"`
		Count   int    `json:"count"`
	}
	jsonReason struct {
		Reason string `json:"reason"`
		Count  int    `json:"count"`
	}
	jsonAbsence struct {
		Metric string `json:"metric"`
		Reason string `json:"reason"`
		Count  int    `json:"count,omitempty"`
	}
	jsonSummary struct {
		Metric string   `json:"metric"`
		Unit   string   `json:"unit"`
		N      int      `json:"n"`
		Mean   *float64 `json:"mean"`
		SD     *float64 `json:"sd"` // null of a single trial
		Median *float64 `json:"median"`
		Min    *float64 `json:"min"`
		Max    *float64 `json:"max"`
	}
	jsonPart struct {
		Workload    string               `json:"workload"`
		Values      map[string]*float64  `json:"values"`
		Absent      []jsonAbsence        `json:"absent,omitempty"`
		Repetitions map[string][]float64 `json:"repetitions,omitempty"`
	}
	jsonTrial struct {
		Position       int                  `json:"position"`
		Round          int                  `json:"round"`
		Implementation string               `json:"implementation"`
		Workload       string               `json:"workload"`
		Revision       string               `json:"revision"`
		Status         string               `json:"status"`
		Reason         string               `json:"reason,omitempty"`
		Warnings       []string             `json:"warnings,omitempty"`
		Started        *time.Time           `json:"started,omitempty"`
		WindowStart    int64                `json:"window_start_ns"`
		WindowEnd      int64                `json:"window_end_ns"`
		Values         map[string]*float64  `json:"values"`
		Absent         []jsonAbsence        `json:"absent,omitempty"`
		Repetitions    map[string][]float64 `json:"repetitions,omitempty"`
		Parts          []jsonPart           `json:"parts,omitempty"`
		// Latency is HdrHistogram's compressed V2 form in base64, in nanoseconds.
		Latency *stopwatt.Histogram `json:"latency,omitempty"`
	}
)

// JSON writes a run, what came of its cases, and its trials unless they are
// nil, in the shape that docs/results.md describes.
func JSON(w io.Writer, results stopwatt.Results, trials []stopwatt.Trial) error {
	document := jsonResults{Format: jsonFormat, Run: jsonOfRun(results.Run), Cases: []jsonCase{}}
	for _, result := range results.Cases {
		document.Cases = append(document.Cases, jsonOfCase(results, result))
	}
	for _, trial := range trials {
		document.Trials = append(document.Trials, jsonOfTrial(trial))
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document)
}

func jsonOfRun(run stopwatt.Run) jsonRun {
	engine := run.Engine
	commit, against := jsonOfCheckout(run.Checkout), (*jsonCommit)(nil)
	if run.Against.Commit.SHA != "" {
		base := jsonOfCheckout(run.Against)
		against = &base
	}
	return jsonRun{
		ID: run.ID, Key: run.Key, Suite: run.Suite, Project: run.Project, Baseline: run.Baseline,
		Profile: run.Profile, Seed: run.Seed, Rounds: run.Rounds, Planned: run.Planned,
		Status: string(run.Status), Started: moment(run.Started), Ended: moment(run.Ended),
		Imported: run.Imported, Source: run.Source, Commit: commit, Against: against,
		Machine: jsonOfMachine(run.Machine), Meters: jsonOfMeters(run.Meters), Idle: jsonOfIdle(run.Idle), Driver: jsonOfDriverShares(run.DriverShares),
		Engine: jsonEngine{
			Version: engine.Version, API: engine.API, OS: engine.OS, Architecture: engine.Architecture,
			StorageDriver: engine.StorageDriver, CgroupVersion: engine.CgroupVersion,
			CgroupDriver: engine.CgroupDriver, Remote: engine.Remote,
		},
		Images: jsonOfImages(run.Images), BaseImages: jsonOfImages(run.BaseImages), Tool: run.Tool, Command: run.Command, Settings: settingsSaid(run.Settings), Granted: loosened(run.Settings),
	}
}

func jsonOfCheckout(c stopwatt.Checkout) jsonCommit {
	return jsonCommit{
		SHA: c.Commit.SHA, Subject: c.Commit.Subject, Author: c.Commit.Author, Time: moment(c.Commit.Time),
		Branch: c.Branch, Dirty: c.Dirty,
	}
}

func jsonOfImages(images map[string]stopwatt.Image) map[string]jsonImage {
	all := map[string]jsonImage{}
	for name, image := range images {
		all[name] = jsonOfImage(image)
	}
	return all
}

func jsonOfMachine(m stopwatt.Machine) jsonMachine {
	identity, epoch := m.Identity, m.Epoch
	return jsonMachine{
		Name: m.Name, Named: m.Named, ID: identity.ID, CPU: identity.CPUModel, Cores: identity.Cores, Threads: identity.Threads,
		Caches: identity.Caches, SMT: identity.SMT, Turbo: identity.Turbo,
		MemoryBytes: identity.MemoryBytes, Virtual: identity.Virtual,
		Kernel: epoch.Kernel, CommandLine: epoch.CommandLine, Microcode: epoch.Microcode, Governor: epoch.Governor,
		ClockSource: epoch.ClockSource, CPUInfo: identity.CPUInfo,
	}
}

func jsonOfImage(image stopwatt.Image) jsonImage {
	out := jsonImage{ID: image.ID, Bytes: image.Bytes, Digests: image.Digests}
	for _, base := range image.Bases {
		out.Bases = append(out.Bases, jsonBase(base))
	}
	return out
}

func jsonOfCase(results stopwatt.Results, result stopwatt.CaseResult) jsonCase {
	out := jsonCase{
		Implementation: result.Case.Implementation, Workload: result.Case.Workload, Revision: string(result.Revision),
		Part: result.Part, Valid: result.Valid, Invalid: result.Invalid, Marked: result.Marked, Metrics: []jsonSummary{},
	}
	for _, r := range result.Reasons {
		out.Reasons = append(out.Reasons, jsonReason(r))
	}
	for _, a := range result.Absent {
		out.Absent = append(out.Absent, jsonAbsence(a))
	}
	for _, w := range result.Warnings {
		out.Warnings = append(out.Warnings, jsonWarning(w))
	}
	for _, s := range result.Summaries {
		out.Metrics = append(out.Metrics, jsonOfSummary(s, unitName(results.Metric(s.Metric))))
	}
	return out
}

func jsonOfSummary(s stopwatt.Summary, unit string) jsonSummary {
	out := jsonSummary{
		Metric: s.Metric, Unit: unit, N: s.N,
		Mean: finite(s.Mean), Median: finite(s.Median), Min: finite(s.Min), Max: finite(s.Max),
	}
	if s.N > 1 {
		out.SD = finite(s.SD)
	}
	return out
}

func jsonOfTrial(t stopwatt.Trial) jsonTrial {
	out := jsonTrial{
		Position: t.Position, Round: t.Round,
		Implementation: t.Case.Implementation, Workload: t.Case.Workload, Revision: string(t.Revision),
		Status: string(t.Status), Reason: t.Reason, Warnings: t.Warnings,
		Started: moment(t.Started), WindowStart: t.Window.Start, WindowEnd: t.Window.End,
		Values: valuesOf(t.Measurements), Absent: absentOf(t.Absent), Repetitions: repeated(t.Repetitions), Latency: t.Latency,
	}
	for _, part := range t.Parts {
		out.Parts = append(out.Parts, jsonPart{
			Workload: part.Case.Workload,
			Values:   valuesOf(part.Measurements), Absent: absentOf(part.Absent), Repetitions: repeated(part.Repetitions),
		})
	}
	return out
}

func valuesOf(figures []stopwatt.Measurement) map[string]*float64 {
	values := map[string]*float64{}
	for _, m := range figures {
		values[m.Metric] = finite(m.Value)
	}
	return values
}

func absentOf(absences []stopwatt.Absence) []jsonAbsence {
	var absent []jsonAbsence
	for _, a := range absences {
		absent = append(absent, jsonAbsence{Metric: a.Metric, Reason: a.Reason})
	}
	return absent
}

// repeated are the values of repetitions, of which storage keeps no others than
// finite ones.
func repeated(repetitions []stopwatt.Repetitions) map[string][]float64 {
	values := map[string][]float64{}
	for _, r := range repetitions {
		values[r.Metric] = append([]float64{}, r.Values...)
	}
	return values
}

// moment is a time in UTC, nil when there is none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// finite is a number, nil when JSON has none for it.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
