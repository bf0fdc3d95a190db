package stopwatt_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// readers are functions that make something of a text, by their names.
var readers = regexp.MustCompile(`^([Pp]arse|[Dd]ecode|[Uu]nmarshal|[Uu]nderst|[Rr]ead[A-Z])`)

// excused are readers that no fuzz target of their own room reaches, with the reason.
var excused = map[string]string{
	"git.ReadFile":   "it is handed a name, and the text goes to who asked for it",
	"report.ParseAs": "web's FuzzAsk reaches it from another room",
}

// A roomCode is what the functions of a room mention, by their names. Methods of one
// name are one: what is found reached may be another's, what is not found is not reached.
type roomCode struct {
	mentions map[string][]string
	readers  map[string]bool // outside tests, with text as their first parameter
}

// takesText tells whether a function is handed a text, and no transaction of which a
// text says what is to be read.
func takesText(f *ast.FuncDecl) bool {
	if first := f.Type.Params.List; len(first) > 1 && isA(first[1].Type, "Tx") {
		return false
	}
	for _, field := range f.Type.Params.List {
		switch kind := field.Type.(type) {
		case *ast.Ident:
			if kind.Name == "string" {
				return true
			}
		case *ast.ArrayType:
			if element, ok := kind.Elt.(*ast.Ident); ok && element.Name == "byte" {
				return true
			}
		case *ast.SelectorExpr:
			if isA(kind, "Reader") || isA(kind, "ReadCloser") {
				return true
			}
		}
	}
	return false
}

// isA tells whether a type is another package's of this name.
func isA(kind ast.Expr, name string) bool {
	selected, ok := kind.(*ast.SelectorExpr)
	return ok && selected.Sel.Name == name
}

// codeOf reads the functions of a room, its tests too.
func codeOf(t *testing.T, room string) roomCode {
	t.Helper()
	code := roomCode{mentions: map[string][]string{}, readers: map[string]bool{}}
	names, err := filepath.Glob(filepath.Join(room, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, declared := range file.Decls {
			code.add(declared, strings.HasSuffix(name, "_test.go"))
		}
	}
	return code
}

// add takes in a declaration. What a table of functions mentions, such as that of the
// formats of harnesses, counts as mentioned by its name.
func (c roomCode) add(declared ast.Decl, ofTests bool) {
	f, isFunction := declared.(*ast.FuncDecl)
	if !isFunction {
		for _, spec := range declared.(*ast.GenDecl).Specs {
			if table, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range table.Names {
					c.note(name.Name, table)
				}
			}
		}
		return
	}
	c.note(f.Name.Name, f)
	if !ofTests && readers.MatchString(f.Name.Name) && takesText(f) {
		c.readers[f.Name.Name] = true
	}
}

// note notes what is mentioned within a node.
func (c roomCode) note(name string, within ast.Node) {
	ast.Inspect(within, func(node ast.Node) bool {
		if word, ok := node.(*ast.Ident); ok {
			c.mentions[name] = append(c.mentions[name], word.Name)
		}
		return true
	})
}

// targets are the fuzz targets.
func (c roomCode) targets() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(c.mentions)), func(name string) bool { return !strings.HasPrefix(name, "Fuzz") })
}

// reached are the names that fuzz targets mention, and what those mention.
func (c roomCode) reached() map[string]bool {
	seen, next := map[string]bool{}, c.targets()
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if !seen[name] {
			seen[name] = true
			next = append(next, c.mentions[name]...)
		}
	}
	return seen
}

func TestEveryReaderOfATextIsReachedByAFuzzTarget(t *testing.T) {
	for room := range mayImport {
		code := codeOf(t, room)
		reached := code.reached()
		for reader := range code.readers {
			switch _, is := excused[room+"."+reader]; {
			case !reached[reader] && !is:
				t.Errorf("%s: no fuzz target reaches %s", room, reader)
			case reached[reader] && is:
				t.Errorf("%s: a fuzz target reaches %s, which is excused", room, reader)
			}
		}
	}
}

func TestEveryFuzzTargetKeepsACorpus(t *testing.T) {
	for room := range mayImport {
		for _, target := range codeOf(t, room).targets() {
			kept, err := os.ReadDir(filepath.Join(room, "testdata", "fuzz", target))
			if err != nil || len(kept) == 0 {
				t.Errorf("%s: %s keeps no corpus in testdata/fuzz/%s", room, target, target)
			}
			for _, file := range kept {
				if info, err := file.Info(); err != nil || info.Size() > 16<<10 {
					t.Errorf("%s: %s/%s is too large to be kept", room, target, file.Name())
				}
			}
		}
	}
}
