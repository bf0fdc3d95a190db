package main

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

func TestAnErrorCommandsNoTerminal(t *testing.T) {
	t.Parallel()
	var stderr bytes.Buffer
	d := &desk{stderr: &stderr}
	said := errors.New("denied: \x1b]0;mine\x07\x1b[2J\x9b31m\u202egnp\r\x00")
	if got := d.status(incomplete(fmt.Errorf("pull x: %w; its last lines:\n  one\n    two\ttabs", said))); got != exitIncomplete {
		t.Errorf("status %d", got)
	}
	want := "pull x: denied: \\x1b]0;mine\\a\\x1b[2J\\x9b31m\\u202egnp \\x00; its last lines:\n  one\n    two tabs\n"
	if got := stderr.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
