package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// The bytes of a Par, all numbers as varints (encoding/binary):
//
//	par     = count element…          in the order of the elements' hashes; the old form leaves them as they are
//	element = tagInt zigzag-number | tagList count par…
//
// The hash of an element is the SHA-256 of its tag and its number, or of its tag and its Pars' hashes; the hash of a Par is that of
// tagPar and its elements' hashes in ascending order. The old form hashes the bytes of the sorted Par instead.
const (
	tagPar  = 1
	tagInt  = 2
	tagList = 3
)

func hashNumber(value int64) Hash {
	return sha256.Sum256(binary.AppendVarint([]byte{tagInt}, value))
}

func hashAll(tag byte, hashes []Hash) Hash {
	text := make([]byte, 1, 1+len(hashes)*sha256.Size)
	text[0] = tag
	for i := range hashes {
		text = append(text, hashes[i][:]...)
	}
	return sha256.Sum256(text)
}

func compareHashes(a, b Hash) int { return bytes.Compare(a[:], b[:]) }

// byHash gives the elements in the order of their hashes.
func byHash[E any](elements []E, hashes []Hash) []E {
	type hashed struct {
		hash *Hash
		at   int
	}
	order := make([]hashed, len(elements))
	for i := range order {
		order[i] = hashed{&hashes[i], i}
	}
	slices.SortFunc(order, func(a, b hashed) int {
		return cmp.Or(compareHashes(*a.hash, *b.hash), cmp.Compare(a.at, b.at))
	})
	sorted := make([]E, len(elements))
	for i := range order {
		sorted[i] = elements[order[i].at]
	}
	return sorted
}

func appendCount(to []byte, count int) []byte { return binary.AppendUvarint(to, uint64(count)) }

func appendNumber(to []byte, value int64) []byte {
	return binary.AppendVarint(append(to, tagInt), value)
}

func appendList(to []byte, count int) []byte { return appendCount(append(to, tagList), count) }

func countSize(count int) int { return varintSize(uint64(count)) }

// numberSize includes the tag. Zigzag is how binary.AppendVarint writes a sign.
func numberSize(value int64) int { return 1 + varintSize(uint64(value<<1)^uint64(value>>63)) }

func listSize(count int) int { return 1 + countSize(count) }

func varintSize(value uint64) int {
	size := 1
	for ; value >= 0x80; value >>= 7 {
		size++
	}
	return size
}

// A reader takes a Par's bytes from the front.
type reader struct{ rest []byte }

func (r *reader) count() int {
	value, size := binary.Uvarint(r.rest)
	r.take(size)
	// No element takes less than a byte, so a greater count would only allocate.
	if value > uint64(len(r.rest)) {
		panic("wire: a count is greater than what follows")
	}
	return int(value)
}

func (r *reader) number() int64 {
	value, size := binary.Varint(r.rest)
	r.take(size)
	return value
}

func (r *reader) tag() byte {
	if len(r.rest) == 0 {
		panic("wire: a tag is missing")
	}
	tag := r.rest[0]
	r.take(1)
	if tag != tagInt && tag != tagList {
		panic("wire: an unknown tag")
	}
	return tag
}

func (r *reader) take(size int) {
	if size <= 0 {
		panic("wire: a number is cut off")
	}
	r.rest = r.rest[size:]
}

func (r *reader) end() {
	if len(r.rest) > 0 {
		panic("wire: something follows the Par")
	}
}
