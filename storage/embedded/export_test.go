package embedded

import "testing"

// FindBinaries tells whether this machine has a Postgres.
func FindBinaries() error {
	_, err := findBinaries("", 0)
	return err
}

// WithoutBinaries lets the test believe that no package of Postgres is
// installed. What PATH finds is for the test to hide.
func WithoutBinaries(t *testing.T) {
	before := installed
	installed = nil
	t.Cleanup(func() { installed = before })
}
