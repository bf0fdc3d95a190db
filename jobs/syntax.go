package jobs

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/token"
)

const tabIndents = "a tab cannot indent; write spaces"

// plainWords says in ours what the parser's messages mean to the one who wrote
// the file. A part of the parser's message is enough to be recognised by; the
// first that fits is taken.
var plainWords = []struct{ part, words string }{
	{"indentation in", "a tab cannot indent text in quotes; write spaces"},
	{"tab character", tabIndents},
	{"'\t'", tabIndents},
	{"single-quoted text", "the text that begins with ' here never ends; close it with '"},
	{"double-quoted text", `the text that begins with " here never ends; close it with "`},
	{"unknown escape character", `a backslash in double quotes begins an escape, and this is none; write \\ for a backslash, or take single quotes`},
	{"surrogate", `this escape is half a character; write the character itself`},
	{"hexadecimal", `this escape needs hexadecimal digits; write the character itself`},
	{"reserved character", "text cannot begin with this character; put it in quotes"},
	{"']' not found", "the list that begins with [ here never ends; close it with ]"},
	{"end token '}'", "the mapping that begins with { here never ends; close it with }"},
	{"',' or '}'", "a comma or } is missing before this; add it, or put text that holds { } [ ] or , in quotes"},
	{"',' or ']'", "a comma or ] is missing before this; add it, or put text that holds { } [ ] or , in quotes"},
	{"corresponding to", "this bracket closes nothing; remove it, or put the text in quotes"},
	{"expected sequence element", "an element is missing before this comma; remove the comma"},
	{"flow map content", "a key is missing here; remove the comma before it, or write key: value"},
	{"mapping value is not allowed", `a value cannot hold ": " or be followed by deeper keys; put the text in quotes, or indent the keys alike`},
	{"map key-value is pre-defined", "this does not belong to the value before it; put the whole text in quotes, or indent the line like its neighbours"},
	{"value is not allowed in this context", "this fits neither the value before it nor the keys above; indent it like its neighbours, or put text in quotes"},
	{"non-map value", `this line is no "key: value"; add a colon and a space after the key`},
	{"block sequence entries", "a list with - begins on a line of its own; write it below its key, or as [a, b]"},
	{"invalid key", "a key must be a word; write it as plain text before the colon"},
	{"key name", "a key must be a word on one line; write it as plain text before the colon"},
	{"implicit line break", "a key must be a word on one line; write it as plain text before the colon"},
	{"header option", "after | or > only +, - or a digit may follow; begin the text on the next line"},
	{"number of indent", "the lines of this text are not indented alike; indent each by as many spaces"},
	{"tag", refused[token.TagType]},
	{"directive", "text cannot begin with %; put it in quotes"},
	{"multi-line content", "no text follows | or >; write it on the next lines, indented"},
}

// syntax tells where the parser gave up, in plain words.
func (r *reader) syntax(err error) {
	var at place
	message := "this is not understood as YAML; compare it with the example in " + r.about.docs
	var told yaml.Error
	if errors.As(err, &told) {
		at = r.placeOf(told.GetToken())
		for _, known := range plainWords {
			if strings.Contains(told.GetMessage(), known.part) {
				message = known.words
				break
			}
		}
	}
	r.fault(at, "%s", message)
}
