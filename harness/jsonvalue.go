package harness

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// A kind is what a JSON value is.
type kind uint8

// The kinds of JSON values.
const (
	jsonNull kind = iota
	jsonBool
	jsonNumber
	jsonText
	jsonList
	jsonObject
)

// String names the kind for people.
func (k kind) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object"}[k]
}

// A value is a JSON value with its place. There may be millions: it is small.
type value struct {
	kind   kind
	at     int32  // offset in the text; MaxBytes fits
	text   string // of numbers, as they are written, and of texts
	inside *inside
}

// An inside is what a list or an object holds.
type inside struct {
	names []string // of an object's items
	items []value
}

// items are what a list or an object holds, nothing of any other value.
func (v value) items() []value {
	if v.inside == nil {
		return nil
	}
	return v.inside.items
}

// names are those of an object's items.
func (v value) names() []string {
	if v.inside == nil {
		return nil
	}
	return v.inside.names
}

// member returns an object's value of this name.
func (v value) member(name string) (value, bool) {
	if i := slices.Index(v.names(), name); i >= 0 {
		return v.items()[i], true
	}
	return value{}, false
}

// has says whether an object has values of all these names.
func (v value) has(names ...string) bool {
	for _, name := range names {
		if !slices.Contains(v.names(), name) {
			return false
		}
	}
	return true
}

// first is the first item of a list or object, null where there is none.
func (v value) first() value {
	if len(v.items()) == 0 {
		return value{}
	}
	return v.items()[0]
}

// plain is a value as a parameter shows it: a text without its quotes, anything
// else as in the source.
func (s *source) plain(v value) string {
	switch v.kind {
	case jsonText, jsonNumber, jsonBool, jsonNull:
		return v.text
	}
	parts := make([]string, len(v.items()))
	for i, item := range v.items() {
		parts[i] = s.plain(item)
		if v.kind == jsonObject {
			parts[i] = v.names()[i] + ":" + parts[i]
		}
	}
	if v.kind == jsonObject {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// A document is a source that holds one JSON value. Its methods look into it,
// and add a fault with its path where they find something else.
type document struct {
	*source
	root value
}

// fault adds a fault about a value, led by its path.
func (d document) fault(v value, format string, args ...any) {
	path := ""
	if !d.broken() { // a path costs a walk through the document
		path = pathTo(d.root, v.at)
	}
	if path != "" {
		path += " "
	}
	d.faultAt(int(v.at), "%s", path+fmt.Sprintf(format, args...))
}

// pathTo is the way from a value to the one at an offset: results[2].mean.
func pathTo(root value, at int32) string {
	var path strings.Builder
	for v := root; v.at != at; {
		next := -1
		for i, item := range v.items() {
			if item.at > at {
				break
			}
			next = i
		}
		if next < 0 {
			break
		}
		switch {
		case v.kind == jsonList:
			fmt.Fprintf(&path, "[%d]", next)
		case path.Len() > 0:
			path.WriteString("." + v.names()[next])
		default:
			path.WriteString(v.names()[next])
		}
		v = v.items()[next]
	}
	return path.String()
}

// must returns an object's value of this name and kind.
func (d document) must(of value, name string, want kind) value {
	v, found := of.member(name)
	switch {
	case of.kind != jsonObject:
		d.fault(of, "is %s; want an object with %q", of.kind, name)
	case !found:
		d.fault(of, "has no %q", name)
	case v.kind != want:
		d.fault(v, "is %s; want %s", v.kind, want)
	default:
		return v
	}
	return value{kind: want, at: of.at}
}

// may returns an object's value of this name and kind, if it has one: what is
// null is missing.
func (d document) may(of value, name string, want kind) (value, bool) {
	v, found := of.member(name)
	if !found || v.kind == jsonNull {
		return value{}, false
	}
	if v.kind != want {
		d.fault(v, "is %s; want %s", v.kind, want)
		return value{}, false
	}
	return v, true
}

// A reading is a number, or why there is none.
type reading struct {
	value  float64
	absent string
}

// computed makes a reading of a number that was computed.
func computed(value float64) reading {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return reading{absent: "is " + strconv.FormatFloat(value, 'g', -1, 64)}
	}
	return reading{value: value}
}

// parseNumber reads a number as JSON, C, Java and Python write them. What is no
// number at all is not ok; what is none that can be counted with is absent.
func parseNumber(text string) (r reading, ok bool) {
	if word := strings.TrimLeft(text, "+-"); word != "" && !isDigits(word[:1]) {
		switch strings.ToLower(strings.TrimSpace(word)) {
		case "nan", "inf", "infinity":
			return reading{absent: "is " + strings.TrimSpace(text)}, true
		}
	}
	if strings.ContainsAny(text, "xXpP_") {
		return reading{}, false // Go's own ways to write numbers
	}
	parsed, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(parsed, 0) {
		return reading{}, false
	}
	if math.Abs(parsed) > largest {
		return reading{absent: "is " + text + ", more than any measurement"}, true
	}
	return reading{value: parsed}, true
}

// largest bounds a figure, as the database does.
const largest = 1e100

// number returns an object's number.
func (d document) number(of value, name string) reading {
	v, found := of.member(name)
	if !found {
		d.must(of, name, jsonNumber)
		return reading{absent: "is missing"}
	}
	return d.numberOf(v)
}

// numberOf understands a number, or a text that stands for one that JSON does
// not have: NaN.
func (d document) numberOf(v value) reading {
	switch v.kind {
	case jsonNumber:
		r, _ := parseNumber(v.text)
		return r
	case jsonNull:
		return reading{absent: "is null"}
	case jsonText:
		if r, ok := parseNumber(v.text); ok {
			return r
		}
	}
	d.fault(v, "is %s; want a number", v.kind)
	return reading{absent: "is no number"}
}

// mayNumber returns an object's number, if it has one.
func (d document) mayNumber(of value, name string) (reading, bool) {
	v, found := of.member(name)
	if !found || v.kind == jsonNull {
		return reading{}, false
	}
	return d.numberOf(v), true
}

// numbers returns an object's list of numbers, nothing where it has none.
func (d document) numbers(of value, name string) []reading {
	v, _ := d.may(of, name, jsonList)
	return d.numbersOf(v)
}

// numbersOf understands a list of numbers.
func (d document) numbersOf(v value) []reading {
	readings := make([]reading, 0, len(v.items()))
	for _, item := range v.items() {
		readings = append(readings, d.numberOf(item))
	}
	return readings
}

// word returns an object's text.
func (d document) word(of value, name string) string { return d.must(of, name, jsonText).text }

// parameters are an object's members as parameters.
func (d document) parameters(of value, name string) []stopwatt.Param {
	v, _ := d.may(of, name, jsonObject)
	var params []stopwatt.Param
	for i, item := range v.items() {
		params = append(params, stopwatt.Param{Name: v.names()[i], Value: d.plain(item)})
	}
	return params
}
