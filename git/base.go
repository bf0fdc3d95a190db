package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// ErrNoBaseline is returned by Base when no commit can be shown to be what the merge
// request is to be measured against.
var ErrNoBaseline = errors.New("no baseline")

// Base chooses what a pipeline's commit is measured against, the first of its
// candidates that is an ancestor of the commit, and makes it present. Candidates that
// were passed over are told in the choice's notes. Where none is left the error is
// ErrNoBaseline with the reasons: no other commit is taken instead.
func (r *Repo) Base(ctx context.Context, p stopwatt.Pipeline) (stopwatt.Commit, stopwatt.BaseChoice, error) {
	if err := r.Present(ctx, p.Commit); err != nil {
		return stopwatt.Commit{}, stopwatt.BaseChoice{}, fmt.Errorf("%w: %w", ErrNoBaseline, err)
	}
	if len(p.Bases) == 0 {
		return stopwatt.Commit{}, stopwatt.BaseChoice{}, fmt.Errorf("%w: the pipeline is for no merge request", ErrNoBaseline)
	}
	var passed []string
	for _, candidate := range p.Bases {
		sha, err := r.candidate(ctx, p, candidate)
		if ctx.Err() != nil {
			return stopwatt.Commit{}, stopwatt.BaseChoice{}, ctx.Err()
		}
		if err != nil {
			passed = append(passed, strings.Join(strings.Fields(err.Error()), " ")) // git says several lines
			continue
		}
		commit, err := r.commit(ctx, sha)
		choice := stopwatt.BaseChoice{Rule: candidate.Rule, Notes: passed, Behind: r.behind(ctx, p, sha)}
		return commit, choice, err
	}
	return stopwatt.Commit{}, stopwatt.BaseChoice{}, fmt.Errorf("%w: %s", ErrNoBaseline, strings.Join(slices.Compact(passed), "; "))
}

// candidate is the commit of a candidate when it can be one, or why it cannot.
func (r *Repo) candidate(ctx context.Context, p stopwatt.Pipeline, c stopwatt.BaseCandidate) (string, error) {
	if c.SHA == "" {
		return r.mergeBase(ctx, p)
	}
	if err := r.Present(ctx, c.SHA); err != nil {
		return "", fmt.Errorf("%s (%s): %w", c.Rule, short(c.SHA), err)
	}
	is, err := r.isAncestor(ctx, c.SHA, p.Commit)
	if err == nil && !is {
		// GitLab has named the base of a former target branch, as old versions do after
		// a merge request's target was changed, or the branch was pushed over.
		err = fmt.Errorf("not an ancestor of %s", short(p.Commit))
	}
	if err != nil {
		return "", fmt.Errorf("%s (%s) as GitLab names it: %w", c.Rule, short(c.SHA), err)
	}
	return c.SHA, nil
}

// isAncestor tells whether one commit came before another. What a shallow clone
// shows of that is true; what it does not show may be beyond its edge.
func (r *Repo) isAncestor(ctx context.Context, old, young string) (bool, error) {
	object, err := r.git(ctx, r.top, "cat-file", "commit", young)
	if err != nil || slices.Contains(parseParents(object), old) {
		return err == nil, err
	}
	is := false
	err = r.deepenUntil(ctx, origin, []string{young, old}, func(whole bool) (bool, error) {
		_, err := r.git(ctx, r.top, "merge-base", "--is-ancestor", old, young)
		if is = err == nil; refused(err) {
			err = nil
		}
		return is || whole, err
	})
	return is, err
}

// mergeBase finds the merge base of a pipeline's commit and its target branch.
func (r *Repo) mergeBase(ctx context.Context, p stopwatt.Pipeline) (string, error) {
	from := target(p)
	tip, err := r.tip(ctx, from, p.MergeRequest.TargetBranch)
	if err == nil {
		err = r.present(ctx, from, tip)
	}
	if err != nil {
		return "", fmt.Errorf("merge base with %s: %w", p.MergeRequest.TargetBranch, err)
	}
	base := ""
	err = r.deepenUntil(ctx, from, []string{p.Commit, tip}, func(whole bool) (bool, error) {
		found, err := r.line(ctx, r.top, "merge-base", p.Commit, tip)
		if refused(err) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		base = found
		if whole {
			return true, nil
		}
		return r.settled(ctx, base, p.Commit, tip)
	})
	if errors.Is(err, errTooShort) {
		err = errors.New("the two have no commit in common")
	}
	if err != nil {
		return "", fmt.Errorf("merge base with %s (%s): %w", p.MergeRequest.TargetBranch, short(tip), err)
	}
	return base, nil
}

// settled tells whether all of the history between a base and tips is here. At the
// edge of a shallow clone a commit seems to have no parents. Where none does, each way
// down from the tips ends in the base or before it, so that no more history can say
// otherwise.
func (r *Repo) settled(ctx context.Context, base string, tips ...string) (bool, error) {
	args := slices.Concat([]string{"rev-list", "--max-count=1", "--max-parents=0"}, tips, []string{"^" + base, "--"})
	edge, err := r.line(ctx, r.top, args...)
	return edge == "", err
}

// target is where the target branch of a merge request lies. The origin of a fork's
// pipeline has a branch of the same name that may be years old.
func target(p stopwatt.Pipeline) remote {
	if p.Fork && p.MergeRequest.ProjectURL != "" {
		return remote(p.MergeRequest.ProjectURL + ".git")
	}
	return origin
}

// tip asks a remote where a branch is.
func (r *Repo) tip(ctx context.Context, from remote, branch string) (string, error) {
	if branch == "" {
		return "", errors.New("no target branch is told: is CI_MERGE_REQUEST_TARGET_BRANCH_NAME set?")
	}
	branches, err := r.branches(ctx, from)
	if err != nil {
		return "", err
	}
	if branches[branch] == "" {
		return "", fmt.Errorf("%s has no branch %q any more", withoutPasswords(string(from)), branch)
	}
	return branches[branch], nil
}

// behind counts the commits that the target branch is ahead of a base, a merge as
// one; -1 when this clone cannot tell. Nothing is fetched for it: no verdict rests on
// it.
func (r *Repo) behind(ctx context.Context, p stopwatt.Pipeline, base string) int {
	tip, err := r.tip(ctx, target(p), p.MergeRequest.TargetBranch)
	if err != nil || r.showTip(ctx, p, tip) != nil {
		return -1
	}
	line, err := r.FirstParents(ctx, tip)
	if err != nil {
		return -1
	}
	if at := slices.Index(line, base); at >= 0 {
		return len(line) - 1 - at
	}
	return r.behindMerges(ctx, tip, base)
}

// mostBehind is how many commits of a target branch are fetched to tell how far it is
// ahead: further away, the number no longer matters.
const mostBehind = 50

// showTip fetches the tip of the target branch where the clone lacks it.
func (r *Repo) showTip(ctx context.Context, p stopwatt.Pipeline, tip string) error {
	if r.has(ctx, tip) {
		return nil
	}
	shallow, err := r.shallow(ctx)
	if err != nil {
		return err
	}
	depth := "" // a whole clone stays whole
	if shallow {
		depth = fmt.Sprintf("--depth=%d", mostBehind)
	}
	return r.fetch(ctx, target(p), depth, tip)
}

// behindMerges is behind for a base that came into the target branch by a merge.
func (r *Repo) behindMerges(ctx context.Context, tip, base string) int {
	if shallow, err := r.shallow(ctx); err != nil || shallow {
		return -1
	}
	if _, err := r.git(ctx, r.top, "merge-base", "--is-ancestor", base, tip); err != nil {
		return -1
	}
	said, err := r.line(ctx, r.top, "rev-list", "--first-parent", "--count", tip, "^"+base, "--")
	commits, conversion := strconv.Atoi(said)
	if err != nil || conversion != nil {
		return -1
	}
	return commits
}

// short is the beginning of a commit's name that people read.
func short(sha string) string { return stopwatt.Commit{SHA: sha}.Short() }
