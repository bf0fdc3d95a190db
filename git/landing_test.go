package git

import (
	"slices"
	"testing"
)

// merged is a repository whose main branch got a commit of its own, a merge request
// of two commits, and one more commit.
func merged(t *testing.T) (s scratch, first string) {
	s = newCommitted(t)
	first = s.git("rev-parse", "HEAD")
	s.write("go/main.go", "package main // plain\n")
	s.commit("a plain commit")
	s.git("checkout", "--quiet", "-b", "arena", first)
	for _, subject := range []string{"use an arena", "validate every line"} {
		s.write("rust/"+subject, subject)
		s.git("add", "--all")
		s.git("commit", "--quiet", "--author", "Bob <bob@example.org>", "--message", subject)
	}
	s.git("checkout", "--quiet", "main")
	s.git("merge", "--quiet", "--no-ff", "arena", "--message", "Merge branch 'arena' into 'main'\n\nUse an arena\n\nSee merge request team/servers!212")
	s.git("commit", "--quiet", "--allow-empty", "--author", "Carol <carol@example.org>", "--message", "a commit that Ada brought here\n\nSee merge request below")
	return s, first
}

func TestLandingsTellWhoBroughtACommitToTheBranch(t *testing.T) {
	t.Parallel()
	s, first := merged(t)
	repo := s.open(nil)
	landings, err := repo.Landings(t.Context(), first, "main")
	s.must(err)
	type row struct{ subject, author, merger, request string }
	var got []row
	for _, l := range landings {
		got = append(got, row{l.Commit.Subject, l.Commit.Author, l.Merger, l.MergeRequest})
	}
	want := []row{
		{"a plain commit", "Ada Lovelace", "Ada Lovelace", ""},
		{"Merge branch 'arena' into 'main'", "Ada Lovelace", "Ada Lovelace", "!212"},
		{"a commit that Ada brought here", "Carol", "Ada Lovelace", ""},
	}
	if !slices.Equal(got, want) {
		t.Fatalf("landings are %v, want %v", got, want)
	}
	brought, err := repo.Brought(t.Context(), landings[1].Commit)
	s.must(err)
	if len(brought) != 2 || brought[0].Subject != "validate every line" || brought[1].Author != "Bob" {
		t.Errorf("the merge brought %v", brought)
	}
	if brought, err := repo.Brought(t.Context(), landings[0].Commit); len(brought) != 0 || err != nil {
		t.Errorf("a plain commit brought %v, %v", brought, err)
	}
}

func TestLandingsBeginWithTheFirstCommit(t *testing.T) {
	t.Parallel()
	s, first := merged(t)
	landings, err := s.open(nil).Landings(t.Context(), "", "main")
	s.must(err)
	if len(landings) != 4 || landings[0].Commit.SHA != first {
		t.Errorf("%d landings, the first %v", len(landings), landings)
	}
}

func FuzzParseLandings(f *testing.F) {
	f.Add([]byte("a1\x00b2 c3\x00Ada\x00See merge request team/servers!212\n\x001\x00Ada\x00merge\x00\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		landings, err := parseLandings(log)
		if err != nil && landings != nil {
			t.Errorf("half of a log was taken: %v", landings)
		}
		for _, l := range landings {
			if len(l.Commit.Parents) > 1 && l.Merger != l.Commit.Author {
				t.Errorf("%v is a merge by %s", l.Commit, l.Merger)
			}
		}
	})
}
