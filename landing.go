package stopwatt

// A Landing is how a commit came onto the default branch: it stands in the
// branch's first-parent history, alone or with what it merged.
type Landing struct {
	Position int // in that history, as in SeriesPoint
	Commit   Commit
	// Merger is who brought it there: the author of a merge, else the committer.
	Merger string
	// MergeRequest is its reference, as GitLab writes it into a merge's message:
	// !212. Empty where the message names none.
	MergeRequest string
	// Brought are the commits that a merge brought, merges left out, the newest
	// first; nil for other commits, and where nobody looked.
	Brought []Commit
}
