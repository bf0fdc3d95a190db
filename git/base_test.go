package git

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

// A fork in the road: main has gone on by ten commits since the branch left it, and
// the branch has thirty of its own, more than a GitLab clone holds.
type road struct {
	origin                   scratch
	fork, main, head, merged string
}

func newRoad(t *testing.T) road {
	t.Helper()
	s := newScratch(t)
	s.many("before", 30)
	rd := road{origin: s, fork: s.git("rev-parse", "HEAD")}
	s.git("checkout", "--quiet", "-b", "faster")
	rd.head = s.many("faster", 30)
	s.git("checkout", "--quiet", "main")
	rd.main = s.many("main", 10)
	// What GitLab makes for merged results lies on no branch.
	rd.merged = s.git("commit-tree", rd.main+"^{tree}", "-p", rd.main, "-p", rd.head, "-m", "Merge branch 'faster' into 'main'")
	s.git("update-ref", "refs/merge-requests/7/merge", rd.merged)
	return rd
}

// many commits a number of times and returns the last SHA.
func (s scratch) many(what string, commits int) string {
	s.t.Helper()
	var stream strings.Builder
	branch := s.git("symbolic-ref", "HEAD")
	for i := range commits {
		subject := fmt.Sprintf("%s %d\n", what, i+1)
		fmt.Fprintf(&stream, "commit %s\ncommitter Ada Lovelace <ada@example.org> %d +0000\ndata %d\n%s", branch, 1767323045+i, len(subject), subject)
		if _, err := os.Stat(filepath.Join(s.dir, ".git", branch)); i == 0 && err == nil {
			fmt.Fprintf(&stream, "from %s^0\n", branch)
		}
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = s.dir, strings.NewReader(stream.String())
	if output, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("git fast-import: %v\n%s", err, output)
	}
	return s.git("rev-parse", "HEAD")
}

// clone checks out a commit as a GitLab runner does: a fetch of so many commits of
// it and a detached HEAD.
func (rd road) clone(t *testing.T, sha, depth string, settings ...string) scratch {
	t.Helper()
	c := scratch{t, filepath.Join(t.TempDir(), "servers")}
	c.must(os.Mkdir(c.dir, 0o755))
	c.git("init", "--quiet", "--initial-branch=main")
	c.git("remote", "add", "origin", "file://"+rd.origin.dir)
	args := []string{"fetch", "--quiet", "--no-tags"}
	if depth != "" {
		args = append(args, "--depth="+depth)
	}
	c.git(append(args, "origin", sha)...)
	c.git("checkout", "--quiet", "--detach", sha)
	for _, setting := range settings {
		name, value, _ := strings.Cut(setting, "=")
		c.git("config", name, value)
	}
	return c
}

func (rd road) pipeline(kind stopwatt.PipelineKind, commit string, bases ...string) stopwatt.Pipeline {
	p := stopwatt.Pipeline{Kind: kind, Commit: commit, MergeRequest: stopwatt.MergeRequest{TargetBranch: "main", SourceBranch: "faster"}}
	for _, sha := range bases {
		p.Bases = append(p.Bases, stopwatt.BaseCandidate{SHA: sha, Rule: "named"})
	}
	p.Bases = append(p.Bases, stopwatt.BaseCandidate{Rule: "merge base"})
	return p
}

func TestBase(t *testing.T) {
	t.Parallel()
	rd := newRoad(t)
	elsewhere := newScratch(t).many("unrelated", 1)
	strange := strings.Repeat("e", 40)
	detached := func(bases ...string) stopwatt.Pipeline { return rd.pipeline(stopwatt.SourceBranch, rd.head, bases...) }
	merged := func(bases ...string) stopwatt.Pipeline {
		return rd.pipeline(stopwatt.MergedResult, rd.merged, bases...)
	}
	noSHA := []string{"protocol.version=0"} // whose server keeps to its refs
	tests := []struct {
		name     string
		pipeline stopwatt.Pipeline
		depth    string
		settings []string
		base     string
		rule     string
		behind   int
		notes    []string
	}{
		{"the base that GitLab names, in a whole clone of the branch", detached(rd.fork), "", nil, rd.fork, "named", 10, nil},
		{"the base that GitLab names, beyond the edge of a clone of 20", detached(rd.fork), "20", nil, rd.fork, "named", 10, nil},
		{"the base that GitLab names, in a clone of the head alone", detached(rd.fork), "1", nil, rd.fork, "named", 10, nil},
		{"the same of an origin that gives no commit by its name", detached(rd.fork), "20", noSHA, rd.fork, "named", 10, nil},
		{"no base named, in a clone of 20", detached(), "20", nil, rd.fork, "merge base", 10, nil},
		{"no base named, in a clone of the head alone", detached(), "1", nil, rd.fork, "merge base", 10, nil},
		{"a base that was named for another target branch", detached(rd.main), "20", nil, rd.fork, "merge base", 10, []string{"not an ancestor of"}},
		{"a base that is nowhere any more", detached(strange), "20", nil, rd.fork, "merge base", 10, []string{"eeeeeeee"}},
		{"a base of another repository", detached(elsewhere), "1", nil, rd.fork, "merge base", 10, []string{"nowhere to be fetched from"}},
		{"a merged result against its target, in a clone of one commit", merged(rd.main), "1", nil, rd.main, "named", 0, nil},
		{"a merged result against its target, in a clone of 20", merged(rd.main), "20", nil, rd.main, "named", 0, nil},
		{"a merged result for which no target is told", merged(), "1", nil, rd.main, "merge base", 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := rd.clone(t, test.pipeline.Commit, test.depth, test.settings...)
			refs := c.git("for-each-ref")
			commit, choice, err := c.open(nil).Base(t.Context(), test.pipeline)
			if err != nil {
				t.Fatal(err)
			}
			if commit.SHA != test.base || choice.Rule != test.rule || choice.Behind != test.behind {
				t.Errorf("%s (%s) by %q, %d behind; want %s by %q, %d behind",
					commit.SHA, commit.Subject, choice.Rule, choice.Behind, test.base, test.rule, test.behind)
			}
			if len(choice.Notes) != len(test.notes) || len(test.notes) > 0 && !strings.Contains(choice.Notes[0], test.notes[0]) {
				t.Errorf("notes are %q, want %q", choice.Notes, test.notes)
			}
			if now := c.git("for-each-ref"); now != refs {
				t.Errorf("refs were %q and are %q", refs, now)
			}
			if _, err := c.open(nil).Context(t.Context(), c.dir, commit.SHA); err == nil || !strings.Contains(err.Error(), "holds no file") {
				t.Errorf("the tree of the base is not here: %v", err)
			}
		})
	}
}

func TestBaseOfATargetThatWasPushedOver(t *testing.T) {
	t.Parallel()
	rd := newRoad(t)
	rd.origin.git("reset", "--quiet", "--soft", rd.fork)
	other := rd.origin.many("instead", 3)
	c := rd.clone(t, rd.merged, "20")
	commit, choice, err := c.open(nil).Base(t.Context(), rd.pipeline(stopwatt.MergedResult, rd.merged, rd.main))
	if err != nil || commit.SHA != rd.main || choice.Behind != -1 {
		t.Errorf("%s, %+v, %v; want what the commit was merged into, %s", commit.SHA, choice, err, rd.main)
	}
	commit, choice, err = c.open(nil).Base(t.Context(), rd.pipeline(stopwatt.SourceBranch, rd.head))
	if err != nil || commit.SHA != rd.fork || choice.Behind != 3 {
		t.Errorf("%s, %+v, %v; want the merge base with %s, %s", commit.SHA, choice, err, other, rd.fork)
	}
}

// A shallow clone may show a common ancestor that is not the best: here the branch has
// merged main of long ago in its last commit, and left the younger main forty commits ago.
func TestTheMergeBaseThatAShallowCloneShowsIsNotTaken(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	old := s.many("old", 5)
	fork := s.many("young", 3)
	s.git("checkout", "--quiet", "-b", "faster")
	s.many("faster", 40)
	head := s.git("commit-tree", "HEAD^{tree}", "-p", "HEAD", "-p", old, "-m", "merge what was merged")
	s.git("reset", "--quiet", "--soft", head)
	rd := road{origin: s}
	c := rd.clone(t, head, "20")
	c.git("fetch", "--quiet", "--depth=20", "origin", "main")
	if shown := c.git("merge-base", head, "FETCH_HEAD"); shown != old {
		t.Fatalf("the clone shows %s, and the test wants it to be misled to %s", shown, old)
	}
	commit, _, err := c.open(nil).Base(t.Context(), rd.pipeline(stopwatt.SourceBranch, head))
	if err != nil || commit.SHA != fork {
		t.Errorf("%s (%s), %v; want %s", commit.SHA, commit.Subject, err, fork)
	}
}

func TestNoBaseline(t *testing.T) {
	t.Parallel()
	rd := newRoad(t)
	rd.origin.git("checkout", "--quiet", "--orphan", "unrelated")
	rd.origin.many("unrelated", 2)
	gone := rd.pipeline(stopwatt.SourceBranch, rd.head)
	gone.MergeRequest.TargetBranch = "gone"
	unrelated := rd.pipeline(stopwatt.SourceBranch, rd.head, rd.origin.git("rev-parse", "unrelated"))
	unrelated.MergeRequest.TargetBranch = "unrelated"
	forked := rd.pipeline(stopwatt.SourceBranch, rd.head)
	forked.Fork, forked.MergeRequest.ProjectURL = true, "https://user:secret@127.0.0.1:1/team/servers"
	tests := []struct {
		name     string
		pipeline stopwatt.Pipeline
		break_   func(scratch)
		says     string
	}{
		{"a target branch that was deleted", gone, nil, `origin has no branch "gone" any more`},
		{"a target branch without a common commit", unrelated, nil, "the two have no commit in common"},
		{"a pipeline for no merge request", stopwatt.Pipeline{Commit: rd.head}, nil, "for no merge request"},
		{"a commit that is not here", rd.pipeline(stopwatt.SourceBranch, strings.Repeat("f", 40)), nil, "ffffffff"},
		{"an origin that is gone", rd.pipeline(stopwatt.SourceBranch, rd.head, rd.fork),
			func(c scratch) {
				c.git("remote", "set-url", "origin", "https://gitlab-ci-token:secret@127.0.0.1:1/none.git")
			}, "merge base with main"},
		{"a parent project that does not let the fork in", forked, nil, "127.0.0.1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			c := rd.clone(t, rd.head, "20")
			if test.break_ != nil {
				test.break_(c)
			}
			commit, _, err := c.open(nil).Base(t.Context(), test.pipeline)
			if !errors.Is(err, ErrNoBaseline) {
				t.Fatalf("%s, %v; want ErrNoBaseline", commit.SHA, err)
			}
			if !strings.Contains(err.Error(), test.says) {
				t.Errorf("%q does not say %q", err, test.says)
			}
			if strings.Contains(err.Error(), "secret") {
				t.Errorf("%q shows a password", err)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	rd := newRoad(t)
	rd.origin.git("checkout", "--quiet", "faster")
	head := rd.origin.commit("faster 31\n\nBody.\n\nStopwatt-Accept: go/hello \"meant\"")
	for _, depth := range []string{"", "1", "20"} {
		t.Run("in a clone of depth "+depth, func(t *testing.T) {
			t.Parallel()
			c := rd.clone(t, head, depth)
			r := c.open(nil)
			c.must(r.Present(t.Context(), rd.fork))
			messages, err := r.Messages(t.Context(), rd.fork, "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			first := messages[0]
			if first.SHA != head || first.Author != "Ada Lovelace" || !strings.HasSuffix(first.Text, "Stopwatt-Accept: go/hello \"meant\"") {
				t.Errorf("the youngest is %+v", first)
			}
			if len(messages) != 31 || messages[30].Text != "faster 1" {
				t.Errorf("%d messages down to %q, want 31 down to faster 1", len(messages), messages[len(messages)-1].Text)
			}
		})
	}
	c := rd.clone(t, head, "")
	if none, err := c.open(nil).Messages(t.Context(), head, head); err != nil || len(none) != 0 {
		t.Errorf("%v, %v; want no message between a commit and itself", none, err)
	}
}

func TestPasswordsAreTakenOutOfURLs(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"a token", "fatal: unable to access 'https://gitlab-ci-token:abc@h.example/x.git/'", "fatal: unable to access 'https://h.example/x.git/'"},
		{"two on a line", "http://a@h/ and ssh://b:c@h/", "http://h/ and ssh://h/"},
		{"an address of mail in a path", "https://h.example/a@b", "https://h.example/a@b"},
		{"nothing", "no URL, user@h:team/servers", "no URL, user@h:team/servers"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := withoutPasswords(test.text); got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func FuzzParseMessages(f *testing.F) {
	f.Add([]byte("abc\x001700000000\x00Ada\x00subject\x00subject\n\nbody\n\x00"))
	f.Add([]byte("abc\x001700000000\x00\x00\x00\x00abd\x00-1\x00\xff\x00\x00"))
	f.Fuzz(func(t *testing.T, output []byte) {
		messages, err := parseMessages(output)
		if err == nil && len(messages)*5 != len(fields(output)) {
			t.Errorf("%q was read as %d messages", output, len(messages))
		}
	})
}
