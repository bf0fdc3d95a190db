package storagetest_test

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

func TestMemoryPassesTheExercise(t *testing.T) {
	storagetest.Exercise(t, func(*testing.T) storagetest.Store { return &storagetest.Memory{} })
}
