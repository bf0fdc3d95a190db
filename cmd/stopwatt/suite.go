package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/git"
	"gitlab.com/stopwatt/stopwatt/jobs"
)

// suiteName is the file that a folder is asked for.
const suiteName = "stopwatt.yml"

// quote makes a word that a person gave safe to print.
func quote(word string) string { return strconv.Quote(word) }

// A suiteFile is a suite as it lies on disk.
type suiteFile struct {
	path   string // as the person named it
	folder string // absolute; the suite's paths are relative to it
	suite  stopwatt.Suite
}

// readSuite finds, reads and checks the suite that the person named: a file,
// a folder that holds stopwatt.yml, or nothing for the one here.
func readSuite(named string, options jobs.Options) (suiteFile, error) {
	path := suitePath(named)
	text, err := readAtMost(path, mostSuite)
	if errors.Is(err, fs.ErrNotExist) {
		return suiteFile{}, askedWrongly(fmt.Errorf("there is no suite %s; stopwatt init writes one, or name a file or a folder", quote(path)))
	}
	if err != nil {
		return suiteFile{}, askedWrongly(fmt.Errorf("read the suite: %w", err))
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return suiteFile{}, err
	}
	folder := filepath.Dir(absolute)
	suite, err := jobs.Read(path, text, folderFiles(folder), options)
	if err != nil {
		return suiteFile{}, askedWrongly(err)
	}
	return suiteFile{path: path, folder: folder, suite: suite}, nil
}

// suitePath is the file that a person means.
func suitePath(named string) string {
	if named == "" {
		return suiteName
	}
	if info, err := os.Stat(named); err == nil && info.IsDir() {
		return filepath.Join(named, suiteName)
	}
	return named
}

// mostSuite is more than jobs accepts of a suite: what is longer is refused
// there, and never read whole here.
const mostSuite = 2 << 20

// mostDockerfile is what the engine's door accepts of a Dockerfile.
const mostDockerfile = 1 << 20

// readDockerfile reads one from disk, unless it is too large for one.
func readDockerfile(path string) ([]byte, error) {
	text, err := readAtMost(path, mostDockerfile+1)
	if err == nil && len(text) > mostDockerfile {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, mostDockerfile>>20)
	}
	return text, err
}

// readAtMost reads a file, or its beginning when it is longer.
func readAtMost(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // which was only read from
	return io.ReadAll(io.LimitReader(file, most))
}

// folderFiles looks at files by names relative to a folder.
type folderFiles string

func (f folderFiles) ReadFile(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(string(f), filepath.FromSlash(name)))
}

func (f folderFiles) Stat(name string) (fs.FileInfo, error) {
	return os.Stat(filepath.Join(string(f), filepath.FromSlash(name)))
}

// A checkout is the git work tree that holds the suite; repo is nil outside git.
type checkout struct {
	repo    *git.Repo
	project string
	state   stopwatt.Checkout
	at      string                 // SHA of the commit whose files are built from; empty: those on disk
	mirrors map[string]*git.Mirror // of other repositories, by URL
}

// checkout looks at the work tree that the suite lies in.
func (d *desk) checkout(ctx context.Context, file suiteFile) (checkout, error) {
	repo, err := git.Open(ctx, file.folder)
	if errors.Is(err, git.ErrNoRepository) {
		return checkout{project: filepath.Base(file.folder)}, nil
	}
	if err != nil {
		return checkout{}, askedWrongly(err)
	}
	repo.Getenv = d.getenv
	state, err := repo.Checkout(ctx, file.sources())
	if err != nil {
		return checkout{}, askedWrongly(err)
	}
	return checkout{repo: repo, project: repo.Project(ctx), state: state}, nil
}

// sources are the files and folders that decide what is measured.
func (f suiteFile) sources() []string {
	sources := []string{filepath.Join(f.folder, filepath.Base(f.path))}
	_, _ = eachBuild(f.suite, func(build *stopwatt.Build) error { // which changes nothing, and cannot fail
		if build.Ref == "" && build.Repository == "" {
			sources = append(sources, filepath.Join(f.folder, build.Context))
		}
		if build.Dockerfile != "" {
			sources = append(sources, filepath.Join(f.folder, build.Dockerfile))
		}
		return nil
	})
	return sources
}
