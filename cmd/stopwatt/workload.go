package main

import (
	"fmt"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// workloadText says in short what a workload asks.
func workloadText(workload stopwatt.Workload) string {
	switch {
	case workload.Command != nil:
		return fmt.Sprintf("%s of %s", repeatText(workload.Command.Repeat), programText(workload.Command.Program))
	case workload.Harness != nil:
		return fmt.Sprintf("results of %s, format %s", programText(workload.Harness.Program), workload.Harness.Format)
	}
	return loadText(workload.Load)
}

// programText is a program and its arguments.
func programText(program stopwatt.Program) string {
	if len(program.Run) == 0 {
		return "each implementation's own"
	}
	words := make([]string, len(program.Run))
	for i, word := range program.Run {
		words[i] = shellWord(word)
	}
	return strings.Join(words, " ")
}

// repeatText says how often something is repeated.
func repeatText(repeat stopwatt.Repeat) string {
	if repeat.For == 0 || repeat.Most == repeat.Least {
		return plural(repeat.Least, "repetition")
	}
	return fmt.Sprintf("%d to %d repetitions (until %s)", repeat.Least, repeat.Most, duration(repeat.For))
}
