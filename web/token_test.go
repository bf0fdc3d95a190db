package web

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A comparison that ends at the first byte that differs tells by its time how many were
// right. Whether a token was set at all is no secret.
func TestTokensAreComparedInConstantTimeAlone(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	compared := false
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		compared = compared || bytes.Contains(text, []byte("subtle.ConstantTimeCompare"))
		ast.Inspect(file, func(n ast.Node) bool {
			binary, is := n.(*ast.BinaryExpr)
			if !is || binary.Op != token.EQL && binary.Op != token.NEQ {
				return true
			}
			for side, other := range map[ast.Expr]ast.Expr{binary.X: binary.Y, binary.Y: binary.X} {
				selected, is := side.(*ast.SelectorExpr)
				if literal, empty := other.(*ast.BasicLit); is && selected.Sel.Name == "Token" && !(empty && literal.Value == `""`) {
					t.Errorf("%s: the token is compared by %s", set.Position(binary.Pos()), binary.Op)
				}
			}
			return true
		})
	}
	if !compared {
		t.Error("nothing is compared in constant time")
	}
}
