package spool

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// An Item is one thing that waits for the database: exactly one of its fields
// is set.
type Item struct {
	Trial       *stopwatt.Trial       `json:",omitempty"`
	Idle        *stopwatt.IdleWindow  `json:",omitempty"`
	DriverShare *stopwatt.DriverShare `json:",omitempty"`
	Judgement   *stopwatt.Judgement   `json:",omitempty"`
	End         *End                  `json:",omitempty"`
}

// An End is how a run ended whose trials were not all in the database by then.
// What they amount to is worked out when they are.
type End struct {
	Status stopwatt.RunStatus
	At     time.Time
}

// kind is the item's word in the names of files; empty where not exactly one
// field is set.
func (i Item) kind() string {
	kinds := map[string]bool{
		"trial": i.Trial != nil, "idle": i.Idle != nil, "driver": i.DriverShare != nil, "judgement": i.Judgement != nil, "end": i.End != nil,
	}
	found := ""
	for kind, set := range kinds {
		if set && found != "" {
			return ""
		}
		if set {
			found = kind
		}
	}
	return found
}

// A letter is what stands in a file, behind its first line.
type letter struct {
	Run string // the key of the run
	Item
}

const (
	// largest bounds what is read of a file. A trial's samples are the most of it:
	// an hour of 25 readings a second of ten meters takes 30 MB as text.
	largest = 64 << 20
	// form is the first word of a file's first line: another one is read by another
	// stopwatt.
	form = "stopwatt-spool-1"
	// firstLine bounds the line of form, checksum and length.
	firstLine = 128
)

// errBroken says that a file is not as it was written.
var errBroken = errors.New("broken")

// encode writes an item of a run: a line with the checksum and the length of
// what follows, then JSON.
func encode(run string, item Item) ([]byte, error) {
	if item.kind() == "" {
		return nil, errors.New("an item is one thing")
	}
	text, err := json.Marshal(letter{run, item})
	if err != nil {
		return nil, err
	}
	if len(text) > largest-firstLine {
		return nil, fmt.Errorf("%d bytes are more than the %d that are kept of one", len(text), largest-firstLine)
	}
	sum := sha256.Sum256(text)
	return append(fmt.Appendf(nil, "%s sha256:%x %d\n", form, sum, len(text)), text...), nil
}

// decode reads what encode wrote, 64 MiB at most. What was cut short, added to or changed makes an error
// that is errBroken.
func decode(r io.Reader) (run string, item Item, err error) {
	all, err := io.ReadAll(io.LimitReader(r, largest+1))
	if err != nil {
		return "", Item{}, err
	}
	if len(all) > largest {
		return "", Item{}, fmt.Errorf("%w: it has more than %d MiB", errBroken, largest>>20)
	}
	head, text, found := bytes.Cut(all, []byte("\n"))
	if !found || len(head) > firstLine {
		return "", Item{}, fmt.Errorf("%w: it has no first line", errBroken)
	}
	var had, sum string
	var length int
	if n, err := fmt.Sscanf(string(head), "%s sha256:%s %d", &had, &sum, &length); n != 3 || err != nil || had != form {
		return "", Item{}, fmt.Errorf("%w: its first line is none of this stopwatt's", errBroken)
	}
	if len(text) != length {
		return "", Item{}, fmt.Errorf("%w: %d of %d bytes are there", errBroken, len(text), length)
	}
	if is := sha256.Sum256(text); hex.EncodeToString(is[:]) != sum {
		return "", Item{}, fmt.Errorf("%w: its checksum is another", errBroken)
	}
	var read letter
	if err := json.Unmarshal(text, &read); err != nil || read.kind() == "" || read.Run == "" {
		return "", Item{}, fmt.Errorf("%w: it holds nothing that can be delivered", errBroken)
	}
	return read.Run, read.Item, nil
}
