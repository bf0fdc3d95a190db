package stopwatt_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// leaksLookedForIn are rooms without tests of their own, by the room whose tests
// run them and look for what they leave.
var leaksLookedForIn = map[string]string{
	"meter/simulated":     "meter",
	"storage/storagetest": "storage",
}

// starters are the methods and functions that start a goroutine, beside the go
// statement.
var starters = map[string]bool{"Go": true, "AfterFunc": true}

// startsGoroutines tells whether a file starts any.
func startsGoroutines(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if selected, ok := node.Fun.(*ast.SelectorExpr); ok && starters[selected.Sel.Name] {
				found = true
			}
		}
		return !found
	})
	return found
}

// looksForLeaks tells whether a file of tests ends with goleak's verdict.
func looksForLeaks(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(node ast.Node) bool {
		if selected, ok := node.(*ast.SelectorExpr); ok {
			from, isName := selected.X.(*ast.Ident)
			found = found || isName && from.Name == "goleak" && (selected.Sel.Name == "VerifyTestMain" || selected.Sel.Name == "Find")
		}
		return !found
	})
	return found
}

// anyFile tells whether a room has a file, of its tests or of the rest, of which
// something is true.
func anyFile(t *testing.T, room string, tests bool, is func(*ast.File) bool) bool {
	t.Helper()
	entries, err := os.ReadDir(room)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && strings.HasSuffix(name, "_test.go") == tests {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(room, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if is(file) {
				return true
			}
		}
	}
	return false
}

func TestEveryRoomThatStartsGoroutinesLooksForLeaks(t *testing.T) {
	for room := range mayImport {
		tested := room
		if there, elsewhere := leaksLookedForIn[room]; elsewhere {
			tested = there
		}
		if anyFile(t, room, false, startsGoroutines) && !anyFile(t, tested, true, looksForLeaks) {
			t.Errorf("%s starts goroutines, and its tests do not end with goleak.VerifyTestMain(m)", room)
		}
	}
}
