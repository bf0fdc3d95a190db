//go:build linux

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
)

var errWrongBody = errors.New("the body is another than the right one")

// A check hashes bodies of one user's answers, one in so many. It allocates
// nothing for each. A nil check hashes none.
type check struct {
	hash  hash.Hash
	write func(part []byte)
	sum   [sha256.Size]byte
	text  [2 * sha256.Size]byte
}

func newCheck() *check {
	c := &check{hash: sha256.New()}
	c.write = func(part []byte) { c.hash.Write(part) } // it never fails
	return c
}

// part is what is given the body of the answer to the asked-th request: nil
// when that is not the one in so many.
func (c *check) part(asked, oneIn int) func([]byte) {
	if oneIn == 0 || (asked-1)%oneIn != 0 {
		return nil
	}
	c.hash.Reset()
	return c.write
}

// right tells whether the body that was hashed is the one of this SHA-256.
func (c *check) right(sha256 string) bool {
	hex.Encode(c.text[:], c.hash.Sum(c.sum[:0]))
	return string(c.text[:]) == sha256
}

// hex is the SHA-256 that was found.
func (c *check) hex() string { return string(c.text[:]) }

// checked counts a body that was hashed, and tells whether it is right.
func (l *loop) checked(u *user) bool {
	l.tally.checked++
	return u.check.right(u.question.sha256)
}
