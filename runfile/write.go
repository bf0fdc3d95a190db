package runfile

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"

	"gitlab.com/stopwatt/stopwatt"
)

// A Writer writes runs. An error of the io.Writer is returned by each later call.
type Writer struct {
	to    io.Writer
	begun bool
	key   string
	lines int
	sum   hash.Hash
	err   error
}

// NewWriter writes to an io.Writer, which it does not close.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Begin writes the first line of the file, unless it is written. It must be called
// also where no run follows: an empty file is one that was cut off.
func (w *Writer) Begin() error {
	if w.begun {
		return w.err
	}
	w.begun = true
	return w.write(Line{Version: version})
}

// Run begins a run. Its number is one database's own, and left out.
func (w *Writer) Run(run stopwatt.Run) error {
	if err := w.Begin(); err != nil {
		return err
	}
	run.ID = 0
	w.key, w.lines, w.sum = run.Key, 0, sha256.New()
	return w.write(Line{Run: &run})
}

// Trial writes a trial of the run, with its samples.
func (w *Writer) Trial(trial stopwatt.Trial) error { return w.write(Line{Trial: &trial}) }

// Summaries writes what the run's trials add up to.
func (w *Writer) Summaries(summaries []stopwatt.Summary) error {
	return w.write(Line{Summaries: &summaries})
}

// Judgement writes what was said about the run.
func (w *Writer) Judgement(judgement Judgement) error { return w.write(Line{Judgement: &judgement}) }

// Calibration writes what the run said about its machine.
func (w *Writer) Calibration(calibration stopwatt.Calibration) error {
	return w.write(Line{Calibration: &calibration})
}

// End ends the run.
func (w *Writer) End() error {
	return w.write(Line{End: &End{Key: w.key, Lines: w.lines, SHA256: hex.EncodeToString(w.sum.Sum(nil))}})
}

func (w *Writer) write(line Line) error {
	if w.err != nil {
		return w.err
	}
	var text []byte
	if text, w.err = json.Marshal(line); w.err != nil {
		return w.err
	}
	text = append(text, '\n')
	if w.sum != nil && line.End == nil {
		w.sum.Write(text) // a hash's never fails
		w.lines++
	}
	_, w.err = w.to.Write(text)
	return w.err
}
