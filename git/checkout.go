package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Checkout tells which commit is checked out and whether the work tree is as
// it was committed. contexts are the folders that images are built from,
// and files beside them that matter: an untracked file among them makes the checkout dirty, and so does a context
// outside the checkout, which no commit describes.
//
// The error is ErrNoCommit when nothing was committed yet.
func (r *Repo) Checkout(ctx context.Context, contexts []string) (stopwatt.Checkout, error) {
	sha, err := r.line(ctx, r.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if refused(err) {
		return stopwatt.Checkout{}, ErrNoCommit
	}
	if err != nil {
		return stopwatt.Checkout{}, err
	}
	checkout := stopwatt.Checkout{}
	if checkout.Commit, err = r.commit(ctx, sha); err != nil {
		return stopwatt.Checkout{}, err
	}
	if checkout.Branch, err = r.branch(ctx, sha); err != nil {
		return stopwatt.Checkout{}, err
	}
	// The pipeline of a merge request is never the branch's own, even when a
	// fork's branch is called main.
	if checkout.Branch != "" && r.job(sha, "CI_MERGE_REQUEST_IID") == "" {
		checkout.Default = checkout.Branch == r.defaultBranch(ctx, sha)
	}
	checkout.Dirty, err = r.dirty(ctx, contexts)
	return checkout, err
}

// job reads a variable of the CI job, provided that the job is about this
// commit: after a checkout of another one its variables say nothing.
func (r *Repo) job(sha, variable string) string {
	if r.Getenv("CI_COMMIT_SHA") != sha {
		return ""
	}
	return r.Getenv(variable)
}

// branch is the branch that is checked out, in a CI job the one that the job is
// for, and empty when there is none.
func (r *Repo) branch(ctx context.Context, sha string) (string, error) {
	name, err := r.line(ctx, r.top, "symbolic-ref", "--quiet", "HEAD")
	if err == nil {
		return strings.TrimPrefix(name, "refs/heads/"), nil
	}
	if !refused(err) {
		return "", err
	}
	return r.jobBranch(sha), nil
}

// jobBranch is the branch that a CI job of this commit is for. A tag is no
// branch, and the merge commit of a merged-results pipeline is on none.
func (r *Repo) jobBranch(sha string) string {
	event := r.job(sha, "CI_MERGE_REQUEST_EVENT_TYPE")
	if r.job(sha, "CI_COMMIT_TAG") != "" || (event != "" && event != "detached") {
		return ""
	}
	if branch := r.job(sha, "CI_COMMIT_BRANCH"); branch != "" {
		return branch
	}
	return r.job(sha, "CI_COMMIT_REF_NAME")
}

// defaultBranch is the repository's main branch as the job, else the origin,
// else custom says; empty when none of them does.
func (r *Repo) defaultBranch(ctx context.Context, sha string) string {
	if name := r.job(sha, "CI_DEFAULT_BRANCH"); name != "" {
		return name
	}
	if name, err := r.line(ctx, r.top, "symbolic-ref", "--quiet", "refs/remotes/origin/HEAD"); err == nil {
		return strings.TrimPrefix(name, "refs/remotes/origin/")
	}
	for _, name := range []string{"main", "master"} {
		if _, err := r.git(ctx, r.top, "rev-parse", "--verify", "--quiet", "refs/heads/"+name); err == nil {
			return name
		}
	}
	return ""
}

// dirty tells whether a tracked file was changed anywhere, or a context holds
// files that the commit does not.
func (r *Repo) dirty(ctx context.Context, contexts []string) (bool, error) {
	changes, err := r.git(ctx, r.top, "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=untracked")
	if err != nil || len(changes) > 0 {
		return len(changes) > 0, err
	}
	for _, folder := range contexts {
		if foreign, err := r.foreign(ctx, folder); err != nil || foreign {
			return foreign, err
		}
	}
	return false, nil
}

// foreign tells whether a file, or a folder's content, is described by no
// commit of this checkout.
func (r *Repo) foreign(ctx context.Context, folder string) (bool, error) {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return r.foreignFile(ctx, folder)
	}
	_, inside, err := r.below(folder)
	if err != nil || !inside {
		return !inside, err
	}
	list, err := r.listing(ctx, folder)
	var missing *missingSubmodule
	if errors.As(err, &missing) {
		err = nil // where nothing is, nothing is foreign
	}
	return list.untracked, err
}

// foreignFile tells whether a file is in no commit of this checkout.
func (r *Repo) foreignFile(ctx context.Context, file string) (bool, error) {
	folder := filepath.Dir(file)
	_, inside, err := r.below(folder)
	if err != nil || !inside {
		return !inside, err
	}
	tracked, err := r.git(ctx, folder, "ls-files", "-z", "--", filepath.Base(file))
	return len(tracked) == 0, err
}
