package containers

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"
)

// Attach opens a conversation with a container that was ordered with Stdin and
// was not started yet: what is written goes to its standard input, what it
// writes to standard output is read. Standard error is in its log (see Fate).
//
// The connection has a CloseWrite, after which the container sees the end of
// its input. It outlives ctx, as connections do: close it to stop a read.
func (d *Docker) Attach(ctx context.Context, id string) (io.ReadWriteCloser, error) {
	hijacked, err := d.client.ContainerAttach(ctx, id, container.AttachOptions{
		Stream: true, Stdin: true, Stdout: true, Stderr: true,
	})
	if err != nil {
		return nil, attempted("attach to container", err)
	}
	return &conversation{hijacked: hijacked, frames: frameReader{from: hijacked.Reader}}, nil
}

// A conversation is the standard streams of one container.
type conversation struct {
	hijacked types.HijackedResponse
	frames   frameReader
	close    sync.Once
}

func (c *conversation) Read(p []byte) (int, error)  { return c.frames.Read(p) }
func (c *conversation) Write(p []byte) (int, error) { return c.hijacked.Conn.Write(p) }

// CloseWrite ends the container's standard input; its output can still be read.
func (c *conversation) CloseWrite() error { return c.hijacked.CloseWrite() }

// Close ends the conversation, and a Read that waits. It may be called twice.
func (c *conversation) Close() error {
	c.close.Do(c.hijacked.Close)
	return nil
}

// A frameReader picks standard output from a stream that the engine has
// multiplexed: frames of an eight-byte head (kind, three zeros, length) and
// their content. It reads no further than it is asked to, so that it needs no
// goroutine.
type frameReader struct {
	from io.Reader
	both bool  // standard error is picked, too
	left int64 // bytes that the current frame still holds of what is picked
}

// Read returns what is picked alone.
func (r *frameReader) Read(p []byte) (int, error) {
	for r.left == 0 {
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n, err := r.from.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	if err == io.EOF && r.left > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// next goes to the next frame, and over its content when that is not standard
// output.
func (r *frameReader) next() error {
	var head [8]byte
	if _, err := io.ReadFull(r.from, head[:]); err != nil {
		return err
	}
	length := int64(binary.BigEndian.Uint32(head[4:]))
	switch kind := stdcopy.StdType(head[0]); kind {
	case stdcopy.Stdout:
		r.left = length
		return nil
	case stdcopy.Stdin, stdcopy.Stderr:
		if r.both && kind == stdcopy.Stderr {
			r.left = length
			return nil
		}
		_, err := io.CopyN(io.Discard, r.from, length)
		return err
	default:
		return fmt.Errorf("attached stream: frame of unknown kind %d", kind)
	}
}
