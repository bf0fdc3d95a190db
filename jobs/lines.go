package jobs

import "regexp"

// Lines says on which lines of a suite file its implementations and its workloads
// begin, by their names, from 1. Of a text that is no suite it knows nothing.
func Lines(text []byte) (implementations, workloads map[string]int) {
	r := &reader{about: aboutSuite}
	root, _ := r.tree(text)
	return linesBelow(root, "implementations"), linesBelow(root, "workloads")
}

// Name is what a suite file calls its suite, also where something else in it is wrong,
// be it that it is no YAML; empty where that cannot be read.
func Name(text []byte) string {
	r := &reader{about: aboutSuite}
	root, _ := r.tree(text)
	name, known := root.get("suite")
	if line := nameLine.FindSubmatch(text); !known && line != nil {
		return string(line[1])
	}
	if name.kind != scalar || isName(name.text) != "" {
		return ""
	}
	return name.text
}

// nameLine is how most files name their suite.
var nameLine = regexp.MustCompile(`(?m)^suite:[ \t]+([A-Za-z0-9][A-Za-z0-9._-]{0,63})[ \t]*(?:#.*)?\r?$`)

// linesBelow are the lines of the keys of one mapping.
func linesBelow(root node, key string) map[string]int {
	lines := map[string]int{}
	below, _ := root.get(key)
	for _, entry := range below.entries {
		if _, twice := lines[entry.key]; !twice {
			lines[entry.key] = entry.at.line
		}
	}
	return lines
}
