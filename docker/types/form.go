package main

import "crypto/sha256"

// A Par is a process: processes that run side by side, in no order. Its elements are numbers and lists of Pars. A Par is never
// changed after it was made. Each form has a type of its own behind it.
type Par any

// A Hash is the same for Pars that differ in nothing but the order of elements side by side.
type Hash = [sha256.Size]byte

// A Form is one way to represent and to handle Pars.
type Form interface {
	Int(value int64) Par
	List(elements ...Par) Par
	// Combine puts Pars side by side: a | b | c.
	Combine(pars ...Par) Par

	// Serialize gives the bytes of wire.go.
	Serialize(p Par) []byte
	// SerializedSize is the number of bytes that Serialize gives.
	SerializedSize(p Par) int
	// Deserialize panics for bytes that Serialize did not give.
	Deserialize(wire []byte) Par

	Hash(p Par) Hash
	Equal(a, b Par) bool
}

// A sorter is a form whose Pars must be sorted before their bytes depend on them alone. The new forms sort when they serialize.
type sorter interface {
	Sort(p Par) Par
}

// forms are the six of the published experiment.
var forms = map[string]Form{
	"imperative":       imperative{},
	"eval":             trampolined{},
	"hash-refactoring": rehashed{},
	"lazy-params":      remembering{},
	"hash-sort-fix":    remembering{keepsOrder: true},
	"old-proto":        old{},
}

// own are Pars of one form as that form's own type.
func own[P any](pars []Par) []P {
	list := make([]P, len(pars))
	for i, p := range pars {
		list[i] = p.(P)
	}
	return list
}
