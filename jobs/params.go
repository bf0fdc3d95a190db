package jobs

import (
	"regexp"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// mostVariants bounds the workloads that the parameters of one make.
const mostVariants = 1000

// A parameter is a name and the values that it takes, one after the other.
type parameter struct {
	name   string
	at     place
	values []string
}

var valuePattern = regexp.MustCompile(`^[A-Za-z0-9._+-]+$`)

// isValue checks a parameter's value, which becomes a part of names.
func isValue(text string) string {
	if len(text) > 64 || !valuePattern.MatchString(text) {
		return "write letters, digits, . _ + and -, 64 at most: it becomes a part of the workload's name"
	}
	return ""
}

// parameters reads a mapping from names to lists of values.
func (r *reader) parameters(at node) []parameter {
	var all []parameter
	r.named(at, "param", func(name string, value node) {
		p := parameter{name: name, at: value.owner}
		r.texts(value, "param "+brief(name), &p.values, isValue)
		if value.kind == list && len(value.items) == 0 {
			r.fault(value.at, "param %s has no value; write some, like [20, 25, 30]", brief(name))
		}
		for i, text := range p.values {
			if slices.Contains(p.values[:i], text) && text != "" {
				r.fault(value.items[i].at, "param %s has the value %s twice; remove one", brief(name), brief(text))
			}
		}
		if p.values = slices.DeleteFunc(p.values, func(text string) bool { return text == "" }); len(p.values) > 0 {
			all = append(all, p) // the others' faults have been told
		}
	})
	return all
}

// parametersUsed checks that each parameter stands somewhere: else its values make
// workloads that are the same under several names.
func (r *reader) parametersUsed(workloads node, implementations []implementation) {
	for _, w := range workloads.entries {
		params, _ := w.value.get("params")
		within := []node{w.value}
		for _, i := range implementations {
			over, _ := i.with.get(w.key)
			within = append(within, over)
		}
		for _, p := range params.entries {
			uses := func(n node) bool { return n.holds("{" + p.key + "}") }
			if !slices.ContainsFunc(within, uses) {
				r.fault(p.at, "param %s of workload %s is used nowhere; write {%s} in its run where the value belongs, or remove it", brief(p.key), brief(w.key), p.key)
			}
		}
	}
}

// holds tells whether a text stands in a node, or in one within.
func (n node) holds(text string) bool {
	return strings.Contains(n.text, text) ||
		slices.ContainsFunc(n.items, func(item node) bool { return item.holds(text) }) ||
		slices.ContainsFunc(n.entries, func(e entry) bool { return e.value.holds(text) })
}

// over replaces the values of the parameters that a profile names.
func over(parameters, profile []parameter) []parameter {
	replaced := slices.Clone(parameters)
	for i, p := range replaced {
		if j := slices.IndexFunc(profile, func(o parameter) bool { return o.name == p.name }); j >= 0 {
			replaced[i].values = profile[j].values
		}
	}
	return replaced
}

// combinations are all the ways to give each parameter one of its values, the
// last parameter's changing first. Without parameters there is one, of nothing.
func combinations(parameters []parameter) [][]stopwatt.Param {
	all := [][]stopwatt.Param{nil}
	for _, p := range parameters {
		var longer [][]stopwatt.Param
		for _, begun := range all {
			for _, value := range p.values {
				longer = append(longer, append(slices.Clone(begun), stopwatt.Param{Name: p.name, Value: value}))
			}
		}
		all = longer
	}
	return all
}

// countVariants is how many combinations there are, without making them.
func countVariants(parameters []parameter) int {
	count := 1
	for _, p := range parameters {
		count = min(count*len(p.values), mostVariants+1)
	}
	return count
}

// variant is the name of a workload with these parameters: fib/n=20.
func variant(name string, params []stopwatt.Param) string {
	if len(params) == 0 {
		return name
	}
	var parts []string
	for _, p := range params {
		parts = append(parts, p.Name+"="+p.Value)
	}
	return name + "/" + strings.Join(parts, ",")
}

// with is the node in whose texts {NAME} is replaced by the parameter's value.
func (n node) with(params []stopwatt.Param) node {
	if len(params) == 0 {
		return n
	}
	var pairs []string
	for _, p := range params {
		pairs = append(pairs, "{"+p.Name+"}", p.Value)
	}
	return n.replaced(strings.NewReplacer(pairs...))
}

func (n node) replaced(words *strings.Replacer) node {
	n.text = words.Replace(n.text)
	n.items = slices.Clone(n.items)
	for i := range n.items {
		n.items[i] = n.items[i].replaced(words)
	}
	n.entries = slices.Clone(n.entries)
	for i := range n.entries {
		n.entries[i].value = n.entries[i].value.replaced(words)
	}
	return n
}
