package containers

import (
	"archive/tar"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestWhatIsSentOfAContext(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		files      map[string]string
		dockerfile []byte
		want       map[string]string
	}{
		{"everything", map[string]string{"Dockerfile": "D", "a/b.txt": "b"}, nil,
			map[string]string{"Dockerfile": "D", "a/b.txt": "b"}},
		{"not what is ignored", map[string]string{"Dockerfile": "D", ".dockerignore": "a\n*.log\n", "a/b.txt": "b", "c.txt": "c", "d.log": "d"}, nil,
			map[string]string{"Dockerfile": "D", ".dockerignore": "a\n*.log\n", "c.txt": "c"}},
		{"an exception from what is ignored", map[string]string{"Dockerfile": "D", ".dockerignore": "*\n!a/b.txt\n", "a/b.txt": "b", "a/c.txt": "c"}, nil,
			map[string]string{"Dockerfile": "D", "a/b.txt": "b"}},
		{"the Dockerfile though it is ignored", map[string]string{"Dockerfile": "D", ".dockerignore": "**\n"}, nil,
			map[string]string{"Dockerfile": "D"}},
		{"a Dockerfile from elsewhere beside the context's", map[string]string{"Dockerfile": "D"}, []byte("E"),
			map[string]string{"Dockerfile": "D", ownDockerfile: "E"}},
		{"a Dockerfile from elsewhere instead of one of that name", map[string]string{ownDockerfile: "D"}, []byte("E"),
			map[string]string{ownDockerfile: "E"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s, err := newSending(stopwatt.BuildOrder{Context: contextOf(test.files), Dockerfile: test.dockerfile})
			if err != nil {
				t.Fatal(err)
			}
			var sent bytes.Buffer
			if err := s.writeTo(&sent); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, filesOf(t, &sent)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// filesOf unpacks an archive that holds each name once.
func filesOf(t *testing.T, archive io.Reader) map[string]string {
	t.Helper()
	files := map[string]string{}
	for r := tar.NewReader(archive); ; {
		header, err := r.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, twice := files[header.Name]; twice {
			t.Errorf("%s comes twice", header.Name)
		}
		files[header.Name] = string(content)
	}
}

func TestDockerfileOfAnotherSize(t *testing.T) {
	t.Parallel()
	huge := contextOf(map[string]string{"Dockerfile": string(make([]byte, maxText+1))})
	if _, err := newSending(stopwatt.BuildOrder{Context: huge}); err == nil {
		t.Error("a Dockerfile of more than 1 MiB is taken")
	}
}

func TestAContextWithoutADockerfileSaysWhereOneMayBe(t *testing.T) {
	_, err := newSending(stopwatt.BuildOrder{Context: contextOf(map[string]string{"v": "1"})})
	if err == nil || !strings.Contains(err.Error(), "dockerfile:, which is read as it is today, also for a context of another commit") {
		t.Error(err)
	}
}

func TestKeyChangesWithAllThatAnImageIsMadeFrom(t *testing.T) {
	t.Parallel()
	job := func(change func(*buildJob)) string {
		j := buildJob{order: stopwatt.BuildOrder{Target: "t"}, args: map[string]string{"a": "b"}, bases: []stopwatt.BaseImage{{Used: "u", ID: "i"}}}
		j.context.Hash, j.dockerfile = "c", []byte("FROM u")
		change(&j)
		return keyOf(j, "linux/amd64")
	}
	same := job(func(*buildJob) {})
	if again := job(func(*buildJob) {}); again != same {
		t.Fatalf("the key is %s, and %s the next time", same, again)
	}
	if named := job(func(j *buildJob) { j.order.Name = "n"; j.bases[0].Written = "w" }); named != same {
		t.Error("the key depends on a name")
	}
	keys := []string{same}
	for name, change := range map[string]func(*buildJob){
		"context":    func(j *buildJob) { j.context.Hash = "d" },
		"Dockerfile": func(j *buildJob) { j.dockerfile = []byte("FROM v") },
		"argument":   func(j *buildJob) { j.args["a"] = "c" },
		"target":     func(j *buildJob) { j.order.Target = "s" },
		"base":       func(j *buildJob) { j.bases[0].ID = "j" },
	} {
		key := job(change)
		if slices.Contains(keys, key) {
			t.Errorf("another %s has a key that is taken", name)
		}
		keys = append(keys, key)
	}
}

func TestRepositoryNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"go": "go", "Rust Tokio/Alloc": "rust-tokio-alloc", "--x__y--": "x-y", "": "unnamed", "日本": "unnamed",
	} {
		if got := repository(name); got != want {
			t.Errorf("%q gives %q; want %q", name, got, want)
		}
	}
}
