package git

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain gives git no configuration but the repository's own: neither a
// user's, nor the machine's, nor that of a CI job that these tests run in.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "CI_") || name == "GITLAB_CI" {
			os.Unsetenv(name)
		}
	}
	os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	os.Unsetenv("HOME")
	os.Unsetenv("XDG_CONFIG_HOME")
	goleak.VerifyTestMain(m)
}

// scratch is a repository of one test.
type scratch struct {
	t   *testing.T
	dir string
}

// newScratch makes a repository without a commit.
func newScratch(t *testing.T) scratch {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scratch{t, filepath.Join(dir, "servers")}
	s.must(os.Mkdir(s.dir, 0o755))
	s.git("init", "--quiet", "--initial-branch=main")
	return s
}

// newCommitted makes a repository with the folders go and rust committed.
func newCommitted(t *testing.T) scratch {
	t.Helper()
	s := newScratch(t)
	s.write("go/Dockerfile", "FROM scratch\n")
	s.write("go/main.go", "package main\n")
	s.write("rust/Dockerfile", "FROM scratch\n")
	s.commit("the first of all")
	return s
}

func (s scratch) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// git runs git in the scratch repository and returns what it prints.
func (s scratch) git(args ...string) string {
	s.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always"}, args...)...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(),
		"GIT_AUTHOR_NAME=Ada Lovelace", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_AUTHOR_DATE=2026-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=Ada Lovelace", "GIT_COMMITTER_EMAIL=ada@example.org", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	output, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, output)
	}
	return strings.TrimSpace(string(output))
}

// write writes a file, its folders too.
func (s scratch) write(name, text string) {
	s.t.Helper()
	file := filepath.Join(s.dir, name)
	s.must(os.MkdirAll(filepath.Dir(file), 0o755))
	s.must(os.WriteFile(file, []byte(text), 0o644))
}

// commit commits all there is and returns the SHA.
func (s scratch) commit(subject string) string {
	s.t.Helper()
	s.git("add", "--all")
	s.git("commit", "--quiet", "--allow-empty", "--message", subject)
	return s.git("rev-parse", "HEAD")
}

// open opens the repository with the environment of a job.
func (s scratch) open(job map[string]string) *Repo {
	s.t.Helper()
	r, err := Open(s.t.Context(), s.dir)
	s.must(err)
	r.Getenv = func(name string) string { return job[name] }
	return r
}
