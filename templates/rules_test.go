package templates_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A check tells what is wrong with a value at a place of the configuration. The
// checks in this file are GitLab's rules for those keywords that our pipelines
// use, as its reference of CI/CD YAML syntax gives them; a keyword that is not
// here is a fault until somebody writes down its rule.
type check func(place string, value any) []string

// globals are the keywords at the top of a file that name no job.
var globals = map[string]check{
	"stages":    list(text, 1, 100),
	"variables": variables,
	"default":   keys(inheritable),
	"workflow":  keys(map[string]check{"name": text, "rules": list(workflowRule, 1, 100)}),
}

// inheritable are the keywords that jobs may get from default.
var inheritable = map[string]check{
	"after_script":  commands,
	"artifacts":     artifacts,
	"before_script": commands,
	"image":         image,
	"interruptible": boolean,
	"retry":         number(0, 2),
	"tags":          list(text, 0, 49),
	"timeout":       duration,
}

// ofJob are the keywords of a job.
var ofJob = with(inheritable, map[string]check{
	"allow_failure":  either(boolean, keys(map[string]check{"exit_codes": either(exitCode, list(exitCode, 1, 255))}, "exit_codes")),
	"dependencies":   list(text, 0, 50),
	"extends":        either(text, list(text, 1, 11)),
	"inherit":        keys(map[string]check{"default": either(boolean, list(text, 1, 20)), "variables": either(boolean, list(text, 1, 100))}),
	"needs":          list(either(text, keys(map[string]check{"job": text, "artifacts": boolean, "optional": boolean}, "job")), 0, 50),
	"parallel":       either(number(1, 200), keys(map[string]check{"matrix": matrix}, "matrix")),
	"resource_group": matches(regexp.MustCompile(`^[A-Za-z0-9_${}. -][A-Za-z0-9_/${}. -]*[A-Za-z0-9_${}. -]$`)),
	"rules":          list(jobRule, 1, 100),
	"script":         commands,
	"stage":          text,
	"variables":      variables,
	"when":           when,
})

var (
	when    = oneOf("on_success", "on_failure", "always", "never", "manual", "delayed")
	jobRule = keys(map[string]check{
		"if": expressionText, "changes": anything, "exists": list(text, 1, 50), "when": when, "allow_failure": boolean,
		"variables": variables, "interruptible": boolean,
	})
	workflowRule = keys(map[string]check{
		"if": expressionText, "changes": anything, "exists": list(text, 1, 50), "when": oneOf("always", "never"), "variables": variables,
	})
	image = either(text, keys(map[string]check{
		"name": text, "entrypoint": list(anyText, 1, 100), "pull_policy": oneOf("always", "if-not-present", "never"),
	}, "name"))
	exitCode = number(1, 255)
)

// artifacts may be named in the merge request by expose_as, which takes plain
// paths alone.
func artifacts(place string, value any) []string {
	faults := keys(map[string]check{
		"name": text, "untracked": boolean, "paths": list(text, 1, 100), "exclude": list(text, 1, 100),
		"expose_as": matches(regexp.MustCompile(`^\w[-\w ]{0,99}$`)), "when": oneOf("on_success", "on_failure", "always"),
		"expire_in": duration, "access": oneOf("all", "developer", "none"), "reports": keys(reports()),
	})(place, value)
	fields, _ := value.(map[string]any)
	if fields["expose_as"] == nil {
		return faults
	}
	paths := listOf(fields["paths"])
	if len(paths) == 0 {
		faults = append(faults, place+".expose_as: exposes no paths")
	}
	for _, exposed := range paths {
		if strings.ContainsAny(fmt.Sprint(exposed), "*$") {
			faults = append(faults, place+".expose_as: neither * nor variables in paths that are exposed")
		}
	}
	return faults
}

// reports are the kinds of reports that GitLab reads.
func reports() map[string]check {
	kinds := map[string]check{}
	for _, kind := range []string{"accessibility", "annotations", "api_fuzzing", "browser_performance", "codequality", "container_scanning",
		"coverage_fuzzing", "coverage_report", "cyclonedx", "dast", "dependency_scanning", "dotenv", "junit", "load_performance", "metrics",
		"repository_xray", "requirements", "sast", "secret_detection", "terraform"} {
		kinds[kind] = either(text, list(text, 1, 100))
	}
	return kinds
}

// commands are a script: a line or a list of them, with lists in it that a
// reference has put there. A colon after a word makes a mapping of a line.
func commands(place string, value any) []string {
	if mapping, ok := value.(map[string]any); ok {
		return []string{fmt.Sprintf("%s: %v is no command; put it in quotes", place, mapping)}
	}
	if lines, ok := value.([]any); ok {
		var faults []string
		for _, line := range lines {
			faults = append(faults, commands(place, line)...)
		}
		return faults
	}
	return text(place, value)
}

// variables are names and texts or numbers. One that is made of itself is refused
// when the pipeline is made.
func variables(place string, value any) []string {
	mapping, ok := value.(map[string]any)
	if !ok {
		return []string{place + ": is no mapping"}
	}
	var faults []string
	for name, written := range mapping {
		if !regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString(name) {
			faults = append(faults, place+": "+name+" is no name of a variable")
		}
		if regexp.MustCompile(`\$\{?` + regexp.QuoteMeta(name) + `\b`).MatchString(fmt.Sprint(written)) {
			faults = append(faults, place+"."+name+": is made of itself")
		}
		faults = append(faults, either(anyText, number(-1<<40, 1<<40))(place+"."+name, written)...)
	}
	return faults
}

// matrix is a list of variables with the values that they take.
func matrix(place string, value any) []string {
	faults := list(anything, 1, 200)(place, value)
	jobs := 0
	for _, entry := range listOf(value) {
		variables, ok := entry.(map[string]any)
		if !ok || len(variables) == 0 {
			faults = append(faults, place+": an entry is no mapping of variables")
		}
		product := 1
		for name, values := range variables {
			faults = append(faults, either(text, list(either(text, number(-1<<40, 1<<40)), 1, 200))(place+"."+name, values)...)
			product *= len(listOf(values))
		}
		jobs += product
	}
	if jobs > 200 {
		faults = append(faults, fmt.Sprintf("%s: makes %d jobs; 200 are allowed", place, jobs))
	}
	return faults
}

// judge tells what GitLab would refuse in a configuration.
func (c config) judge() (faults []string) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if global, ok := globals[name]; ok {
			faults = append(faults, global(name, c[name])...)
			continue
		}
		faults = append(faults, keys(ofJob)(name, c[name])...)
	}
	for _, name := range c.jobs() {
		faults = append(faults, c.judgeJob(name)...)
	}
	return faults
}

// judgeJob tells what is wrong between a job and the rest.
func (c config) judgeJob(name string) (faults []string) {
	job, _ := c[name].(map[string]any)
	if job["script"] == nil {
		faults = append(faults, name+": has no script")
	}
	if len(name) > 255 {
		faults = append(faults, name+": a job's name has at most 255 letters")
	}
	stages := c.stages()
	at := slices.Index(stages, c.stage(name))
	if at < 0 {
		faults = append(faults, fmt.Sprintf("%s.stage: there is no stage %s", name, c.stage(name)))
	}
	for _, need := range needsOf(job) {
		if _, there := c[need.job]; !there && !need.optional {
			faults = append(faults, fmt.Sprintf("%s.needs: there is no job %s", name, need.job))
		} else if there && slices.Index(stages, c.stage(need.job)) > at {
			faults = append(faults, fmt.Sprintf("%s.needs: %s is of a later stage", name, need.job))
		}
	}
	return faults
}

// stages are those of the file, or GitLab's own, with the two that are always there.
func (c config) stages() []string {
	written := listOf(c["stages"])
	if written == nil {
		written = []any{"build", "test", "deploy"}
	}
	stages := []string{".pre"}
	for _, stage := range written {
		stages = append(stages, fmt.Sprint(stage))
	}
	return append(stages, ".post")
}

// stage is a job's stage.
func (c config) stage(name string) string {
	job, _ := c[name].(map[string]any)
	if stage, ok := job["stage"].(string); ok {
		return stage
	}
	return "test"
}

// A need is a job that another waits for.
type need struct {
	job      string
	optional bool
}

func needsOf(job map[string]any) (needs []need) {
	for _, entry := range listOf(job["needs"]) {
		switch entry := entry.(type) {
		case string:
			needs = append(needs, need{job: entry})
		case map[string]any:
			name, _ := entry["job"].(string)
			optional, _ := entry["optional"].(bool)
			needs = append(needs, need{name, optional})
		}
	}
	return needs
}
