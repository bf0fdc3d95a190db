//go:build linux

package agent

import (
	"hash"
	"io"
	"os"
	"time"
)

// An output is a program's standard output or error. Its zero value is
// /dev/null.
type output struct {
	piped bool      // it is read
	sum   hash.Hash // of all that is read; nil: none is made
	keeps int       // bytes that are kept
	last  bool      // the last of them; else the first

	reads, writes *os.File
	done          chan struct{}
	kept          []byte
	bytes         int64 // that were read
	open          bool  // it did not end when its program had
}

// begin opens a pipe and reads it. A null output needs none.
func (o *output) begin() error {
	if !o.piped {
		return nil
	}
	var err error
	if o.reads, o.writes, err = os.Pipe(); err != nil {
		return err
	}
	o.done = make(chan struct{})
	go o.read()
	return nil
}

func (o *output) read() {
	defer close(o.done)
	_, err := io.Copy(o, o.reads)
	o.open = err != nil
}

// Write takes what was read.
func (o *output) Write(p []byte) (int, error) {
	o.bytes += int64(len(p))
	if o.sum != nil {
		o.sum.Write(p)
	}
	switch {
	case o.last:
		o.kept = append(o.kept, p...)
		o.kept = o.kept[max(0, len(o.kept)-o.keeps):]
	case len(o.kept) < o.keeps:
		o.kept = append(o.kept, p[:min(len(p), o.keeps-len(o.kept))]...)
	}
	return len(p), nil
}

// end waits for the end of what is read, when the program has ended. Something
// that it has left behind may hold it open.
func (o *output) end(within time.Duration) {
	if !o.piped {
		return
	}
	_ = o.writes.Close() // nothing was written to it here
	_ = o.reads.SetReadDeadline(time.Now().Add(within))
	<-o.done
	_ = o.reads.Close() // it was only read from
}
