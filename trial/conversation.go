package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"gitlab.com/stopwatt/stopwatt"
)

// A conversation is a container that runs the agent, and what is said with it: a
// line in, a line out.
type conversation struct {
	container
	streams io.ReadWriteCloser
	answers *stopwatt.LineReader
}

// longestLine bounds a line of what an agent says, in bytes: a million repetitions
// have 190 MB, the results of a harness, in base64, at most half of that. Code under
// test that gets hold of the stream can say no more.
const longestLine = 256 << 20

// open makes the container and opens its streams. Nothing stays when it fails.
func (c *conversation) open(ctx context.Context, order stopwatt.ContainerOrder) error {
	order.Stdin = true
	if err := c.create(ctx, order); err != nil {
		return err
	}
	var err error
	c.streams, err = c.bench.Containers.Attach(ctx, c.ID)
	if err != nil {
		c.remove(ctx)
		return fmt.Errorf("attach to the %s: %w", c.role, err)
	}
	c.answers = stopwatt.NewLineReader(c.streams, longestLine)
	return nil
}

// begin starts the container and hands the agent its order.
func (c *conversation) begin(ctx context.Context, order any) error {
	if err := c.start(ctx); err != nil {
		return err
	}
	return c.tell(ctx, order)
}

// tell sends one line.
func (c *conversation) tell(ctx context.Context, line any) error {
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("write to the %s: %w", c.role, err)
	}
	if _, err := c.streams.Write(append(text, '\n')); err != nil {
		return c.broken(ctx, err)
	}
	return nil
}

// line gives one command and waits for the line that answers it.
func (c *conversation) line(ctx context.Context, command string) ([]byte, error) {
	letGo := context.AfterFunc(ctx, func() { _ = c.streams.Close() }) // which lets the reader go: its error counts
	defer letGo()
	if err := c.tell(ctx, command); err != nil {
		return nil, err
	}
	return c.next(ctx)
}

// next waits for the next line. It is let go when ctx ends.
func (c *conversation) next(ctx context.Context) ([]byte, error) {
	letGo := context.AfterFunc(ctx, func() { _ = c.streams.Close() }) // which lets the reader go: its error counts
	defer letGo()
	line, err := c.answers.Next()
	if err != nil {
		return nil, c.broken(ctx, err)
	}
	return line, nil
}

// broken says why the conversation ended: because of ctx, if that is so.
func (c *conversation) broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	fate, fateErr := c.bench.Containers.Fate(ctx, c.ID)
	if fateErr != nil || fate.Running {
		return fmt.Errorf("talk to the %s: %w", c.role, errors.Join(err, fateErr))
	}
	return fmt.Errorf("the %s exited with %d: %v", c.role, fate.ExitCode, fate.Log)
}

// remove ends the conversation and takes the container away.
func (c *conversation) remove(ctx context.Context) {
	if c.streams != nil {
		_ = c.streams.Close() // the container is removed next, whatever this says
	}
	c.container.remove(ctx)
}
