//go:build linux

package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"gitlab.com/stopwatt/stopwatt"
)

// longestLine bounds a line of the conversation: an order with a body of
// 64 MiB, in base64.
const longestLine = 100 << 20

// Converse carries out what it is told on in and answers on out, as described
// at stopwatt.DriveOrder. A command may stand bare or as a JSON string. An
// order that cannot be carried out is the Failure of every command after it.
// Converse returns nil when in has ended and the commands before that are
// answered; else it returns why it could not go on: in, out or ctx.
func Converse(ctx context.Context, in io.Reader, out io.Writer) error {
	return converse(ctx, Epoll{}, in, out)
}

func converse(ctx context.Context, driver Driver, in io.Reader, out io.Writer) error {
	lines := make(chan []byte)
	ended := make(chan error, 1)
	go func() { ended <- readLines(ctx, in, lines) }() // ends with its input: reading cannot be interrupted
	var c *conversation
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-ended:
			return err
		case line := <-lines:
			if c == nil {
				c = newConversation(driver, line)
				continue
			}
			say := func(report stopwatt.DriveReport) error { return json.NewEncoder(out).Encode(report) }
			if err := c.carryOut(ctx, command(line), say); err != nil {
				return fmt.Errorf("answer: %w", err)
			}
		}
	}
}

// readLines hands over every line of in that is not empty.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, longestLine)
	for scanner.Scan() {
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 {
			continue
		}
		select {
		case lines <- bytes.Clone(line):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := scanner.Err(); err != nil {
		return fmt.Errorf("read what to do: %w", err)
	}
	return nil
}

// command is the command of a line, which may be a JSON string.
func command(line []byte) string {
	var quoted string
	if json.Unmarshal(line, &quoted) == nil {
		return quoted
	}
	return string(line)
}

// A conversation carries out the commands of one order.
type conversation struct {
	driver    Driver
	order     stopwatt.DriveOrder
	fault     error   // the order cannot be carried out
	bodyBytes []int64 // of right answers, or AnyLength; empty: not known yet
}

func newConversation(driver Driver, line []byte) *conversation {
	c := &conversation{driver: driver}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields() // what we do not know we cannot carry out
	if err := decoder.Decode(&c.order); err != nil {
		c.fault = fmt.Errorf("the order is not understood: %w", err)
		return c
	}
	if err := CheckOrder(c.order); err != nil {
		c.fault = fmt.Errorf("the order cannot be carried out: %w", err)
	}
	return c
}

// carryOut carries out one command. It returns why its reports could not be
// said. Of a window, the end is told first: encoding what it came to takes longer.
func (c *conversation) carryOut(ctx context.Context, command string, say func(stopwatt.DriveReport) error) error {
	report, err := c.report(ctx, command)
	if err != nil {
		return say(stopwatt.DriveReport{Failure: err.Error()})
	}
	if report.Result != nil {
		if err := say(stopwatt.DriveReport{Ended: true}); err != nil {
			return err
		}
	}
	return say(report)
}

func (c *conversation) report(ctx context.Context, command string) (stopwatt.DriveReport, error) {
	if c.fault != nil {
		return stopwatt.DriveReport{}, c.fault
	}
	switch command {
	case stopwatt.CommandReady:
		return c.ready(ctx)
	case stopwatt.CommandWarm:
		return stopwatt.DriveReport{}, c.warm(ctx)
	case stopwatt.CommandFind:
		return c.find(ctx)
	case stopwatt.CommandDrive:
		result, err := c.driver.Drive(ctx, c.order, c.bodyBytes...)
		return stopwatt.DriveReport{Result: &result}, err
	case stopwatt.CommandVerify:
		right, _, err := verify(ctx, c.order)
		return stopwatt.DriveReport{Ready: &right}, err
	}
	return stopwatt.DriveReport{}, fmt.Errorf("unknown command %q; the commands are ready, warm, find, drive and verify", command)
}

// ready learns how long right bodies are, where the order says what is right
// and every request to it is the same.
func (c *conversation) ready(ctx context.Context) (stopwatt.DriveReport, error) {
	right, err := ready(ctx, c.order)
	if err != nil {
		return stopwatt.DriveReport{}, err
	}
	lengths := []int64{right.BodyBytes}
	if len(c.order.Others) > 0 {
		if _, lengths, err = verify(ctx, c.order); err != nil {
			return stopwatt.DriveReport{}, err
		}
	}
	for i, ask := range c.order.Asks() {
		if ask.Expect.BodySHA256 == "" {
			lengths[i] = AnyLength
		}
	}
	c.bodyBytes = lengths
	return stopwatt.DriveReport{Ready: &right}, nil
}

// warm drives the order's load for its Warmup and forgets the result. An open
// load comes at its mean rate meanwhile.
func (c *conversation) warm(ctx context.Context) error {
	if c.order.Warmup == 0 {
		return nil
	}
	order := c.order
	order.Load = order.Load.Lasting(order.Warmup)
	_, err := c.driver.Drive(ctx, order)
	return err
}
