package stopwatt

import "time"

// The driver is told what to do on its standard input and answers on its
// standard output, one JSON value a line. First comes a DriveOrder; then the
// commands below, each answered by one DriveReport. The end of its input ends
// the driver, and nothing else does: its container outlives the measured
// window, so that its cgroup can still be read.
const (
	CommandReady  = "ready"  // ask until the answer is right; report Ready
	CommandWarm   = "warm"   // drive for the order's Warmup; report nothing else
	CommandDrive  = "drive"  // drive as ordered; report Result
	CommandVerify = "verify" // ask once more; report Ready
)

// A DriveOrder is what the driver is told: whom to ask what, and how often.
type DriveOrder struct {
	Address string // host:port
	Request Request
	Expect  Expect
	Load    Load
	Warmup  time.Duration
	// ReadyWithin bounds the waiting for the first right answer. The same wrong
	// answer for 2 s ends it sooner, unless its status is 503, "not yet".
	ReadyWithin time.Duration
}

// A DriveReport answers one command. Exactly one field is set, except that
// all are nil after a warm-up.
type DriveReport struct {
	Ready   *Ready       `json:",omitempty"`
	Result  *DriveResult `json:",omitempty"`
	Failure string       `json:",omitempty"` // why the command could not be carried out
}

// Ready tells of the first right answer.
type Ready struct {
	At         int64  // CLOCK_MONOTONIC, nanoseconds
	Attempts   int    // how often was asked, the right answer included
	Status     int    // of the answer
	BodySHA256 string // of the answer
	BodyBytes  int64
}

// DriveResult is what the driver counted and timed.
type DriveResult struct {
	Window        Window
	Requests      int64             // right answers
	Errors        map[string]int64  // by kind: ErrorConnect and so on; kinds that did not occur may be missing
	FirstErrors   map[string]string // the first of each kind, told whole
	BytesSent     int64
	BytesReceived int64
	Latency       *Histogram    // of right answers, nanoseconds
	CPU           time.Duration // user and system time of the driver's process within the window
	Threads       int           // how many threads drove; 0: not known
}

// Busy is the share of its threads' time that the driver was busy: CPU / (the
// window's length × Threads). Near 1 it was saturated: the driver, not the
// server, may have set the pace. It may pass 1 a little, for the CPU time is
// the whole process's. It is 0 where the window has no length or the threads
// are not known.
func (r DriveResult) Busy() float64 {
	available := r.Window.Duration() * time.Duration(r.Threads)
	if available <= 0 {
		return 0
	}
	return float64(r.CPU) / float64(available)
}

// Kinds of error that a request may end in. Each is a metric: errors_KIND.
const (
	ErrorConnect  = "connect"
	ErrorTimeout  = "timeout"
	ErrorClosed   = "closed"
	ErrorProtocol = "protocol"
	ErrorStatus   = "status"
	ErrorBody     = "body"
)

// ErrorKinds lists them all.
var ErrorKinds = []string{ErrorConnect, ErrorTimeout, ErrorClosed, ErrorProtocol, ErrorStatus, ErrorBody}
