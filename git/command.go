package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// misleading are the variables that hooks and scripts set for a repository of
// their own, or that change what a name means. What people set to be let in
// (GIT_CONFIG_COUNT with safe.directory, GIT_CONFIG_GLOBAL, GIT_SSH_COMMAND) is
// left alone.
var misleading = []string{
	"GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX",
	"GIT_INTERNAL_SUPER_PREFIX", "GIT_NAMESPACE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_QUARANTINE_PATH", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_ATTR_SOURCE",
	"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS",
	"GIT_OPTIONAL_LOCKS", "GIT_TERMINAL_PROMPT", "LC_ALL",
}

// settings keep the repository's own configuration from starting programs and
// from writing beside the index that it was told to write.
var settings = []string{
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.splitIndex=false",
}

// A call is one invocation of git.
type call struct {
	dir   string
	args  []string
	env   []string  // beside the usual
	input io.Reader // nil: none
	most  int       // bytes of what it prints; 0: mostOutput
}

// git runs git in a folder and returns what it prints.
func (r *Repo) git(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return r.run(ctx, call{dir: dir, args: args})
}

// line runs git for an answer of one line.
func (r *Repo) line(ctx context.Context, dir string, args ...string) (string, error) {
	output, err := r.git(ctx, dir, args...)
	// One line feed only: a folder's name may end with one of its own.
	return strings.TrimSuffix(string(output), "\n"), err
}

// What is kept of what git prints, in bytes. The longest that is asked for is the
// list of a commit's files: half a million of them have a quarter of it.
const (
	mostOutput    = 256 << 20
	mostComplaint = 64 << 10
)

// A bounded holds what is written to it, up to most bytes, and notes when it had
// more. It takes everything, so that who writes it is not held up.
type bounded struct {
	text []byte
	most int
	more bool
}

func (b *bounded) Write(p []byte) (int, error) {
	kept := min(len(p), b.most-len(b.text))
	b.text = append(b.text, p[:kept]...)
	b.more = b.more || kept < len(p)
	return len(p), nil
}

// run carries out a call. Of what git prints 256 MiB are read.
func (r *Repo) run(ctx context.Context, c call) ([]byte, error) {
	stdout, stderr := bounded{most: cmp.Or(c.most, mostOutput)}, bounded{most: mostComplaint}
	cmd := exec.CommandContext(ctx, "git", slices.Concat(settings, r.trust(), c.args)...)
	cmd.Dir = c.dir
	cmd.Env = slices.Concat(environment(os.Environ()), c.env)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.input, &stdout, &stderr
	// A filter that git has started may hold the pipes open after git is gone.
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return nil, explain(ctx, c, err, string(stderr.text))
	}
	if stdout.more {
		return nil, fmt.Errorf("git %s: it prints more than %d MiB", c.args[0], stdout.most>>20)
	}
	return stdout.text, nil
}

// trust lets git read the checkout that a GitLab runner made as another user
// than the one the job runs as.
func (r *Repo) trust() []string {
	project := r.Getenv("CI_PROJECT_DIR")
	if r.Getenv("GITLAB_CI") != "true" || project == "" {
		return nil
	}
	return []string{"-c", "safe.directory=" + project}
}

// environment is what git is run with: the process's own without what misleads,
// messages in English, names taken literally, no lock taken, nothing asked.
func environment(own []string) []string {
	env := slices.DeleteFunc(slices.Clone(own), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(misleading, name)
	})
	return append(env, "LC_ALL=C", "GIT_LITERAL_PATHSPECS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0")
}

// explain turns a failed call into an error that says what to do.
func explain(ctx context.Context, c call, err error, stderr string) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("git %s: %w", c.args[0], ctx.Err())
	case errors.Is(err, exec.ErrNotFound):
		return errors.New("git is not installed: apt-get install git")
	case strings.Contains(stderr, "not a git repository"):
		return fmt.Errorf("%s: %w", c.dir, ErrNoRepository)
	case strings.Contains(stderr, "dubious ownership"):
		return fmt.Errorf("git does not read %s, because another user owns it: git config --global --add safe.directory %s", c.dir, quote(c.dir))
	}
	// Of what is fetched from, the address may hold the token of the job.
	if said := strings.TrimSpace(withoutPasswords(stderr)); said != "" {
		return fmt.Errorf("git %s: %w: %s", c.args[0], err, said)
	}
	return fmt.Errorf("git %s: %w", c.args[0], err)
}

// quote makes a path one word of a shell command, for a remedy to be pasted.
func quote(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// refused tells whether git answered no, rather than failed.
func refused(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == 1
}
