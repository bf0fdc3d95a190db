package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gitlab.com/stopwatt/stopwatt"
)

// ErrNoFolder is returned for a folder that a past commit does not have.
var ErrNoFolder = errors.New("there was no such folder")

// Context returns a folder of the checkout as a build context.
//
// With an empty ref it is the folder as it is on disk: the tracked files and
// those that are neither tracked nor ignored, changes included. Otherwise it is
// the folder as that commit has it. Submodules are part of both, and must be
// checked out. The same content has the same hash whichever way it came.
//
// ctx also bounds the streams that the context opens later.
func (r *Repo) Context(ctx context.Context, folder, ref string) (stopwatt.BuildContext, error) {
	below, inside, err := r.belowThen(folder, ref)
	if err != nil {
		return stopwatt.BuildContext{}, fmt.Errorf("build context: %w", err)
	}
	if !inside {
		return stopwatt.BuildContext{}, fmt.Errorf("build context %s lies outside the checkout %s: move it inside", folder, r.top)
	}
	if ref == "" {
		return r.worktree(ctx, filepath.Join(r.top, below))
	}
	sha, err := r.sha(ctx, ref)
	if err != nil {
		return stopwatt.BuildContext{}, fmt.Errorf("build context %s: %w", folder, err)
	}
	return describe(r.past(ctx, sha, below), fmt.Sprintf("build context %s at %s", below, ref))
}

// belowThen is below, of a folder that may not be there today when another commit
// is named.
func (r *Repo) belowThen(folder, ref string) (string, bool, error) {
	relative, inside, err := r.below(folder)
	if ref == "" || !errors.Is(err, fs.ErrNotExist) || folder == filepath.Dir(folder) {
		return relative, inside, err
	}
	parent, inside, err := r.belowThen(filepath.Dir(folder), ref)
	return filepath.Join(parent, filepath.Base(folder)), inside, err
}

// Plain returns a folder outside git as a build context: every file and link
// below it, whatever is called .git left out.
func Plain(folder string) (stopwatt.BuildContext, error) {
	real, err := realFolder(folder)
	if err != nil {
		return stopwatt.BuildContext{}, fmt.Errorf("build context: %w", err)
	}
	names, err := everything(real)
	if err != nil {
		return stopwatt.BuildContext{}, fmt.Errorf("build context %s: %w", folder, err)
	}
	return describe(onDisk(real, names), "build context "+folder)
}

// worktree is a folder of the checkout as it is on disk.
func (r *Repo) worktree(ctx context.Context, folder string) (stopwatt.BuildContext, error) {
	list, err := r.listing(ctx, folder)
	if err != nil {
		return stopwatt.BuildContext{}, fmt.Errorf("build context %s: %w", folder, err)
	}
	return describe(onDisk(folder, list.names), "build context "+folder)
}

// A source provides the files of a context each time they are read.
type source func() (tree, error)

// A tree is a folder on disk and those of its files that count.
type tree struct {
	folder string
	names  []string
	remove func() error // called when the tree is no longer needed
}

// onDisk is the source of files that stay where they are.
func onDisk(folder string, names []string) source {
	return func() (tree, error) {
		return tree{folder: folder, names: names, remove: func() error { return nil }}, nil
	}
}

// past is the source of the files that a commit has below a folder. They are
// written to a temporary folder each time: a context may be opened at any later
// time, or never, and there is nobody to tell when the files have served.
func (r *Repo) past(ctx context.Context, sha, below string) source {
	return func() (tree, error) {
		temporary, err := os.MkdirTemp("", "stopwatt-context-")
		if err != nil {
			return tree{}, err
		}
		t := tree{folder: filepath.Join(temporary, below), remove: func() error { return os.RemoveAll(temporary) }}
		if err := r.fill(ctx, &t, sha, below, temporary); err != nil {
			return tree{}, errors.Join(err, t.remove())
		}
		return t, nil
	}
}

// fill writes the files and lists them.
func (r *Repo) fill(ctx context.Context, t *tree, sha, below, temporary string) error {
	if err := r.extract(ctx, r.top, sha, filepath.ToSlash(below), temporary); err != nil {
		return err
	}
	info, err := os.Lstat(t.folder)
	if err != nil || !info.IsDir() {
		return ErrNoFolder
	}
	t.names, err = everything(t.folder)
	return err
}
