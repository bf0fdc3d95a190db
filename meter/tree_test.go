package meter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// id is a container's, and other is that of the one stopwatt runs in.
var (
	id    = strings.Repeat("0123456789abcdef", 4)
	other = strings.Repeat("fedcba9876543210", 4)
)

// tree makes a machine of files. In names and texts ID and OTHER stand for the
// containers' IDs.
func tree(t *testing.T, files map[string]string) Host {
	t.Helper()
	host := Host{Root: t.TempDir(), NoCounters: true}
	names := strings.NewReplacer("ID", id, "OTHER", other)
	for name, text := range files {
		put(t, host, names.Replace(name), names.Replace(text))
	}
	return host
}

// put writes a file of the machine, into the file that may be held open.
func put(t *testing.T, host Host, name, text string) {
	t.Helper()
	file := host.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// with lays files over files; an empty text takes one away.
func with(files map[string]string, more map[string]string) map[string]string {
	all := map[string]string{}
	for _, layer := range []map[string]string{files, more} {
		for name, text := range layer {
			all[name] = text
			if text == "" {
				delete(all, name)
			}
		}
	}
	return all
}
