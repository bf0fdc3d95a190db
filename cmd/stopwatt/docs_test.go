package main

import (
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"gitlab.com/stopwatt/stopwatt/jobs"
)

// readme is the first page.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the fenced code blocks of a language.
func blocks(text, language string) []string {
	var found []string
	for _, match := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	return found
}

func TestEveryCommandOfTheReadmeIsUnderstood(t *testing.T) {
	if lines := understood(t, readme(t)); lines < 8 {
		t.Errorf("only %d commands were found in the README", lines)
	}
}

// understood checks the commands of a document, and tells how many there are.
func understood(t *testing.T, text string) (lines int) {
	t.Helper()
	for _, block := range blocks(text, "sh") {
		for line := range strings.Lines(block) {
			command, _, _ := strings.Cut(strings.TrimSpace(line), " #")
			if !strings.HasPrefix(command, "stopwatt ") {
				continue
			}
			lines++
			if err := understand(words(command)[1:]); err != nil {
				t.Errorf("%s: %v", command, err)
			}
		}
	}
	return lines
}

// understand reads a command line and carries out nothing.
func understand(args []string) error {
	d := &desk{getenv: func(string) string { return "" }, stdout: io.Discard, stderr: io.Discard}
	verb, rest, err := d.commands().Find(args)
	if err != nil {
		return err
	}
	if err := verb.ParseFlags(rest); err != nil {
		return err
	}
	return verb.ValidateArgs(verb.Flags().Args())
}

// words splits a command line as a shell does, as far as the README needs it.
func words(line string) []string {
	var found []string
	for _, match := range regexp.MustCompile(`(?:'[^']*'|[^\s'])+`).FindAllString(line, -1) {
		found = append(found, strings.ReplaceAll(match, "'", ""))
	}
	return found
}

// anyFiles has every file that is asked for.
type anyFiles struct{}

func (anyFiles) ReadFile(string) ([]byte, error) { return []byte("FROM scratch\n"), nil }
func (anyFiles) Stat(name string) (fs.FileInfo, error) {
	mode := fs.ModeDir | 0o755
	if strings.HasSuffix(name, "Dockerfile") {
		mode = 0o644
	}
	return fstest.MapFS{"x": &fstest.MapFile{Mode: mode}}.Stat("x")
}

func TestTheSuiteOfTheReadmeHasNoFault(t *testing.T) {
	suites := blocks(readme(t), "yaml")
	if len(suites) == 0 {
		t.Fatal("no suite was found in the README")
	}
	for _, text := range suites {
		for _, profile := range []string{"", "short"} {
			if _, err := jobs.Read("README.md", []byte(text), anyFiles{}, jobs.Options{Profile: profile}); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestTheDefaultsOfTheReadmeAreThoseOfTheSuiteFile(t *testing.T) {
	docs, err := os.ReadFile("../../docs/suite.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(readme(t), "## Defaults")
	table, _, _ = strings.Cut(table, "| flag |")
	rows := regexp.MustCompile("(?m)^\\| (`[a-z0-9-]+`) \\| (.*) \\|$").FindAllStringSubmatch(table, -1)
	for _, row := range rows {
		written := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(row[1]) + ` \| [^|]* \| ` + regexp.QuoteMeta(row[2]) + ` \| `)
		if !written.Match(docs) {
			t.Errorf("the README says that %s is %s by default; docs/suite.md does not", row[1], row[2])
		}
	}
	if len(rows) < 10 {
		t.Errorf("only %d defaults were found in the README", len(rows))
	}
}
