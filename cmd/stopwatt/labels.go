package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// longestLabel is how many bytes the key and the value of a label have at most.
const longestLabel = 200

// labelFlag adds --label to a verb.
func labelFlag(verb *cobra.Command, labels *[]string, what string) {
	verb.Flags().StringArrayVar(labels, "label", nil, what)
}

// parseLabels reads KEY=VALUE of --label.
func parseLabels(flags []string) (map[string]string, error) {
	if len(flags) == 0 {
		return nil, nil
	}
	labels := map[string]string{}
	for _, flag := range flags {
		key, value, found := strings.Cut(flag, "=")
		_, twice := labels[key]
		switch {
		case !found || key == "" || strings.TrimSpace(key) != key:
			return nil, fmt.Errorf("--label %s: write KEY=VALUE, as in board=rev-B", quote(flag))
		case len(key) > longestLabel || len(value) > longestLabel || !utf8.ValidString(flag) || strings.ContainsRune(flag, 0):
			return nil, fmt.Errorf("--label %s: key and value are UTF-8 text of at most %d bytes each", quote(flag), longestLabel)
		case twice:
			return nil, fmt.Errorf("--label %s: the key %s is given twice", quote(flag), quote(key))
		}
		labels[key] = value
	}
	return labels, nil
}

// labelsText are labels as --label takes them.
func labelsText(labels map[string]string) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		pairs = append(pairs, quote(key+"="+labels[key]))
	}
	return strings.Join(pairs, ", ")
}
