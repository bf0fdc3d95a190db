package git

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

// unpack reads a context's archive: a line per entry, and the raw bytes.
func unpack(t *testing.T, context stopwatt.BuildContext) (lines []string, raw []byte) {
	t.Helper()
	stream, err := context.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	raw, err = io.ReadAll(stream)
	if err != nil {
		t.Fatal(err)
	}
	archive := tar.NewReader(bytes.NewReader(raw))
	for {
		header, err := archive.Next()
		if err == io.EOF {
			return lines, raw
		}
		if err != nil {
			t.Fatal(err)
		}
		if header.Uid != 0 || header.Gid != 0 || header.Uname != "" || !header.ModTime.Equal(epoch) {
			t.Errorf("%q has an owner or a time: %+v", header.Name, header)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%o %s %s%s", header.Mode, header.Name, header.Linkname, content))
	}
}

// contextOf is a context that must come about.
func contextOf(t *testing.T, r *Repo, folder, ref string) stopwatt.BuildContext {
	t.Helper()
	context, err := r.Context(t.Context(), filepath.Join(r.Top(), folder), ref)
	if err != nil {
		t.Fatal(err)
	}
	return context
}

// newOdd makes a repository whose folder odd has every kind of file and name.
func newOdd(t *testing.T) scratch {
	t.Helper()
	s := newScratch(t)
	s.write(".gitattributes", "*.txt export-ignore\n*.subst export-subst\n*.dos text eol=crlf\n")
	s.write(".gitignore", "*.out\n")
	s.write("odd/Dockerfile", "FROM scratch\n")
	for _, name := range []string{"-rf", "two\nlines", `"quoted"`, `back\slash`, "ünïcödé", "tab\t", " space ", "*.go", ":(top)x", "deep/er/file", "deep-er", "invalid\xff"} {
		s.write("odd/"+name, "in "+name)
	}
	s.write("odd/left-out.txt", "but not by us\n")
	s.write("odd/version.subst", "$Format:%H$\n")
	s.write("odd/lines.dos", "one\r\ntwo\r\n")
	s.write("odd/run.sh", "#!/bin/sh\n")
	s.must(os.Chmod(filepath.Join(s.dir, "odd/run.sh"), 0o700))
	s.must(os.Symlink("deep/er", filepath.Join(s.dir, "odd/link")))
	s.must(os.Symlink("/etc/passwd", filepath.Join(s.dir, "odd/dangerous")))
	s.write("beside/file", "outside the context\n")
	s.commit("odd things")
	return s
}

func TestTheSameFilesHaveTheSameHashWhicheverWayTheyCome(t *testing.T) {
	t.Parallel()
	s := newOdd(t)
	r := s.open(nil)
	today := contextOf(t, r, "odd", "")
	past := contextOf(t, r, "odd", "HEAD")
	plain, err := Plain(filepath.Join(s.dir, "odd"))
	if err != nil {
		t.Fatal(err)
	}
	lines, raw := unpack(t, today)
	pastLines, pastRaw := unpack(t, past)
	_, plainRaw := unpack(t, plain)
	if diff := cmp.Diff(lines, pastLines); diff != "" {
		t.Errorf("work tree and commit differ: %s", diff)
	}
	if !bytes.Equal(raw, pastRaw) || !bytes.Equal(raw, plainRaw) {
		t.Error("the archives differ")
	}
	if today.Hash != past.Hash || today.Hash != plain.Hash || len(today.Hash) != 64 {
		t.Errorf("hashes: work tree %q, commit %q, plain %q", today.Hash, past.Hash, plain.Hash)
	}
	want := []string{
		"644  space  in  space ", "644 \"quoted\" in \"quoted\"", "644 *.go in *.go", "644 -rf in -rf",
		"644 :(top)x in :(top)x", "644 Dockerfile FROM scratch\n", `644 back\slash in back\slash`,
		"777 dangerous /etc/passwd", "644 deep-er in deep-er", "755 deep/ ", "755 deep/er/ ", "644 deep/er/file in deep/er/file",
		"644 invalid\xff in invalid\xff", "644 left-out.txt but not by us\n", "644 lines.dos one\r\ntwo\r\n",
		"777 link deep/er", "755 run.sh #!/bin/sh\n", "644 tab\t in tab\t", "644 two\nlines in two\nlines",
		"644 version.subst $Format:%H$\n", "644 ünïcödé in ünïcödé",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("archive: %s", diff)
	}
	if today.Files != 19 {
		t.Errorf("%d files, want 19", today.Files)
	}
}

func TestWhatChangesTheHash(t *testing.T) {
	t.Parallel()
	file := func(s scratch, name string) string { return filepath.Join(s.dir, name) }
	tests := []struct {
		name string
		do   func(scratch)
		same bool
	}{
		{"a file's bytes", func(s scratch) { s.write("go/main.go", "package x\n") }, false},
		{"a file's name", func(s scratch) { s.must(os.Rename(file(s, "go/main.go"), file(s, "go/main_.go"))) }, false},
		{"an executable bit", func(s scratch) { s.must(os.Chmod(file(s, "go/main.go"), 0o755)) }, false},
		{"a deleted file", func(s scratch) { s.must(os.Remove(file(s, "go/main.go"))) }, false},
		{"a new file", func(s scratch) { s.write("go/new.go", "") }, false},
		{"a file that became a link with the same bytes in it", func(s scratch) {
			s.must(os.Remove(file(s, "go/main.go")))
			s.must(os.Symlink("package main\n", file(s, "go/main.go")))
		}, false},
		{"nothing that matters: times, other bits, other folders, ignored files", func(s scratch) {
			s.must(os.Chtimes(file(s, "go/main.go"), epoch, epoch))
			s.must(os.Chmod(file(s, "go/main.go"), 0o660))
			s.write("rust/new", "")
			s.write(".git/info/exclude", "*.out\n")
			s.write("go/a.out", "")
			s.must(os.Mkdir(file(s, "go/empty"), 0o755))
		}, true},
		{"nothing, staged or committed or not", func(s scratch) { s.commit("again") }, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newCommitted(t)
			r := s.open(nil)
			before := contextOf(t, r, "go", "")
			test.do(s)
			after := contextOf(t, r, "go", "")
			if (before.Hash == after.Hash) != test.same {
				t.Errorf("same hash: %v, want %v", before.Hash == after.Hash, test.same)
			}
		})
	}
}

func TestAFolderOfThePastIsAsItWas(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	s.git("tag", "v1")
	s.write("go/main.go", "package changed\n")
	s.write("go/untracked.go", "")
	r := s.open(nil)
	lines, _ := unpack(t, contextOf(t, r, "go", "v1"))
	if diff := cmp.Diff([]string{"644 Dockerfile FROM scratch\n", "644 main.go package main\n"}, lines); diff != "" {
		t.Error(diff)
	}
	whole := contextOf(t, r, ".", "v1")
	if whole.Files != 3 {
		t.Errorf("the whole tree has %d files, want 3", whole.Files)
	}
	if status := s.git("status", "--porcelain"); status != "M go/main.go\n?? go/untracked.go" {
		t.Errorf("the checkout was touched: %q", status)
	}
}

func TestAFolderThatIsGoneTodayIsThereInThePast(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	s.git("tag", "v1")
	s.git("rm", "--quiet", "-r", "go")
	s.commit("without go")
	r, err := Open(t.Context(), s.dir)
	s.must(err)
	got, err := r.Context(t.Context(), filepath.Join(s.dir, "go"), "v1")
	if err != nil || got.Files != 2 {
		t.Errorf("%d files, %v; want the two of v1", got.Files, err)
	}
	if _, err := r.Context(t.Context(), filepath.Join(s.dir, "go"), ""); err == nil {
		t.Error("the folder is there today")
	}
}

func TestAFolderWhoseNameIsAPatternIsThatFolderAlone(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	for _, name := range []string{"[g]o", "*", ":(icase)x", "-rf"} {
		s.write(name+"/only", name)
	}
	s.commit("patterns")
	r := s.open(nil)
	for _, name := range []string{"[g]o", "*", ":(icase)x", "-rf"} {
		lines, _ := unpack(t, contextOf(t, r, name, "HEAD"))
		if diff := cmp.Diff([]string{"644 only " + name}, lines); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAContextSaysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	s.write("later/Dockerfile", "FROM scratch\n")
	s.commit("later")
	s.write("ignored/file", "")
	s.write(".git/info/exclude", "ignored/\n")
	s.must(syscall.Mkfifo(filepath.Join(s.dir, "rust", "pipe"), 0o600))
	r := s.open(nil)
	outside := t.TempDir()
	tests := []struct{ name, folder, ref, says string }{
		{"outside the checkout", outside, "", "outside the checkout"},
		{"a folder that is not there", s.dir + "/gone", "", "no such file"},
		{"a file", s.dir + "/go/main.go", "", "is no folder"},
		{"a folder that git ignores", s.dir + "/ignored", "", "git ignores them all"},
		{"a folder that was not there yet", s.dir + "/later", "HEAD~1", "build context later at HEAD~1: there was no such folder"},
		{"an unknown commit", s.dir + "/go", "v9", `no commit "v9"`},
		{"a commit that is an option", s.dir + "/go", "--output=x", "names no commit"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := r.Context(t.Context(), test.folder, test.ref)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
	if _, err := Plain(filepath.Join(s.dir, "rust")); err == nil || !strings.Contains(err.Error(), `"pipe" is neither a file nor a symbolic link`) {
		t.Errorf("a named pipe: got %v", err)
	}
}

func TestAFileBehindALinkIsNotInTheTree(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	elsewhere := t.TempDir()
	s.must(os.WriteFile(filepath.Join(elsewhere, "Dockerfile"), []byte("secret"), 0o600))
	s.must(os.RemoveAll(filepath.Join(s.dir, "go")))
	s.must(os.Symlink(elsewhere, filepath.Join(s.dir, "go")))
	lines, _ := unpack(t, contextOf(t, s.open(nil), ".", ""))
	want := []string{"777 go " + elsewhere, "755 rust/ ", "644 rust/Dockerfile FROM scratch\n"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func TestAFileThatChangesAfterItWasHashedSpoilsTheStream(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	context := contextOf(t, s.open(nil), "go", "")
	s.write("go/main.go", "package other\n")
	stream, err := context.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	if _, err := io.ReadAll(stream); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("got %v, want an error: the hash no longer names the content", err)
	}
}

func TestAStreamThatIsClosedEarlyLeavesNothingBehind(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	s := newCommitted(t)
	s.write("go/large", strings.Repeat("x", 1<<20))
	s.commit("large")
	context := contextOf(t, s.open(nil), "go", "HEAD")
	stream, err := context.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, stream, 1000); err != nil {
		t.Fatal(err)
	}
	if err := stream.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := os.ReadDir(temporary)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

// newWithSubmodule makes a repository with a submodule in the folder go.
func newWithSubmodule(t *testing.T) scratch {
	t.Helper()
	library := newCommitted(t)
	s := newCommitted(t)
	s.git("submodule", "--quiet", "add", library.dir, "go/lib\"rary")
	s.commit("use the library")
	return s
}

func TestASubmoduleIsPartOfTheContext(t *testing.T) {
	t.Parallel()
	s := newWithSubmodule(t)
	r := s.open(nil)
	today, past := contextOf(t, r, "go", ""), contextOf(t, r, "go", "HEAD")
	if today.Hash != past.Hash || today.Files != 5 {
		t.Errorf("hashes %q and %q of %d files, want one hash and 5 files", today.Hash, past.Hash, today.Files)
	}
	checkout, err := r.Checkout(t.Context(), []string{filepath.Join(s.dir, "go")})
	if err != nil || checkout.Dirty {
		t.Errorf("dirty %v (%v), want clean", checkout.Dirty, err)
	}
	s.write("go/lib\"rary/new", "untracked")
	if contextOf(t, r, "go", "").Hash == today.Hash {
		t.Error("a new file in the submodule changed nothing")
	}
	checkout, err = r.Checkout(t.Context(), []string{filepath.Join(s.dir, "go")})
	if err != nil || !checkout.Dirty {
		t.Errorf("dirty %v (%v), want dirty", checkout.Dirty, err)
	}
}

func TestASubmoduleThatIsNotCheckedOutNamesTheRemedy(t *testing.T) {
	t.Parallel()
	s := newWithSubmodule(t)
	clone := scratch{t, filepath.Join(t.TempDir(), "clone")}
	s.git("clone", "--quiet", s.dir, clone.dir)
	r := clone.open(nil)
	for _, ref := range []string{"", "HEAD"} {
		_, err := r.Context(t.Context(), filepath.Join(clone.dir, "go"), ref)
		var missing *missingSubmodule
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), "git submodule update --init") {
			t.Errorf("ref %q: got %v, want the remedy", ref, err)
		}
	}
	if _, err := r.Context(t.Context(), filepath.Join(clone.dir, "rust"), ""); err != nil {
		t.Errorf("a context without the submodule: %v", err)
	}
	checkout, err := r.Checkout(t.Context(), []string{filepath.Join(clone.dir, "go")})
	if err != nil || checkout.Dirty {
		t.Errorf("dirty %v (%v), want clean", checkout.Dirty, err)
	}
}

func TestARepositoryWithinAnUntrackedFolderIsPartOfTheContext(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	s.git("clone", "--quiet", s.dir, "go/within")
	r := s.open(nil)
	if got := contextOf(t, r, "go", "").Files; got != 5 {
		t.Errorf("%d files, want 2 and the 3 of the repository within", got)
	}
}

func TestPlainLeavesOutGit(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	s.write("go/.git", "gitdir: elsewhere\n")
	context, err := Plain(s.dir)
	if err != nil {
		t.Fatal(err)
	}
	lines, _ := unpack(t, context)
	want := []string{"755 go/ ", "644 go/Dockerfile FROM scratch\n", "644 go/main.go package main\n", "755 rust/ ", "644 rust/Dockerfile FROM scratch\n"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseStage(f *testing.F) {
	f.Add("100644 e69de29bb2d1d6434b8b29ae775ad8c2e48c5391 0\tname\twith tab")
	f.Add("no tab")
	f.Fuzz(func(t *testing.T, entry string) {
		mode, name := parseStage(entry)
		if strings.Contains(mode, " ") || strings.Contains(mode, "\t") || !strings.HasSuffix(entry, name) {
			t.Errorf("%q was read as mode %q, name %q", entry, mode, name)
		}
	})
}
