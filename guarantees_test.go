package stopwatt_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestEveryPromiseIsHeldByTestsThatAreThere reads docs/guarantees.md: each row of its
// tables names tests, by room, and none of them is gone or called otherwise.
func TestEveryPromiseIsHeldByTestsThatAreThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/guarantees.md")
	if err != nil {
		t.Fatal(err)
	}
	row, name := regexp.MustCompile(`(?m)^\| (.+) \| (.+) \|$`), regexp.MustCompile("`([^`]+)`")
	rows, known := 0, map[string]map[string]bool{}
	for _, found := range row.FindAllStringSubmatch(string(text), -1) {
		if found[1] == "promise" {
			continue
		}
		rows++
		for _, part := range strings.Split(found[2], "; ") {
			room, tests, is := strings.Cut(part, ": ")
			names := name.FindAllStringSubmatch(tests, -1)
			if !is || len(names) == 0 {
				t.Errorf("%q names no tests of a room: write room: `TestOne`, `TestTwo`; …", part)
			}
			if known[room] == nil {
				known[room] = testsOf(t, room)
			}
			for _, test := range names {
				if !known[room][test[1]] {
					t.Errorf("%s has no %s, which is to hold that %q", room, test[1], found[1])
				}
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d promises were found", rows)
	}
}

// testsOf are the tests, fuzz targets and scripts of a room.
func testsOf(t *testing.T, room string) map[string]bool {
	t.Helper()
	folder := map[bool]string{true: ".", false: room}[room == "root"]
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			if function, is := declared.(*ast.FuncDecl); is && function.Recv == nil {
				found[function.Name.Name] = strings.HasPrefix(function.Name.Name, "Test") || strings.HasPrefix(function.Name.Name, "Fuzz")
			}
		}
	}
	scripts, err := filepath.Glob(filepath.Join(folder, "testdata/script/*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range scripts {
		found[filepath.Base(path)] = true
	}
	return found
}
