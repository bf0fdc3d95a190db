package stopwatt

import "io"

// A BuildContext is a folder of the checkout as it is sent to the engine.
type BuildContext struct {
	// Hash names the content: paths, modes and bytes, nothing else. Two
	// contexts of one hash build the same image.
	Hash string
	// Files is how many files it holds.
	Files int
	// Open returns the folder as a tar stream, the same bytes at each call.
	Open func() (io.ReadCloser, error)
}

// A BuildOrder says which image is wanted and what it is made from.
type BuildOrder struct {
	Name       string // of the implementation, for the image's tag and for messages
	Context    BuildContext
	Dockerfile []byte // its text; nil: the file called Dockerfile in the context
	Args       map[string]string
	Target     string
	// StandIns maps an official image to the one that takes its place on this
	// machine: an ARG before the first FROM whose default is the former is
	// given the latter. Provenance records both.
	StandIns map[string]string
	Labels   map[string]string
	Anew     bool // every step is carried out, whatever was built before
}

// An Image is what an implementation's containers are started from.
type Image struct {
	ID      string      // the config's digest: sha256:…
	Key     string      // what it was built from, hashed; empty for a pulled one
	Bytes   int64       // size of all layers
	Reused  bool        // it was there already
	Digests []string    // repository digests, where there are any
	Bases   []BaseImage // of its Dockerfile
}

// A BaseImage is one FROM of a Dockerfile, as written and as used.
type BaseImage struct {
	Written string // debian:bookworm-slim
	Used    string // the same, or its stand-in
	ID      string // the digest of its config, when the engine holds it
}

// BuildStep is one line of progress of a build or a pull.
type BuildStep struct {
	Done, Total int    // steps; Total is 0 while it is unknown
	Text        string // the step, as the builder names it
}
