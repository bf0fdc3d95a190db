package containers

import (
	"fmt"
	"io"
	"os"
)

// mostConfiguration bounds a file of Docker's client and what one of its credential
// helpers answers, in bytes.
const mostConfiguration = 1 << 20

// errConfiguration is one that is longer.
var errConfiguration = fmt.Errorf("it has more than %d MiB", mostConfiguration>>20)

// readConfiguration reads a file of Docker's client, 1 MiB at most.
func readConfiguration(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // which was only read from
	text, err := io.ReadAll(io.LimitReader(file, mostConfiguration+1))
	if err == nil && len(text) > mostConfiguration {
		return nil, fmt.Errorf("%s: %w", path, errConfiguration)
	}
	return text, err
}

// A shortAnswer takes what a helper answers, 1 MiB at most.
type shortAnswer struct {
	text []byte
	more bool // it had more, and was cut off
}

func (a *shortAnswer) Write(p []byte) (int, error) {
	if len(a.text)+len(p) > mostConfiguration {
		a.more = true
		return 0, errConfiguration
	}
	a.text = append(a.text, p...)
	return len(p), nil
}
