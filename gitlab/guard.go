package gitlab

import (
	"regexp"
	"strings"
)

// commandLine is the beginning of a line that could be read as a command to GitLab.
// GitLab takes a line for one when a slash stands first, and deletes carriage returns
// before it looks. Whatever an older or a later rule might look past is looked past
// here: white space, characters that are not shown, quotes, list markers, the cells of
// tables. A line may also begin where only some readers see one, after a line
// separator or <br>.
var commandLine = regexp.MustCompile(
	`((?m:^)|[\r\v\f\x{85}\x{2028}\x{2029}]|(?i:<br\s*/?>))((?:[\s\p{Z}\p{C}>|#*+_~"'(-]|\d+[.)]|\[[ xX]\])*)/`)

// Guard makes sure that no line of a body begins with a slash, which GitLab would carry
// out with the rights of the token: /merge, /close, /approve. It is the last of the
// guards: package report escapes what is foreign. To guard a body twice changes nothing more.
func Guard(body string) string {
	return commandLine.ReplaceAllString(body, "$1$2&#47;")
}

// clean is a body as GitLab would store it, so that what is stored can be compared with
// what was sent. A NUL cannot be stored at all.
func clean(body string) string {
	body = strings.NewReplacer("\r", "", "\x00", "").Replace(strings.ToValidUTF8(body, "\uFFFD"))
	return strings.TrimSpace(Guard(body))
}
