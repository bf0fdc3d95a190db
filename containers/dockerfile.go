package containers

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// A recipe is what matters here of a Dockerfile: the images that its stages
// stand on. All else is left to the builder, complaints about it too.
type recipe struct {
	args   []argument // before the first FROM
	stages []stage
	escape byte // protects the character after it, a backslash usually
}

// An argument is an ARG before the first FROM.
type argument struct {
	name       string
	value      string // its default, not expanded
	hasDefault bool
	line       int
}

// A stage begins with a FROM.
type stage struct {
	name     string   // after AS, in lower case; empty when it has none
	from     string   // not expanded
	platform string   // of --platform, not expanded
	uses     []string // what COPY --from and RUN --mount from= name: stages, their numbers, images
	line     int
}

// An instruction is one logical line of a Dockerfile.
type instruction struct {
	line  int // the physical one that it begins at, from 1
	name  string
	flags []string // as written: --from=build
	words []string // as written, quotes included
}

// dockerfileName is what faults call it, wherever it lies.
const dockerfileName = "Dockerfile"

// inDockerfile gives a fault its place.
func inDockerfile(line int, err error) error {
	return fmt.Errorf("%s:%d: %w", dockerfileName, line, err)
}

// parseDockerfile finds the stages of a Dockerfile.
func parseDockerfile(text []byte) (recipe, error) {
	lines := strings.Split(strings.TrimPrefix(string(text), "\ufeff"), "\n")
	r := recipe{escape: escapeDirective(lines)}
	for _, i := range instructions(lines, r.escape) {
		if err := r.add(i); err != nil {
			return recipe{}, inDockerfile(i.line, err)
		}
	}
	if len(r.stages) == 0 {
		return recipe{}, inDockerfile(1, errors.New("no FROM; an image starts from another, or from scratch"))
	}
	return r, nil
}

// add takes one instruction in.
func (r *recipe) add(i instruction) error {
	switch i.name {
	case "FROM":
		s, err := newStage(i)
		r.stages = append(r.stages, s)
		return err
	case "ARG":
		if len(r.stages) == 0 {
			r.args = append(r.args, arguments(i)...)
		}
	case "COPY", "ADD", "RUN":
		if len(r.stages) > 0 {
			last := &r.stages[len(r.stages)-1]
			last.uses = append(last.uses, usedBy(i)...)
		}
	}
	return nil
}

// newStage understands FROM [--platform=P] IMAGE [AS NAME].
func newStage(i instruction) (stage, error) {
	s := stage{line: i.line}
	switch {
	case len(i.words) == 3 && strings.EqualFold(i.words[1], "AS"):
		s.name = strings.ToLower(i.words[2])
	case len(i.words) != 1:
		return s, fmt.Errorf("FROM %s; write FROM IMAGE or FROM IMAGE AS NAME", strings.Join(i.words, " "))
	}
	s.from = i.words[0]
	for _, flag := range i.flags {
		if platform, found := strings.CutPrefix(flag, "--platform="); found {
			s.platform = platform
		}
	}
	return s, nil
}

// arguments understands ARG NAME[=DEFAULT]…
func arguments(i instruction) []argument {
	var found []argument
	for _, word := range i.words {
		name, value, hasDefault := strings.Cut(word, "=")
		found = append(found, argument{name: name, value: value, hasDefault: hasDefault, line: i.line})
	}
	return found
}

// usedBy is what an instruction takes files from, other than its own stage and
// the context. Names that are variables are not: the builder refuses them.
func usedBy(i instruction) []string {
	var found []string
	for _, flag := range i.flags {
		if from, copies := strings.CutPrefix(flag, "--from="); copies {
			found = append(found, from)
		}
		mount, _ := strings.CutPrefix(flag, "--mount=")
		for option := range strings.SplitSeq(mount, ",") {
			if from, mounts := strings.CutPrefix(option, "from="); mounts {
				found = append(found, from)
			}
		}
	}
	return found
}

// directive is a comment at the very top that means something.
var directive = regexp.MustCompile(`^#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=\s*(.+?)\s*$`)

// escapeDirective is the character that continues lines: a backslash, or what
// `# escape=` says among the directives at the top.
func escapeDirective(lines []string) byte {
	for _, line := range lines {
		found := directive.FindStringSubmatch(strings.TrimRight(line, "\r"))
		if found == nil {
			break
		}
		if strings.EqualFold(found[1], "escape") && found[2] == "`" {
			return '`'
		}
	}
	return '\\'
}

// instructions joins continued lines, and drops comments, empty lines and the
// content of here-documents.
func instructions(lines []string, escape byte) []instruction {
	var found []instruction
	for n := 0; n < len(lines); {
		text, next := logicalLine(lines, n, escape)
		if i := parseInstruction(text, escape); i.name != "" {
			i.line = n + 1
			found = append(found, i)
			next = afterDocuments(lines, next, i.name, text)
		}
		n = next
	}
	return found
}

// logicalLine joins the lines from n on, as long as they are continued, and
// tells where the next begins. Comments and empty lines between do not end it.
func logicalLine(lines []string, n int, escape byte) (text string, next int) {
	var joined strings.Builder
	for ; n < len(lines); n++ {
		line := strings.TrimRight(lines[n], "\r")
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "#") || trimmed == "" {
			if joined.Len() == 0 {
				return "", n + 1
			}
			continue
		}
		line, more := continued(line, escape)
		joined.WriteString(line)
		if !more {
			return joined.String(), n + 1
		}
	}
	return joined.String(), n
}

// continued cuts off the sign that a line goes on, which is one escape
// character at its end, not two.
func continued(line string, escape byte) (string, bool) {
	before, found := strings.CutSuffix(strings.TrimRight(line, " \t"), string(escape))
	if !found || strings.HasSuffix(before, string(escape)) {
		return line, false
	}
	return before, true
}

// parseInstruction splits a logical line into words. It knows nothing of the
// shell: what a RUN runs is of no interest.
func parseInstruction(text string, escape byte) instruction {
	words := splitWords(text, escape)
	if len(words) == 0 {
		return instruction{}
	}
	i := instruction{name: strings.ToUpper(words[0]), words: words[1:]}
	for len(i.words) > 0 && strings.HasPrefix(i.words[0], "--") {
		i.flags = append(i.flags, i.words[0])
		i.words = i.words[1:]
	}
	return i
}

// splitWords splits at white space outside quotes. The words keep their quotes.
func splitWords(text string, escape byte) []string {
	var words []string
	var word strings.Builder
	var quote byte
	for n := 0; n < len(text); n++ {
		c := text[n]
		switch {
		case c == escape && quote != '\'' && n+1 < len(text):
			word.WriteByte(c)
			n++
			c = text[n]
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case quote == 0 && strings.IndexByte(" \t\v\f\r", c) >= 0:
			words = appendWord(words, &word)
			continue
		}
		word.WriteByte(c)
	}
	return appendWord(words, &word)
}

// appendWord ends a word, if one has begun.
func appendWord(words []string, word *strings.Builder) []string {
	if word.Len() > 0 {
		words = append(words, word.String())
	}
	word.Reset()
	return words
}

// document is the announcement of a here-document: <<EOF, <<-EOF, <<"EOF".
var document = regexp.MustCompile(`(?:^|\s)[0-9]*<<(-?)["']?([a-zA-Z_][a-zA-Z0-9_.]*)["']?`)

// afterDocuments passes over the here-documents that a line announces. One
// that never ends is none.
func afterDocuments(lines []string, next int, name, text string) int {
	if name != "RUN" && name != "COPY" && name != "ADD" {
		return next
	}
	for _, announced := range document.FindAllStringSubmatch(text, -1) {
		for n := next; n < len(lines); n++ {
			line := strings.TrimRight(lines[n], "\r")
			if announced[1] == "-" {
				line = strings.TrimLeft(line, "\t")
			}
			if line == announced[2] {
				next = n + 1
				break
			}
		}
	}
	return next
}
