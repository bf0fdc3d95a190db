package jobs

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

const suiteDocs = "../docs/suite.md"

// A section describes the keys of one mapping.
type section struct {
	title string
	words []word
}

func sectionOf[T any](title string, rows []row[T]) section {
	s := section{title: title}
	for _, row := range rows {
		s.words = append(s.words, row.word)
	}
	return s
}

func sections() []section {
	return []section{
		sectionOf("file", suiteRows),
		sectionOf("implementation", implementationRows),
		sectionOf("build", buildRows),
		sectionOf("with", withRows),
		sectionOf("service", serviceRows),
		sectionOf("ready", readyRows),
		sectionOf("workload", workloadRows),
		sectionOf("http", httpRows),
		sectionOf("request", requestRows),
		sectionOf("body", bodyRows),
		sectionOf("expect", expectRows),
		sectionOf("ask", askRows),
		sectionOf("data", dataRows),
		sectionOf("tls", tlsRows),
		sectionOf("load", loadRows),
		sectionOf("stage", stageRows),
		sectionOf("while", whileRows),
		sectionOf("tool", toolRows),
		sectionOf("command", commandRows),
		sectionOf("shell", shellRows),
		sectionOf("repeat", repeatRows),
		sectionOf("output", outputRows),
		sectionOf("harness", harnessRows),
		sectionOf("names", namesRows),
		sectionOf("plan", planRows),
		sectionOf("rounds", roundsRows),
		sectionOf("profile", profileRows),
		sectionOf("judge", judgeRows),
		sectionOf("meters", metersRows),
	}
}

var linked = regexp.MustCompile(`\[(.*?)\]`)

func (s section) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "### %s\n\n| key | kind | default | meaning |\n| --- | --- | --- | --- |\n", s.title)
	for _, word := range s.words {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", word.key, linked.ReplaceAllString(word.kind, "[$1](#$1)"), defaultOf(word), word.doc)
	}
	return b.String()
}

func defaultOf(w word) string {
	switch {
	case w.example != "":
		return "**required**"
	case w.fallback == "{}":
		return "its own defaults"
	case w.fallback != "":
		return "`" + w.fallback + "`"
	}
	return w.absent
}

func TestTheDocumentTellsEveryKeyAsTheCodeHasIt(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(suiteDocs)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- keys -->\n", "<!-- end of keys -->"
	before, rest, _ := strings.Cut(string(text), begin)
	_, after, ok := strings.Cut(rest, end)
	if !ok {
		t.Fatalf("%s has no %q and %q", suiteDocs, begin, end)
	}
	var tables strings.Builder
	for _, section := range sections() {
		fmt.Fprintf(&tables, "\n%s", section)
	}
	golden(t, suiteDocs, before+begin+tables.String()+"\n"+end+after)
}

// TestEverySectionIsReached fails when a mapping was given a table that
// sections does not list, or the reverse.
func TestEverySectionIsReached(t *testing.T) {
	t.Parallel()
	reached := map[string]bool{"file": true}
	for _, section := range sections() {
		for _, word := range section.words {
			for _, found := range linked.FindAllStringSubmatch(word.kind, -1) {
				reached[found[1]] = true
			}
		}
	}
	for _, section := range sections() {
		if !reached[section.title] {
			t.Errorf("no key leads to section %s", section.title)
		}
		delete(reached, section.title)
	}
	for title := range reached {
		t.Errorf("section %s is named but missing", title)
	}
}

func TestEveryKeyIsDescribedWhole(t *testing.T) {
	t.Parallel()
	for _, section := range sections() {
		for _, w := range section.words {
			ways := 0
			for _, way := range []string{w.fallback, w.absent, w.example} {
				if way != "" {
					ways++
				}
			}
			if ways != 1 {
				t.Errorf("%s in %s has %d of fallback, absent and example, want one", w.key, section.title, ways)
			}
			if w.kind == "" || !strings.HasSuffix(w.doc, ".") {
				t.Errorf("%s in %s: kind %q, doc %q", w.key, section.title, w.kind, w.doc)
			}
		}
	}
}

func TestTheExampleOfTheDocumentIsASuite(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(suiteDocs)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```\n")
	if !ok {
		t.Fatalf("%s has no example", suiteDocs)
	}
	suite := read(t, example, "short")
	if got := len(suite.Cases()); got != 10 {
		t.Errorf("the example has %d cases, want 10", got)
	}
}

// TestEveryFallbackIsGood reads a suite that says as little as it may: a
// default that its own row refuses would be a fault.
func TestEveryFallbackIsGood(t *testing.T) {
	t.Parallel()
	const least = "suite: a\nimplementations: {b: {image: c}}\nworkloads: {d: {http: {port: 1, request: {path: /}}, load: {for: 1s}}}\n"
	if _, err := Read("stopwatt.yml", []byte(least), beside(fstest.MapFS{}), Options{}); err != nil {
		t.Error(err)
	}
}
