// Package jobs turns suite text into a Suite, and a Suite into a Plan.
//
// It opens nothing itself: what lies beside the suite file it sees through
// Files. It starts nothing and decides nothing about results; it only says,
// all at once and each with its place and remedy, what is wrong with a suite.
package jobs

import (
	"cmp"
	"io/fs"
	"slices"

	"gitlab.com/stopwatt/stopwatt"
)

// Files is how Read looks at what lies beside a suite. Names are relative to
// the suite file's folder, cleaned, with forward slashes; they may climb out of
// it, as in "../../docker/x".
type Files interface {
	ReadFile(name string) ([]byte, error)
	Stat(name string) (fs.FileInfo, error)
}

// Options are what a person asks for beside the suite.
type Options struct {
	Profile string // the profile to apply; empty: none
	Rounds  int    // instead of the suite's and the profile's; 0: theirs
}

// Read understands the text of a suite file. The file's name is only used to
// say where faults are.
//
// Either the Suite is whole, with every default filled in and the profile
// and options applied, or the error is a stopwatt.Faults that holds all faults of the file,
// sorted by place. Text that is no YAML, or is beyond the limits of
// docs/suite.md, is not looked into any further, so that its faults come alone.
func Read(file string, text []byte, files Files, options Options) (stopwatt.Suite, error) {
	r := &reader{file: file, about: aboutSuite, files: files}
	root, ok := r.tree(text)
	if !ok {
		return stopwatt.Suite{}, r.sorted()
	}
	suite := r.suite(root, options)
	if len(r.faults) > 0 {
		return stopwatt.Suite{}, r.sorted()
	}
	return suite, nil
}

// A reader reads one file, and gathers its faults.
type reader struct {
	file   string
	about  about
	lines  [][]rune
	files  Files
	faults stopwatt.Faults
}

// about is what a file tells of, in messages.
type about struct {
	holds string // what one file holds
	empty string // what to do with one that is empty
	docs  string // where its keys are explained
}

var aboutSuite = about{"one suite", "`stopwatt init` writes a suite to begin with", "docs/suite.md"}

// sorted returns the faults in the order of their places.
func (r *reader) sorted() stopwatt.Faults {
	slices.SortStableFunc(r.faults, func(a, b stopwatt.Fault) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(r.faults) // the variants of a workload share theirs
}
