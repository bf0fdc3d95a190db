package containers

import (
	"errors"
	"fmt"
	"strings"
)

// An expansion replaces the variables of a Dockerfile's word: $NAME, ${NAME},
// ${NAME:-default}, ${NAME-default}, ${NAME:+other}, ${NAME+other}. Quotes and
// escape characters are taken off.
type expansion struct {
	escape byte
	lookup func(name string) (value string, set bool)
}

// maxNesting bounds defaults within defaults.
const maxNesting = 20

// word expands one word.
func (e expansion) word(text string) (string, error) {
	value, rest, err := e.until(text, 0, 0)
	if err == nil && rest != "" {
		err = fmt.Errorf("%s cannot be understood", text)
	}
	return value, err
}

// until expands a text up to the character end, outside quotes, which is left
// in rest; 0 stands for the end of the text.
func (e expansion) until(text string, end byte, depth int) (value, rest string, err error) {
	var out strings.Builder
	var quote byte
	for text != "" {
		c := text[0]
		switch {
		case c == end && quote == 0:
			return out.String(), text, nil
		case quote == '\'' && c != '\'':
			out.WriteByte(c)
			text = text[1:]
		case c == e.escape && len(text) > 1:
			out.WriteString(e.escaped(text[1], quote))
			text = text[2:]
		case c == quote:
			quote, text = 0, text[1:]
		case quote == 0 && (c == '"' || c == '\''):
			quote, text = c, text[1:]
		case c == '$':
			expanded, after, err := e.variable(text, depth)
			if err != nil {
				return "", "", err
			}
			out.WriteString(expanded)
			text = after
		default:
			out.WriteByte(c)
			text = text[1:]
		}
	}
	if quote != 0 {
		return "", "", fmt.Errorf("a quote %c is not closed", quote)
	}
	return out.String(), "", nil
}

// escaped is what an escape character and the one after it stand for. Within
// double quotes it means itself, but before what it must protect there.
func (e expansion) escaped(c, quote byte) string {
	if quote == '"' && c != '"' && c != '$' && c != e.escape {
		return string([]byte{e.escape, c})
	}
	return string([]byte{c})
}

// variable expands the variable that text begins with.
func (e expansion) variable(text string, depth int) (value, rest string, err error) {
	braced := strings.HasPrefix(text, "${")
	text = strings.TrimPrefix(text[1:], "{")
	name := text[:nameLength(text)]
	text = text[len(name):]
	switch {
	case !braced && name == "":
		return "$", text, nil
	case name == "":
		return "", "", errors.New("${ is followed by no name")
	}
	known, set := e.lookup(name)
	if !braced {
		return known, text, nil
	}
	return e.braced(name, known, set, text, depth)
}

// braced expands what follows the name within ${…}.
func (e expansion) braced(name, known string, set bool, text string, depth int) (value, rest string, err error) {
	if after, plain := strings.CutPrefix(text, "}"); plain {
		return known, after, nil
	}
	text, colon := strings.CutPrefix(text, ":")
	if text == "" || (text[0] != '-' && text[0] != '+') || depth == maxNesting {
		return "", "", fmt.Errorf("this form of ${%s…} is not understood; use ${%s} or ${%s:-default}", name, name, name)
	}
	word, rest, err := e.until(text[1:], '}', depth+1)
	if err != nil {
		return "", "", err
	}
	if rest == "" {
		return "", "", fmt.Errorf("${%s is not closed", name)
	}
	present := set && (known != "" || !colon)
	switch {
	case text[0] == '-' && present:
		word = known
	case text[0] == '+' && !present:
		word = ""
	}
	return word, rest[1:], nil
}

// nameLength is how much of the text is the name of a variable.
func nameLength(text string) int {
	for i, r := range text {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return i
		}
	}
	return len(text)
}
