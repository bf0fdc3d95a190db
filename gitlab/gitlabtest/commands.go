package gitlabtest

import (
	"regexp"
	"strings"
)

// command is a line that GitLab carries out, and takes out of the note. Its list is longer; what
// matters is who may write one at all.
var command = regexp.MustCompile(`(?i)^/(merge|close|reopen|approve|unapprove|draft|ready|label|unlabel|relabel|assign|unassign|title|todo|done|` +
	`milestone|due|spend|estimate|subscribe|lock|unlock|rebase|award|react|target_branch|copy_metadata|shrug|tableflip|cc)( .*)?\s*$`)

// fences begin and end what GitLab looks for no command in: code, and quotes of several lines.
var fences = []string{"```", ">>>"}

// extract is what GitLab stores of a note, and the commands that it carries out.
func extract(body string) (string, []string) {
	body = strings.ReplaceAll(body, "\r", "")
	var kept, commands []string
	within := ""
	for _, line := range strings.Split(body, "\n") {
		for _, fence := range fences {
			if within == "" && strings.HasPrefix(line, fence) && closes(body, line, fence) {
				within = fence
			} else if within == fence && line == fence {
				within = ""
			}
		}
		if within == "" && command.MatchString(line) {
			commands = append(commands, strings.TrimSpace(line))
			continue
		}
		kept = append(kept, line)
	}
	return strings.TrimRight(strings.Join(kept, "\n"), " \t\n\v\f\x00"), commands
}

// closes tells whether a fence that a line opens is closed later.
func closes(body, line, fence string) bool {
	_, rest, _ := strings.Cut(body, line)
	return strings.Contains(rest+"\n", "\n"+fence+"\n")
}
