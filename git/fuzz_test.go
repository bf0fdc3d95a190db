package git

import (
	"strings"
	"testing"
)

// FuzzWithoutPasswords looks for a password that stays in what git says.
func FuzzWithoutPasswords(f *testing.F) {
	f.Add("fatal: could not read from ", "gitlab.example.org/a.git: 403")
	f.Add("x://y@z ", "h'")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, "hunter2") {
			return
		}
		if said := withoutPasswords(before + "https://gitlab-ci-token:hunter2@" + after); strings.Contains(said, "hunter2") {
			t.Errorf("%q", said)
		}
	})
}

// FuzzParseBranches reads what a remote says of its branches.
func FuzzParseBranches(f *testing.F) {
	f.Add([]byte(strings.Repeat("a", 40) + "\trefs/heads/main\nx\trefs/heads/y\n"))
	f.Fuzz(func(t *testing.T, output []byte) {
		for name, sha := range parseBranches(output) {
			if !wholeName.MatchString(sha) || strings.ContainsAny(name, "\n") {
				t.Errorf("%q is at %q", name, sha)
			}
		}
	})
}

func TestAFileOfACommitThatIsTooLargeIsNotReadOn(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	s.write("large.csv", strings.Repeat("x", mostFile+1))
	s.write("small.csv", "x")
	s.commit("one")
	tree, err := s.open(nil).Tree(t.Context(), s.dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := tree.ReadFile("large.csv"); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if text, err := tree.ReadFile("small.csv"); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
}
