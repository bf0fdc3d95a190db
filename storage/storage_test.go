package storage_test

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

func TestPostgresPassesTheExercise(t *testing.T) {
	storagetest.Exercise(t, func(t *testing.T) storagetest.Store { return open(t, embeddedtest.ForTest(t)) })
}

func open(t *testing.T, dsn string) *storage.Store {
	t.Helper()
	s, err := storage.Open(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
