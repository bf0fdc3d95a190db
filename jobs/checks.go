package jobs

import (
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/distribution/reference"
)

var (
	namePattern     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	variablePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	tokenPattern    = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$") // RFC 9110, 5.6.2
	pathPattern     = regexp.MustCompile(`^/[!-"$-~]*$`)                  // visible ASCII without #
	shaPattern      = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	coresPattern    = regexp.MustCompile(`^([0-9]{1,4})(?:-([0-9]{1,4}))?$`)
)

// isName checks what becomes a label, a folder and the name of a series.
func isName(text string) string {
	switch {
	case len(text) > 64:
		return "write 64 characters or less"
	case !namePattern.MatchString(text):
		return "write letters, digits, . _ and -, a letter or digit first"
	}
	return ""
}

// isVariable checks the name of an environment variable or build argument.
func isVariable(text string) string {
	if variablePattern.MatchString(text) {
		return ""
	}
	return "write letters, digits and _, no digit first"
}

// isPassable checks what is handed to a process: an argument or a variable.
func isPassable(text string) string {
	if strings.ContainsRune(text, 0) {
		return "remove the NUL character, which ends a text"
	}
	return ""
}

// isLine checks that there is something, and nothing that cannot be seen.
func isLine(text string) string {
	switch {
	case strings.TrimSpace(text) == "":
		return "write something, or remove the key"
	case strings.ContainsFunc(text, unicode.IsControl):
		return "write it on one line, without control characters"
	}
	return ""
}

func isMethod(text string) string {
	switch {
	case !tokenPattern.MatchString(text):
		return "write a method like GET or POST"
	case text == "CONNECT":
		return "it asks for a tunnel; write GET or POST"
	case text != strings.ToUpper(text):
		return "methods are in capitals; write " + strings.ToUpper(text)
	}
	return ""
}

func isRequestPath(text string) string {
	switch {
	case strings.Contains(text, "://"):
		return "write the path alone, like /static; the server is the implementation"
	case !strings.HasPrefix(text, "/"):
		return "a path begins with /; write /" + strings.Trim(brief(text), `"`)
	case strings.Contains(text, "#"):
		return "a fragment is never sent; write it without # and what follows"
	case !pathPattern.MatchString(text):
		return "write spaces and other such characters as %20 and the like"
	}
	return ""
}

// ours are the headers that the driver writes itself.
var ours = map[string]string{
	"connection":        "write connection: close in load instead",
	"content-length":    "it follows from the body; remove it",
	"transfer-encoding": "the body is sent whole; remove it",
	"expect":            "the body is sent at once; remove it",
	"upgrade":           "the driver speaks HTTP/1.1 only; remove it",
}

func isHeaderName(text string) string {
	if !tokenPattern.MatchString(text) {
		return "write a header's name, like Accept"
	}
	return ours[strings.ToLower(text)]
}

func isHeaderValue(text string) string {
	bad := func(c rune) bool { return unicode.IsControl(c) && c != '\t' }
	if strings.ContainsFunc(text, bad) {
		return "write it on one line, without control characters"
	}
	return ""
}

func isSHA256(text string) string {
	switch {
	case shaPattern.MatchString(text):
		return ""
	case strings.HasPrefix(text, "sha256:"):
		return "write the 64 hexadecimal digits alone"
	}
	return "write 64 hexadecimal digits, as sha256sum prints them, or remove the key"
}

// isCores checks a list of CPUs in the kernel's form: 0-3,6.
func isCores(text string) string {
	for part := range strings.SplitSeq(text, ",") {
		found := coresPattern.FindStringSubmatch(part)
		if found == nil {
			return `write cores like "0-3" or "0,2"`
		}
		first, _ := strconv.Atoi(found[1])
		last, err := strconv.Atoi(found[2])
		if err == nil && last < first {
			return `write the lower core first, like "` + found[2] + "-" + found[1] + `"`
		}
	}
	return ""
}

// signals that a server may take as a request to end.
var signals = []string{"SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGKILL"}

func isSignal(text string) string {
	switch upper := strings.ToUpper(text); {
	case slices.Contains(signals, text):
		return ""
	case slices.Contains(signals, upper):
		return "write " + upper
	case slices.Contains(signals, "SIG"+upper):
		return "write SIG" + upper
	}
	return "write one of " + strings.Join(signals, ", ")
}

// isImage checks a reference to an image, in which {sha} stands for a commit.
func isImage(text string) string {
	named := strings.ReplaceAll(text, "{sha}", strings.Repeat("0", 40))
	_, err := reference.ParseNormalizedNamed(named)
	switch {
	case err == nil:
		return ""
	case strings.ContainsAny(named, "{}$"):
		return "only {sha} is replaced in it; write the rest out"
	case strings.ToLower(text) != text:
		return "a repository is in lower case; write registry.example.org/team/server:tag"
	}
	return "write it like registry.example.org/team/server:tag"
}

// isRelative checks a path beside the suite file.
func isRelative(text string) string {
	switch {
	case text == "" || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
		return "write a path, relative to the suite file"
	case strings.HasPrefix(text, "/"):
		return "write it relative to the suite file"
	case strings.Contains(text, `\`):
		return "write / between folders"
	}
	return ""
}

// Repositories are named by a URL, or as ssh's own programs name files.
var (
	repositoryURL = regexp.MustCompile(`^(https?|ssh|git|file)://[^\s]+$`)
	repositorySSH = regexp.MustCompile(`^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s:]+$`)
)

// isRepository checks a URL that git clones. A password has no place in it: it
// would be stored with the results.
func isRepository(text string) string {
	switch url, err := url.Parse(text); {
	case repositorySSH.MatchString(text):
		return ""
	case !repositoryURL.MatchString(text) || err != nil:
		return "write a URL like https://host/path.git, or user@host:path"
	default:
		if _, secret := url.User.Password(); secret {
			return "it holds a password, which would be stored with the results; leave that to a git credential helper"
		}
	}
	return ""
}

// isRef checks what is handed to git as a revision.
func isRef(text string) string {
	if strings.HasPrefix(text, "-") || strings.ContainsAny(text, " :") {
		return "write a commit, branch or tag, like v1.0"
	}
	return ""
}
