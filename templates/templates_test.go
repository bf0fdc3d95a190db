// Package templates holds what other projects include in their pipelines. There is
// no code in it but tests: they check the templates and this project's own pipeline
// by the rules that GitLab has for the keywords in them, and play their scripts. No
// GitLab is asked.
package templates_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt/jobs"
)

const (
	ours      = ".gitlab-ci.yml"
	component = "templates/benchmark.yml"
)

// files reads the project's pipeline files.
func files(t *testing.T) project {
	t.Helper()
	read := project{}
	for _, name := range []string{ours, component} {
		text, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		read[name] = string(text)
	}
	return read
}

// includes are pipelines that include the component.
var includes = map[string]string{
	"all defaults": `
include: {component: $CI_SERVER_FQDN/stopwatt/stopwatt/benchmark@1}
`,
	"all inputs otherwise": `
stages: [check, measure]
include:
  - component: $CI_SERVER_FQDN/stopwatt/stopwatt/benchmark@1
    inputs:
      suite: bench/servers.yml
      job: servers
      stage: measure
      tags: [quiet, arm64]
      machine: odroid-h3
      image: "registry.example.org:5000/team/stopwatt:1.2"
      stopwatt: /opt/stopwatt/bin/stopwatt
      database: SERVERS_DATABASE
      token: SERVERS_TOKEN
      fail-on: regressed,undecided
      warn-on: [10, 11]
      budget: 1h30m
      rounds: "40"
      profile: short
      note: alerts
      timeout: 3 hours
      script-timeout: 170m
      expire-in: 1 week
`,
	"several machines": `
include: {component: $CI_SERVER_FQDN/stopwatt/stopwatt/benchmark@1, inputs: {machines: [odroid-h3, rpi-4]}}
`,
	"two suites": `
include:
  - {component: $CI_SERVER_FQDN/stopwatt/stopwatt/benchmark@1, inputs: {suite: a.yml, job: a}}
  - {component: $CI_SERVER_FQDN/stopwatt/stopwatt/benchmark@1, inputs: {suite: b.yml, job: b, machines: [odroid-h3, rpi-4]}}
`,
}

func TestThePipelinesKeepGitLabsRules(t *testing.T) {
	t.Parallel()
	texts := maps.Clone(includes)
	texts[ours] = files(t)[ours]
	texts["what stopwatt init writes"] = string(jobs.StarterPipeline("bench/stopwatt.yml"))
	for name, text := range texts {
		configuration, faults := files(t).assemble(text)
		for _, fault := range append(faults, configuration.judge()...) {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// TestAWrongEditIsFound is about the rules themselves: each of these edits makes
// GitLab refuse the pipeline, or makes it do something else than is meant.
func TestAWrongEditIsFound(t *testing.T) {
	t.Parallel()
	for _, edit := range []struct{ what, file, old, new, want string }{
		{"a keyword with a letter too few", component, "resource_group:", "resource_grop:", "no rule knows the keyword resource_grop"},
		{"a keyword of artifacts at the job", component, "artifacts:\n    when", "artifacts: {}\n  expose_as: x\n  artifact:\n    when", "no rule knows the keyword"},
		{"a report that GitLab does not read", component, "codequality:", "code_quality:", "no rule knows the keyword code_quality"},
		{"an input that is used and not described", component, "inputs.budget ]]", "inputs.buget ]]", "inputs.buget ]] is no input"},
		{"an input that is described and not used", component, "  expire_in: $[[ inputs.expire-in ]]", "  expire_in: 4 weeks", "input expire-in is never used"},
		{"an input of another context", component, "$[[ inputs.suite ]]", "$[[ input.suite ]]", "is no input"},
		{"an input of no type", component, "type: array", "type: list", "list is none of string, number"},
		{"a default that its regex refuses", component, "default: 1h55m", "default: 1h 55m", `"1h 55m" does not match`},
		{"a default that is no option", component, "default: always", "default: sometimes", "sometimes is none of"},
		{"a default of another type", component, "default: [11]", "default: 11", "11 is no array"},
		{"a regex that RE2 refuses", component, "regex: ^[0-9]*$", "regex: ^(?=[0-9])$", "invalid or unsupported Perl syntax"},
		{"an input without a description", component, "description: The profile of the suite. Empty, none.", "default: x", "input profile"},
		{"no header", component, "\n---\n", "\n", "there is no header"},
		{"a condition that is no expression", component, `$CI_PIPELINE_SOURCE == "merge_request_event"`, `$CI_PIPELINE_SOURCE = "merge_request_event"`, "cannot be read"},
		{"a text on the left of a condition", component, "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH", `'"main" == $CI_COMMIT_BRANCH'`, "is no variable"},
		{"a rule with a keyword that rules lack", component, "      interruptible: false", "      timeout: 1h", "no rule knows the keyword timeout"},
		{"a rule that is run at no known time", component, "when: never", "when: sometimes", "sometimes is none of"},
		{"an exit status in words", component, "exit_codes: $[[ inputs.warn-on ]]", "exit_codes: undecided", "is no whole number"},
		{"a failure that is allowed by a text", component, "  allow_failure:\n    exit_codes: $[[ inputs.warn-on ]]", "  allow_failure: $[[ inputs.warn-on ]]", "allow_failure"},
		{"tags that are no list", component, "tags: $[[ inputs.tags ]]", "tags: $[[ inputs.machine ]]", "is no list"},
		{"tags within tags", component, "tags: $[[ inputs.tags ]]", "tags: [$[[ inputs.tags ]], arm64]", "is no text"},
		{"a resource group that ends in a slash", component, "resource_group: stopwatt/$[[ inputs.machine ]]", "resource_group: stopwatt/$[[ inputs.machine ]]/", "does not match"},
		{"a matrix that is a mapping", component, "      - STOPWATT_MACHINE:", "        STOPWATT_MACHINE:", "matrix"},
		{"a matrix without machines", component, "default: [none]", "default: []", "0 entries, not 1 to 200"},
		{"a need of a job that is not there", component, "- job: \"$[[ inputs.job ]] on\"\n      artifacts: false\n      optional: true", "- job: other", "there is no job other"},
		{"a need that is misspelt", component, "optional: true", "opional: true", "no rule knows the keyword opional"},
		{"a stage that the pipeline lacks", ours, "stage: measure\n", "stage: measuring\n", "there is no stage measuring"},
		{"a need of a later stage", ours, "stages: [check, measure]", "stages: [measure, check]", "build is of a later stage"},
		{"a need without its job", ours, "needs: [build]", "needs: [biuld]", "there is no job biuld"},
		{"a job without a script", ours, "  script:\n    - make lint\n", "", "lint: has no script"},
		{"a line that YAML takes for a mapping", ours, "- make lint", "- echo lint: make lint", "is no command"},
		{"a time of no known unit", ours, "timeout: 3h", "timeout: 3 fortnights", "does not match"},
		{"exposed artifacts with a variable in their path", component, "paths: [stopwatt-report/]", "paths: [$CI_PROJECT_DIR/report/]", "variables in paths"},
		{"a variable that is made of itself", component, `GIT_DEPTH: "0"`, "GIT_DEPTH: $GIT_DEPTH", "is made of itself"},
		{"a variable that is true", component, `GIT_DEPTH: "0"`, "GIT_DEPTH: true", "is no text"},
		{"something extended that is not there", component, `extends: ".$[[ inputs.job ]]"`, `extends: ".$[[ inputs.job ]]s"`, "there is no .benchmarks"},
		{"a reference that leads nowhere", ours, "[.benchmark, before_script]", "[.benchmark, script]", "leads nowhere"},
		{"an input that the component lacks", ours, "profile: short", "profil: short", "input profil is given and not known"},
		{"an input that its regex refuses", ours, "budget: 40m", "budget: 40 minutes", "does not match"},
		{"an include of a file that is not there", ours, "local: templates/benchmark.yml", "local: templates/bench.yml", "there is no templates/bench.yml"},
		{"a workflow with a job's rule", ours, "when: never", "when: manual", "manual is none of always, never"},
		{"a keyword twice", ours, "  stage: check\n  script:\n    - make lint", "  stage: check\n  stage: check\n  script:\n    - make lint", "already defined"},
	} {
		edited := files(t)
		edited[edit.file] = strings.Replace(edited[edit.file], edit.old, edit.new, 1)
		if edited[edit.file] == files(t)[edit.file] {
			t.Errorf("%s: %q is not in %s", edit.what, edit.old, edit.file)
		}
		configuration, faults := edited.assemble(edited[ours])
		faults = append(faults, configuration.judge()...)
		if !strings.Contains(strings.Join(faults, "\n"), edit.want) {
			t.Errorf("%s: no fault says %q: %q", edit.what, edit.want, faults)
		}
	}
}

func TestEachPipelineHasItsJobs(t *testing.T) {
	t.Parallel()
	const yes, no = true, false // whether a newer push cancels it
	mergeRequest := map[string]string{"CI_PIPELINE_SOURCE": "merge_request_event", "CI_MERGE_REQUEST_EVENT_TYPE": "detached", "CI_DEFAULT_BRANCH": "main"}
	push := func(branch string) map[string]string {
		return map[string]string{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": branch, "CI_DEFAULT_BRANCH": "main"}
	}
	for _, row := range []struct {
		text, pipeline string
		variables      map[string]string
		want           map[string]chosen
	}{
		{"all defaults", "a merge request", mergeRequest, map[string]chosen{"benchmark": {"on_success", yes}}},
		{"all defaults", "a merged result", but(mergeRequest, "CI_MERGE_REQUEST_EVENT_TYPE", "merged_result"), map[string]chosen{"benchmark": {"on_success", yes}}},
		{"all defaults", "a merge train", but(mergeRequest, "CI_MERGE_REQUEST_EVENT_TYPE", "merge_train"), map[string]chosen{}},
		{"all defaults", "the default branch", push("main"), map[string]chosen{"benchmark": {"on_success", no}}},
		{"all defaults", "a schedule", but(push("main"), "CI_PIPELINE_SOURCE", "schedule"), map[string]chosen{"benchmark": {"on_success", no}}},
		{"all defaults", "another branch", push("topic"), map[string]chosen{}},
		{"all defaults", "a tag", map[string]string{"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_TAG": "v1", "CI_DEFAULT_BRANCH": "main"}, map[string]chosen{}},
		{"several machines", "a merge request", mergeRequest, map[string]chosen{"benchmark on": {"on_success", yes}, "benchmark note": {"always", yes}}},
		{"several machines", "the default branch", push("main"), map[string]chosen{"benchmark on": {"on_success", no}, "benchmark note": {"always", no}}},
		{"several machines", "a merge train", but(mergeRequest, "CI_MERGE_REQUEST_EVENT_TYPE", "merge_train"), map[string]chosen{}},
		{ours, "a merge request", mergeRequest, map[string]chosen{
			"lint": {"on_success", yes}, "test": {"on_success", yes}, "build": {"on_success", yes}, "benchmark": {"on_success", yes}}},
		{ours, "the default branch", push("main"), map[string]chosen{
			"lint": {"on_success", yes}, "test": {"on_success", yes}, "build": {"on_success", yes}, "benchmark": {"on_success", no}}},
		{ours, "a branch whose merge request has a pipeline of its own", but(push("topic"), "CI_OPEN_MERGE_REQUESTS", "a/b!1"), map[string]chosen{}},
		{ours, "another branch", push("topic"), map[string]chosen{"lint": {"on_success", yes}, "test": {"on_success", yes}, "build": {"on_success", yes}}},
	} {
		configuration := assembled(t, row.text)
		got := configuration.choose(row.variables)
		for name := range got {
			job, _ := configuration[name].(map[string]any)
			for _, need := range needsOf(job) {
				if _, there := got[need.job]; !there && !need.optional {
					t.Errorf("%s, %s: %s needs %s, which that pipeline lacks", row.text, row.pipeline, name, need.job)
				}
			}
		}
		if difference := cmp.Diff(row.want, got, cmp.AllowUnexported(chosen{})); difference != "" {
			t.Errorf("%s, in the pipeline of %s:\n%s", row.text, row.pipeline, difference)
		}
	}
}

// but is a pipeline's variables with one more, or one otherwise.
func but(variables map[string]string, name, value string) map[string]string {
	changed := maps.Clone(variables)
	changed[name] = value
	return changed
}

// assembled is a pipeline of this file, or the project's own.
func assembled(t *testing.T, name string) config {
	t.Helper()
	text, ok := includes[name]
	if !ok {
		text = files(t)[name]
	}
	configuration, faults := files(t).assemble(text)
	if len(faults) > 0 {
		t.Fatalf("%s: %q", name, faults)
	}
	return configuration
}

func TestTheScriptIsToldToStopBeforeTheJobIs(t *testing.T) {
	t.Parallel()
	configuration := assembled(t, "all defaults")
	for _, name := range configuration.jobs() {
		job, _ := configuration[name].(map[string]any)
		variables, _ := job["variables"].(map[string]any)
		// Five minutes for what removes containers, uploads the reports and ends.
		if job["timeout"] != "2h" || variables["RUNNER_SCRIPT_TIMEOUT"] != "1h55m" {
			t.Errorf("%s: the job has %v, its script %v", name, job["timeout"], variables["RUNNER_SCRIPT_TIMEOUT"])
		}
		if !slices.Contains([]string{"benchmark", "benchmark on", "benchmark note"}, name) {
			t.Errorf("a job is called %s, which nobody asked for", name)
		}
	}
}
