// Package git reads the checkout: its commit, whether it is clean, and folders
// of it, of today or of a past commit, as build contexts.
//
// It runs the git program and changes nothing: no ref, no index, no file of
// the work tree, no hook. It asks a network when it is told to mirror another
// repository, and for commits that a shallow clone lacks, which add to its objects
// and to how deep it is. It knows no hosting service; see package gitlab for that.
package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoRepository is returned by Open for a folder that lies in no git checkout.
var ErrNoRepository = errors.New("not in a git repository")

// ErrNoCommit is returned for a repository that has nothing committed yet.
var ErrNoCommit = errors.New("the repository has no commit yet: git commit first, so that results have a commit to stand under")

// Repo is a checkout with a work tree.
type Repo struct {
	// Getenv reads the environment of the CI job, os.Getenv unless it is
	// replaced. In a job HEAD is detached; the branch's name stands there.
	Getenv func(string) string
	top    string
	bare   bool // it has no work tree: a mirror
}

// Open finds the checkout that a folder lies in. The error is ErrNoRepository
// when there is none. A bare repository is refused, for it has no files.
func Open(ctx context.Context, dir string) (*Repo, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("open checkout: %w", err)
	}
	r := &Repo{Getenv: os.Getenv}
	inside, err := r.line(ctx, dir, "rev-parse", "--is-inside-work-tree")
	if err != nil {
		return nil, err
	}
	if inside != "true" {
		return nil, fmt.Errorf("%s is a bare repository or lies inside .git: it has no files to measure; run stopwatt in a checkout", dir)
	}
	r.top, err = r.line(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Top is the checkout's uppermost folder: absolute, symbolic links resolved.
func (r *Repo) Top() string { return r.top }

// below returns a folder as a path relative to the top, with the folder's
// own symbolic links resolved. It is false when the folder lies outside.
func (r *Repo) below(folder string) (string, bool, error) {
	real, err := realFolder(folder)
	if err != nil {
		return "", false, err
	}
	relative, err := filepath.Rel(r.top, real)
	if err != nil {
		return "", false, err
	}
	return relative, filepath.IsLocal(relative), nil
}

// realFolder makes a folder's path absolute and resolves its symbolic links.
func realFolder(folder string) (string, error) {
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder", folder)
	}
	return real, nil
}

// fields splits output that git ends with a NUL after each field.
func fields(output []byte) []string {
	text := strings.TrimSuffix(string(output), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}
