package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestADockerfileThatIsTooLargeIsNotReadOn(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "Dockerfile")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for bytes, fits := range map[int64]bool{mostDockerfile: true, 1 << 40: false} {
		if err := os.Truncate(path, bytes); err != nil { // of holes
			t.Fatal(err)
		}
		text, err := readDockerfile(path)
		if fits && (err != nil || int64(len(text)) != bytes) || !fits && (err == nil || !strings.Contains(err.Error(), "larger than 1 MiB")) {
			t.Errorf("of %d bytes: %d read, %v", bytes, len(text), err)
		}
	}
}
