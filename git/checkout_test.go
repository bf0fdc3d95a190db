package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt"
)

func TestCheckoutTellsTheCommit(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	first := s.git("rev-parse", "HEAD")
	second := s.commit("go: serve “quoted” \\ paths\nand more\n\nBody.")
	got, err := s.open(nil).Checkout(t.Context(), []string{filepath.Join(s.dir, "go")})
	if err != nil {
		t.Fatal(err)
	}
	want := stopwatt.Checkout{
		Commit: stopwatt.Commit{
			SHA: second, Parents: []string{first}, Author: "Ada Lovelace",
			Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Subject: "go: serve “quoted” \\ paths and more",
		},
		Branch: "main", Default: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestCheckoutWithoutACommitIsAnErrorOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	if _, err := s.open(nil).Checkout(t.Context(), nil); !errors.Is(err, ErrNoCommit) {
		t.Errorf("got %v, want ErrNoCommit", err)
	}
}

func TestBranchAndDefault(t *testing.T) {
	t.Parallel()
	sha := func(s scratch) string { return s.git("rev-parse", "HEAD") }
	detach := func(s scratch) { s.git("checkout", "--quiet", "--detach") }
	tests := []struct {
		name        string
		prepare     func(scratch)
		job         map[string]string // CI_COMMIT_SHA is HEAD unless it stands here
		wantBranch  string
		wantDefault bool
	}{
		{name: "main, with no origin to ask", wantBranch: "main", wantDefault: true},
		{name: "a branch beside main", prepare: func(s scratch) { s.git("checkout", "--quiet", "-b", "team/faster") }, wantBranch: "team/faster"},
		{name: "a branch that a tag has the name of", prepare: func(s scratch) { s.git("tag", "main") }, wantBranch: "main", wantDefault: true},
		{name: "the branch that origin's HEAD names", prepare: func(s scratch) {
			s.git("checkout", "--quiet", "-b", "trunk")
			s.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
		}, wantBranch: "trunk", wantDefault: true},
		{name: "a detached HEAD is on no branch", prepare: detach},
		{name: "a branch pipeline", prepare: detach,
			job:        map[string]string{"CI_COMMIT_BRANCH": "trunk", "CI_COMMIT_REF_NAME": "trunk", "CI_DEFAULT_BRANCH": "trunk"},
			wantBranch: "trunk", wantDefault: true},
		{name: "a merge request pipeline, even of a fork's main", prepare: detach,
			job: map[string]string{"CI_COMMIT_REF_NAME": "main", "CI_DEFAULT_BRANCH": "main",
				"CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_EVENT_TYPE": "detached"},
			wantBranch: "main"},
		{name: "a merged-results pipeline is on no branch", prepare: detach,
			job: map[string]string{"CI_COMMIT_REF_NAME": "faster", "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_EVENT_TYPE": "merged_result"}},
		{name: "a tag pipeline is on no branch", prepare: detach,
			job: map[string]string{"CI_COMMIT_TAG": "v1", "CI_COMMIT_REF_NAME": "v1"}},
		{name: "a job that has checked out another commit", prepare: detach,
			job: map[string]string{"CI_COMMIT_SHA": strings.Repeat("0", 40), "CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newCommitted(t)
			if test.prepare != nil {
				test.prepare(s)
			}
			job := map[string]string{"CI_COMMIT_SHA": sha(s)}
			for name, value := range test.job {
				job[name] = value
			}
			got, err := s.open(job).Checkout(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Branch != test.wantBranch || got.Default != test.wantDefault {
				t.Errorf("branch %q, default %v; want %q, %v", got.Branch, got.Default, test.wantBranch, test.wantDefault)
			}
		})
	}
}

func TestDirty(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	tests := []struct {
		name     string
		do       func(scratch)
		contexts []string
		want     bool
	}{
		{"nothing was touched", func(scratch) {}, []string{"go", "rust"}, false},
		{"a tracked file outside the contexts was changed", func(s scratch) { s.write("rust/Dockerfile", "FROM x\n") }, []string{"go"}, true},
		{"a change was staged", func(s scratch) { s.write("go/main.go", "package x\n"); s.git("add", "go") }, nil, true},
		{"a tracked file was deleted", func(s scratch) { s.must(os.Remove(filepath.Join(s.dir, "go/main.go"))) }, nil, true},
		{"a tracked file was made executable", func(s scratch) { s.must(os.Chmod(filepath.Join(s.dir, "go/main.go"), 0o755)) }, nil, true},
		{"a new file lies in a context", func(s scratch) { s.write("go/new.go", "") }, []string{"go"}, true},
		{"a new file with an odd name lies in a context", func(s scratch) { s.write("go/-z\n\"", "") }, []string{"go"}, true},
		{"a new file lies elsewhere", func(s scratch) { s.write("notes.txt", "") }, []string{"go", "rust"}, false},
		{"a new file lies in a context, but is ignored", func(s scratch) {
			s.write(".gitignore", "*.out\n")
			s.commit("ignore")
			s.write("go/a.out", "")
		}, []string{"go"}, false},
		{"new files lie about, and status.showUntrackedFiles says otherwise", func(s scratch) {
			s.git("config", "status.showUntrackedFiles", "no")
			s.write("go/new.go", "")
		}, []string{"go"}, true},
		{"a context lies outside the checkout", func(scratch) {}, []string{outside}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newCommitted(t)
			test.do(s)
			var contexts []string
			for _, folder := range test.contexts {
				if !filepath.IsAbs(folder) {
					folder = filepath.Join(s.dir, folder)
				}
				contexts = append(contexts, folder)
			}
			got, err := s.open(nil).Checkout(t.Context(), contexts)
			if err != nil {
				t.Fatal(err)
			}
			if got.Dirty != test.want {
				t.Errorf("dirty is %v, want %v", got.Dirty, test.want)
			}
		})
	}
}

func TestCheckoutLeavesTheIndexAlone(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	// A new time makes the index stale; git status would renew it.
	s.must(os.Chtimes(filepath.Join(s.dir, "go/main.go"), time.Unix(1, 0), time.Unix(1, 0)))
	index := filepath.Join(s.dir, ".git", "index")
	before, err := os.ReadFile(index)
	s.must(err)
	if _, err := s.open(nil).Checkout(t.Context(), []string{s.dir}); err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(index)
	s.must(err)
	if string(before) != string(after) {
		t.Error("the index was written")
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	first := s.git("rev-parse", "HEAD")
	s.git("tag", "--annotate", "--message", "one", "v1")
	s.git("branch", "ünï/branch")
	s.commit("the second")
	r := s.open(nil)
	for _, rev := range []string{"HEAD~1", "v1", "ünï/branch", first, first[:10]} {
		commit, err := r.Resolve(t.Context(), rev)
		if err != nil || commit.SHA != first {
			t.Errorf("%s: got %q (%v), want %q", rev, commit.SHA, err, first)
		}
	}
	for _, rev := range []string{"", "-h", "--all", "v2", "HEAD:go", "a\nb", strings.Repeat("0", 40)} {
		if commit, err := r.Resolve(t.Context(), rev); err == nil {
			t.Errorf("%q: got %q, want an error", rev, commit.SHA)
		}
	}
}

func TestAShallowCloneKeepsItsParentsAndNamesTheRemedy(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	first := s.git("rev-parse", "HEAD")
	s.commit("the second")
	clone := scratch{t, filepath.Join(t.TempDir(), "clone")}
	s.git("clone", "--quiet", "--depth=1", "file://"+s.dir, clone.dir)
	r := clone.open(nil)
	checkout, err := r.Checkout(t.Context(), []string{clone.dir})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{first}, checkout.Commit.Parents); diff != "" {
		t.Errorf("parents: %s", diff)
	}
	if !checkout.Default || checkout.Dirty {
		t.Errorf("default %v, dirty %v; want a clean default branch", checkout.Default, checkout.Dirty)
	}
	if _, err := r.Resolve(t.Context(), first); err == nil || !strings.Contains(err.Error(), "git fetch --unshallow") {
		t.Errorf("got %v, want the remedy for a shallow clone", err)
	}
}

func TestALinkedWorkTreeIsACheckout(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	linked := scratch{t, filepath.Join(filepath.Dir(s.dir), "linked")}
	s.git("worktree", "add", "--quiet", "-b", "faster", linked.dir)
	linked.write("go/new.go", "")
	r := linked.open(nil)
	checkout, err := r.Checkout(t.Context(), []string{filepath.Join(linked.dir, "go")})
	if err != nil {
		t.Fatal(err)
	}
	if checkout.Branch != "faster" || checkout.Default || !checkout.Dirty {
		t.Errorf("got branch %q, default %v, dirty %v", checkout.Branch, checkout.Default, checkout.Dirty)
	}
	if r.Top() != linked.dir {
		t.Errorf("top is %q, want %q", r.Top(), linked.dir)
	}
	if name := r.Project(t.Context()); name != "servers" {
		t.Errorf("project is %q, want the name of the main checkout", name)
	}
}

func TestProject(t *testing.T) {
	t.Parallel()
	s := newCommitted(t)
	r := s.open(nil)
	if got := r.Project(t.Context()); got != "servers" {
		t.Errorf("without an origin: %q, want the folder's name", got)
	}
	s.git("remote", "add", "origin", "https://user:secret@gitlab.example.org/team/web-servers.git")
	if got := r.Project(t.Context()); got != "team/web-servers" {
		t.Errorf("with an origin: %q", got)
	}
}

func TestOriginPath(t *testing.T) {
	t.Parallel()
	tests := []struct{ origin, want string }{
		{"https://gitlab.example.org/team/servers.git", "team/servers"},
		{"https://gitlab.example.org/team/sub/servers", "team/sub/servers"},
		{"https://gitlab-ci-token:secret@gitlab.example.org:8443/team/servers.git/", "team/servers"},
		{"ssh://git@gitlab.example.org:2222/team/servers.git", "team/servers"},
		{"git@gitlab.example.org:team/servers.git", "team/servers"},
		{"git@gitlab.example.org:/team/servers.git", "team/servers"},
		{"gitlab.example.org:servers", "servers"},
		{"git@[::1]:team/servers.git", "team/servers"},
		{"/srv/git/servers.git", "servers"},
		{"../servers/", "servers"},
		{"file:///srv/git/servers.git", "servers"},
		{"./a:b/servers.git", "servers"},
		{"..", ""},
		{"/", ""},
		{"", ""},
		{"https://exa mple/%zz", ""},
	}
	for _, test := range tests {
		if got := originPath(test.origin); got != test.want {
			t.Errorf("%q: got %q, want %q", test.origin, got, test.want)
		}
	}
}

func FuzzOriginPathKeepsNoCredentials(f *testing.F) {
	f.Add("gitlab.example.org", "team/servers.git")
	f.Add("[::1]", "a:b/c")
	f.Fuzz(func(t *testing.T, host, rest string) {
		if got := originPath("https://user:hunter2@" + host + "/" + rest); strings.Contains(got, "hunter2") && !strings.Contains(host+rest, "hunter2") {
			t.Errorf("%q holds the password", got)
		}
		originPath(rest)
	})
}

func FuzzParseCommit(f *testing.F) {
	f.Add([]byte("1767323045\x00Ada\x00subject\x00"), []byte("tree x\nparent y\n\nparent z\n"))
	f.Add([]byte("\x00\x00"), []byte("parent "))
	f.Fuzz(func(t *testing.T, log, object []byte) {
		commit, err := parseCommit(log)
		if err == nil && strings.ContainsRune(commit.Author+commit.Subject, 0) {
			t.Errorf("%q holds a NUL, which no database takes", commit.Subject)
		}
		parseParents(object)
	})
}

func TestAnUntrackedFileThatMattersMakesTheCheckoutDirty(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	s.write("tracked.yml", "a")
	s.commit("one")
	s.write("new.yml", "b")
	repo := s.open(nil)
	for name, dirty := range map[string]bool{"tracked.yml": false, "new.yml": true} {
		got, err := repo.Checkout(t.Context(), []string{filepath.Join(s.dir, name)})
		if err != nil || got.Dirty != dirty {
			t.Errorf("%s: dirty is %v, want %v (%v)", name, got.Dirty, dirty, err)
		}
	}
}
