package harness

import (
	"path"
	"strings"
)

// A look is a text as Guess sees it.
type look struct {
	text string
	json bool  // whether it begins as JSON does
	root value // its first value, as far as it can be read
}

// guessed is how much of a JSON text is looked at: what tells a format stands at
// its beginning, and all of it will be read again.
const guessed = 1 << 20

// Guess tells the format of a text by its look, and by the name of its file
// where that decides; empty when it is none of Formats. A text may still turn
// out to be wrong: see Read.
func Guess(name string, text []byte) string {
	src, err := open(text, Options{File: name})
	if err != nil {
		return ""
	}
	l := look{text: src.text}
	beginning := src.text[:min(len(src.text), guessed)]
	p := parser{text: beginning, at: jsonStart(beginning), most: maxValues}
	if p.space(); p.at < len(beginning) && strings.IndexByte("{[", beginning[p.at]) >= 0 {
		root, _ := p.value(0)
		l.json, l.root = true, root
	}
	for _, format := range Formats {
		if format.claims(l) {
			return format.Name
		}
	}
	switch path.Base(name) {
	case "estimates.json", "sample.json":
		return "criterion"
	}
	return ""
}
