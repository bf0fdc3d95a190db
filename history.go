package stopwatt

import "time"

// A SuiteName says which suite is meant: two projects may have one of the same
// name.
type SuiteName struct {
	Project, Suite string
}

// An Overview is what stands at the beginning of history's pages.
type Overview struct {
	// Worse are the changes for the worse that stand: the newest of each series, of
	// its newest machine, the newest first. Suspected, confirmed and withheld ones.
	Worse    []SeriesChange
	Suites   []SuiteLine   // the latest measured first
	Runs     []RunLine     // the latest first, so many as fit a page
	Machines []MachineLine // the latest seen first
}

// A SeriesChange is a change point with the series that it was found in.
type SeriesChange struct {
	Suite   SuiteName
	Profile string
	Case    Case
	Metric  Metric
	Machine string // fingerprint of the MachineIdentity
	Change  ChangePoint
	// Commit is Change.First with what is known of it, Merger who brought it to the
	// default branch, empty where that is not known, MergeRequest the one that brought
	// it, by its IID; 0: none, or not known.
	Commit       Commit
	Merger       string
	MergeRequest int
}

// A SuiteLine is a suite in a list.
type SuiteLine struct {
	Suite           SuiteName
	Implementations int // of the latest run
	Workloads       int
	Latest          RunLine
}

// A RunLine is a run in a list.
type RunLine struct {
	ID          int64
	Suite       SuiteName
	Profile     string
	Commit      Commit
	Branch      string
	Default     bool // it was of the default branch
	Dirty       bool
	Imported    bool
	Against     string // SHA of what it was measured against; empty: nothing
	Machine     string // fingerprint
	MachineName string
	Status      RunStatus
	Started     time.Time
	Ended       time.Time // zero while it runs
	Planned     int       // trials
	// Valid, Marked and Invalid count trials that were carried out; marked ones are
	// valid.
	Valid, Marked, Invalid int
	MergeRequest           int    // its IID; 0: none
	ProjectURL             string // of the pipeline that it was measured in; empty outside one
	// Regressed and Improved count what its judgement says.
	Regressed, Improved int
}

// A MachineLine is a machine in a list.
type MachineLine struct {
	Fingerprint string // of its identity
	Name        string
	Named       bool // nothing but the name is known for certain
	CPUModel    string
	Threads     int
	MemoryBytes int64
	Virtual     bool
	FirstSeen   time.Time
	LastSeen    time.Time
	Idle        []IdlePower // of the latest run that measured any
	Calibrated  time.Time   // when the latest calibration was taken; zero: never
}

// SuiteContents are what a suite's history can be asked about: of finished runs.
type SuiteContents struct {
	Suite    SuiteName
	Profiles []string      // those that occur; the empty one, of whole runs, first
	Machines []MachineLine // the latest measured first
	Metrics  []Metric      // that have summaries, in the order in which they are shown
	Cases    []Case        // in the order of the latest run's suite
	Baseline string        // of the latest run
	Judged   []string      // the metrics that the latest run is judged by
	// ProjectURL is that of the latest run that a pipeline has measured: commits and
	// merge requests are below it. Empty: there was none.
	ProjectURL string
}

// A RunPlace says which run of a suite is meant: the latest finished one that fits.
// Empty fields narrow nothing, Profile excepted.
type RunPlace struct {
	Suite   SuiteName
	Profile string // a short run is no long one, so also when it is empty
	Machine string // fingerprint
	// Commit is the beginning of a SHA, seven digits at least. Empty: the latest run of
	// the default branch from a clean checkout, or, where there is none, the latest of any.
	Commit string
}

// A CourseQuery asks how a metric of some cases went.
type CourseQuery struct {
	Suite   SuiteName
	Profile string // also when it is empty
	Metric  string
	Machine string    // fingerprint
	Cases   []Case    // empty: all of the suite
	Against string    // as ratios to this implementation of the same run; empty: as values
	From    time.Time // of commits; zero: from the beginning on
	To      time.Time // zero: to the end
	// Most is how many points a course may have; a longer one is thinned. 0: all.
	Most int
}

// A Course is a Series as it is drawn: on one machine, and thinned when it is long.
type Course struct {
	Case    Case
	Metric  string
	Against string
	Machine string // fingerprint
	Commits int    // that were measured in the time asked for
	Points  []CoursePoint
}

// A CoursePoint is a measured commit, or several neighbours that are drawn as one.
type CoursePoint struct {
	Position     int // in the first-parent history of the default branch, from 1; 0: not known
	SHA          string
	Time         time.Time // of the commit
	Subject      string
	Author       string
	MergeRequest int    // that brought it, its IID; 0: not known
	Run          int64  // of several runs of the commit, the latest
	Epoch        string // fingerprint of the MachineEpoch
	// Value is in the metric's base unit; several runs of a commit are pooled to their
	// median. SD is the standard deviation of the N trials, 0 where it is not known.
	Value, SD float64
	N         int
	Absent    string // why there is no value, which is 0 then; empty when there is
	// Commits is how many measured commits the point stands for, the last of which it
	// names: Value is their median, Low and High the smallest and the largest value.
	Commits   int
	Low, High float64
}

// A MachineHistory is all that is known of one machine.
type MachineHistory struct {
	Line    MachineLine
	Machine Machine     // as it was seen last
	Epochs  []EpochSeen // the latest first
	Idle    []IdleSeen  // in the order of time
	// Calibrations of its suites, the latest first.
	Calibrations []Calibration
	Runs         []RunLine // the latest first, so many as fit a page
}

// An EpochSeen is an epoch of a machine with the time from when to when it was met.
type EpochSeen struct {
	Fingerprint string
	Epoch       MachineEpoch
	First, Last time.Time
}

// An IdleSeen is the idle power that a run has measured at one place.
type IdleSeen struct {
	Run   int64
	At    time.Time
	Place IdlePlace
	Power IdlePower
}
