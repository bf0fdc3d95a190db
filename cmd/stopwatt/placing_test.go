package main

import (
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

func TestTheDatabaseLearnsWhereCommitsStandOnTheBranch(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 6)
	if out, err := exec.Command("git", "-C", folder, "remote", "add", "origin", "https://gitlab.example.org/team/servers.git").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	remembered(t, database, []string{commits[4], commits[1], commits[3]}) // in the order of their times, not of the branch
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	t.Chdir(folder)
	d := desk{getenv: func(string) string { return "" }}
	if err := d.placeStored(t.Context(), store, "somebody/else"); err != nil {
		t.Fatal(err)
	}
	places := func() map[string]any {
		answer, err := store.Query(t.Context(), "select distinct commit, position from series", 0)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]any{}
		for _, row := range answer.Rows {
			of[row[0].(string)] = row[1]
		}
		return of
	}
	if diff := cmp.Diff(map[string]any{commits[1]: nil, commits[3]: nil, commits[4]: nil}, places()); diff != "" {
		t.Errorf("in the checkout of another project (-want +got):\n%s", diff)
	}
	if err := d.placeStored(t.Context(), store, "team/servers"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{commits[1]: int64(2), commits[3]: int64(4), commits[4]: int64(5)}, places()); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}
