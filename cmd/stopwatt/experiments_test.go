package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

var updateExperiments = flag.Bool("update", false, "write the answers into docs/experiments")

// Each page of docs/experiments has the published figures in a table behind a
// comment, and what stopwatt prints when they are imported. The figures are
// imported from the page itself.
func TestExperimentsPrintWhatTheirPagesShow(t *testing.T) {
	pages, err := filepath.Glob("../../docs/experiments/*.md")
	if err != nil || len(pages) < 4 {
		t.Fatalf("%d pages of experiments: %v", len(pages), err)
	}
	for _, page := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(page), ".md"), func(t *testing.T) {
			page, err := filepath.Abs(page)
			if err != nil {
				t.Fatal(err)
			}
			checkExperiment(t, page)
		})
	}
}

func checkExperiment(t *testing.T, page string) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if lines := understood(t, string(text)); lines < 2 {
		t.Errorf("only %d commands were found", lines)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("published.csv", publishedFigures(t, string(text)), 0o644); err != nil {
		t.Fatal(err)
	}
	database := embeddedtest.ForTest(t)
	wanted := consoleBlocks.ReplaceAllStringFunc(string(text), func(block string) string {
		return answerCommands(t, database, block)
	})
	switch {
	case wanted == string(text):
	case *updateExperiments:
		if err := os.WriteFile(page, []byte(wanted), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s shows something else than stopwatt prints; run go test ./cmd/stopwatt -run Experiments -update, and read the difference", page)
	}
}

// consoleBlocks are the fenced blocks that begin with commands and show what
// they print.
var consoleBlocks = regexp.MustCompile("(?s)```console\n.*?\n```")

// answerCommands is a block with what its commands print now.
func answerCommands(t *testing.T, database, block string) string {
	t.Helper()
	var answered strings.Builder
	answered.WriteString("```console\n")
	for line := range strings.Lines(block) {
		command, found := strings.CutPrefix(line, "$ ")
		if !found {
			continue
		}
		answered.WriteString(line)
		answered.WriteString(printed(t, database, words(strings.TrimSpace(command))[1:]))
	}
	answered.WriteString("```")
	if strings.Contains(block, "--date") {
		return answered.String()
	}
	return today.ReplaceAllString(answered.String(), "(date of import)")
}

func printed(t *testing.T, database string, args []string) string {
	t.Helper()
	environment := map[string]string{"STOPWATT_DATABASE": database, "HOME": ".", "XDG_DATA_HOME": "."}
	var stdout, stderr bytes.Buffer
	getenv := func(name string) string { return environment[name] }
	if status := run(context.Background(), args, getenv, &stdout, &stderr); status != exitOK || stderr.Len() > 0 {
		t.Errorf("stopwatt %s: exit status %d\n%s", strings.Join(args, " "), status, &stderr)
	}
	return stdout.String()
}

// today is how a run that was imported without --date shows when that was. What
// takes its place is as wide, so that lines break where they did.
var today = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}`)

// publishedTable finds a table and the comment before it, which says the unit of its
// numbers and, where all rows have the same, their workload.
var publishedTable = regexp.MustCompile(`(?s)<!-- published: unit=(\S+)(?: workload=([^>]*))? -->\n(.*?)\n\n`)

// publishedFigures is the page's table as a CSV that can be imported. Columns
// named as in the CSV are taken as they are; a column named published… holds no
// figures; any other is one implementation, or one metric where each row has its
// implementation.
func publishedFigures(t *testing.T, text string) []byte {
	t.Helper()
	found := publishedTable.FindStringSubmatch(text)
	if found == nil {
		t.Fatal("the page has no table of published figures")
	}
	lines := strings.Split(found[3], "\n")
	head, rows := tableCells(lines[0]), lines[2:]
	var figures bytes.Buffer
	table := csv.NewWriter(&figures)
	machine := "note" // a column that nobody reads
	if slices.Contains(head, "machine") {
		machine = "machine"
	}
	table.Write([]string{"workload", machine, "implementation", "metric", "unit", "value"})
	for _, row := range rows {
		for _, figure := range rowFigures(head, tableCells(row), found[1], found[2]) {
			table.Write(figure)
		}
	}
	table.Flush()
	return figures.Bytes()
}

func tableCells(line string) []string {
	cells := strings.Split(strings.Trim(line, "| "), "|")
	for i := range cells {
		cells[i] = strings.Trim(cells[i], " `")
	}
	return cells
}

func rowFigures(head, cells []string, unit, workload string) [][]string {
	of := map[string]string{"workload": workload, "metric": "time"}
	column := "implementation"
	var figures [][]string
	for i, name := range head {
		switch {
		case name == "workload" || name == "machine":
			of[name] = cells[i]
		case name == "implementation":
			of[name], column = cells[i], "metric"
		case !strings.HasPrefix(name, "published"):
			of[column] = name
			number, its, has := strings.Cut(cells[i], " ")
			if !has {
				its = unit
			}
			figures = append(figures, []string{of["workload"], of["machine"], of["implementation"], of["metric"], its, number})
		}
	}
	return figures
}

// Each experiment is carried out once, by its short profile: every case must
// give what the experiment is about. That what it computes is right is checked
// by the programs themselves, and by the suites that expect their output.
func TestEveryExperimentRuns(t *testing.T) {
	t.Parallel()
	requireDocker(t)
	if _, told := os.LookupEnv("STOPWATT_BASES"); !told && os.Getenv("CI") != "true" {
		t.Skip("which base images there are is not known: make test finds out, and sets STOPWATT_BASES")
	}
	programs := buildPrograms(t)
	for suite, want := range map[string]struct {
		cases  int
		metric string
	}{
		"wasm":         {4 * 5, "time"},
		"interpreters": {2 * 7, "time"},
		"types":        {6 * 17, "allocs/op"}, // Two of the times are 0.
		"schedulers":   {6, "context_switches_voluntary"},
	} {
		t.Run(suite, func(t *testing.T) {
			t.Parallel()
			found := 0
			for _, result := range carriedOut(t, programs, suite).Cases {
				if result.Valid != 1 {
					t.Errorf("%s: %d valid trials, want 1: %v", result.Case, result.Valid, result.Reasons)
				}
				if _, measured := result.Summary(want.metric); measured {
					found++
				}
			}
			if found != want.cases {
				t.Errorf("%d cases have %s, want %d", found, want.metric, want.cases)
			}
		})
	}
}

// carriedOut are the results of one round of a suite's short profile.
func carriedOut(t *testing.T, programs, suite string) stopwatt.Results {
	t.Helper()
	folder, err := filepath.Abs("../../suites/" + suite)
	if err != nil {
		t.Fatal(err)
	}
	database := embeddedtest.ForTest(t)
	command := installed(t, openFolder(t), programs, database, "run", folder, "--profile", "short", "--rounds", "1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	results, err := store.Results(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return results
}
