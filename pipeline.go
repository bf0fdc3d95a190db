package stopwatt

import "time"

// PipelineKind says what a pipeline is for. A merge request may have pipelines of
// several kinds, one after the other: GitLab falls back from merged results to the
// source branch when there is a conflict.
type PipelineKind string

// The kinds of pipelines.
const (
	SourceBranch  PipelineKind = "merge request"  // the head of its source branch, as it is
	MergedResult  PipelineKind = "merged result"  // the source branch merged into the target branch, on no branch
	MergeTrain    PipelineKind = "merge train"    // the same, behind others that wait to be merged
	DefaultBranch PipelineKind = "default branch" // enters history
	OtherBranch   PipelineKind = "branch"
	TagPipeline   PipelineKind = "tag"
)

// OfMergeRequest tells whether there is a merge request to write to.
func (k PipelineKind) OfMergeRequest() bool {
	return k == SourceBranch || k == MergedResult || k == MergeTrain
}

// A Pipeline is what GitLab tells a job of where it runs. Nothing of it is secret.
type Pipeline struct {
	Kind   PipelineKind
	Source string // what started it: push, schedule, web, merge_request_event, …
	ID     int64  // rises with time within a GitLab
	URL    string
	Job    Job

	API        string // base URL of GitLab's API, with its version: https://gitlab.example.org/api/v4
	ProjectID  int64  // where the pipeline runs; of a fork's merge request, the fork
	Project    string // its path: group/name
	ProjectURL string
	// Fork is true when the merge request comes from another project than the one
	// that it is to be merged into, and the pipeline runs there.
	Fork         bool
	MergeRequest MergeRequest // zero where Kind has none

	Commit        string // that is measured; of a merged result, on no branch
	SourceHead    string // head of the source branch, the commit that people know; else Commit
	DefaultBranch string
	Ref           string          // branch or tag
	Bases         []BaseCandidate // the best first; empty where Kind has no merge request
}

// A Job is one job of a pipeline.
type Job struct {
	ID      int64
	Name    string
	URL     string
	Started time.Time     // zero where it is not told
	Timeout time.Duration // from Started on; 0 where it is not told
}

// A MergeRequest is where a note is written.
type MergeRequest struct {
	IID          int   // the number that people read
	ProjectID    int64 // of the project that it is to be merged into: the note lies there
	ProjectURL   string
	TargetBranch string
	SourceBranch string
}

// A BaseCandidate is a commit that a merge request may be measured against.
type BaseCandidate struct {
	SHA  string // empty: it is the merge base with the target branch, which the checkout has to find
	Rule string // why it: "target branch when the pipeline began", "merge base"
}

// BaseChoice says how the base of a run was found.
type BaseChoice struct {
	Rule string // as that of its BaseCandidate, or "as asked"
	// Behind is how many commits the target branch is ahead of the base; -1 when that
	// is not known, as in a shallow clone.
	Behind int
	// Notes say what was odd on the way to it.
	Notes []string `json:",omitempty"`
}
