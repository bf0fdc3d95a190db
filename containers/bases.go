package containers

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A base is an image that a build stands on.
type base struct {
	written  string // as the Dockerfile means it
	used     string // the same, or its stand-in
	platform string // asked for by --platform; empty: the engine's own
	line     int
}

// variables are the values of the arguments before the first FROM.
type variables map[string]string

// platformVariables are those that BuildKit sets by itself, for a build on and
// for one platform such as linux/arm64.
func platformVariables(os, architecture string) variables {
	known := variables{}
	for _, side := range []string{"BUILD", "TARGET"} {
		known[side+"PLATFORM"] = os + "/" + architecture
		known[side+"OS"], known[side+"ARCH"], known[side+"VARIANT"] = os, architecture, ""
	}
	return known
}

// evaluate gives every argument its value: the one that was given, or else its
// default, or else the stand-in of that. It returns beside the values which
// arguments a stand-in was given to.
func (r recipe) evaluate(known variables, given, standIns map[string]string) (variables, map[string]string, error) {
	values, replaced := maps.Clone(known), map[string]string{}
	for _, a := range r.args {
		if value, found := given[a.name]; found {
			values[a.name] = value
			continue
		}
		if !a.hasDefault {
			continue
		}
		value, err := r.expand(a.value, values)
		if err != nil {
			return nil, nil, inDockerfile(a.line, fmt.Errorf("ARG %s: %w", a.name, err))
		}
		if standIn, found := standIns[value]; found {
			value, replaced[a.name] = standIn, standIn
		}
		values[a.name] = value
	}
	return values, replaced, nil
}

// expand replaces the variables in a word.
func (r recipe) expand(word string, values variables) (string, error) {
	return expansion{escape: r.escape, lookup: func(name string) (string, bool) {
		value, set := values[name]
		return value, set
	}}.word(word)
}

// bases lists the images that the target stands on, each once, in the order of
// the Dockerfile, with their names by both sets of values.
func (r recipe) bases(target string, written, used variables) ([]base, error) {
	needed, err := r.needed(target, used)
	if err != nil {
		return nil, err
	}
	var found []base
	for i, s := range r.stages {
		if !needed[i] {
			continue
		}
		b, err := r.baseOf(s, written, used)
		if err != nil {
			return nil, inDockerfile(s.line, fmt.Errorf("FROM %s: %w", s.from, err))
		}
		if _, isStage := r.stageNamed(b.used, i); !isStage && b.used != "scratch" {
			found = append(found, b)
		}
		for _, from := range s.uses {
			if _, isStage := r.stageUsed(from, i); !isStage && from != "scratch" && !strings.Contains(from, "$") {
				found = append(found, base{written: from, used: from, line: s.line})
			}
		}
	}
	return distinct(found), nil
}

// baseOf expands what a stage starts from.
func (r recipe) baseOf(s stage, written, used variables) (base, error) {
	meant, err := r.expand(s.from, written)
	if err != nil {
		return base{}, err
	}
	taken, err := r.expand(s.from, used)
	if err != nil {
		return base{}, err
	}
	platform, err := r.expand(s.platform, used)
	if err != nil {
		return base{}, err
	}
	if taken == "" {
		return base{}, errors.New("names no image; give the variable a default (ARG NAME=image) before the first FROM, or a build argument")
	}
	return base{written: meant, used: taken, platform: platform, line: s.line}, nil
}

// needed marks the stages that the target is made from, itself included.
func (r recipe) needed(target string, used variables) ([]bool, error) {
	goal := len(r.stages) - 1
	if target != "" {
		named, found := r.stageUsed(target, len(r.stages))
		if !found {
			return nil, fmt.Errorf("no stage of the Dockerfile is called %q%s", target, r.stageNames())
		}
		goal = named
	}
	needed := make([]bool, len(r.stages))
	needed[goal] = true
	for i := goal; i >= 0; i-- { // stages stand on earlier ones only
		if !needed[i] {
			continue
		}
		from, err := r.expand(r.stages[i].from, used)
		if err != nil {
			return nil, inDockerfile(r.stages[i].line, fmt.Errorf("FROM %s: %w", r.stages[i].from, err))
		}
		if earlier, isStage := r.stageNamed(from, i); isStage {
			needed[earlier] = true
		}
		for _, name := range r.stages[i].uses {
			if earlier, isStage := r.stageUsed(name, i); isStage {
				needed[earlier] = true
			}
		}
	}
	return needed, nil
}

// stageNamed finds the last of the first n stages that has this name.
func (r recipe) stageNamed(name string, n int) (int, bool) {
	for i := n - 1; i >= 0; i-- {
		if r.stages[i].name != "" && r.stages[i].name == strings.ToLower(name) {
			return i, true
		}
	}
	return 0, false
}

// stageUsed finds a stage among the first n by its name or its number.
func (r recipe) stageUsed(name string, n int) (int, bool) {
	if i, found := r.stageNamed(name, n); found {
		return i, true
	}
	i, err := strconv.Atoi(name)
	return i, err == nil && i >= 0 && i < n
}

// stageNames lists what could have been meant.
func (r recipe) stageNames() string {
	var names []string
	for _, s := range r.stages {
		if s.name != "" {
			names = append(names, s.name)
		}
	}
	if len(names) == 0 {
		return ": its stages have no names; write FROM IMAGE AS NAME"
	}
	return "; it has " + strings.Join(names, ", ")
}

// distinct drops bases that come again.
func distinct(all []base) []base {
	var once []base
	for _, b := range all {
		if !slices.ContainsFunc(once, func(o base) bool { return o.used == b.used && o.platform == b.platform }) {
			once = append(once, b)
		}
	}
	return once
}
