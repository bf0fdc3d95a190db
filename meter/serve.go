package meter

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// longestLine bounds a line of the conversation: an hour of samples of all
// meters and columns, ten a second, has some 15 MB.
const longestLine = 64 << 20

var (
	errNotOpen = errors.New("the station is not open: the first question opens it")
	errUnknown = errors.New("no such question can be answered here")
)

// Serve answers an Elsewhere's questions about this machine until they end,
// when it returns nil. Energy meters that are asked over the network or by a
// program are not read here: the asker reads them itself.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	questions := make(chan []byte)
	ended := make(chan error, 1)
	go func() { // ends with its input: reading cannot be interrupted
		ended <- readQuestions(ctx, in, questions)
		cancel() // nobody waits for an answer any more
	}()
	s := &session{accounts: map[int]Accounting{}, watches: map[int]Watching{}}
	defer s.close()
	for {
		select {
		case <-ctx.Done():
			return <-ended
		case line := <-questions:
			if err := json.NewEncoder(out).Encode(s.answered(ctx, line)); err != nil {
				return fmt.Errorf("answer: %w", err)
			}
		}
	}
}

// readQuestions hands over every line.
func readQuestions(ctx context.Context, in io.Reader, questions chan<- []byte) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
		select {
		case questions <- bytes.Clone(scanner.Bytes()):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("read questions: %w", err)
	}
	return nil
}

// answered is the answer to a line.
func (s *session) answered(ctx context.Context, line []byte) answer {
	var q question
	if err := json.Unmarshal(line, &q); err != nil {
		return answer{Failure: "the question: " + err.Error()}
	}
	a, err := s.answer(ctx, q)
	if err != nil {
		return answer{Failure: err.Error()}
	}
	return a
}
