package templates_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lines is a script as the runner gives it to the shell.
func lines(script any) string {
	var all []string
	for _, entry := range listOf(script) {
		if nested, ok := entry.([]any); ok {
			all = append(all, lines(nested))
			continue
		}
		all = append(all, fmt.Sprint(entry))
	}
	return strings.Join(all, "\n")
}

// script is what the shell of a job is given: before_script and script in one.
func (c config) script(name string) string {
	job, _ := c[name].(map[string]any)
	return lines(append(listOf(c.inherited(job, "before_script")), listOf(job["script"])...))
}

// note is a stopwatt that notes what it is told, and fails as it is asked to.
const note = `#!/bin/sh
{ printf '<%s>' "$@"; echo; echo "$STOPWATT_DATABASE $STOPWATT_GITLAB_TOKEN"; } >>"$TOLD"
exit "${STATUS:-0}"
`

// play runs a job's script in a shell with a stopwatt that notes, and returns what
// that was told and the exit status.
func play(t *testing.T, shell, script string, environment ...string) (told string, status int) {
	t.Helper()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "stopwatt"), []byte(note), 0o755); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(shell, "-ec", script) // the runner stops at the first line that fails
	command.Dir = folder
	command.Env = append([]string{"PATH=" + folder + ":/usr/bin:/bin", "TOLD=" + folder + "/told"}, environment...)
	out, err := command.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if len(out) > 0 {
		t.Errorf("%s says: %s", shell, out)
	}
	written, err := os.ReadFile(folder + "/told")
	if err != nil {
		t.Fatalf("%s: stopwatt was not called: %v", shell, err)
	}
	return string(written), command.ProcessState.ExitCode()
}

func TestTheScriptsTellStopwattWhatTheInputsSay(t *testing.T) {
	t.Parallel()
	inputs := func(written string) string {
		return "include: {component: $CI_SERVER_FQDN/stopwatt/stopwatt/benchmark@1, inputs: {" + written + "}}"
	}
	several := "STOPWATT_MACHINES=" + `["odroid-h3","rpi-4"]`
	for _, row := range []struct{ what, text, job, environment, want string }{
		{"with nothing said, the suite's own words hold", inputs(""), "benchmark", "STOPWATT_DATABASE=postgres://a",
			"<ci><stopwatt.yml><--out><stopwatt-report><--note><always>\npostgres://a \n"},
		{"a budget and rounds are passed on", inputs("budget: 40m, rounds: '12'"), "benchmark", "STOPWATT_GITLAB_TOKEN=t",
			"<ci><stopwatt.yml><--out><stopwatt-report><--note><always><--budget><40m><--rounds><12>\n t\n"},
		{"so are a profile and what fails", inputs("profile: short, fail-on: 'regressed,undecided', note: thread"), "benchmark", "A=b",
			"<ci><stopwatt.yml><--out><stopwatt-report><--note><thread><--fail-on><regressed,undecided><--profile><short>\n \n"},
		{"database and token are read from the variables that are named", inputs("database: D, token: K"), "benchmark", "D=postgres://d",
			"<ci><stopwatt.yml><--out><stopwatt-report><--note><always>\npostgres://d \n"},
		{"one machine of several writes no note", inputs("machines: [odroid-h3, rpi-4]"), "benchmark on", several,
			"<ci><stopwatt.yml><--out><stopwatt-report><--note><none>\n \n"},
		{"the closing job names the machines", inputs("machines: [odroid-h3, rpi-4], fail-on: regressed, note: alerts"), "benchmark note", several,
			"<ci><stopwatt.yml><--conclude><--machines><odroid-h3,rpi-4><--out><stopwatt-report><--note><alerts><--fail-on><regressed>\n \n"},
	} {
		configuration, faults := files(t).assemble(row.text)
		if len(faults) > 0 {
			t.Fatalf("%s: %q", row.what, faults)
		}
		for _, shell := range []string{"sh", "bash"} {
			told, status := play(t, shell, configuration.script(row.job), row.environment)
			if difference := cmp.Diff(row.want, told); difference != "" || status != 0 {
				t.Errorf("%s, in %s: status %d\n%s", row.what, shell, status, difference)
			}
		}
	}
}

func TestTheJobEndsAsStopwattDoes(t *testing.T) {
	t.Parallel()
	configuration := assembled(t, "several machines")
	for _, job := range configuration.jobs() {
		if _, status := play(t, "bash", configuration.script(job), "STATUS=10", `STOPWATT_MACHINES=["a","b"]`); status != 10 {
			t.Errorf("%s ends with %d where stopwatt ended with 10", job, status)
		}
	}
}

func TestWhatIsLeftIsRemovedWhateverCameOfIt(t *testing.T) {
	t.Parallel()
	configuration := assembled(t, "all defaults")
	for _, name := range []string{"benchmark", "benchmark on"} {
		job, _ := configuration[name].(map[string]any)
		told, status := play(t, "sh", lines(job["after_script"]), "STATUS=4")
		if told != "<clean>\n \n" || status != 0 {
			t.Errorf("%s: after_script asks for %q and ends with %d", name, told, status)
		}
	}
}

// TestEveryScriptIsOneThatShellsRead reads also those that cannot be played here.
func TestEveryScriptIsOneThatShellsRead(t *testing.T) {
	t.Parallel()
	texts := maps.Clone(includes)
	texts[ours] = files(t)[ours]
	for name := range texts {
		configuration := assembled(t, name)
		for _, job := range configuration.jobs() {
			for _, shell := range []string{"sh", "bash"} {
				if out, err := exec.Command(shell, "-nc", configuration.script(job)).CombinedOutput(); err != nil {
					t.Errorf("%s, %s: %v\n%s", name, job, err, out)
				}
			}
		}
	}
}
