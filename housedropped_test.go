package stopwatt_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// ending are the calls that end something, by their names: of each an error says that
// something was lost, or is left.
var ending = regexp.MustCompile(`^(Close|Rollback|Flush|Remove|Sync)`)

// exported are the files of what each package exports, as the compiler has left them.
func exported(t *testing.T) map[string]string {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return files
}

// A checked is a room whose types are known.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	types map[ast.Expr]types.TypeAndValue
}

// check finds out the types of a room, its tests left out.
func check(t *testing.T, room string, from types.Importer, fset *token.FileSet) checked {
	t.Helper()
	out, err := exec.Command("go", "list", "-f", `{{join .GoFiles " "}}`, "./"+room).Output()
	if err != nil {
		t.Fatal(err)
	}
	c := checked{fset: fset, types: map[ast.Expr]types.TypeAndValue{}}
	for _, name := range strings.Fields(string(out)) {
		file, err := parser.ParseFile(fset, filepath.Join(room, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, file)
	}
	if _, err := (&types.Config{Importer: from}).Check(room, fset, c.files, &types.Info{Types: c.types}); err != nil {
		t.Fatal(err)
	}
	return c
}

// dropped are the calls that end something and whose error nobody looks at, where no
// comment stands on their line.
func (c checked) dropped() []token.Position {
	var found []token.Position
	for _, file := range c.files {
		said := map[int]bool{}
		for _, comment := range file.Comments {
			said[c.fset.Position(comment.Pos()).Line] = true
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if call := dropping(node); call != nil && c.fails(call) {
				if at := c.fset.Position(call.Pos()); !said[at.Line] {
					found = append(found, at)
				}
			}
			return true
		})
	}
	return found
}

// dropping is the call whose answer a statement drops.
func dropping(node ast.Node) *ast.CallExpr {
	switch node := node.(type) {
	case *ast.DeferStmt:
		return node.Call
	case *ast.ExprStmt:
		call, _ := node.X.(*ast.CallExpr)
		return call
	case *ast.AssignStmt:
		if to, isName := node.Lhs[0].(*ast.Ident); isName && to.Name == "_" && len(node.Lhs) == 1 {
			call, _ := node.Rhs[0].(*ast.CallExpr)
			return call
		}
	}
	return nil
}

// fails tells whether a call ends something, and may fail to.
func (c checked) fails(call *ast.CallExpr) bool {
	selected, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod || !ending.MatchString(selected.Sel.Name) {
		return false
	}
	answer := c.types[call].Type
	return answer != nil && answer.String() == "error"
}

func TestWhatEndsSomethingIsHeardOrAReasonSaysWhyNot(t *testing.T) {
	files := exported(t)
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	for room := range mayImport {
		if room == "templates" {
			continue // which has only tests
		}
		for _, at := range check(t, room, from, fset).dropped() {
			t.Errorf("%s: the error of this is dropped, and no comment on the line says why", at)
		}
	}
}
