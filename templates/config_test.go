package templates_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// A project is the files that a pipeline may be made of, by their paths.
type project map[string]string

// A config is a pipeline's configuration with includes, references and extends
// put in, as GitLab has it before it draws up the jobs.
type config map[string]any

// assemble reads a pipeline file as GitLab does, and tells all that is wrong
// before the keywords are looked at.
func (p project) assemble(text string) (config, []string) {
	local, faults := parse(text)
	whole := config{}
	for _, include := range listOf(local["include"]) {
		included, more := p.include(include)
		faults = append(faults, more...)
		whole = merge(whole, included)
	}
	delete(local, "include")
	whole = merge(whole, local)
	faults = append(faults, whole.refer()...)
	return whole, append(faults, whole.extend()...)
}

// include reads one include. A component, and a file of a project or at a remote
// address, are taken to be those of this project: they are told apart by where
// GitLab looks for the same text.
func (p project) include(include any) (config, []string) {
	entry, ok := include.(map[string]any)
	if !ok {
		return nil, []string{fmt.Sprintf("include: %v is no mapping", include)}
	}
	file, fault := includedFile(entry)
	if fault != "" {
		return nil, []string{"include: " + fault}
	}
	text, here := p[file]
	if !here {
		return nil, []string{"include: there is no " + file}
	}
	given, _ := entry["inputs"].(map[string]any)
	body, faults := interpolate(text, given)
	included, more := parse(body)
	return included, append(faults, more...)
}

// includedFile is the path of what an include names.
func includedFile(entry map[string]any) (file, fault string) {
	component, _ := entry["component"].(string)
	local, _ := entry["local"].(string)
	remote, _ := entry["remote"].(string)
	ofProject, _ := entry["file"].(string)
	for key := range entry {
		if !slices.Contains([]string{"component", "local", "remote", "project", "file", "ref", "inputs", "rules"}, key) {
			return "", "unknown key " + key
		}
	}
	switch {
	case component != "":
		name, version, _ := strings.Cut(path.Base(component), "@")
		if version == "" || strings.Count(component, "/") < 2 {
			return "", component + " is no HOST/PROJECT/NAME@VERSION"
		}
		return "templates/" + name + ".yml", ""
	case remote != "":
		_, name, _ := strings.Cut(remote, "/templates/")
		if !strings.HasPrefix(remote, "https://") {
			return "", remote + " is no address"
		}
		return "templates/" + name, ""
	case ofProject != "" && entry["project"] != nil:
		return strings.TrimPrefix(ofProject, "/"), ""
	case local != "":
		return strings.TrimPrefix(local, "/"), ""
	}
	return "", "none of local, component, remote, project with file"
}

// inReference is !reference [JOB, KEYWORD], which YAML has no value for.
var inReference = regexp.MustCompile(`!reference (\[[^\]]*\])`)

// parse reads YAML into plain values.
func parse(text string) (config, []string) {
	var read map[string]any
	if err := yaml.Unmarshal([]byte(inReference.ReplaceAllString(text, `{"!reference": $1}`)), &read); err != nil {
		return nil, []string{err.Error()}
	}
	return read, nil
}

// listOf is a list, or a value that stands for a list of one.
func listOf(value any) []any {
	switch value := value.(type) {
	case nil:
		return nil
	case []any:
		return value
	}
	return []any{value}
}

// merge lays a mapping over another. Lists are not joined but replaced.
func merge(below, above map[string]any) map[string]any {
	merged := maps.Clone(below)
	if merged == nil {
		merged = map[string]any{}
	}
	for key, value := range above {
		under, ok := merged[key].(map[string]any)
		over, also := value.(map[string]any)
		if ok && also {
			value = merge(under, over)
		}
		merged[key] = value
	}
	return merged
}

// refer puts in what !reference names.
func (c config) refer() (faults []string) {
	for name, job := range c {
		c[name] = c.referred(job, name, &faults)
	}
	return faults
}

func (c config) referred(value any, place string, faults *[]string) any {
	switch value := value.(type) {
	case map[string]any:
		if named, ok := value["!reference"]; ok {
			return c.named(listOf(named), place, faults)
		}
		for key := range value {
			value[key] = c.referred(value[key], place+"."+key, faults)
		}
	case []any:
		for i := range value {
			value[i] = c.referred(value[i], place, faults)
		}
	}
	return value
}

// named finds what the steps of a reference lead to.
func (c config) named(steps []any, place string, faults *[]string) any {
	var found any = map[string]any(c)
	for _, step := range steps {
		mapping, _ := found.(map[string]any)
		found = mapping[fmt.Sprint(step)]
	}
	if found == nil {
		*faults = append(*faults, fmt.Sprintf("%s: !reference %v leads nowhere", place, steps))
	}
	return found
}

// extend puts under each job what it extends.
func (c config) extend() (faults []string) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		job, ok := c[name].(map[string]any)
		if !ok {
			continue
		}
		for _, base := range listOf(job["extends"]) {
			under, ok := c[fmt.Sprint(base)].(map[string]any)
			if !ok {
				faults = append(faults, fmt.Sprintf("%s.extends: there is no %v", name, base))
			}
			job = merge(under, job)
		}
		c[name] = job
	}
	return faults
}

// jobs are the names of the jobs that are no mere material of others.
func (c config) jobs() (names []string) {
	for name := range c {
		if _, global := globals[name]; !global && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// inherited is what a job says by a keyword, or default says for it.
func (c config) inherited(job map[string]any, keyword string) any {
	if said := job[keyword]; said != nil {
		return said
	}
	inherit, _ := job["inherit"].(map[string]any)
	defaults, _ := c["default"].(map[string]any)
	if inherit["default"] == false {
		return nil
	}
	return defaults[keyword]
}

// inBlock is $[[ inputs.NAME ]], and whatever else stands in such brackets.
var inBlock = regexp.MustCompile(`\$\[\[(.*?)\]\]`)

// interpolate puts inputs into the text of a file with a header, before that text
// is read as YAML: texts as they are, all else as JSON.
func interpolate(text string, given map[string]any) (body string, faults []string) {
	head, body, ok := strings.Cut(text, "\n---\n")
	if !ok {
		return "", []string{"there is no header with spec: inputs"}
	}
	header, faults := parse(head)
	inputs, more := inputsOf(header)
	faults = append(faults, more...)
	values, more := valuesOf(inputs, given)
	faults = append(faults, more...)
	used := map[string]bool{}
	body = inBlock.ReplaceAllStringFunc(body, func(block string) string {
		name, isInput := strings.CutPrefix(strings.TrimSpace(inBlock.FindStringSubmatch(block)[1]), "inputs.")
		value, known := values[name]
		if !isInput || !known {
			faults = append(faults, block+" is no input of the header")
		}
		used[name] = true
		return inText(value)
	})
	for name := range inputs {
		if !used[name] {
			faults = append(faults, "input "+name+" is never used")
		}
	}
	return body, faults
}

// inText is how an input's value stands in the text.
func inText(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	written, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(written)
}
