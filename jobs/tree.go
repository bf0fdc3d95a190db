package jobs

import (
	"bytes"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
)

// Limits of what is handed to the parser, whose time grows with the square of
// keys, and with more than that of brackets: 50,000 opening ones take it
// thirteen seconds. Within these it takes less than a second.
const (
	mostBytes = 1 << 20
	mostWords = 20_000 // the lexer's tokens; a workload has about forty
	mostDepth = 64
)

const tooDeep = "this is nested more than %d deep; write it flatter"

// tree reads the text as YAML. When it is not fit to be looked into any
// further, the faults say why and ok is false.
func (r *reader) tree(text []byte) (root node, ok bool) {
	if len(text) > mostBytes {
		r.fault(place{}, "the file has %d bytes, and a suite at most %d; put data into files of their own", len(text), mostBytes)
		return node{}, false
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	if !r.legible(text) {
		return node{}, false
	}
	words := lexer.Tokenize(string(text))
	if !r.fit(words) {
		return node{}, false
	}
	file, err := parser.Parse(words, 0, parser.AllowDuplicateMapKey()) // their places are told by us
	if err != nil {
		r.syntax(err)
		return node{}, false
	}
	body := bodyOf(file)
	if body == nil {
		r.fault(place{}, "the file is empty; %s", r.about.empty)
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
