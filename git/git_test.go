package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenFindsTheTopFromAFolderBelow(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	r, err := Open(t.Context(), filepath.Join(s.dir, "go"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Top() != s.dir {
		t.Errorf("top is %q, want %q", r.Top(), s.dir)
	}
}

func TestOpenKeepsALineFeedAtTheEndOfAFoldersName(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	odd := s.dir + "\n"
	s.must(os.Rename(s.dir, odd))
	r, err := Open(t.Context(), odd)
	if err != nil {
		t.Fatal(err)
	}
	if r.Top() != odd {
		t.Errorf("top is %q, want %q", r.Top(), odd)
	}
}

func TestOpenSaysWhatIsWrongWithAFolder(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	s.git("clone", "--quiet", "--bare", s.dir, bare)
	tests := []struct {
		name, dir string
		is        error
		says      string
	}{
		{"a folder outside git", t.TempDir(), ErrNoRepository, ""},
		{"a folder that is not there", filepath.Join(s.dir, "gone"), os.ErrNotExist, ""},
		{"a bare repository", bare, nil, "run stopwatt in a checkout"},
		{"the inside of .git", filepath.Join(s.dir, ".git"), nil, "run stopwatt in a checkout"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(t.Context(), test.dir)
			if err == nil {
				t.Fatal("it was opened")
			}
			if test.is != nil && !errors.Is(err, test.is) {
				t.Errorf("got %v, want %v", err, test.is)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%q does not say %q", err, test.says)
			}
		})
	}
}

func TestTheEnvironmentOfAHookDoesNotMislead(t *testing.T) {
	s, other := newCommitted(t), newCommitted(t)
	want := s.git("rev-parse", "HEAD")
	other.write("go/other.go", "")
	other.commit("another")
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.dir)
	t.Setenv("GIT_INDEX_FILE", filepath.Join(other.dir, ".git", "index"))
	t.Setenv("GIT_ICASE_PATHSPECS", "1")
	r, err := Open(t.Context(), s.dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Top() != s.dir {
		t.Errorf("top is %q, want %q", r.Top(), s.dir)
	}
	checkout, err := r.Checkout(t.Context(), []string{s.dir})
	if err != nil || checkout.Commit.SHA != want || checkout.Dirty {
		t.Errorf("got commit %q, dirty %v (%v); want %q, clean", checkout.Commit.SHA, checkout.Dirty, err, want)
	}
}

func TestACheckoutOfAnotherUserIsRefusedWithTheRemedyAndTrustedInItsOwnJob(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder away")
	}
	s := newCommitted(t)
	s.must(filepath.WalkDir(s.dir, func(file string, _ os.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(file, 4242, 4242))
	}))
	t.Setenv("SUDO_UID", "")
	_, err := Open(t.Context(), s.dir)
	if want := "git config --global --add safe.directory '" + s.dir + "'"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want the remedy %s", err, want)
	}
	t.Setenv("GITLAB_CI", "true")
	t.Setenv("CI_PROJECT_DIR", s.dir)
	if _, err := Open(t.Context(), s.dir); err != nil {
		t.Errorf("in its own job: %v", err)
	}
}

func TestTheRepositorysConfigurationStartsNoProgram(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	trace := filepath.Join(t.TempDir(), "trace")
	script := filepath.Join(t.TempDir(), "hook")
	s.must(os.WriteFile(script, []byte("#!/bin/sh\ntouch '"+trace+"'\n"), 0o755))
	s.git("config", "core.fsmonitor", script)
	s.must(os.MkdirAll(filepath.Join(s.dir, ".git", "hooks"), 0o755))
	s.must(os.Rename(script, filepath.Join(s.dir, ".git", "hooks", "post-index-change")))
	s.git("config", "core.fsmonitor", filepath.Join(s.dir, ".git", "hooks", "post-index-change"))
	r := s.open(nil)
	if _, err := r.Checkout(t.Context(), []string{s.dir}); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Context(t.Context(), s.dir, "HEAD"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(trace); err == nil {
		t.Error("a program that the repository names was started")
	}
}

func TestACancelledCallSaysSo(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.open(nil).Checkout(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestAMissingGitProgramIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Open(t.Context(), ".")
	if err == nil || !strings.Contains(err.Error(), "apt-get install git") {
		t.Errorf("got %v, want the remedy", err)
	}
}
