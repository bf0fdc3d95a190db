package stopwatt

import "time"

// A Note is what is written on a merge request about one suite: there is one for
// each suite, which is edited in place.
type Note struct {
	Suite   string
	Body    string // Markdown, without marker
	Created time.Time
	// Worse tells that something regressed that nobody accepted. A thread is opened
	// again by it, and resolved without it.
	Worse bool
	// Thread asks for a thread that can be resolved, in place of a plain note.
	Thread bool
	// Quiet asks that no note be begun: one that is there is edited.
	Quiet bool
}
