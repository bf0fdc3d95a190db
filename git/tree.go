package git

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"time"
)

// A Tree is what a commit holds, seen from a folder of the checkout. The work tree
// is not touched.
type Tree struct {
	ctx    context.Context
	repo   *Repo
	sha    string
	folder string // relative to the top, with slashes
}

// Tree is what a commit holds, seen from a folder. ctx bounds the reading.
func (r *Repo) Tree(ctx context.Context, folder, rev string) (Tree, error) {
	sha, err := r.sha(ctx, rev)
	if err != nil {
		return Tree{}, err
	}
	below, inside, err := r.below(folder)
	if err != nil {
		return Tree{}, err
	}
	if !inside {
		return Tree{}, fmt.Errorf("%s lies outside the checkout %s", folder, r.top)
	}
	return Tree{ctx: ctx, repo: r, sha: sha, folder: filepath.ToSlash(below)}, nil
}

// mostFile bounds a file that is read whole, in bytes: a suite file, or what it names.
const mostFile = 64 << 20

// ReadFile reads a file by its name relative to the folder, 64 MiB at most. One that
// the commit does not have is fs.ErrNotExist.
func (t Tree) ReadFile(name string) ([]byte, error) {
	info, err := t.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	return t.repo.run(t.ctx, call{dir: t.repo.top, args: []string{"cat-file", "blob", t.object(name)}, most: mostFile})
}

// Stat tells whether a name is that of a file or of a folder.
func (t Tree) Stat(name string) (fs.FileInfo, error) {
	kind, err := t.repo.line(t.ctx, t.repo.top, "cat-file", "-t", t.object(name))
	switch {
	case t.ctx.Err() != nil:
		return nil, t.ctx.Err()
	case err != nil:
		return nil, &fs.PathError{Op: "stat", Path: name, Err: fs.ErrNotExist}
	}
	return treeEntry{path.Base(name), kind == "tree"}, nil
}

// object is git's name for a file or folder of the commit.
func (t Tree) object(name string) string {
	at := path.Join(t.folder, filepath.ToSlash(name))
	if at == "." {
		at = ""
	}
	return t.sha + ":" + at
}

// A treeEntry is what is known of a file or a folder of a commit.
type treeEntry struct {
	name   string
	folder bool
}

func (e treeEntry) Name() string     { return e.name }
func (treeEntry) Size() int64        { return 0 } // not asked for
func (e treeEntry) IsDir() bool      { return e.folder }
func (treeEntry) ModTime() time.Time { return time.Time{} }
func (treeEntry) Sys() any           { return nil }
func (e treeEntry) Mode() fs.FileMode {
	if e.folder {
		return fs.ModeDir | 0o755
	}
	return 0o644
}
