package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"

	"gitlab.com/stopwatt/stopwatt"
)

// A Mirror is a bare clone of another repository, kept for the next time.
type Mirror struct {
	repo *Repo // whose top is the clone
	url  string
}

// OpenMirror clones the repository of this URL into a folder of its own below
// cache, or fetches what is new in the clone that is there. A clone that holds
// the commit rev, named whole, is taken as it is.
func OpenMirror(ctx context.Context, cache, url, rev string) (*Mirror, error) {
	name := sha256.Sum256([]byte(url))
	m := &Mirror{&Repo{Getenv: os.Getenv, bare: true, top: filepath.Join(cache, hex.EncodeToString(name[:16])+".git")}, url}
	if _, err := os.Stat(m.repo.top); err != nil {
		return m, m.clone(ctx, cache)
	}
	if wholeName.MatchString(rev) {
		if _, err := m.repo.sha(ctx, rev); err == nil {
			return m, nil
		}
	}
	if _, err := m.repo.run(ctx, m.call("fetch", "--quiet", "--prune", "origin")); err != nil {
		return nil, fmt.Errorf("repository %s: %w", withoutPasswords(url), err)
	}
	return m, nil
}

// wholeName is the whole name of a commit, which stays what it is.
var wholeName = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// protocols are those that a repository may be fetched by. Others run a program
// that the URL names.
const protocols = "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh"

// call is an invocation of git in the clone.
func (m *Mirror) call(args ...string) call {
	return call{dir: m.repo.top, args: args, env: []string{protocols}}
}

// clone makes the clone. One that was broken off leaves nothing.
func (m *Mirror) clone(ctx context.Context, cache string) (err error) {
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	begun, err := os.MkdirTemp(cache, "begun-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(begun)) }()
	whole := m.call("clone", "--quiet", "--mirror", "--", m.url, filepath.Join(begun, "clone"))
	whole.dir = begun
	if _, err := m.repo.run(ctx, whole); err != nil {
		return fmt.Errorf("repository %s: %w", withoutPasswords(m.url), err)
	}
	return os.Rename(filepath.Join(begun, "clone"), m.repo.top)
}

// Resolve returns the commit that a revision names in the repository; an empty
// one is the commit of its default branch.
func (m *Mirror) Resolve(ctx context.Context, rev string) (stopwatt.Commit, error) {
	if rev == "" {
		rev = "HEAD"
	}
	commit, err := m.repo.Resolve(ctx, rev)
	if err != nil {
		return commit, fmt.Errorf("repository %s: %w", withoutPasswords(m.url), err)
	}
	return commit, nil
}

// Context returns a folder of the repository, as this commit has it, as a build
// context. The folder is relative to the repository's uppermost one.
func (m *Mirror) Context(ctx context.Context, folder, sha string) (stopwatt.BuildContext, error) {
	below := path.Clean(folder)
	if !filepath.IsLocal(below) {
		return stopwatt.BuildContext{}, fmt.Errorf("build context %s lies outside the repository %s", folder, withoutPasswords(m.url))
	}
	return describe(m.repo.past(ctx, sha, below), fmt.Sprintf("build context %s of %s at %s", below, withoutPasswords(m.url), sha[:8]))
}
