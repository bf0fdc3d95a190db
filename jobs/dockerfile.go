package jobs

import (
	"regexp"
	"strconv"
	"strings"
)

// ports is what EXPOSE names: 8080, 8080/tcp, 8000-8010, but no variables.
var ports = regexp.MustCompile(`^([0-9]{1,5})(?:-[0-9]{1,5})?(?:/tcp)?$`)

// Exposed returns the first TCP port that the image of a Dockerfile exposes. In
// a Dockerfile of several stages it is that of the last stage with an EXPOSE.
// A port that is told by a variable is not found.
func Exposed(dockerfile []byte) (port int, ok bool) {
	fresh := true // no port of this stage yet
	for _, words := range instructions(string(dockerfile)) {
		switch strings.ToUpper(words[0]) {
		case "FROM":
			fresh = true
		case "EXPOSE":
			if found := firstPort(words[1:]); fresh && found != 0 {
				port, fresh = found, false
			}
		}
	}
	return port, port != 0
}

// instructions returns the words of each instruction of a Dockerfile: lines
// joined where they end in a backslash, without comments.
func instructions(dockerfile string) [][]string {
	var all [][]string
	var words []string
	for line := range strings.SplitSeq(dockerfile, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rest, goesOn := strings.CutSuffix(line, `\`)
		words = append(words, strings.Fields(rest)...)
		if !goesOn && len(words) > 0 {
			all = append(all, words)
			words = nil
		}
	}
	if len(words) > 0 {
		all = append(all, words)
	}
	return all
}

func firstPort(words []string) int {
	for _, word := range words {
		found := ports.FindStringSubmatch(strings.ToLower(strings.Trim(word, `"`)))
		if found == nil {
			continue
		}
		if port, _ := strconv.Atoi(found[1]); port >= 1 && port <= 65535 {
			return port
		}
	}
	return 0
}
