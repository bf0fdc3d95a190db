package stopwatt

import "time"

// The driver is told what to do on its standard input and answers on its
// standard output, one JSON value a line. First comes a DriveOrder; then the
// commands below, each answered by one DriveReport, CommandDrive by two. The end
// of its input ends the driver, and nothing else does: its container outlives the measured
// window, so that its cgroup can still be read.
const (
	CommandReady  = "ready"  // ask until the answer is right; report Ready
	CommandWarm   = "warm"   // drive for the order's Warmup; report nothing else
	CommandFind   = "find"   // search the highest rate; report Found, and drive at that from now on
	CommandDrive  = "drive"  // drive as ordered; report Ended and then Result
	CommandVerify = "verify" // ask once more; report Ready
)

// A DriveOrder is what the driver is told: whom to ask what, and how often.
type DriveOrder struct {
	Address string // host:port, or unix:PATH
	TLS     *TLS   `json:",omitempty"`
	// Connects has a connection that is taken count as the right answer. Nothing
	// can be driven then.
	Connects bool `json:",omitempty"`
	Request  Request
	Expect   Expect
	Others   []Ask `json:",omitempty"` // asked beside Request
	InOrder  bool  `json:",omitempty"`
	Data     *Data `json:",omitempty"`
	// Follow has redirects followed, as HTTP.Follow says.
	Follow bool   `json:",omitempty"`
	Seed   uint64 `json:",omitempty"` // of all that is drawn: gaps, requests, rows
	Load   Load
	Warmup time.Duration
	// ReadyWithin bounds the waiting for the first right answer. The same wrong
	// answer for 2 s ends it sooner, unless its status is 503, "not yet".
	ReadyWithin time.Duration
}

// Asks lists all that is asked, the first first.
func (o DriveOrder) Asks() []Ask { return append([]Ask{{o.Request, o.Expect}}, o.Others...) }

// A DriveReport answers one command. Exactly one field is set, except that
// none is after a warm-up.
type DriveReport struct {
	Ready   *Ready       `json:",omitempty"`
	Found   *Found       `json:",omitempty"`
	Ended   bool         `json:",omitempty"` // the window has; its Result follows when it is encoded
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
	// Latency is of right answers, in nanoseconds: of a closed load from the
	// first byte written (with Close, from connecting), of an open one from when
	// the request was due.
	Latency *Histogram
	Service *Histogram `json:",omitempty"` // of an open load: from the first byte written (with Close, from connecting)
	Connect *Histogram `json:",omitempty"` // of connections that were made, in nanoseconds; with TLS, until its handshake is done
	// Lag is how late the driver itself was, in nanoseconds. Of an open load:
	// from when a request was due, and a connection free, to when it was begun.
	// Of a closed one: how long what had happened waited until it was seen to.
	Lag *Histogram `json:",omitempty"`
	// Due is how many requests of an open load came due. Unsent are those of them
	// that could not even be begun until the timeout after the last was due.
	Due, Unsent int64
	Checked     int64         // answers whose body was hashed
	Redirects   int64         `json:",omitempty"` // that were followed
	CPU         time.Duration // user and system time of the driver's process within the window
	Threads     int           // how many threads drove; 0: not known
	Every       time.Duration // how long each of Seconds lasts
	Seconds     []Second      `json:",omitempty"` // from the window's start, with none left out
}

// A Second is what was counted in one second of the window, or in a longer
// part of it, see DriveResult.Every. An answer counts when it has ended.
type Second struct {
	Requests      int64 // right answers
	Errors        int64 // of all kinds
	BytesSent     int64
	BytesReceived int64
	Latency       []byte `json:",omitempty"` // of right answers: a Histogram, encoded; empty when there are none
}

// Found is the highest rate at which the promises were kept, and how it was
// found.
type Found struct {
	Rate   float64 // requests per second; 0 when not even the lowest was kept
	Above  float64 // the lowest rate that broke a promise; 0 when none did
	Probes []Probe // in the order in which they were made
}

// A Probe is one rate that was tried.
type Probe struct {
	Rate float64
	Kept bool
	Why  string `json:",omitempty"` // which promise was broken, and how
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
