package gitlab_test

import (
	"errors"
	"maps"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/gitlab"
)

// Commits by what they are.
var (
	merged = strings.Repeat("a", 40)
	head   = strings.Repeat("b", 40)
	target = strings.Repeat("c", 40)
	base   = strings.Repeat("d", 40)
	zeros  = strings.Repeat("0", 40)
)

// job is what every job has.
var job = map[string]string{
	"GITLAB_CI": "true", "CI_API_V4_URL": "https://gitlab.example.org/sub/api/v4", "CI_PROJECT_ID": "12", "CI_PROJECT_PATH": "team/servers",
	"CI_PROJECT_URL": "https://gitlab.example.org/sub/team/servers", "CI_PIPELINE_ID": "48213", "CI_PIPELINE_URL": "https://gitlab.example.org/sub/p/48213",
	"CI_COMMIT_SHA": head, "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_BEFORE_SHA": zeros,
	"CI_JOB_ID": "900", "CI_JOB_NAME": "benchmark: [odroid]", "CI_JOB_URL": "https://gitlab.example.org/sub/j/900",
	"CI_JOB_STARTED_AT": "2026-11-30T09:41:07Z", "CI_JOB_TIMEOUT": "3600", "CI_PIPELINE_SOURCE": "push",
}

// mergeRequest is what the job of a merge request has beside that.
var mergeRequest = map[string]string{
	"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_PROJECT_ID": "12",
	"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "12", "CI_MERGE_REQUEST_EVENT_TYPE": "detached", "CI_COMMIT_REF_NAME": "faster",
	"CI_MERGE_REQUEST_PROJECT_URL":       "https://gitlab.example.org/sub/team/servers",
	"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": "", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": "", "CI_MERGE_REQUEST_DIFF_BASE_SHA": base,
	"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main", "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "faster",
}

// environment lays sets of variables over each other.
func environment(sets ...map[string]string) func(string) string {
	all := map[string]string{}
	for _, set := range sets {
		maps.Copy(all, set)
	}
	return func(name string) string { return all[name] }
}

func TestReadTellsWhatAPipelineIs(t *testing.T) {
	t.Parallel()
	synthetic := map[string]string{"CI_MERGE_REQUEST_EVENT_TYPE": "merged_result", "CI_COMMIT_SHA": merged,
		"CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": head, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": target}
	train := map[string]string{"CI_MERGE_REQUEST_EVENT_TYPE": "merge_train"}
	fork := map[string]string{"CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "34"}
	onTarget := stopwatt.BaseCandidate{SHA: target, Rule: "target branch when the pipeline began"}
	onDiff := stopwatt.BaseCandidate{SHA: base, Rule: "merge base"}
	toFind := stopwatt.BaseCandidate{Rule: "merge base"}
	tests := []struct {
		name   string
		env    func(string) string
		kind   stopwatt.PipelineKind
		commit string
		head   string
		fork   bool
		bases  []stopwatt.BaseCandidate
	}{
		{"the source branch of a merge request as it is", environment(job, mergeRequest),
			stopwatt.SourceBranch, head, head, false, []stopwatt.BaseCandidate{onDiff, toFind}},
		{"a merge request for which GitLab found no diff", environment(job, mergeRequest, map[string]string{"CI_MERGE_REQUEST_DIFF_BASE_SHA": ""}),
			stopwatt.SourceBranch, head, head, false, []stopwatt.BaseCandidate{toFind}},
		{"a source branch whose name is that of the default branch",
			environment(job, mergeRequest, map[string]string{"CI_COMMIT_REF_NAME": "main"}),
			stopwatt.SourceBranch, head, head, false, []stopwatt.BaseCandidate{onDiff, toFind}},
		{"a GitLab that is too old to tell the event", environment(job, mergeRequest, map[string]string{"CI_MERGE_REQUEST_EVENT_TYPE": ""}),
			stopwatt.SourceBranch, head, head, false, []stopwatt.BaseCandidate{onDiff, toFind}},
		{"a merged result is not laid against the base of the diff", environment(job, mergeRequest, synthetic),
			stopwatt.MergedResult, merged, head, false, []stopwatt.BaseCandidate{onTarget, toFind}},
		{"a merge train", environment(job, mergeRequest, synthetic, train),
			stopwatt.MergeTrain, merged, head, false, []stopwatt.BaseCandidate{onTarget, toFind}},
		{"a fork's merge request that runs in the fork", environment(job, mergeRequest, fork, map[string]string{"CI_PROJECT_ID": "34"}),
			stopwatt.SourceBranch, head, head, true, []stopwatt.BaseCandidate{onDiff, toFind}},
		{"a fork's merge request that runs in the parent", environment(job, mergeRequest, fork),
			stopwatt.SourceBranch, head, head, false, []stopwatt.BaseCandidate{onDiff, toFind}},
		{"the default branch", environment(job, map[string]string{"CI_COMMIT_BRANCH": "main"}),
			stopwatt.DefaultBranch, head, head, false, nil},
		{"a schedule of the default branch", environment(job, map[string]string{"CI_COMMIT_BRANCH": "main", "CI_PIPELINE_SOURCE": "schedule"}),
			stopwatt.DefaultBranch, head, head, false, nil},
		{"another branch", environment(job, map[string]string{"CI_COMMIT_BRANCH": "faster"}),
			stopwatt.OtherBranch, head, head, false, nil},
		{"no branch where none is the default one", environment(job, map[string]string{"CI_DEFAULT_BRANCH": ""}),
			stopwatt.OtherBranch, head, head, false, nil},
		{"a tag that is called as the default branch", environment(job, map[string]string{"CI_COMMIT_TAG": "main", "CI_COMMIT_REF_NAME": "main"}),
			stopwatt.TagPipeline, head, head, false, nil},
		{"a merge request that was closed meanwhile", environment(job, map[string]string{"CI_PIPELINE_SOURCE": "merge_request_event"}),
			stopwatt.OtherBranch, head, head, false, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, err := gitlab.Read(test.env)
			if err != nil {
				t.Fatal(err)
			}
			if p.Kind != test.kind || p.Commit != test.commit || p.SourceHead != test.head || p.Fork != test.fork {
				t.Errorf("%q of %s, source head %s, fork %v; want %q of %s, %s, %v",
					p.Kind, p.Commit, p.SourceHead, p.Fork, test.kind, test.commit, test.head, test.fork)
			}
			if diff := cmp.Diff(test.bases, p.Bases); diff != "" {
				t.Error("bases:", diff)
			}
		})
	}
}

func TestReadTellsOfJobAndMergeRequest(t *testing.T) {
	t.Parallel()
	p, err := gitlab.Read(environment(job, mergeRequest, map[string]string{
		"CI_PROJECT_URL": "https://gitlab-ci-token:secret@gitlab.example.org/sub/team/servers"}))
	if err != nil {
		t.Fatal(err)
	}
	want := stopwatt.Pipeline{
		Kind: stopwatt.SourceBranch, Source: "merge_request_event", ID: 48213, URL: "https://gitlab.example.org/sub/p/48213",
		Job: stopwatt.Job{ID: 900, Name: "benchmark: [odroid]", URL: "https://gitlab.example.org/sub/j/900",
			Started: time.Date(2026, 11, 30, 9, 41, 7, 0, time.UTC), Timeout: time.Hour},
		API: "https://gitlab.example.org/sub/api/v4", ProjectID: 12, Project: "team/servers", ProjectURL: "https://gitlab.example.org/sub/team/servers",
		MergeRequest: stopwatt.MergeRequest{IID: 7, ProjectID: 12, ProjectURL: "https://gitlab.example.org/sub/team/servers",
			TargetBranch: "main", SourceBranch: "faster"},
		Commit: head, SourceHead: head, DefaultBranch: "main", Ref: "faster",
		Bases: []stopwatt.BaseCandidate{{SHA: base, Rule: "merge base"}, {Rule: "merge base"}},
	}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
}

func TestReadSaysWhatIsMissingOrWrong(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		env     func(string) string
		outside bool
		says    []string
	}{
		{"a terminal of one's own", environment(), true,
			[]string{"GITLAB_CI=true, CI_API_V4_URL, CI_PROJECT_ID, CI_PIPELINE_ID, CI_COMMIT_SHA not set", "stopwatt run --against"}},
		{"another CI that sets a few of the same", environment(map[string]string{"CI": "true", "CI_COMMIT_SHA": head}), true,
			[]string{"GITLAB_CI=true"}},
		{"a variable that a job has emptied", environment(job, map[string]string{"CI_API_V4_URL": ""}), true, []string{"CI_API_V4_URL not set"}},
		{"all that is wrong at once", environment(job, mergeRequest, map[string]string{"CI_PIPELINE_ID": "many",
			"CI_MERGE_REQUEST_DIFF_BASE_SHA": "--upload-pack=x", "CI_JOB_STARTED_AT": "noon", "CI_JOB_TIMEOUT": "-1", "CI_JOB_URL": "javascript:x"}), false,
			[]string{`CI_PIPELINE_ID is "many"`, `CI_MERGE_REQUEST_DIFF_BASE_SHA is "--upload-pack=x", which is no commit`, "CI_JOB_STARTED_AT",
				"CI_JOB_TIMEOUT", "CI_JOB_URL is no URL"}},
		{"no commit but zeros", environment(job, map[string]string{"CI_COMMIT_SHA": zeros}), false, []string{"CI_COMMIT_SHA"}},
		{"a merge request of no project", environment(job, mergeRequest, map[string]string{"CI_MERGE_REQUEST_PROJECT_ID": ""}), false,
			[]string{"CI_MERGE_REQUEST_PROJECT_ID is not set"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := gitlab.Read(test.env)
			if err == nil {
				t.Fatal("nothing was wrong")
			}
			if errors.Is(err, gitlab.ErrOutside) != test.outside {
				t.Errorf("%v: outside is %v, want %v", err, !test.outside, test.outside)
			}
			for _, says := range test.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("%q does not say %q", err, says)
				}
			}
		})
	}
}

// FuzzRead gives every variable that Read asks for a hostile value in turn.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"CI_COMMIT_SHA", "CI_PIPELINE_ID", "CI_JOB_URL", "CI_JOB_TIMEOUT", "CI_MERGE_REQUEST_IID", "CI_API_V4_URL"} {
		f.Add(name, "")
		f.Add(name, "99999999999999999999")
		f.Add(name, "https://user:hidden@h/\x00")
		f.Add(name, "9223372036854775807")
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		p, err := gitlab.Read(environment(job, mergeRequest, map[string]string{name: value}))
		if err != nil {
			return
		}
		address, err := url.Parse(p.Job.URL)
		if err != nil || address.User != nil || p.ID <= 0 || p.ProjectID <= 0 || p.Job.Timeout < 0 || len(p.Commit) < 40 {
			t.Errorf("%s=%q was taken for %+v", name, value, p)
		}
	})
}
