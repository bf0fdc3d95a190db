package stopwatt

import "time"

// A Suite is one suite file, read and checked: which implementations, under
// which workloads, how measured. Profiles have been applied and every default
// filled in, so that nobody downstream decides anything about settings.
type Suite struct {
	Name            string
	Baseline        string           // the implementation that the others are shown against
	Implementations []Implementation // in the order of the file
	Workloads       []Workload       // in the order of the file
	Plan            PlanSettings
	Meters          MeterSettings
	DriverCPUs      string // cores of the driver, as in cpuset; empty: all
	Profile         string // the profile that was applied, or empty
}

// An Implementation is one of the things compared: an image, or how to build
// it, and how its container is run.
type Implementation struct {
	Name    string
	Image   string // a reference to pull; empty when Build is set. {sha} stands for the revision measured
	Build   *Build
	Command []string          // instead of the image's own; nil keeps it
	Env     map[string]string // beside the image's own
	CPUs    string            // cores it may use, as in cpuset ("0-3"); empty: all
	Memory  int64             // bytes; 0: no limit of ours
	// StopSignal names a signal that asks the server to end by itself ("SIGTERM").
	// Empty: it is killed outright, because a polite stop of a process that
	// handles no signal costs ten seconds a trial.
	StopSignal string
	// Writable lets the container write to its own root. It is false unless the
	// suite says so, and a report repeats it: a loosening is never silent.
	Writable bool
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
}

// A Workload is what is asked of an implementation.
type Workload struct {
	Name string
	HTTP *HTTP // a server under load
	Load Load
}

// HTTP describes the server's port, the request that is sent and the answer
// that counts as right.
type HTTP struct {
	Port        int
	Request     Request
	Expect      Expect
	ReadyWithin time.Duration // from the container's start to the first right answer
}

// Request is one HTTP request.
type Request struct {
	Method  string
	Path    string            // with its query; begins with /
	Headers map[string]string `json:",omitempty"`
	Body    []byte            `json:",omitempty"`
}

// Expect is what a right answer looks like.
type Expect struct {
	Status     int
	BodySHA256 string `json:",omitempty"` // lower-case hex; empty: the body is not checked
}

// Load says how requests are sent. It is a closed model: each user waits for
// its answer before it asks again.
type Load struct {
	Users    int           // users at the same time, one connection each
	Requests int           // requests of each user; 0 when For is set
	For      time.Duration // how long to drive; 0 when Requests is set
	Close    bool          // a new connection for every request
	Timeout  time.Duration // for one answer
}

// PlanSettings say how often and how gently everything is measured.
type PlanSettings struct {
	Rounds int
	Warmup time.Duration // load before the measured window of each trial
	Settle time.Duration // how long to wait, at most, until the machine is as quiet as before the builds
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
