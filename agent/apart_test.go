//go:build linux

package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// deserterVariable turns the test binary into a program that leaves its process group
// for that of a child, and stays.
const deserterVariable = "STOPWATT_TEST_DESERT"

// desert moves into the group of a child, which ends with its input, and waits.
func desert() error {
	child := exec.Command("/bin/sleep", "600")
	child.SysProcAttr = &unix.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGKILL}
	if err := child.Start(); err != nil {
		return err
	}
	if err := unix.Setpgid(0, child.Process.Pid); err != nil {
		return err
	}
	time.Sleep(10 * time.Minute)
	return nil
}

func TestAProgramThatLeavesItsGroupIsKilledAllTheSame(t *testing.T) { // not parallel: a timer has a processor to itself
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	order := shell("")
	order.Run, order.Timeout = []string{"/usr/bin/env", deserterVariable + "=1", self}, 500*time.Millisecond
	reports := timed(t, order, "ready", "time")
	if got := reports[len(reports)-1].Failure; !strings.Contains(got, "did not end within 500ms and was killed") {
		t.Errorf("the timer says %q", got)
	}
}

func TestNobodyWaitsForAPipeInThePlaceOfResults(t *testing.T) { // not parallel: a timer has a processor to itself
	pipe := filepath.Join(t.TempDir(), "results")
	order := shell("mkfifo " + pipe)
	order.Keep, order.ResultsFile = true, pipe
	reports := timed(t, order, "ready", "time")
	if got := reports[len(reports)-1].Failure; !strings.Contains(got, "is no regular file") {
		t.Errorf("the timer says %q", got)
	}
	order = shell("")
	order.Run = []string{pipe}
	if err := unix.Chmod(pipe, 0o755); err != nil {
		t.Fatal(err)
	}
	reports = timed(t, order, "ready", "time")
	if got := reports[len(reports)-1].Failure; !strings.Contains(got, "cannot be started") {
		t.Errorf("of a pipe in the place of a program the timer says %q", got)
	}
}

// ahead answers each request, and begins the answer to the next one with it.
func ahead(body string) func(*testServer, *testConn) {
	whole := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	return func(_ *testServer, c *testConn) {
		for begun := 0; c.question() != nil; begun = 10 {
			if _, err := c.Write([]byte(whole[begun:] + whole[:10])); err != nil {
				return
			}
		}
	}
}

// A body that is long is dropped inside the kernel, so that what lies behind it is not seen
// when it is read.
func TestAnswersThatComeBeforeTheyAreAskedForAreNoAnswers(t *testing.T) {
	t.Parallel()
	for length, want := range map[int]error{5: errTooMuch, 100_000: errEarly} {
		order := orderFor(startServer(t, ahead(strings.Repeat("x", length))).address())
		order.Load.Requests = 4 * lookOneIn // of two users: at least four looks
		got := drive(t, order, int64(length))
		if first := got.FirstErrors[stopwatt.ErrorProtocol]; !strings.Contains(first, want.Error()) {
			t.Errorf("%d bytes: %d answers of %d are right, errors %v, the first is %q", length, got.Requests, accounted(got), got.Errors, first)
		}
	}
}

// No body is taken out of its coding: one that would grow a thousandfold is as long as it
// came.
func TestACompressedBombStaysCompressed(t *testing.T) {
	t.Parallel()
	const bomb = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff" // it need not even be whole
	server := startServer(t, always(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", len(bomb), bomb)))
	order := orderFor(server.address())
	order.Request.Headers = map[string]string{"Accept-Encoding": "gzip"}
	got := drive(t, order, int64(len(bomb)))
	if len(got.Errors) > 0 || got.Requests != 6 {
		t.Errorf("%d right answers, errors %v, first %v", got.Requests, got.Errors, got.FirstErrors)
	}
}
