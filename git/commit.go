package git

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Resolve returns the commit that a revision names: a SHA, a branch, a tag,
// HEAD~3.
func (r *Repo) Resolve(ctx context.Context, rev string) (stopwatt.Commit, error) {
	sha, err := r.sha(ctx, rev)
	if err != nil {
		return stopwatt.Commit{}, err
	}
	return r.commit(ctx, sha)
}

// sha returns the full name of the commit that a revision names.
func (r *Repo) sha(ctx context.Context, rev string) (string, error) {
	// A name that begins with a dash is an option to git, and never a revision.
	if rev == "" || strings.HasPrefix(rev, "-") {
		return "", fmt.Errorf("%q names no commit", rev)
	}
	sha, err := r.line(ctx, r.top, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	if refused(err) {
		return "", r.unknown(ctx, rev)
	}
	return sha, err
}

// unknown says that a revision is not here, and why that may be.
func (r *Repo) unknown(ctx context.Context, rev string) error {
	shallow, err := r.line(ctx, r.top, "rev-parse", "--is-shallow-repository")
	if err == nil && shallow == "true" {
		return fmt.Errorf(`no commit %q in this shallow clone: git fetch --unshallow, or set GIT_DEPTH: "0" in the job`, rev)
	}
	return fmt.Errorf("no commit %q in this repository: git fetch, or mend the name", rev)
}

// commit reads the commit of this SHA.
func (r *Repo) commit(ctx context.Context, sha string) (stopwatt.Commit, error) {
	output, err := r.git(ctx, r.top, "log", "-1", "--no-show-signature", "--no-color", "--encoding=UTF-8",
		"--format=%ct%x00%an%x00%s%x00", sha, "--")
	if err != nil {
		return stopwatt.Commit{}, err
	}
	// The log of a shallow clone hides the parents of the commits at its edge;
	// the commit itself does not.
	object, err := r.git(ctx, r.top, "cat-file", "commit", sha)
	if err != nil {
		return stopwatt.Commit{}, err
	}
	commit, err := parseCommit(output)
	commit.SHA, commit.Parents = sha, parseParents(object)
	return commit, err
}

// parseCommit understands "time NUL author NUL subject NUL".
func parseCommit(output []byte) (stopwatt.Commit, error) {
	parts := bytes.SplitN(output, []byte{0}, 4)
	if len(parts) < 4 {
		return stopwatt.Commit{}, fmt.Errorf("git log: %q is no description of a commit", output)
	}
	seconds, err := strconv.ParseInt(string(parts[0]), 10, 64)
	if err != nil {
		return stopwatt.Commit{}, fmt.Errorf("git log: time of commit: %w", err)
	}
	return stopwatt.Commit{
		Time:    time.Unix(seconds, 0).UTC(),
		Author:  strings.ToValidUTF8(string(parts[1]), "\uFFFD"),
		Subject: strings.ToValidUTF8(string(parts[2]), "\uFFFD"),
	}, nil
}

// parseParents reads the parents from the header of a commit object.
func parseParents(object []byte) []string {
	var parents []string
	for line := range strings.Lines(string(object)) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			break // the message follows
		}
		if parent, ok := strings.CutPrefix(line, "parent "); ok {
			parents = append(parents, parent)
		}
	}
	return parents
}
