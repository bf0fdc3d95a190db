package jobs

import (
	"slices"

	"github.com/goccy/go-yaml/token"
)

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

// fit checks, before anything is parsed, that the words are few, not deeply
// nested, and of the plain part of YAML.
func (r *reader) fit(words token.Tokens) bool {
	return r.few(words) && r.shallow(words) && r.untabbed(words) && r.plain(words)
}

func (r *reader) few(words token.Tokens) bool {
	if len(words) > mostWords {
		r.fault(r.placeOf(words[mostWords]), "the file has more than %d words and signs; divide it into several suites", mostWords)
		return false
	}
	return true
}

// shallow counts open brackets, and dashes on one line. Nesting by indents
// needs no count before parsing: it takes the square of its depth in spaces.
func (r *reader) shallow(words token.Tokens) bool {
	brackets, dashes, line := 0, 0, 0
	for _, word := range words {
		if word.Position.Line != line {
			line, dashes = word.Position.Line, 0
		}
		brackets = after(word, brackets)
		if word.Type == token.SequenceEntryType {
			dashes++
		}
		if brackets+dashes > mostDepth {
			r.fault(r.placeOf(word), tooDeep, mostDepth)
			return false
		}
	}
	return true
}

// after counts the brackets that are open after a word.
func after(word *token.Token, brackets int) int {
	switch word.Type {
	case token.MappingStartType, token.SequenceStartType:
		return brackets + 1
	case token.MappingEndType, token.SequenceEndType:
		return max(0, brackets-1)
	}
	return brackets
}

// untabbed looks for tabs before the first word of a line, which the parser
// lets pass after a space, and takes for nothing. Between brackets they are
// good YAML.
func (r *reader) untabbed(words token.Tokens) bool {
	brackets, line := 0, 0
	for i, word := range words {
		first := word.Position.Line != line && !(i > 0 && isBlock(words[i-1]))
		line = word.Position.Line
		brackets = after(word, brackets)
		if !first || brackets > 0 || word.Type == token.CommentType || line > len(r.lines) {
			continue
		}
		if tab := tabIn(r.lines[line-1]); tab > 0 && tab <= word.Position.Column {
			r.fault(place{line: line, column: tab, width: 1}, tabIndents)
			return false
		}
	}
	return true
}

// isBlock tells of the | or > that text follows, in which tabs are its own.
func isBlock(word *token.Token) bool {
	return word.Type == token.LiteralType || word.Type == token.FoldedType
}

// tabIn returns the column of the first tab of a line's indent, or 0.
func tabIn(line []rune) int {
	for i, c := range line {
		switch c {
		case '\t':
			return i + 1
		case ' ':
		default:
			return 0
		}
	}
	return 0
}

// plain refuses what a suite does without.
func (r *reader) plain(words token.Tokens) bool {
	for i, word := range words {
		if why, ok := refused[word.Type]; ok {
			r.fault(r.placeOf(word), "%s", why)
		}
		if word.Type == token.DocumentHeaderType && !onlyComments(words[:i]) && len(r.faults) == 0 {
			r.fault(r.placeOf(word), "a second document begins here; a file holds %s, put the other into a file of its own", r.about.holds)
			return false
		}
	}
	return len(r.faults) == 0
}

func onlyComments(words token.Tokens) bool {
	return !slices.ContainsFunc(words, func(word *token.Token) bool { return word.Type != token.CommentType })
}
