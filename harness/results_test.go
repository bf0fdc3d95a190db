package harness_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/harness"
)

var update = flag.Bool("update", false, "write what is read into testdata/results/*.want")

// resultFiles are whole files as the tools write them, by path. A file's format
// is the first part of its name, or that of its folder.
func resultFiles(t testing.TB) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir("testdata/results", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(path) != ".want" {
			relative, _ := filepath.Rel("testdata/results", path)
			files[path], _, _ = strings.Cut(strings.Split(relative, string(filepath.Separator))[0], ".")
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata/results: %d files, %v", len(files), err)
	}
	return files
}

func TestWholeFilesAreReadAsTheirGoldenFilesSay(t *testing.T) {
	for path, format := range resultFiles(t) {
		t.Run(path, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := harness.Guess(path, text); got != format {
				t.Errorf("guessed %q, want %q", got, format)
			}
			options := harness.Options{File: path, Name: "whole"}
			if format == "number" {
				options.Unit = "s/op"
			}
			benchmarks, err := harness.Read(format, text, options)
			if err != nil {
				t.Fatal(err)
			}
			got := show(benchmarks)
			if *update {
				if err := os.WriteFile(path+".want", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path + ".want")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// show writes benchmarks for people: a figure in a line.
func show(benchmarks []stopwatt.Benchmark) string {
	var w strings.Builder
	for _, b := range benchmarks {
		fmt.Fprintf(&w, "%s", b.Name)
		for _, p := range b.Params {
			fmt.Fprintf(&w, " %s=%s", p.Name, p.Value)
		}
		w.WriteByte('\n')
		for _, f := range b.Figures {
			fmt.Fprintf(&w, "  %s [%s, %s] ", f.Metric.Name, f.Metric.Unit, f.Metric.Better)
			switch {
			case f.Absent != "":
				fmt.Fprintf(&w, "absent: %s\n", f.Absent)
			case len(f.Values) > 0:
				fmt.Fprintf(&w, "%.12g of %.12g\n", f.Value, f.Values)
			default:
				fmt.Fprintf(&w, "%.12g\n", f.Value)
			}
		}
		for _, note := range b.Notes {
			fmt.Fprintf(&w, "  note: %s\n", note)
		}
	}
	return w.String()
}

// A file that is cut off anywhere is never read as if it were whole, unless what
// is left of it is whole: a format of lines loses lines without a trace.
func TestAFileCutOffInTheMiddleOfAValueIsAFault(t *testing.T) {
	for path, format := range resultFiles(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.HasPrefix(string(text), "{") || strings.HasPrefix(string(text), "[") || strings.HasPrefix(string(text), "<")
		if !whole || strings.Count(string(text), "\n{") > 0 {
			continue
		}
		length := len(strings.TrimSpace(string(text)))
		for cut := 0; cut < length; cut += 1 + length/300 {
			_, err := harness.Read(format, text[:cut], harness.Options{File: path})
			if err == nil {
				t.Fatalf("%s cut to %d bytes was read", path, cut)
			}
		}
	}
}

func TestEveryFormatOfSuitesIsRead(t *testing.T) {
	names := strings.Join(harness.Names(), " ")
	for _, format := range stopwatt.HarnessFormats {
		if !strings.Contains(names, format) {
			t.Errorf("suites may say %s, which nobody reads", format)
		}
	}
}
