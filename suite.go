package stopwatt

import (
	"slices"
	"strings"
	"time"
)

// A Suite is one suite file, read and checked: which implementations, under
// which workloads, how measured. Profiles have been applied and every default
// filled in, so that nobody downstream decides anything about settings.
type Suite struct {
	Name            string
	Baseline        string           // the implementation that the others are shown against
	Implementations []Implementation // in the order of the file
	Workloads       []Workload       // in the order of the file
	Plan            PlanSettings
	Judge           Judge
	Meters          MeterSettings
	// Control names an implementation that stays the same for ever, measured in
	// every run: a shift of it is the machine's. Empty: there is none.
	Control    string
	DriverCPUs string // cores of the driver, as in cpuset; empty: all
	// ServerCPUs are the cores of servers whose implementation names none, where
	// they and the driver are kept apart; empty: all. Programs may use all then.
	ServerCPUs string `json:",omitempty"`
	// DriverHost is where the driver runs; nil: beside the server, over its loopback.
	DriverHost *DriverHost `json:",omitempty"`
	Profile    string      // the profile that was applied, or empty
}

// An Implementation is one of the things compared: an image, or how to build
// it, and how its container is run.
type Implementation struct {
	Name string
	// Null says that it is the null server of the driver's own image, whose
	// answers cost next to nothing: what is measured of it is the driver. It then
	// has no Image and no Build, and any answer of status 200 is right.
	Null    bool   `json:",omitempty"`
	Image   string // a reference to pull; empty when Build is set. {sha} stands for the revision measured
	Build   *Build
	Command []string          // instead of the image's own; nil keeps it
	Env     map[string]string // beside the image's own
	CPUs    string            // cores it may use, as in cpuset ("0-3"); empty: all
	Memory  int64             // bytes; 0: most of what the machine has
	// StopSignal names a signal that asks the server to end by itself ("SIGTERM").
	// Empty: it is killed outright, because a polite stop of a process that
	// handles no signal costs ten seconds a trial.
	StopSignal string
	// Writable lets the container write to its own root. It is false unless the
	// suite says so, and a report repeats it: a loosening is never silent.
	Writable bool
	// Exec stands before what command and harness workloads run: an interpreter,
	// a virtual machine with its flags.
	Exec     []string
	With     map[string]Override // by workload
	Services []Service
}

// Build says how an image is made from the checkout.
type Build struct {
	Context    string            // folder, relative to the suite file
	Dockerfile string            // relative to the suite file; empty: Dockerfile in Context
	Args       map[string]string // build arguments
	Target     string            // stage to stop at; empty: the last
	// Ref names another commit that the context is taken from. Empty: the
	// revision that is measured. The Dockerfile, when named, is always today's.
	Ref string
	// Repository is the URL of another repository that the context is taken
	// from, at Ref. Empty: the one that the suite lies in.
	Repository string
	// Commit is what Ref named when the run began; empty where the revision is
	// built that is measured.
	Commit string
}

// A Workload is what is asked of an implementation: exactly one of HTTP,
// Command and Harness is set.
type Workload struct {
	// Name is followed by /NAME=VALUE,… for each of its Params.
	Name    string
	HTTP    *HTTP // a server under load
	Load    Load  // of HTTP
	Command *Command
	Harness *Harness
	// Params are the values that make it one of several cases; {NAME} in what
	// it runs has been replaced by them.
	Params   []Param
	Services []Service
}

// HTTP describes the server's port, the requests that are sent and the answers
// that count as right.
type HTTP struct {
	Port   int    // 0 when Socket is set
	Socket string `json:",omitempty"` // path of a Unix socket in the server's container
	// Connects says that the server is ready when it takes a connection: it need
	// not speak HTTP, and only a Tool can drive it. Request and Expect are empty.
	Connects bool `json:",omitempty"`
	TLS      *TLS `json:",omitempty"` // nil: plain text
	// Request and Expect are the first of what is asked, and what readiness is
	// asked by; Others are asked beside it.
	Request Request
	Expect  Expect
	Others  []Ask `json:",omitempty"`
	InOrder bool  `json:",omitempty"` // one after the other; else drawn by weight
	Data    *Data `json:",omitempty"` // values for {names} in the requests
	// Follow has redirects followed, ten a request at most, as long as they stay on
	// the same server; the last answer is the one that must be right.
	Follow      bool          `json:",omitempty"`
	ReadyWithin time.Duration // from the container's start to the first right answer
}

// An Ask is a request and what the right answer to it looks like.
type Ask struct {
	Request Request
	Expect  Expect
}

// Asks lists all that is asked, the first first.
func (h HTTP) Asks() []Ask { return append([]Ask{{h.Request, h.Expect}}, h.Others...) }

// TLS says how connections are encrypted: TLS 1.2 or 1.3, HTTP/1.1 inside.
type TLS struct {
	Name   string `json:",omitempty"` // server name that is asked for; empty: the address's
	Verify bool   `json:",omitempty"` // whether the certificate must be one that the system trusts
}

// Data are values that are put into requests where a column's {name} stands:
// percent-encoded in paths, as they are in headers and bodies.
type Data struct {
	Columns []string
	Rows    [][]string // each as long as Columns
	Random  bool       `json:",omitempty"` // rows are drawn by the seed; else one after the other, from the first again
}

// Request is one HTTP request.
type Request struct {
	Method  string
	Path    string            // with its query; begins with /
	Headers map[string]string `json:",omitempty"`
	Body    []byte            `json:",omitempty"`
	Weight  int               `json:",omitempty"` // its share among the requests that are drawn; 0 counts as 1
}

// Expect is what a right answer looks like.
type Expect struct {
	Status     int
	BodySHA256 string `json:",omitempty"` // lower-case hex; empty: the body is not checked
	// CheckOneIn is how many answers there are to one whose body is hashed while
	// load is driven; of all others the length is compared. 0: none is hashed.
	CheckOneIn int `json:",omitempty"`
}

// Load says how requests are sent. Without Stages it is a closed model: each
// user waits for its answer before it asks again. With Stages it is an open
// one: requests come due by the clock, whatever the answers do.
type Load struct {
	// Users at the same time, one connection each; of an open load, the most
	// connections that there may be.
	Users    int
	Requests int           // requests of each user; 0 when For is set
	For      time.Duration // how long to drive; 0 when Requests is set
	Think    time.Duration `json:",omitempty"` // from an answer to the same user's next request; closed only
	Stages   []Stage       `json:",omitempty"` // of an open load; together they last For
	Poisson  bool          `json:",omitempty"` // open: gaps are drawn from an exponential distribution; else they are equal
	Find     *Find         `json:",omitempty"` // search the highest rate first, and drive at that
	Tool     *Tool         `json:",omitempty"` // another program drives; then nothing else of a Load is set but Timeout
	Close    bool          // a new connection for every request
	Timeout  time.Duration // for one answer
}

// Open tells whether requests come due by the clock.
func (l Load) Open() bool { return len(l.Stages) > 0 || l.Find != nil }

// Rate is the mean number of requests per second that an open load orders, 0
// for a closed one.
func (l Load) Rate() float64 {
	requests, seconds := 0.0, 0.0
	for _, stage := range l.Stages {
		requests += stage.Requests()
		seconds += stage.For.Seconds()
	}
	if seconds == 0 {
		return 0
	}
	return requests / seconds
}

// Lasting is the load for another time, an open one at its mean rate.
func (l Load) Lasting(length time.Duration) Load {
	l.Requests, l.For = 0, length
	if rate := l.Rate(); rate > 0 {
		l.Stages = []Stage{{From: rate, To: rate, For: length}}
	}
	return l
}

// A Stage is a stretch of an open load. Its rate rises or falls evenly from
// From to To.
type Stage struct {
	From, To float64 // requests per second
	For      time.Duration
}

// Requests is how many come due in the stage.
func (s Stage) Requests() float64 { return (s.From + s.To) / 2 * s.For.Seconds() }

// Find asks for the highest rate at which all promises are kept.
type Find struct {
	While []Promise
	Probe time.Duration // how long each rate is tried
}

// A Tool is a program that drives load in place of stopwatt's own driver: a load
// generator in a container of its own, in the server's network namespace, read as
// a harness is. In its arguments {address} stands for the server's host:port, and
// {url} for the URL of the first request.
type Tool struct {
	Harness
	Image string // a reference to pull
}

// ToolImage is what the image of a workload's tool is called among a run's
// images. No implementation can be called like that.
func ToolImage(workload string) string { return "driver of " + workload }

// A Promise bounds a latency, counted from when a request was due.
type Promise struct {
	Metric string // one of Promised
	AtMost time.Duration
}

// Promised are the latencies that can be promised.
var Promised = []string{"latency_mean", "latency_p50", "latency_p90", "latency_p99", "latency_p99.9", "latency_max"}

// MostComposed bounds, in bytes, the requests that a driver composes before it
// drives: each request once, or once for each row of data.
const MostComposed = 64 << 20

// PlanSettings say how often and how gently everything is measured.
type PlanSettings struct {
	Rounds int // at most; exactly, where nothing is judged
	// MinRounds is after how many a verdict may be looked for first. It is Rounds
	// where the suite names one number.
	MinRounds int
	// Budget bounds the rounds of a run that judges, builds and idle windows left
	// out: no look is begun that would not be reached within it. 0: no bound.
	Budget time.Duration
	// Cooldown is how long a trial waits, at most, until the machine is as cool as
	// before the first one. 0: it does not wait.
	Cooldown time.Duration
	Warmup   time.Duration // load before the measured window of each trial
	Settle   time.Duration // how long to wait, at most, until the machine is as quiet as before the builds
	// WithoutNullServer leaves out what is measured of the driver by itself.
	WithoutNullServer bool `json:",omitempty"`
}

// Judge says what a change is judged by.
type Judge struct {
	// Metrics are what is judged; empty: time, and the energy of the board or, where
	// no board is metered, CPU time.
	Metrics []Threshold
	FailOn  []Verdict // the verdicts that the exit status tells; nil: regressed alone
	// Net judges energy with idle power taken off. What is judged is gross unless
	// the suite says otherwise: no estimate of idle power enters a verdict then.
	Net bool
	// Differing judges also workloads of which head is expected to give other answers
	// than base.
	Differing bool `json:",omitempty"`
}

// Fails tells whether a verdict is one that the exit status tells.
func (j Judge) Fails(verdict Verdict) bool {
	if j.FailOn == nil {
		return verdict == Regressed
	}
	return slices.Contains(j.FailOn, verdict)
}

// MeterSettings say how the machine is metered.
type MeterSettings struct {
	Idle  time.Duration // how long idle power is measured, before the first round and after the last
	Every time.Duration // from one sample to the next
	// Counters says whether perf events count context switches and, where the
	// CPU can, instructions: exact, and half a microsecond for each switch.
	Counters bool
}

// A Case is an implementation under a workload. It is comparable: the key of
// maps and the name of a series.
type Case struct {
	Implementation string
	Workload       string
}

// String is the case as people type it: implementation/workload.
func (c Case) String() string { return c.Implementation + "/" + c.Workload }

// Holds tells whether another case is this one, or a part of it: one of the
// benchmarks of its harness.
func (c Case) Holds(other Case) bool {
	return c.Implementation == other.Implementation &&
		(c.Workload == other.Workload || strings.HasPrefix(other.Workload, c.Workload+"/"))
}

// Path is the way from driver to servers, in words; empty where no server is
// driven. Results of two paths are never compared for a verdict.
func (s Suite) Path() string {
	served := slices.ContainsFunc(s.Workloads, func(w Workload) bool { return w.HTTP != nil })
	switch {
	case !served:
		return ""
	case s.DriverHost != nil:
		return "network: the driver on " + s.DriverHost.Docker + " asks at " + s.DriverHost.Address + ", through a bridge and address translation"
	}
	return "loopback"
}

// Cases lists every case of the suite, in the order of the file.
func (s Suite) Cases() []Case {
	var cases []Case
	for _, workload := range s.Workloads {
		for _, implementation := range s.Implementations {
			cases = append(cases, Case{implementation.Name, workload.Name})
		}
	}
	return cases
}

// Implementation returns the named implementation.
func (s Suite) Implementation(name string) (Implementation, bool) {
	for _, implementation := range s.Implementations {
		if implementation.Name == name {
			return implementation, true
		}
	}
	return Implementation{}, false
}

// Workload returns the named workload.
func (s Suite) Workload(name string) (Workload, bool) {
	for _, workload := range s.Workloads {
		if workload.Name == name {
			return workload, true
		}
	}
	return Workload{}, false
}
