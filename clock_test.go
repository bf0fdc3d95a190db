package stopwatt_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// measures are the rooms in which time is measured, waited for or planned with.
var measures = []string{"agent", "campaign", "containers", "meter", "orchestrator", "spool", "trial"}

// settable are the calls after which a time.Time has lost its monotonic reading, or that
// read what the clock says: see "Monotonic Clocks" in package time.
var settable = []string{"Unix", "UnixNano", "UnixMicro", "UnixMilli", "UTC", "Local", "In", "AddDate", "MarshalBinary", "GobEncode"}

func TestNothingIsMeasuredByAClockThatCanBeSet(t *testing.T) {
	for _, room := range measures {
		files, err := filepath.Glob(room + "/*.go")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", room, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					if called, is := n.Fun.(*ast.SelectorExpr); is && slices.Contains(settable, called.Sel.Name) {
						t.Errorf("%v: %s loses the monotonic reading", set.Position(n.Pos()), called.Sel.Name)
					}
				case *ast.SelectorExpr:
					if slices.Contains([]string{"CLOCK_REALTIME", "CLOCK_REALTIME_COARSE", "CLOCK_TAI", "Gettimeofday"}, n.Sel.Name) {
						t.Errorf("%v: %s can be set", set.Position(n.Pos()), n.Sel.Name)
					}
				}
				return true
			})
		}
	}
}
