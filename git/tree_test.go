package git

import (
	"errors"
	"io/fs"
	"testing"
)

func TestATreeIsWhatACommitHolds(t *testing.T) {
	t.Parallel()
	s := newScratch(t)
	s.write("suites/stopwatt.yml", "suite: before\n")
	s.write("docker/Dockerfile", "FROM scratch\n")
	s.commit("before")
	s.write("suites/stopwatt.yml", "suite: after\n")
	s.commit("after")
	tree, err := s.open(nil).Tree(t.Context(), s.dir+"/suites", "HEAD~1")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := tree.ReadFile("stopwatt.yml"); err != nil || string(text) != "suite: before\n" {
		t.Errorf("%q, %v", text, err)
	}
	if text, err := tree.ReadFile("../docker/Dockerfile"); err != nil || string(text) != "FROM scratch\n" {
		t.Errorf("%q, %v", text, err)
	}
	if info, err := tree.Stat("../docker"); err != nil || !info.IsDir() {
		t.Errorf("%v, %v", info, err)
	}
	for _, name := range []string{"later.yml", "../../outside", "../docker/none"} {
		if _, err := tree.ReadFile(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := tree.ReadFile("../docker"); err == nil {
		t.Error("a folder was read")
	}
}
