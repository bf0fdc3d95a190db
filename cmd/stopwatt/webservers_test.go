package main

import (
	"os"
	"path/filepath"
	"testing"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// TestTheWebServersAnswerAlike builds the four web servers and measures each
// program of each once: a trial is valid only if the answer's SHA-256 is the
// suite's, before the load and after it, and every request was answered.
func TestTheWebServersAnswerAlike(t *testing.T) {
	t.Parallel()
	requireDocker(t)
	if _, told := os.LookupEnv("STOPWATT_BASES"); !told && os.Getenv("CI") != "true" {
		t.Skip("which base images there are is not known: make test finds out, and sets STOPWATT_BASES")
	}
	suite, err := filepath.Abs("../../suites/web-servers")
	if err != nil {
		t.Fatal(err)
	}
	database := embeddedtest.ForTest(t)
	command := installed(t, openFolder(t), buildPrograms(t), database,
		"run", suite, "--profile", "short", "--rounds", "1")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	results, err := store.Results(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range results.Cases {
		requests, _ := result.Summary("requests")
		if result.Valid != 1 || requests.Mean != 4*500 {
			t.Errorf("%s: %d valid trials, %v requests, want 1 and 2000: %v", result.Case, result.Valid, requests.Mean, result.Reasons)
		}
	}
	if len(results.Cases) != 12 {
		t.Errorf("%d cases were measured, want 12", len(results.Cases))
	}
}
