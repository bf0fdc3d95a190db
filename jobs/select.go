package jobs

import (
	"fmt"
	"path"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Select returns the suite's cases that match one of the globs, in the order of
// the suite; without globs, all of them.
//
// A glob is IMPLEMENTATION/WORKLOAD, each part matched as by path.Match; a
// workload without its params stands for all of them. One that is malformed, or that matches no case, is an error that says what there
// is to choose from.
func Select(suite stopwatt.Suite, globs []string) ([]stopwatt.Case, error) {
	if len(globs) == 0 {
		return suite.Cases(), nil
	}
	chosen := map[stopwatt.Case]bool{}
	for _, glob := range globs {
		matches, err := matching(suite, glob)
		if err != nil {
			return nil, err
		}
		for _, c := range matches {
			chosen[c] = true
		}
	}
	var cases []stopwatt.Case
	for _, c := range suite.Cases() {
		if chosen[c] {
			cases = append(cases, c)
		}
	}
	return cases, nil
}

// matching returns the cases that one glob stands for.
func matching(suite stopwatt.Suite, glob string) ([]stopwatt.Case, error) {
	implementation, workload, ok := strings.Cut(glob, "/")
	if !ok {
		return nil, fmt.Errorf("case %s names no workload; write IMPLEMENTATION/WORKLOAD, like %s", brief(glob), brief(glob+"/*"))
	}
	for _, part := range []string{implementation, workload} {
		if _, err := path.Match(part, ""); err != nil {
			return nil, fmt.Errorf("case %s is malformed; write * for any text, ? for any character, [a-c] for one of some", brief(glob))
		}
	}
	var cases []stopwatt.Case
	for _, c := range suite.Cases() {
		one, _ := path.Match(implementation, c.Implementation) // both are well-formed
		if one && isWorkload(workload, c.Workload) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return nil, fmt.Errorf("case %s matches nothing; there are: %s", brief(glob), available(suite))
	}
	return cases, nil
}

// isWorkload matches a workload by its whole name, or by that before its params.
func isWorkload(glob, name string) bool {
	family, _, _ := strings.Cut(name, "/")
	one, _ := path.Match(glob, name)
	other, _ := path.Match(glob, family)
	return one || other
}

// available lists what a glob can be made of.
func available(suite stopwatt.Suite) string {
	var implementations, workloads []string
	for _, implementation := range suite.Implementations {
		implementations = append(implementations, implementation.Name)
	}
	for _, workload := range suite.Workloads {
		workloads = append(workloads, workload.Name)
	}
	return fmt.Sprintf("implementations %s; workloads %s", strings.Join(implementations, ", "), strings.Join(workloads, ", "))
}
