package git

import (
	"context"
	"fmt"
	"strings"
)

// FirstParents lists the commits that a branch went through, the oldest first: its
// first-parent history, in which a merge counts once. In a shallow clone it begins
// where the clone does.
func (r *Repo) FirstParents(ctx context.Context, branch string) ([]string, error) {
	sha, err := r.sha(ctx, branch)
	if err != nil {
		return nil, err
	}
	output, err := r.git(ctx, r.top, "rev-list", "--first-parent", "--reverse", sha, "--")
	if err != nil {
		return nil, fmt.Errorf("list the commits of %s: %w", branch, err)
	}
	return strings.Fields(string(output)), nil
}

// Whole tells whether the checkout has all of its history: a shallow clone begins
// somewhere, and what came before is not known there.
func (r *Repo) Whole(ctx context.Context) (bool, error) {
	shallow, err := r.shallow(ctx)
	return !shallow, err
}

// Lengthen makes a shallow clone so many commits longer, as far as there are any.
func (r *Repo) Lengthen(ctx context.Context, commits int) error {
	whole, err := r.Whole(ctx)
	if err != nil || whole {
		return err
	}
	head, err := r.sha(ctx, "HEAD")
	if err != nil {
		return err
	}
	if err := r.fetch(ctx, origin, fmt.Sprintf("--deepen=%d", commits), head); err != nil {
		return fmt.Errorf("fetch the %d commits before: %w", commits, err)
	}
	return nil
}

// DefaultBranch is the repository's main branch as the job, else the origin, else
// custom says, as a revision that can be resolved; empty when none of them does.
func (r *Repo) DefaultBranch(ctx context.Context) string {
	sha, err := r.line(ctx, r.top, "rev-parse", "--verify", "--quiet", "HEAD")
	if err != nil {
		return ""
	}
	name := r.defaultBranch(ctx, sha)
	for _, revision := range []string{"refs/heads/" + name, "refs/remotes/origin/" + name} {
		if name != "" {
			if _, err := r.sha(ctx, revision); err == nil {
				return revision
			}
		}
	}
	return ""
}

// BranchName is the name of a branch that DefaultBranch has returned.
func BranchName(revision string) string {
	return strings.TrimPrefix(strings.TrimPrefix(revision, "refs/heads/"), "refs/remotes/origin/")
}
