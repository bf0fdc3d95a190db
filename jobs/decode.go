package jobs

import (
	"slices"
	"strings"
)

// A row is one key of a mapping: how it is written, what it means, and where
// its value goes. A new key is one more row; docs/suite.md is made of the rows.
type row[T any] struct {
	word
	set func(r *reader, at node, to *T)
}

// A word is what people are told of a key.
type word struct {
	key string
	// kind is what the value is: text, number, duration, size, yes or no, list
	// of texts, names to texts, or the names of the sections that describe it
	// in square brackets: "text or [build]", "names to [implementation]".
	kind string
	// fallback is the value, as it would be written, that an absent key stands
	// for. It is read like any other, so that no default is told twice.
	fallback string
	// absent says in words what an absent key means where no value says it.
	absent string
	// example marks a key that must be there, and is shown to those who forgot it.
	example string
	doc     string
}

// later are the words of plans to come. They are told apart from misspelt ones,
// because nothing carries them out yet and none is taken in silence.
var later = []string{"at-least"}

// decode hands each value of a mapping to the row of its key. The noun names
// the mapping in messages.
func decode[T any](r *reader, at node, noun string, rows []row[T], to *T) {
	if !r.is(at, mapping, noun) {
		return
	}
	for _, e := range r.unique(at, noun) {
		i := slices.IndexFunc(rows, func(row row[T]) bool { return row.key == e.key })
		switch {
		case i < 0:
			r.unknown(e, noun, keysOf(rows))
		case e.value.kind == nothing && e.value.text == rows[i].fallback && e.value.text != "":
			e.value.kind = scalar // null is a word here
			rows[i].set(r, e.value, to)
		case e.value.kind == nothing:
			r.fault(e.at, "nothing is written after %s in %s; write its value, or remove the key", e.key, noun)
		default:
			rows[i].set(r, e.value, to)
		}
	}
}

// complete gives absent keys the value that they stand for, and asks for those
// that must be there.
func complete[T any](r *reader, at node, noun string, rows []row[T], to *T) {
	if at.kind != mapping {
		return // and that has been said
	}
	for _, row := range rows {
		switch {
		case at.has(row.key) || misspelt(at, row.key, keysOf(rows)):
		case row.example != "":
			r.fault(at.owner, "%s has no %s; write %s", noun, row.key, row.example)
		case row.fallback == "{}":
			row.set(r, node{kind: mapping, at: at.at, owner: at.owner}, to)
		case row.fallback != "":
			row.set(r, node{kind: scalar, text: row.fallback, plain: true, at: at.at, owner: at.owner}, to)
		}
	}
}

// whole decodes a mapping that stands for itself, with all its defaults.
func whole[T any](r *reader, at node, noun string, rows []row[T], to *T) {
	decode(r, at, noun, rows, to)
	complete(r, at, noun, rows, to)
}

// named reads a mapping from names that people choose to things of one kind,
// which must be one at least.
func (r *reader) named(at node, noun string, each func(name string, value node)) {
	if !r.is(at, mapping, noun+"s") {
		return
	}
	if len(at.entries) == 0 {
		r.fault(at.owner, "there is no %s; write one at least, as name: {…}", noun)
	}
	for _, e := range r.unique(at, noun+"s") {
		if complaint := isName(e.key); complaint != "" {
			r.fault(e.at, "%s is no name for the %s; %s", brief(e.key), noun, complaint)
		}
		each(e.key, e.value)
	}
}

// is tells when a value is of another kind than wanted.
func (r *reader) is(at node, wanted kind, noun string) bool {
	if at.kind == wanted {
		return true
	}
	how := map[kind]string{mapping: "key: value below it, indented, or in braces", list: "[a, b]", scalar: "one text or number"}[wanted]
	r.fault(at.at, "%s is %s here and must be %s; write %s", noun, at.kind, wanted, how)
	return false
}

// unique returns the entries of a mapping without those whose key was there
// already, which are faults.
func (r *reader) unique(at node, noun string) []entry {
	first := map[string]place{}
	var entries []entry
	for _, e := range at.entries {
		if before, twice := first[e.key]; twice {
			r.fault(e.at, "%s is written twice in %s, first in line %d, column %d; rename or remove one", brief(e.key), noun, before.line, before.column)
			continue
		}
		first[e.key] = e.at
		entries = append(entries, e)
	}
	return entries
}

// unknown tells of a key that has no row.
func (r *reader) unknown(e entry, noun string, known []string) {
	guess, near := meant(e.key, known)
	switch {
	case slices.Contains(later, e.key):
		r.fault(e.at, "%s in %s is not supported by this version; remove it", e.key, noun)
	case near && strings.HasPrefix(e.key, guess+" "):
		r.fault(e.at, "unknown key %s in %s; a colon is missing after %s", brief(e.key), noun, guess)
	case near:
		r.fault(e.at, "unknown key %s in %s; did you mean %q?", brief(e.key), noun, guess)
	default:
		r.fault(e.at, "unknown key %s in %s; the keys are %s", brief(e.key), noun, strings.Join(known, ", "))
	}
}

// meant returns the key that an unknown one was probably meant to be.
func meant(written string, known []string) (string, bool) {
	if first, _, more := strings.Cut(written, " "); more && slices.Contains(known, first) {
		return first, true // {port 8080}
	}
	return nearest(written, known)
}

// misspelt tells whether a key that seems to be missing is there under a wrong
// name. That has been said then, and is one fault, not two.
func misspelt(at node, key string, known []string) bool {
	return slices.ContainsFunc(at.keys(), func(written string) bool {
		guess, near := meant(written, known)
		return near && guess == key && !slices.Contains(known, written)
	})
}

// none tells whether none of some keys is there, not even under a wrong name.
func none(at node, known []string, keys ...string) bool {
	return !slices.ContainsFunc(keys, func(key string) bool { return at.has(key) || misspelt(at, key, known) })
}

func keysOf[T any](rows []row[T]) []string {
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = row.key
	}
	return keys
}
