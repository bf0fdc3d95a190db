package gitlab

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/go-retryablehttp"
	gitlab "github.com/xanzy/go-gitlab"
	"gitlab.com/stopwatt/stopwatt"
)

// ErrNoMergeRequest is returned for a commit that no merge request has brought.
var ErrNoMergeRequest = errors.New("no merge request has brought it")

// MergeRequestOf finds the merge request that brought a commit to the default branch of a
// pipeline's project. Of several, one whose merge made this very commit goes first, then
// the one that was merged first: later ones carried it on.
func (c *Client) MergeRequestOf(ctx context.Context, p stopwatt.Pipeline, sha string) (stopwatt.MergeRequest, error) {
	e, what := c.errand(), fmt.Sprintf("ask which merge request brought %s", stopwatt.Commit{SHA: sha}.Short())
	var all []*gitlab.MergeRequest
	err := e.pages(ctx, what, func(page gitlab.ListOptions, o ...gitlab.RequestOptionFunc) (*gitlab.Response, error) {
		o = append(o, asked(page))
		some, answer, err := e.api.Commits.ListMergeRequestsByCommit(fmt.Sprint(p.ProjectID), sha, o...)
		all = append(all, some...)
		return answer, err
	})
	if err != nil {
		return stopwatt.MergeRequest{}, err
	}
	var best *gitlab.MergeRequest
	for _, m := range all {
		if m.State == "merged" && m.TargetBranch == p.DefaultBranch && (best == nil || before(m, best, sha)) {
			best = m
		}
	}
	if best == nil {
		return stopwatt.MergeRequest{}, fmt.Errorf("%s: %w", stopwatt.Commit{SHA: sha}.Short(), ErrNoMergeRequest)
	}
	return stopwatt.MergeRequest{IID: best.IID, ProjectID: int64(best.ProjectID), ProjectURL: p.ProjectURL,
		TargetBranch: best.TargetBranch, SourceBranch: best.SourceBranch}, nil
}

// before tells whether one of two merge requests rather brought a commit.
func before(a, b *gitlab.MergeRequest, sha string) bool {
	if made := madeBy(a, sha); made != madeBy(b, sha) {
		return made
	}
	if a.MergedAt != nil && b.MergedAt != nil && !a.MergedAt.Equal(*b.MergedAt) {
		return a.MergedAt.Before(*b.MergedAt)
	}
	return a.IID < b.IID
}

// madeBy tells whether a commit is what merging made: the merge, the squashed commit, or the head
// that a fast-forward took over.
func madeBy(m *gitlab.MergeRequest, sha string) bool {
	return m.MergeCommitSHA == sha || m.SquashCommitSHA == sha || m.SHA == sha
}

// asked puts a page into a request for which go-gitlab takes none.
func asked(page gitlab.ListOptions) gitlab.RequestOptionFunc {
	return func(r *retryablehttp.Request) error {
		q := r.URL.Query()
		q.Set("page", fmt.Sprint(page.Page))
		q.Set("per_page", fmt.Sprint(page.PerPage))
		r.URL.RawQuery = q.Encode()
		return nil
	}
}
