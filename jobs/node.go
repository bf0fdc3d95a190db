package jobs

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// A kind is what a node of the file is.
type kind string

const (
	nothing kind = "nothing" // a key without a value, or null
	scalar  kind = "a single value"
	list    kind = "a list"
	mapping kind = "a mapping"
)

// A node is one value of the file and where it stands. Scalars keep the text
// as it was written, so that a version 1.10 is never the number 1.1.
type node struct {
	kind    kind
	text    string  // of a scalar
	plain   bool    // a scalar without quotes
	at      place   // where the value is; where its key is when there is nothing
	owner   place   // where its key is; the value's own place when it has none
	items   []node  // of a list
	entries []entry // of a mapping, in the order of the file
}

// An entry is a key of a mapping and its value.
type entry struct {
	key   string
	at    place
	value node
}

// get returns the value of a key, the first when it is written twice.
func (n node) get(key string) (node, bool) {
	i := slices.IndexFunc(n.entries, func(e entry) bool { return e.key == key })
	if i < 0 {
		return node{}, false
	}
	return n.entries[i].value, true
}

func (n node) has(key string) bool {
	_, ok := n.get(key)
	return ok
}

// keys are those that are written, in their order.
func (n node) keys() []string {
	keys := make([]string, len(n.entries))
	for i, e := range n.entries {
		keys[i] = e.key
	}
	return keys
}

// node copies the parser's tree into ours. What comes after knows nothing of
// the parser.
func (r *reader) node(from ast.Node, owner place, depth int) node {
	if depth > mostDepth {
		r.fault(owner, tooDeep, mostDepth)
		return node{kind: nothing, at: owner, owner: owner}
	}
	switch from := from.(type) {
	case *ast.MappingNode:
		return r.mapping(from, owner, depth)
	case *ast.SequenceNode:
		return r.list(from, owner, depth)
	case *ast.NullNode:
		return node{kind: nothing, text: from.Token.Value, plain: true, at: owner, owner: owner}
	case *ast.LiteralNode:
		return node{kind: scalar, text: from.Value.Value, at: r.placeOf(from.Start), owner: owner}
	case *ast.StringNode:
		return node{kind: scalar, text: from.Value, plain: from.Token.Type == token.StringType, at: r.placeOf(from.Token), owner: owner}
	default: // numbers, booleans and the like
		word := from.GetToken()
		return node{kind: scalar, text: word.Value, plain: true, at: r.placeOf(word), owner: owner}
	}
}

func (r *reader) mapping(from *ast.MappingNode, owner place, depth int) node {
	to := node{kind: mapping, at: r.placeOf(from.Start), owner: owner}
	for i, value := range from.Values {
		at := r.placeOf(value.Key.GetToken())
		if i == 0 && !from.IsFlowStyle {
			to.at = at // the parser gives the colon
		}
		to.entries = append(to.entries, entry{key: value.Key.GetToken().Value, at: at, value: r.node(value.Value, at, depth+1)})
	}
	return to
}

func (r *reader) list(from *ast.SequenceNode, owner place, depth int) node {
	to := node{kind: list, at: r.placeOf(from.Start), owner: owner}
	for _, value := range from.Values {
		to.items = append(to.items, r.node(value, to.at, depth+1))
	}
	return to
}

// placeOf says where a token stands. Its width ends with its first line.
func (r *reader) placeOf(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{}
	}
	at := place{line: t.Position.Line, column: max(t.Position.Column, 1)}
	for r.isTab(at) { // the parser counts tabs before a word to the word
		at.column++
	}
	first, _, _ := strings.Cut(strings.TrimSpace(t.Origin), "\n")
	at.width = utf8.RuneCountInString(strings.TrimRight(first, " \t"))
	return at
}

func (r *reader) isTab(at place) bool {
	if at.line < 1 || at.line > len(r.lines) {
		return false
	}
	line := r.lines[at.line-1]
	return at.column <= len(line) && line[at.column-1] == '\t'
}
