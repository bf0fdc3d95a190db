package git

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// A Message is what a commit says, with who said it.
type Message struct {
	SHA    string
	Author string
	Time   time.Time // of committing
	Text   string    // subject, body and trailers
}

// Messages are those of the commits that head has and base has not, the youngest
// first. In a shallow clone as much is fetched as that takes.
func (r *Repo) Messages(ctx context.Context, base, head string) ([]Message, error) {
	for _, rev := range []*string{&base, &head} {
		sha, err := r.sha(ctx, *rev)
		if err != nil {
			return nil, err
		}
		*rev = sha
	}
	err := r.deepenUntil(ctx, origin, []string{head, base}, func(whole bool) (bool, error) {
		if whole {
			return true, nil
		}
		return r.settled(ctx, base, head)
	})
	if err != nil {
		return nil, fmt.Errorf("messages of %s..%s: %w", short(base), short(head), err)
	}
	output, err := r.git(ctx, r.top, "log", "--no-show-signature", "--no-color", "--encoding=UTF-8", "-z",
		"--format=%H%x00%ct%x00%an%x00%s%x00%B", head, "^"+base, "--")
	if err != nil {
		return nil, err
	}
	return parseMessages(output)
}

// parseMessages understands "SHA NUL time NUL author NUL subject NUL message NUL", again
// and again.
func parseMessages(output []byte) ([]Message, error) {
	parts := fields(output)
	if len(parts)%5 != 0 {
		return nil, fmt.Errorf("git log: %d fields are no whole messages", len(parts))
	}
	var messages []Message
	for ; len(parts) > 0; parts = parts[5:] {
		commit, err := parseCommit([]byte(strings.Join(parts[1:4], "\x00") + "\x00"))
		if err != nil {
			return nil, err
		}
		messages = append(messages, Message{SHA: parts[0], Author: commit.Author, Time: commit.Time,
			Text: strings.TrimSpace(strings.ToValidUTF8(parts[4], "\uFFFD"))})
	}
	return messages, nil
}
