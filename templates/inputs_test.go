package templates_test

import (
	"fmt"
	"regexp"
	"slices"
)

// An input is one of spec: inputs.
type input struct {
	kind    string // string, number, boolean, array
	initial any    // its default; nil: it must be given
	options []any
	regex   *regexp.Regexp
}

// inputsOf reads the header of a component.
func inputsOf(header config) (map[string]input, []string) {
	faults := keys(map[string]check{"inputs": anything})("spec", header["spec"])
	if len(header) != 1 {
		faults = append(faults, "the header has more than spec")
	}
	spec, _ := header["spec"].(map[string]any)
	written, _ := spec["inputs"].(map[string]any)
	inputs := map[string]input{}
	for name, entry := range written {
		faults = append(faults, inputEntry("input "+name, entry)...)
		fields, _ := entry.(map[string]any)
		read, fault := readInput(fields)
		if fault != "" {
			faults = append(faults, "input "+name+": "+fault)
		}
		if !regexp.MustCompile(`^[a-z][a-z0-9-]*$`).MatchString(name) {
			faults = append(faults, "input "+name+": not a name of small letters, digits and hyphens")
		}
		inputs[name] = read
	}
	return inputs, faults
}

// inputEntry is what an input may be described by. A description is asked for by
// us, and not by GitLab: it is what the catalog shows.
var inputEntry = keys(map[string]check{
	"description": text, "default": anything, "regex": text, "options": list(anything, 1, 50),
	"type": oneOf("string", "number", "boolean", "array"),
}, "description")

// readInput reads one input, and says whether its default is one of its values.
func readInput(fields map[string]any) (input, string) {
	read := input{kind: "string", initial: fields["default"]}
	if kind, ok := fields["type"].(string); ok {
		read.kind = kind
	}
	read.options, _ = fields["options"].([]any)
	if pattern, ok := fields["regex"].(string); ok {
		var err error
		if read.regex, err = regexp.Compile(pattern); err != nil { // RE2, as GitLab's
			return read, err.Error()
		}
	}
	if read.initial == nil {
		return read, ""
	}
	if fault := read.refuse(read.initial); fault != "" {
		return read, "default: " + fault
	}
	return read, ""
}

// refuse says why a value is none of this input's.
func (i input) refuse(value any) string {
	fits := map[string]bool{}
	switch value.(type) {
	case string:
		fits["string"] = true
	case uint64, int64, float64, int:
		fits["number"] = true
	case bool:
		fits["boolean"] = true
	case []any:
		fits["array"] = true
	}
	if !fits[i.kind] {
		return fmt.Sprintf("%v is no %s", value, i.kind)
	}
	if i.options != nil && !slices.Contains(i.options, value) {
		return fmt.Sprintf("%v is none of %v", value, i.options)
	}
	if written, ok := value.(string); ok && i.regex != nil && !i.regex.MatchString(written) {
		return fmt.Sprintf("%q does not match %v", written, i.regex)
	}
	return ""
}

// valuesOf are the inputs' values, as they were given or by default.
func valuesOf(inputs map[string]input, given map[string]any) (map[string]any, []string) {
	values, faults := map[string]any{}, []string{}
	for name, described := range inputs {
		values[name] = described.initial
		if value, ok := given[name]; ok {
			values[name] = value
			if fault := described.refuse(value); fault != "" {
				faults = append(faults, "input "+name+": "+fault)
			}
		}
		if values[name] == nil {
			faults = append(faults, "input "+name+" is required and not given")
		}
	}
	for name := range given {
		if _, known := inputs[name]; !known {
			faults = append(faults, "input "+name+" is given and not known")
		}
	}
	return values, faults
}
