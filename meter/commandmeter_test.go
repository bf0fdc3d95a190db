package meter

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A word is what a command meter said once.
type word struct {
	value int64
	err   string
}

// listenTo opens a shell script as a meter and returns what it says. The script
// begins when it is listened to.
func listenTo(t *testing.T, unit stopwatt.MeterUnit, script string) (instrument, chan word) {
	t.Helper()
	heard := filepath.Join(t.TempDir(), "heard")
	script = "while ! test -e " + heard + "; do sleep 0.01; done; " + script
	opened, err := openCommand(Host{}, stopwatt.CommandMeter{Command: []string{"sh", "-c", script}, Unit: unit})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := opened.close(); err != nil {
			t.Error(err)
		}
	})
	words := make(chan word, 100)
	last := int64(0)
	opened.listen(func(at, value int64, err error) {
		if at <= last {
			t.Errorf("it speaks at %d, and did so at %d", at, last)
		}
		last = at
		said := word{value: value}
		if err != nil {
			said.err = err.Error()
		}
		words <- said
	})
	if err := os.WriteFile(heard, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return opened, words
}

func TestAProgramSaysANumberALine(t *testing.T) {
	t.Parallel()
	opened, words := listenTo(t, stopwatt.Joules, `
echo 1.5; echo "  100000003.300001 "; echo abc; echo -1; head -c 1000 /dev/zero | tr '\0' 9; echo; echo 7; echo half >&2; echo "no device" >&2; printf 8; exit 3`)
	for _, want := range []word{
		{1500000, ""}, {100000003300001, ""}, {0, "is no number"}, {0, "is negative"},
		{0, "a line of more than 256 bytes"}, {7000000, ""}, {0, `its program ended (exit status 3): "no device"`},
	} {
		got := <-words
		if got.value != want.value || !strings.Contains(got.err, want.err) || (got.err == "") != (want.err == "") {
			t.Errorf("it said %+v, want %+v", got, want)
		}
	}
	opened.listen(func(_, _ int64, err error) { words <- word{err: err.Error()} })
	if got := <-words; !strings.Contains(got.err, "its program ended") {
		t.Errorf("whoever listens later is told %+v", got)
	}
}

func TestAProgramGetsNoSecretsOfTheJob(t *testing.T) {
	t.Setenv("STOPWATT_GITLAB_TOKEN", "1")
	_, words := listenTo(t, stopwatt.Watts, `echo "${STOPWATT_GITLAB_TOKEN:-2}"; exec sleep 600`)
	if got := <-words; got.value != 2e6 {
		t.Errorf("it said %+v", got)
	}
}

// gone waits until no process of this number is left that is not a zombie.
func gone(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d still runs", pid)
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

func TestClosingEndsAProgramAndItsChildren(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"a polite one":                       `sleep 600 & echo $!; wait`,
		"one that does not heed the signal":  `trap '' TERM; sleep 600 & echo $!; while :; do wait; sleep 1; done`,
		"one that ended and left a child":    `sleep 600 >/dev/null 2>&1 & echo $!`,
		"one whose child holds its standard": `sleep 600 & echo $!`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opened, words := listenTo(t, stopwatt.Watts, script)
			child := int((<-words).value / 1e6)
			if child < 2 {
				t.Fatalf("child %d", child)
			}
			if err := opened.close(); err != nil {
				t.Error(err)
			}
			gone(t, child)
		})
	}
}

// orphanage makes a process of this test's program one that opens a command
// meter, tells its number and waits to be killed.
const orphanage = "STOPWATT_TEST_ORPHANAGE"

func runOrphanage() {
	if os.Getenv(orphanage) == "" {
		return
	}
	opened, err := openCommand(Host{}, stopwatt.CommandMeter{Command: []string{"sh", "-c", "trap '' PIPE; while :; do echo $$; sleep 0.2; done"}, Unit: stopwatt.Watts})
	if err != nil {
		panic(err)
	}
	opened.listen(func(_, value int64, _ error) { fmt.Println(value / 1e6) })
	select {}
}

func TestAProgramDoesNotOutliveAKilledStopwatt(t *testing.T) {
	t.Parallel()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), orphanage+"=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	_, err = fmt.Fscan(out, &child)
	if killErr := parent.Process.Kill(); err != nil || killErr != nil || child < 2 {
		t.Fatalf("child %d: %v, %v", child, err, killErr)
	}
	_ = parent.Wait() // it was killed
	gone(t, child)
}

func TestWhatIsNoCommandMeter(t *testing.T) {
	t.Parallel()
	for says, setting := range map[string]stopwatt.CommandMeter{
		"start /no/such/meter: no such file or directory": {Command: []string{"/no/such/meter"}, Unit: stopwatt.Joules},
		"start no-such-meter: executable file not found":  {Command: []string{"no-such-meter"}, Unit: stopwatt.Joules},
		"no command": {Unit: stopwatt.Joules},
		"or no unit": {Command: []string{"true"}, Unit: "VA"},
	} {
		_, err := openCommand(Host{}, setting)
		refuses(t, err, says, "", false)
	}
	if _, err := openCommand(Host{}, stopwatt.CommandMeter{}); !errors.As(err, new(refusal)) {
		t.Errorf("%v", err)
	}
}
