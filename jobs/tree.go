package jobs

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of what is handed to the parser, whose time grows with the square of
// keys, and with more than that of brackets: 50,000 opening ones take it
// thirteen seconds. Within these it takes less than half a second.
const (
	mostBytes = 1 << 20
	mostWords = 20_000 // the lexer's tokens; a workload has about forty
	mostDepth = 64
)

// tree reads the text as YAML. When it is not fit to be looked into any
// further, the faults say why and ok is false.
func (r *reader) tree(text []byte) (root node, ok bool) {
	if len(text) > mostBytes {
		r.fault(place{}, "the file has %d bytes, and a suite at most %d; put data into files of their own", len(text), mostBytes)
		return node{}, false
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	r.lines = strings.Split(string(text), "\n")
	if !r.readable() {
		return node{}, false
	}
	words := lexer.Tokenize(string(text))
	if !r.plainYAML(words) {
		return node{}, false
	}
	file, err := parser.Parse(words, 0, parser.AllowDuplicateMapKey()) // their places are told by us
	if err != nil {
		r.syntax(err)
		return node{}, false
	}
	body := bodyOf(file)
	if body == nil {
		r.fault(place{}, "the file is empty; `stopwatt init` writes a suite to begin with")
		return node{}, false
	}
	root = r.node(body, place{}, 1)
	root.owner = root.at
	return root, len(r.faults) == 0
}

// bodyOf returns what the file holds, or nil when that is nothing.
func bodyOf(file *ast.File) ast.Node {
	for _, document := range file.Docs {
		if document.Body != nil && document.Body.Type() != ast.NullType {
			return document.Body
		}
	}
	return nil
}

// readable looks for characters that no person could see, and that would do
// mischief where the line is printed. It stops at the first: a file that holds
// one is probably no text at all.
func (r *reader) readable() bool {
	for i, line := range r.lines {
		column := 0
		for _, c := range line {
			column++
			at := place{line: i + 1, column: column, width: 1}
			switch {
			case c == utf8.RuneError:
				r.lines[i] = strings.ToValidUTF8(line, "\uFFFD")
				r.fault(at, "this is not UTF-8 text; save the file as UTF-8")
				return false
			case !visible(c):
				r.lines[i] = strings.Map(blank, line)
				r.fault(at, "the character %U cannot be seen; remove it, or write it as an escape in double quotes", c)
				return false
			}
		}
	}
	return true
}

// visible says whether a character may stand in a suite file: what is printed,
// spaces and tabs, and the joiners that some scripts and emoji are made with.
func visible(c rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	return unicode.IsPrint(c) || c == '\t' || c == zeroWidthJoiner || c == zeroWidthNonJoiner
}

func blank(c rune) rune {
	if visible(c) {
		return c
	}
	return '\uFFFD'
}

// refused are the parts of YAML that a suite does without. Each of them hides
// what is measured from the one who reads the file, or costs the parser time.
var refused = map[token.Type]string{
	token.AnchorType:     "anchors (&) are not supported; write the value out at each place",
	token.AliasType:      "aliases (*) are not supported; write the value out, or put text that begins with * in quotes",
	token.MergeKeyType:   "merge keys (<<) are not supported; write the keys out",
	token.TagType:        "tags (!) are not supported; remove it, or put text that begins with ! in quotes",
	token.DirectiveType:  "directives (%) are not supported; remove it, or put text that begins with % in quotes",
	token.MappingKeyType: `keys marked with ? are not supported; write "key: value"`,
}

// plainYAML checks, before anything is parsed, that the words are few, not
// deeply nested, and of the plain part of YAML.
func (r *reader) plainYAML(words token.Tokens) bool {
	if len(words) > mostWords {
		r.fault(r.placeOf(words[mostWords]), "the file has more than %d words and signs; divide it into several suites", mostWords)
		return false
	}
	brackets, dashes, line := 0, 0, 0
	for i, word := range words {
		if word.Position.Line != line {
			line, dashes = word.Position.Line, 0
		}
		switch word.Type {
		case token.MappingStartType, token.SequenceStartType:
			brackets++
		case token.MappingEndType, token.SequenceEndType:
			brackets--
		case token.SequenceEntryType:
			dashes++
		case token.DocumentHeaderType:
			if i > 0 && !onlyComments(words[:i]) {
				r.fault(r.placeOf(word), "a second document begins here; a file holds one suite, put the other into a file of its own")
				return false
			}
		}
		if brackets+dashes > mostDepth {
			r.fault(r.placeOf(word), "this is nested more than %d deep; write it flatter", mostDepth)
			return false
		}
		if why, ok := refused[word.Type]; ok {
			r.fault(r.placeOf(word), "%s", why)
		}
	}
	return len(r.faults) == 0
}

func onlyComments(words token.Tokens) bool {
	for _, word := range words {
		if word.Type != token.CommentType {
			return false
		}
	}
	return true
}
