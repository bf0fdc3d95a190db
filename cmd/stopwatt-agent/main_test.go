//go:build linux

package main

import (
	"bytes"
	"context"
	"os/exec"
	"strings"
	"testing"
)

func TestHowTheAgentIsCalled(t *testing.T) {
	t.Parallel()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name        string
		ctx         context.Context
		args        []string
		in          string
		status      int
		out, errors string // parts of what is written
	}{
		{"version", t.Context(), []string{"version"}, "", 0, "stopwatt-agent devel\n", ""},
		{"the end of input ends driving", t.Context(), []string{"drive"}, "", 0, "", ""},
		{"an order that is none", t.Context(), []string{"drive"}, "x\nready\n", 0, `{"Failure":"the order is not understood`, ""},
		{"interrupted", cancelled, []string{"serve", "127.0.0.1:0"}, "", 0, "", ""},
		{"an address that is none", t.Context(), []string{"serve", "nowhere"}, "", 1, "", "stopwatt-agent: listen tcp"},
		{"nothing", t.Context(), nil, "", 2, "", "usage:"},
		{"too much", t.Context(), []string{"drive", "fast"}, "", 2, "", "usage:"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out, errors bytes.Buffer
			status := run(test.ctx, test.args, strings.NewReader(test.in), &out, &errors)
			if status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if !strings.Contains(out.String(), test.out) || !strings.Contains(errors.String(), test.errors) {
				t.Errorf("out %q, errors %q; want %q and %q in them", out.String(), errors.String(), test.out, test.errors)
			}
		})
	}
}

func TestTheAgentImportsLittle(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for imported := range strings.FieldsSeq(string(out)) {
		host, _, _ := strings.Cut(imported, "/")
		ours := strings.HasPrefix(imported, "gitlab.com/stopwatt/stopwatt") || strings.HasPrefix(imported, "golang.org/x/sys/")
		if imported == "net/http" || strings.Contains(host, ".") && !ours {
			t.Errorf("the agent imports %s", imported)
		}
	}
}
