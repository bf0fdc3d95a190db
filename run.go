package stopwatt

import "time"

// RunStatus says how far a run came.
type RunStatus string

// A run is running until it has ended in one of the other ways. One whose
// process died stays "running" in the database and is continued by the same
// command.
const (
	Running  RunStatus = "running"
	Finished RunStatus = "finished"
	Aborted  RunStatus = "aborted" // interrupted or given up; may be continued
)

// A Run is a plan carried out once, on one machine, for one head commit, with
// its provenance.
type Run struct {
	ID       int64  // given by storage
	Key      string // random; names the run in labels and files
	PlanKey  string // hash of all that decides what is measured: a run of the same key can be continued
	Suite    string
	Project  string // whose suite it is: the origin's path, or the checkout's folder
	Baseline string
	Profile  string
	Seed     uint64
	Rounds   int
	Planned  int // trials
	Checkout Checkout
	// Against is what the head is measured against; zero when there is nothing.
	// It is a commit and never dirty.
	Against Checkout
	// Choice says how Against was found.
	Choice  BaseChoice
	Machine Machine
	Engine  Engine
	Images  map[string]Image // by implementation
	// BaseImages are those of Against, by implementation.
	BaseImages map[string]Image
	Settings   Suite        // the suite as it was carried out
	Meters     []Meter      // of the machine's energy, those that could not be read too
	Idle       []IdleWindow // in the order of time
	// DriverShares are what the driver takes by itself, a workload each.
	DriverShares []DriverShare
	Tool         string // version of stopwatt
	Command      string // the command line, for repeating it
	// Pipeline is the job that it was measured in; nil outside one.
	Pipeline *Pipeline
	// Labels are free: what somebody wants to find the run by.
	Labels  map[string]string
	Status  RunStatus
	Started time.Time
	Ended   time.Time // zero while it runs
	// Imported is true when the figures were brought in from elsewhere. Such a
	// run is for reading: it gets no verdict, and enters no history.
	Imported bool
	Source   string // where they come from, a file's name or a URL; empty when they were measured here
}

// EntersHistory tells whether the run belongs to the history of the default branch:
// finished, measured here, of a commit of that branch and from a clean checkout.
// What a merge request would become is on no branch yet.
func (r Run) EntersHistory() bool {
	outside := r.Pipeline != nil && r.Pipeline.Kind != DefaultBranch
	return r.Status == Finished && r.Checkout.Default && !r.Checkout.Dirty && !r.Imported && !outside
}

// A Checkout is the commit that is measured and the state of the work tree.
type Checkout struct {
	Commit Commit
	Branch string // empty when HEAD is detached
	// Default is true when Branch is the repository's default branch.
	Default bool
	// Dirty is true when a tracked file was changed, or a build context holds
	// an untracked file that is not ignored. A dirty run never enters a
	// branch's history.
	Dirty bool
}

// A Commit is a revision of the source. Its SHA is empty outside git.
type Commit struct {
	SHA     string
	Parents []string
	Author  string
	Time    time.Time // of committing
	Subject string    // first line of its message
}

// Short is the beginning of the SHA that people read.
func (c Commit) Short() string { return c.SHA[:min(8, len(c.SHA))] }
