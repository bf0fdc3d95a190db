package report

import "strings"

// What is told after a merge stands between these in a note. People do not see them.
const (
	sectionBegins = "<!-- stopwatt:after-merge -->"
	sectionEnds   = "<!-- /stopwatt:after-merge -->"
)

// OnTop puts what is told after a merge on top of the note that a merge request has, in
// place of what was told there before. The note may be empty.
func OnTop(section, note string) string {
	if begins := strings.Index(note, sectionBegins); begins >= 0 {
		if ends := strings.Index(note[begins:], sectionEnds); ends >= 0 {
			note = note[:begins] + note[begins+ends+len(sectionEnds):]
		}
	}
	note = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(note), "---\n"))
	text := sectionBegins + "\n" + strings.TrimSpace(section) + "\n\n" + sectionEnds + "\n"
	if note == "" {
		return text
	}
	return text + "\n---\n\n" + note + "\n"
}
