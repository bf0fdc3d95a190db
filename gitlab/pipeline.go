package gitlab

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// ErrOutside is returned by Read where no GitLab job runs.
var ErrOutside = errors.New("this is no job of GitLab")

// The rules by which a base is named.
const (
	targetRule    = "target branch when the pipeline began"
	mergeBaseRule = "merge base"
)

// needed are the variables without which there is no pipeline to speak of.
var needed = []string{"CI_API_V4_URL", "CI_PROJECT_ID", "CI_PIPELINE_ID", "CI_COMMIT_SHA"}

// Read understands the variables of a job. It asks whether they are empty, not
// whether they are there: GitLab sets some of them to nothing. All that is wrong
// is told at once; outside GitLab the error is ErrOutside.
func Read(getenv func(string) string) (stopwatt.Pipeline, error) {
	if err := inside(getenv); err != nil {
		return stopwatt.Pipeline{}, err
	}
	v := variables{getenv: getenv}
	p := stopwatt.Pipeline{
		Source:        getenv("CI_PIPELINE_SOURCE"),
		ID:            v.number("CI_PIPELINE_ID"),
		URL:           v.address("CI_PIPELINE_URL"),
		Job:           v.job(),
		API:           strings.TrimRight(v.address("CI_API_V4_URL"), "/"),
		ProjectID:     v.number("CI_PROJECT_ID"),
		Project:       getenv("CI_PROJECT_PATH"),
		ProjectURL:    v.address("CI_PROJECT_URL"),
		Commit:        v.commit("CI_COMMIT_SHA"),
		SourceHead:    v.commit("CI_COMMIT_SHA"),
		DefaultBranch: getenv("CI_DEFAULT_BRANCH"),
		Ref:           getenv("CI_COMMIT_REF_NAME"),
	}
	if p.Commit == "" && len(v.faults) == 0 {
		v.fault("CI_COMMIT_SHA is %q, which is no commit", getenv("CI_COMMIT_SHA"))
	}
	p.Kind = kind(getenv)
	if p.Kind.OfMergeRequest() {
		v.mergeRequest(&p)
	}
	return p, errors.Join(v.faults...)
}

// inside tells what is missing for a job of GitLab.
func inside(getenv func(string) string) error {
	var missing []string
	if getenv("GITLAB_CI") != "true" {
		missing = append(missing, "GITLAB_CI=true")
	}
	for _, name := range needed {
		if getenv(name) == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s not set; measure with stopwatt run --against REVISION instead", ErrOutside, strings.Join(missing, ", "))
}

// kind tells what a pipeline is for. The branch's variable is not set in the
// pipeline of a merge request, so that its source branch, were it called as the
// default one, is not taken for that.
func kind(getenv func(string) string) stopwatt.PipelineKind {
	switch {
	case getenv("CI_MERGE_REQUEST_IID") != "":
		return mergeRequestKind(getenv)
	case getenv("CI_COMMIT_TAG") != "":
		return stopwatt.TagPipeline
	case getenv("CI_COMMIT_BRANCH") != "" && getenv("CI_COMMIT_BRANCH") == getenv("CI_DEFAULT_BRANCH"):
		return stopwatt.DefaultBranch
	}
	return stopwatt.OtherBranch
}

// mergeRequestKind reads the kind of each pipeline anew: one merge request has
// pipelines of several kinds, since merged results fall back to the source branch
// when there is a conflict.
func mergeRequestKind(getenv func(string) string) stopwatt.PipelineKind {
	switch getenv("CI_MERGE_REQUEST_EVENT_TYPE") {
	case "merged_result":
		return stopwatt.MergedResult
	case "merge_train":
		return stopwatt.MergeTrain
	}
	return stopwatt.SourceBranch
}

// variables are those of a job, with what is wrong with them.
type variables struct {
	getenv func(string) string
	faults []error
}

// mergeRequest fills in what pipelines of merge requests alone have.
func (v *variables) mergeRequest(p *stopwatt.Pipeline) {
	p.MergeRequest = stopwatt.MergeRequest{
		IID:          int(v.number("CI_MERGE_REQUEST_IID")),
		ProjectID:    v.number("CI_MERGE_REQUEST_PROJECT_ID"),
		ProjectURL:   v.address("CI_MERGE_REQUEST_PROJECT_URL"),
		TargetBranch: v.getenv("CI_MERGE_REQUEST_TARGET_BRANCH_NAME"),
		SourceBranch: v.getenv("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME"),
	}
	if p.MergeRequest.ProjectID == 0 {
		v.fault("CI_MERGE_REQUEST_PROJECT_ID is not set: a note needs it")
	}
	source := v.number("CI_MERGE_REQUEST_SOURCE_PROJECT_ID")
	// A member of the parent project may run a fork's pipeline there. It has the
	// parent's variables then, and is none of the fork's.
	p.Fork = source != 0 && source != p.MergeRequest.ProjectID && p.ProjectID == source
	if head := v.commit("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"); head != "" {
		p.SourceHead = head
	}
	p.Bases = v.bases(p.Kind)
}

// bases lists what a merge request may be measured against. A merged result holds
// what the target branch has become since, so that against the merge base of the
// diff, it would be blamed for that. The source branch alone does not hold it.
func (v *variables) bases(kind stopwatt.PipelineKind) []stopwatt.BaseCandidate {
	var bases []stopwatt.BaseCandidate
	named, rule := "CI_MERGE_REQUEST_TARGET_BRANCH_SHA", targetRule
	if kind == stopwatt.SourceBranch {
		named, rule = "CI_MERGE_REQUEST_DIFF_BASE_SHA", mergeBaseRule
	}
	if sha := v.commit(named); sha != "" {
		bases = append(bases, stopwatt.BaseCandidate{SHA: sha, Rule: rule})
	}
	return append(bases, stopwatt.BaseCandidate{Rule: mergeBaseRule})
}

// job reads what the job itself is.
func (v *variables) job() stopwatt.Job {
	return stopwatt.Job{
		ID:      v.number("CI_JOB_ID"),
		Name:    v.getenv("CI_JOB_NAME"),
		URL:     v.address("CI_JOB_URL"),
		Started: v.time("CI_JOB_STARTED_AT"),
		Timeout: time.Duration(min(v.number("CI_JOB_TIMEOUT"), maxTimeoutSeconds)) * time.Second,
	}
}

// maxTimeoutSeconds is ten years, far beyond what GitLab lets a job run for and
// within what a Duration holds.
const maxTimeoutSeconds = 10 * 365 * 24 * 3600

func (v *variables) fault(format string, args ...any) {
	v.faults = append(v.faults, fmt.Errorf(format, args...))
}

// number reads a whole number above zero; 0 when the variable is empty.
func (v *variables) number(name string) int64 {
	text := v.getenv(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		v.fault("%s is %q, which is no number above 0", name, text)
		return 0
	}
	return n
}

// commitName is the whole name of a commit.
var commitName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// commit reads the name of a commit; empty when there is none, which GitLab also
// writes as zeros.
func (v *variables) commit(name string) string {
	sha := v.getenv(name)
	switch {
	case strings.Trim(sha, "0") == "":
		return ""
	case !commitName.MatchString(sha):
		v.fault("%s is %q, which is no commit", name, sha)
		return ""
	}
	return sha
}

// address reads a URL, without the name and password of a user in it.
func (v *variables) address(name string) string {
	text := v.getenv(name)
	if text == "" {
		return ""
	}
	address, err := url.Parse(text)
	if err != nil || address.Host == "" || address.Scheme != "http" && address.Scheme != "https" {
		v.fault("%s is no URL of http or https", name) // not shown: it may hold a password
		return ""
	}
	address.User = nil
	return address.String()
}

// time reads a moment; zero when the variable is empty.
func (v *variables) time(name string) time.Time {
	text := v.getenv(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		v.fault("%s is %q, which is no time as 2026-01-02T03:04:05Z", name, text)
	}
	return at
}
