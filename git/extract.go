package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// extract writes the files of a commit below a folder of the repository (its
// path relative to the top, "." for all) into another folder, as a checkout
// would: line ends converted, large files fetched by their filters. It goes
// through an index of its own; git archive would leave out or rewrite what
// export attributes say, so that the same files had another hash.
func (r *Repo) extract(ctx context.Context, repository, sha, below, into string) (err error) {
	private, err := os.MkdirTemp("", "stopwatt-index-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(private)) }()
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(private, "index")}
	if r.bare {
		env = append(env, "GIT_DIR="+repository, "GIT_WORK_TREE="+into)
	}
	if _, err := r.run(ctx, call{dir: repository, env: env, args: []string{"read-tree", sha}}); err != nil {
		return err
	}
	list, err := r.run(ctx, call{dir: repository, env: env, args: []string{"ls-files", "-z", "--stage", "--", below}})
	if err != nil {
		return err
	}
	var names bytes.Buffer
	for _, entry := range fields(list) {
		mode, name := parseStage(entry)
		if mode != submoduleMode {
			names.WriteString(name + "\x00")
			continue
		}
		if err := r.extractSubmodule(ctx, repository, entry, name, into); err != nil {
			return err
		}
	}
	_, err = r.run(ctx, call{dir: repository, env: env, input: &names,
		args: []string{"checkout-index", "-z", "--stdin", "--prefix=" + into + "/"}})
	return err
}

// extractSubmodule writes the files of a submodule, as the entry of the outer
// index has it, from the submodule that is checked out today.
func (r *Repo) extractSubmodule(ctx context.Context, repository, entry, name, into string) error {
	submodule := filepath.Join(repository, filepath.FromSlash(name))
	if _, err := os.Lstat(filepath.Join(submodule, ".git")); err != nil {
		return &missingSubmodule{name}
	}
	sha := strings.Fields(entry)[1]
	inner := filepath.Join(into, filepath.FromSlash(name))
	if err := os.MkdirAll(inner, 0o755); err != nil {
		return err
	}
	if err := r.extract(ctx, submodule, sha, ".", inner); err != nil {
		return fmt.Errorf("submodule %s: %w", name, err)
	}
	return nil
}
