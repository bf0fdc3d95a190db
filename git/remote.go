package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A remote is where missing commits are fetched from: the origin, as the job has
// left it with its credentials, or a URL.
type remote string

const origin remote = "origin"

// steps are how a shallow clone is deepened until a question has its answer. Fifty
// first, because GitLab clones twenty and most branches are shorter than that; then
// by leaps, since a fetch costs a round trip whatever it brings.
var steps = []string{"--deepen=50", "--deepen=500", "--deepen=5000", "--unshallow"}

// fetch brings objects and changes nothing else: no ref, no tag, not FETCH_HEAD. It
// starts no upkeep, which would still run while something is measured.
func (r *Repo) fetch(ctx context.Context, from remote, depth string, wants ...string) error {
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--refmap=", "--stdin"}
	if depth != "" {
		args = append(args, depth)
	}
	_, err := r.run(ctx, call{dir: r.top, env: []string{protocols}, args: append(args, "--", string(from)),
		input: strings.NewReader(strings.Join(wants, "\n") + "\n")})
	return err
}

// Present makes sure that a commit, named whole, is in this clone, if need be by
// fetching it from the origin. To a shallow clone the commit alone is added; where the
// origin gives no commit by its name, the clone is deepened until it is there.
func (r *Repo) Present(ctx context.Context, sha string) error {
	return r.present(ctx, origin, sha)
}

func (r *Repo) present(ctx context.Context, from remote, sha string) error {
	if !wholeName.MatchString(sha) {
		return fmt.Errorf("%q is not the whole name of a commit", sha)
	}
	if r.has(ctx, sha) {
		return nil
	}
	shallow, err := r.shallow(ctx)
	if err != nil {
		return err
	}
	depth := ""
	if shallow {
		depth = "--depth=1"
	}
	refusal := r.fetch(ctx, from, depth, sha)
	if refusal == nil && r.has(ctx, sha) {
		return nil
	}
	err = r.deepenUntil(ctx, from, nil, func(bool) (bool, error) { return r.has(ctx, sha), nil })
	if errors.Is(err, errTooShort) {
		err = fmt.Errorf("commit %s is nowhere to be fetched from: %w (%v)", sha, err, refusal)
	}
	return err
}

// errTooShort is what deepenUntil ends in when all history that could be had was not
// enough.
var errTooShort = errors.New("the history does not hold it")

// deepenUntil asks a question of the history, and deepens a shallow clone until it
// is answered. whole says that nothing of the history is cut off.
func (r *Repo) deepenUntil(ctx context.Context, from remote, tips []string, answered func(whole bool) (bool, error)) error {
	for at := 0; ; at++ {
		shallow, err := r.shallow(ctx)
		if err != nil {
			return err
		}
		if done, err := answered(!shallow); err != nil || done {
			return err
		}
		if !shallow || at == len(steps) {
			return errTooShort
		}
		if err := r.deepen(ctx, from, steps[at], tips); err != nil {
			return err
		}
	}
}

// deepen fetches more of the history of the tips. An origin that gives no commit by
// its name gives those of its branches.
func (r *Repo) deepen(ctx context.Context, from remote, step string, tips []string) error {
	if len(tips) > 0 {
		err := r.fetch(ctx, from, step, tips...)
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	branches, err := r.branches(ctx, from)
	if err != nil || len(branches) == 0 {
		return err
	}
	return r.fetch(ctx, from, step, slices.Collect(maps.Values(branches))...)
}

// branches are the commits that the branches of a remote point at, by their names.
func (r *Repo) branches(ctx context.Context, from remote) (map[string]string, error) {
	output, err := r.run(ctx, call{dir: r.top, env: []string{protocols},
		args: []string{"ls-remote", "--quiet", "--heads", "--", string(from)}})
	if err != nil {
		return nil, err
	}
	return parseBranches(output), nil
}

// parseBranches reads a line for each ref: its commit and, behind a tab, its name.
func parseBranches(output []byte) map[string]string {
	branches := map[string]string{}
	for line := range strings.Lines(string(output)) {
		sha, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if name, ok := strings.CutPrefix(ref, "refs/heads/"); ok && wholeName.MatchString(sha) {
			branches[name] = sha
		}
	}
	return branches
}

// shallow tells whether the history of this clone is cut off somewhere.
func (r *Repo) shallow(ctx context.Context) (bool, error) {
	said, err := r.line(ctx, r.top, "rev-parse", "--is-shallow-repository")
	return said == "true", err
}

// has tells whether a commit is here.
func (r *Repo) has(ctx context.Context, sha string) bool {
	_, err := r.git(ctx, r.top, "cat-file", "-e", sha+"^{commit}")
	return err == nil
}

// password is what stands before the host in a URL.
var password = regexp.MustCompile(`(://)[^/@\s'"]*@`)

// withoutPasswords takes the credentials out of every URL in a text.
func withoutPasswords(text string) string { return password.ReplaceAllString(text, "$1") }
