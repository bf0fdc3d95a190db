package harness

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth and maxValues bound what a text may cost: 6 million values is more
// than MaxBytes of measured times have, and takes half a GiB.
const (
	maxDepth  = 100
	maxValues = 6 << 20
)

// document reads the one JSON value of the text.
func (s *source) document() document {
	values := s.documents()
	if len(values) > 1 {
		s.faultAt(int(values[1].root.at), "a second JSON value begins here; want one")
	}
	if len(values) == 0 {
		return document{source: s, root: value{kind: jsonObject}}
	}
	return values[0]
}

// documents reads all JSON values of the text, one after the other, as JSON
// Lines have them. What is wrong with the syntax is one fault.
func (s *source) documents() []document {
	p := parser{text: s.text, at: jsonStart(s.text), most: maxValues}
	var documents []document
	for p.space(); p.at < len(p.text); p.space() {
		root, err := p.value(0)
		if err != nil {
			s.faultAt(p.at, "%s", err)
			s.ended = true
			return nil
		}
		documents = append(documents, document{source: s, root: root})
	}
	return documents
}

// jsonLine is a line that JSON may begin in.
var jsonLine = regexp.MustCompile(`(?m)^[{\[]\s*($|["{}\]\[])`)

// jsonStart is where JSON begins: what a program says before, as hyperfine does
// with --export-json -, is skipped.
func jsonStart(text string) int {
	start := strings.TrimLeft(text, " \t\r\n")
	if strings.HasPrefix(start, "{") || strings.HasPrefix(start, "[") {
		return 0
	}
	if line := jsonLine.FindStringIndex(text); line != nil {
		return line[0]
	}
	return 0
}

// A parser reads JSON as the tools write it, which is not always JSON: NaN and
// infinities stand bare, and texts hold characters that should be escaped (JMH
// breaks a line after every comma, be it within a text).
type parser struct {
	text   string
	at     int
	values int
	most   int // values that there may be
}

var errCut = errors.New("the text ends in the middle of a JSON value; is it cut off?")

// space skips white space.
func (p *parser) space() {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
}

// value reads one value, which begins here. Beside an error stands what was read
// until then.
func (p *parser) value(depth int) (value, error) {
	p.values++
	switch {
	case p.at >= len(p.text):
		return value{}, errCut
	case depth > maxDepth:
		return value{}, fmt.Errorf("values are nested more than %d deep", maxDepth)
	case p.values > p.most:
		return value{}, fmt.Errorf("there are more than %d values", p.most)
	}
	v := value{at: int32(p.at)}
	var err error
	switch p.text[p.at] {
	case '{':
		v.kind, v.inside = jsonObject, &inside{}
		err = p.object(v.inside, depth)
	case '[':
		v.kind, v.inside = jsonList, &inside{}
		err = p.list(v.inside, depth)
	case '"':
		v.kind = jsonText
		v.text, err = p.string()
	default:
		v.kind, v.text, err = p.bare()
	}
	return v, err
}

// list reads the items of a list.
func (p *parser) list(into *inside, depth int) error {
	p.at++
	for first := true; ; first = false {
		done, err := p.next(']', first)
		if done || err != nil {
			return err
		}
		item, err := p.value(depth + 1)
		into.items = append(into.items, item)
		if err != nil {
			return err
		}
	}
}

// object reads the members of an object. A name that comes twice would leave
// open which of the values is meant.
func (p *parser) object(into *inside, depth int) error {
	seen := map[string]bool{}
	p.at++
	for first := true; ; first = false {
		done, err := p.next('}', first)
		if done || err != nil {
			return err
		}
		start := p.at
		name, err := p.name()
		if err != nil {
			return err
		}
		if seen[name] {
			p.at = start
			return fmt.Errorf("the name %s is there twice", quote(name))
		}
		seen[name] = true
		item, err := p.value(depth + 1)
		into.names, into.items = append(into.names, name), append(into.items, item)
		if err != nil {
			return err
		}
	}
}

// next goes on to the next item of a list or object, over the comma before it,
// or says that it is done.
func (p *parser) next(end byte, first bool) (done bool, err error) {
	p.space()
	switch {
	case p.at >= len(p.text):
		return false, errCut
	case p.text[p.at] == end:
		p.at++
		return true, nil
	case first:
		return false, nil
	case p.text[p.at] != ',':
		return false, fmt.Errorf("want a comma or %q here", end)
	}
	p.at++
	p.space()
	return false, nil
}

// name reads the name of a member and the colon behind it.
func (p *parser) name() (string, error) {
	if p.at >= len(p.text) {
		return "", errCut
	}
	if p.text[p.at] != '"' {
		return "", errors.New("want a name in quotation marks here")
	}
	name, err := p.string()
	if err != nil {
		return "", err
	}
	p.space()
	if p.at >= len(p.text) {
		return "", errCut
	}
	if p.text[p.at] != ':' {
		return "", errors.New("want a colon here")
	}
	p.at++
	p.space()
	return name, nil
}

// bare reads a value without quotation marks.
func (p *parser) bare() (kind, string, error) {
	start := p.at
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n,]}:\"[{", p.text[p.at]) < 0 {
		p.at++
	}
	word := p.text[start:p.at]
	switch word {
	case "null":
		return jsonNull, word, nil
	case "true", "false":
		return jsonBool, word, nil
	}
	if _, ok := parseNumber(word); ok {
		return jsonNumber, word, nil
	}
	if p.at == len(p.text) && beginsValue(word) {
		return jsonNull, "", errCut
	}
	p.at = start
	return jsonNull, "", fmt.Errorf("%s is no JSON", quote(word))
}

// beginsValue says whether a word may be the beginning of a value.
func beginsValue(word string) bool {
	for _, whole := range []string{"null", "true", "false", "NaN", "Infinity", "-Infinity"} {
		if strings.HasPrefix(whole, word) {
			return true
		}
	}
	return strings.Trim(word, "+-.0123456789eE") == ""
}

// string reads a text. Most need no decoding and share the source's memory.
func (p *parser) string() (string, error) {
	start := p.at + 1
	for i := start; i < len(p.text); i++ {
		switch p.text[i] {
		case '"':
			p.at = i + 1
			return p.text[start:i], nil
		case '\\':
			return p.escaped(start, i)
		}
	}
	p.at = len(p.text)
	return "", errCut
}

// escaped reads a text that has its first backslash at i. An escape that JSON
// does not have stands for itself: Windows paths come that way.
func (p *parser) escaped(start, i int) (string, error) {
	decoded := []byte(p.text[start:i])
	for i < len(p.text) {
		switch c := p.text[i]; c {
		case '"':
			p.at = i + 1
			return string(decoded), nil
		case '\\':
			var length int
			decoded, length = escape(decoded, p.text[i:])
			i += length
		default:
			decoded = append(decoded, c)
			i++
		}
	}
	p.at = len(p.text)
	return "", errCut
}

// escape decodes the escape at the beginning of text and returns its length.
func escape(decoded []byte, text string) ([]byte, int) {
	if len(text) < 2 {
		return decoded, len(text)
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return append(decoded, "\"\\/\b\f\n\r\t"[i]), 2
	}
	first, ok := hex4(text)
	if !ok {
		return append(decoded, '\\'), 1
	}
	if first == 0 { // no database keeps it
		first = utf8.RuneError
	}
	if second, ok := hex4(text[6:]); ok {
		if r := utf16.DecodeRune(first, second); r != utf8.RuneError {
			return utf8.AppendRune(decoded, r), 12
		}
	}
	return utf8.AppendRune(decoded, first), 6
}

// hex4 reads \u and its four digits.
func hex4(text string) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	digits := text[2:6]
	if slices.ContainsFunc([]byte(digits), func(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) < 0 }) {
		return 0, false
	}
	code, err := strconv.ParseUint(digits, 16, 32)
	return rune(code), err == nil
}
