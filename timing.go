package stopwatt

import "time"

// The timer is told what to run on its standard input and answers on its
// standard output, one JSON value a line, as the driver is: see DriveOrder.
// First comes a TimeOrder, then commands, each answered by one TimeReport:
// CommandReady (look for the programs and time an empty one), CommandWarm (run
// the order's Warmup repetitions; report nothing else) and CommandTime, which is
// answered by two.
const CommandTime = "time" // run as ordered; report Ended and then Result

// A TimeOrder is what the timer is told: what to run, and how often.
type TimeOrder struct {
	Program
	Warmup int
	Repeat Repeat
	Output Output
	// Keep has the results of the last repetition handed over: its standard
	// output, or the file ResultsFile that it has written.
	Keep        bool   `json:",omitempty"`
	ResultsFile string `json:",omitempty"`
}

// A TimeReport answers one command. At most one field is set.
type TimeReport struct {
	Ready   *TimerReady `json:",omitempty"`
	Ended   bool        `json:",omitempty"` // the window has; its Result follows when it is encoded
	Result  *TimeResult `json:",omitempty"`
	Failure string      `json:",omitempty"` // why the command could not be carried out
}

// TimerReady tells what an empty program costs in this container.
type TimerReady struct {
	// Empty are the wall times of starting a program that does nothing and of
	// waiting for its end, in nanoseconds.
	Empty       []int64
	EmptyAbsent string `json:",omitempty"` // why there are none
}

// TimeResult is what the timer measured.
type TimeResult struct {
	Window      Window // from the first repetition's start to the last one's end
	Repetitions []Repetition
	// LeastMemory is what a repetition's Memory cannot be below, in bytes: a
	// process begins with the peak of the one that started it.
	LeastMemory int64
	// Results is what a harness has told, when it was to be kept.
	Results []byte `json:",omitempty"`
}

// A Repetition is one run of a program, from its start to its end, with the
// descendants that were waited for.
type Repetition struct {
	Wall   int64 // nanoseconds of CLOCK_MONOTONIC
	User   int64 // nanoseconds of CPU time in user space
	System int64 // nanoseconds of CPU time in the kernel
	Memory int64 // bytes: the largest resident set of one of its processes

	SwitchesVoluntary   int64
	SwitchesInvoluntary int64
	FaultsMinor         int64 // page faults without input
	FaultsMajor         int64 // page faults that waited for input
}

// Duration is the repetition's wall time.
func (r Repetition) Duration() time.Duration { return time.Duration(r.Wall) }
