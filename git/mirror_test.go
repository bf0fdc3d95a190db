package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAMirrorHasTheFilesOfAnotherRepository(t *testing.T) {
	t.Parallel()
	other, cache := newCommitted(t), t.TempDir()
	own, err := Open(t.Context(), other.dir)
	other.must(err)
	url := "file://" + other.dir
	mirror, err := OpenMirror(t.Context(), cache, url, "main")
	other.must(err)
	commit, err := mirror.Resolve(t.Context(), "main")
	other.must(err)
	if commit.Subject != "the first of all" {
		t.Errorf("the commit is %+v", commit)
	}
	want, err := own.Context(t.Context(), filepath.Join(other.dir, "go"), "main")
	other.must(err)
	got, err := mirror.Context(t.Context(), "go", commit.SHA)
	other.must(err)
	if got.Hash != want.Hash || got.Files != 2 {
		t.Errorf("%d files of hash %s, want those of the repository itself, %s", got.Files, got.Hash, want.Hash)
	}

	other.write("go/main.go", "package other\n")
	other.commit("the second")
	mirror, err = OpenMirror(t.Context(), cache, url, "main")
	other.must(err)
	later, err := mirror.Resolve(t.Context(), "")
	other.must(err)
	if later.Subject != "the second" {
		t.Errorf("what is new was not fetched: %+v", later)
	}
	if entries, err := os.ReadDir(cache); err != nil || len(entries) != 1 {
		t.Errorf("the cache holds %v, want one clone", entries)
	}

	other.must(os.RemoveAll(other.dir))
	if _, err := OpenMirror(t.Context(), cache, url, commit.SHA); err != nil {
		t.Errorf("a commit that is there is asked for: %v", err)
	}
	if _, err := OpenMirror(t.Context(), cache, url, "main"); err == nil {
		t.Error("a branch that may have moved is not asked for")
	}
}

func TestAMirrorSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	other := newCommitted(t)
	mirror, err := OpenMirror(t.Context(), t.TempDir(), "file://"+other.dir, "")
	other.must(err)
	commit, err := mirror.Resolve(t.Context(), "")
	other.must(err)
	marker := filepath.Join(t.TempDir(), "started")
	for name, test := range map[string]struct {
		try  func() error
		want string
	}{
		"a repository that is not there": {func() error {
			_, err := OpenMirror(t.Context(), t.TempDir(), "file:///nowhere/at/all", "")
			return err
		}, "repository file:///nowhere/at/all: "},
		"a URL that runs a program": {func() error {
			_, err := OpenMirror(t.Context(), t.TempDir(), "ext::touch "+marker, "")
			return err
		}, "transport 'ext' not allowed"},
		"a ref that is not there":    {func() error { _, err := mirror.Resolve(t.Context(), "v9"); return err }, `no commit "v9"`},
		"a folder that is not there": {func() error { _, err := mirror.Context(t.Context(), "zig", commit.SHA); return err }, "there was no such folder"},
		"a folder outside":           {func() error { _, err := mirror.Context(t.Context(), "../x", commit.SHA); return err }, "lies outside the repository"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.try(); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q in it", err, test.want)
			}
		})
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the program that a URL names was run")
	}
}
