package git

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// landingFormat is a record of git log that parseLandings understands: each field
// ends with a NUL, which no message holds.
const landingFormat = "--format=%H%x00%P%x00%cn%x00%b%x00%ct%x00%an%x00%s%x00"

// Landings are the commits that a branch went through after the commit past, up to
// and including reached: its first-parent history, the oldest first. An empty past is
// the beginning. Positions and what merges brought are not known here.
func (r *Repo) Landings(ctx context.Context, past, reached string) ([]stopwatt.Landing, error) {
	output, err := r.log(ctx, past, reached, "--first-parent", "--reverse")
	if err != nil {
		return nil, fmt.Errorf("list the commits up to %.8s: %w", reached, err)
	}
	return parseLandings(output)
}

// Brought are the commits that a merge brought to its first parent, merges left out,
// the newest first. Of a commit that is no merge there are none.
func (r *Repo) Brought(ctx context.Context, merge stopwatt.Commit) ([]stopwatt.Commit, error) {
	if len(merge.Parents) < 2 {
		return nil, nil
	}
	output, err := r.log(ctx, merge.Parents[0], merge.SHA, "--no-merges")
	if err != nil {
		return nil, fmt.Errorf("list what %.8s merged: %w", merge.SHA, err)
	}
	landings, err := parseLandings(output)
	var commits []stopwatt.Commit
	for _, landing := range landings {
		commits = append(commits, landing.Commit)
	}
	return commits, err
}

// log describes the commits of a range.
func (r *Repo) log(ctx context.Context, past, reached string, how ...string) ([]byte, error) {
	args := append([]string{"log", "--no-show-signature", "--no-color", "--encoding=UTF-8", landingFormat}, how...)
	if past != "" {
		args = append(args, "^"+past)
	}
	return r.git(ctx, r.top, append(args, reached, "--")...)
}

// reference is how GitLab's merge commits name their merge request: with the path of
// its project, which is left out.
var reference = regexp.MustCompile(`(?m)^See merge request \S*(![0-9]+)\r?$`)

// parseLandings understands records of landingFormat, with the line feed that git
// puts between them.
func parseLandings(output []byte) ([]stopwatt.Landing, error) {
	const fields = 7
	var landings []stopwatt.Landing
	for len(bytes.TrimLeft(output, "\n")) > 0 {
		parts := bytes.SplitN(bytes.TrimLeft(output, "\n"), []byte{0}, fields+1)
		if len(parts) <= fields {
			return nil, fmt.Errorf("git log: %.80q is no description of a commit", output)
		}
		commit, err := parseCommit(bytes.Join(append(parts[4:7:7], nil), []byte{0}))
		if err != nil {
			return nil, err
		}
		commit.SHA, commit.Parents = string(parts[0]), strings.Fields(string(parts[1]))
		landing := stopwatt.Landing{Commit: commit, Merger: strings.ToValidUTF8(string(parts[2]), "\uFFFD")}
		if len(commit.Parents) > 1 {
			landing.Merger = commit.Author
		}
		if named := reference.FindSubmatch(parts[3]); named != nil {
			landing.MergeRequest = string(named[1])
		}
		landings = append(landings, landing)
		output = parts[fields]
	}
	return landings, nil
}
