package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// installed puts a stopwatt and its driver into a folder and returns the command
// that runs it there, with a data folder, a lock and a database of its own. The
// images of its runs are removed with the test.
func installed(t *testing.T, folder, programs, database string, args ...string) *exec.Cmd {
	t.Helper()
	agent := "stopwatt-agent-linux-" + runtime.GOARCH
	for from, to := range map[string]string{
		filepath.Join(programs, agent): filepath.Join(folder, agent),
		os.Args[0]:                     filepath.Join(folder, "stopwatt"), // testscript makes it a stopwatt by its name
	} {
		if err := copyFile(from, to); err != nil {
			t.Fatal(err)
		}
	}
	removeAgentLater(t, programs)
	t.Cleanup(func() { removeImages(t, database) })
	command := exec.CommandContext(t.Context(), filepath.Join(folder, "stopwatt"), args...)
	command.Dir = folder
	command.Env = append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME="+filepath.Join(folder, "data"),
		"STOPWATT_LOCK="+filepath.Join(folder, "lock"), "STOPWATT_DATABASE="+database)
	return command
}
