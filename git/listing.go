package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// submoduleMode is how the index marks a submodule (a "gitlink").
const submoduleMode = "160000"

// files are those of a folder that git tracks or would track.
type files struct {
	names     []string // relative to the folder, with slashes, in no order
	untracked bool     // one of them at least is not tracked
}

// missingSubmodule is the error for a submodule without its files.
type missingSubmodule struct{ name string }

func (m *missingSubmodule) Error() string {
	return fmt.Sprintf("submodule %s is not checked out: git submodule update --init --recursive (in a job: GIT_SUBMODULE_STRATEGY: recursive)", m.name)
}

// listing lists the files below a folder of the work tree: the tracked ones,
// those that are neither tracked nor ignored, and those of submodules and of
// repositories within, by the same rule. Tracked files that were deleted are
// among them.
func (r *Repo) listing(ctx context.Context, folder string) (files, error) {
	tracked, err := r.git(ctx, folder, "ls-files", "-z", "--stage")
	if err != nil {
		return files{}, err
	}
	others, err := r.git(ctx, folder, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return files{}, err
	}
	var list files
	var within []string
	for _, entry := range fields(tracked) {
		mode, name := parseStage(entry)
		if mode == submoduleMode {
			within = append(within, name)
			continue
		}
		list.names = append(list.names, name)
	}
	for _, name := range fields(others) {
		list.untracked = true
		if repository, ok := strings.CutSuffix(name, "/"); ok {
			within = append(within, repository)
			continue
		}
		list.names = append(list.names, name)
	}
	return r.withWithin(ctx, folder, list, within)
}

// withWithin adds the files of the repositories within a folder.
func (r *Repo) withWithin(ctx context.Context, folder string, list files, within []string) (files, error) {
	for _, name := range within {
		repository := filepath.Join(folder, filepath.FromSlash(name))
		// Without a .git of its own git would take it for a part of the outer one.
		if _, err := os.Lstat(filepath.Join(repository, ".git")); err != nil {
			return list, &missingSubmodule{name}
		}
		inner, err := r.listing(ctx, repository)
		if err != nil {
			return list, err
		}
		list.untracked = list.untracked || inner.untracked
		for _, file := range inner.names {
			list.names = append(list.names, path.Join(name, file))
		}
	}
	return list, nil
}

// parseStage takes mode and name from an entry of ls-files --stage,
// "100644 SHA 0<tab>name".
func parseStage(entry string) (mode, name string) {
	about, name, _ := strings.Cut(entry, "\t")
	mode, _, _ = strings.Cut(about, " ")
	return mode, name
}

// everything lists every file and link below a folder, .git left out.
func everything(folder string) ([]string, error) {
	var names []string
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.Name() == ".git" && entry.IsDir():
			return fs.SkipDir
		case entry.Name() == ".git" || entry.IsDir():
			return nil
		}
		names = append(names, name)
		return nil
	})
	return names, err
}
