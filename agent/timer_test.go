//go:build linux

package agent

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
)

// shell is an order to run a line of a shell once.
func shell(line string) stopwatt.TimeOrder {
	return stopwatt.TimeOrder{
		Program: stopwatt.Program{Run: []string{"/bin/sh", "-c", line}, OKExit: []int{0}, Timeout: 20 * time.Second},
		Repeat:  stopwatt.Repeat{Least: 1, Most: 1},
	}
}

// timed has a timer carry out an order by these commands, and returns its
// reports.
func timed(t *testing.T, order stopwatt.TimeOrder, commands ...string) []stopwatt.TimeReport {
	t.Helper()
	var in, out bytes.Buffer
	lines := json.NewEncoder(&in)
	order, pieces := order.Apart()
	if err := lines.Encode(order); err != nil {
		t.Fatal(err)
	}
	for _, piece := range pieces {
		if err := lines.Encode(piece); err != nil {
			t.Fatal(err)
		}
	}
	in.WriteString(strings.Join(commands, "\n") + "\n")
	if err := Time(t.Context(), &in, &out); err != nil {
		t.Fatal(err)
	}
	var reports []stopwatt.TimeReport
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var report stopwatt.TimeReport
		if err := decoder.Decode(&report); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, report)
	}
	return reports
}

func TestTheTimerRepeatsAProgramAndMeasuresEach(t *testing.T) {
	folder := t.TempDir()
	count := filepath.Join(folder, "count")
	order := shell("echo run >>" + count + "; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done")
	order.Warmup, order.Repeat = 2, stopwatt.Repeat{Least: 3, Most: 3}
	order.Prepare = []string{"/bin/sh", "-c", "echo prepare >>" + count}
	order.Cleanup = []string{"/bin/sh", "-c", "echo cleanup >>" + count}
	reports := timed(t, order, "ready", "warm", "time")
	if len(reports) != 4 || reports[0].Ready == nil || !reports[2].Ended || reports[3].Result == nil {
		t.Fatalf("reports %+v, want Ready, nothing, Ended and Result", reports)
	}
	got := reports[3].Result
	if len(got.Repetitions) != 3 {
		t.Fatalf("%d repetitions, want 3", len(got.Repetitions))
	}
	total := int64(0)
	for i, once := range got.Repetitions {
		total += once.Wall
		if once.Wall <= 0 || once.User+once.System <= 0 || once.User+once.System > once.Wall+int64(20*time.Millisecond) || once.Memory < 100<<10 || once.FaultsMinor == 0 {
			t.Errorf("repetition %d: %+v", i+1, once)
		}
	}
	if window := got.Window.End - got.Window.Start; window < total {
		t.Errorf("the window lasts %d ns, its repetitions %d", window, total)
	}
	if got.LeastMemory < 100<<10 {
		t.Errorf("the timer itself holds %d bytes", got.LeastMemory)
	}
	text, err := os.ReadFile(count)
	if want := strings.Repeat("prepare\nrun\ncleanup\n", 5); err != nil || string(text) != want {
		t.Errorf("ran %q, %v; want two warm-ups and three repetitions", text, err)
	}
}

func TestHowOftenAProgramIsRepeated(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		times stopwatt.Repeat
		each  int64
		want  int
	}{
		{"as often as is said", stopwatt.Repeat{Least: 7, Most: 7}, 1, 7},
		{"until the time is over", stopwatt.Repeat{Least: 2, Most: 100, For: 10}, 3, 4},
		{"at least so often, however long it takes", stopwatt.Repeat{Least: 5, Most: 100, For: 10}, 30, 5},
		{"no more than so often, however short it is", stopwatt.Repeat{Least: 2, Most: 6, For: 1000}, 1, 6},
		{"not at all", stopwatt.Repeat{}, 1, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			done := 0
			for goesOn(test.times, done, int64(done)*test.each) {
				done++
			}
			if done != test.want {
				t.Errorf("repeated %d times, want %d", done, test.want)
			}
		})
	}
}

func TestWhatBecomesOfOutputAndInput(t *testing.T) {
	sum := func(text string) string { s := sha256.Sum256([]byte(text)); return hex.EncodeToString(s[:]) }
	folder := t.TempDir()
	tests := []struct {
		name    string
		change  func(*stopwatt.TimeOrder)
		line    string
		failure string // a part of it; empty: it counts
		results string
	}{
		{"output goes to the null device", nil, `[ "$(readlink /proc/self/fd/1)" = /dev/null ] || [ "$(readlink /proc/$$/fd/1)" = /dev/null ]`, "", ""},
		{"output is read and dropped", func(o *stopwatt.TimeOrder) { o.Output.Pipe = true }, "[ -p /proc/$$/fd/1 ] && yes | head -c 300000", "", ""},
		{"the expected output", func(o *stopwatt.TimeOrder) { o.Output.SHA256 = sum("hello\n") }, "echo hello", "", ""},
		{"another output", func(o *stopwatt.TimeOrder) { o.Output.SHA256 = sum("hello\n") }, "echo hallo",
			`repetition 1 printed 6 bytes of SHA-256 ` + sum("hallo\n") + `, expected ` + sum("hello\n") + `; they begin "hallo\n"`, ""},
		{"no input", nil, `[ -z "$(cat)" ]`, "", ""},
		{"input from a file, the same in each repetition", func(o *stopwatt.TimeOrder) {
			o.Stdin, o.Repeat = []byte("one\ntwo\n"), stopwatt.Repeat{Least: 3, Most: 3}
		}, `[ "$(cat | wc -l)" -eq 2 ]`, "", ""},
		{"input of several pieces, in their order", func(o *stopwatt.TimeOrder) {
			o.Stdin, o.Output.SHA256 = bytes.Repeat([]byte("0123456"), 50_000), sum(strings.Repeat("0123456", 50_000))
		}, "cat", "", ""},
		{"results are kept of what is printed", func(o *stopwatt.TimeOrder) { o.Keep = true }, "echo 42", "", "42\n"},
		{"results are kept of a file", func(o *stopwatt.TimeOrder) { o.Keep, o.ResultsFile = true, filepath.Join(folder, "r") }, "echo noise; echo 43 >" + filepath.Join(folder, "r"), "", "43\n"},
		{"a file of results that is not there", func(o *stopwatt.TimeOrder) { o.Keep, o.ResultsFile = true, filepath.Join(folder, "none") }, "true",
			"repetition 1 left no results: open " + filepath.Join(folder, "none"), ""},
		{"a bad end, with what it said last", nil, "echo why >&2; exit 3", "repetition 1 exited with 3; its last lines:\nwhy", ""},
		{"an end that is allowed", func(o *stopwatt.TimeOrder) { o.OKExit = []int{0, 3} }, "exit 3", "", ""},
		{"an end by a signal", nil, "kill -9 $$", "repetition 1 was ended by signal 9 (killed)", ""},
		{"what takes too long is killed with what it started", func(o *stopwatt.TimeOrder) { o.Timeout = 200 * time.Millisecond }, "sleep 600 & wait",
			"repetition 1 did not end within 200ms and was killed", ""},
		{"a prepare that fails", func(o *stopwatt.TimeOrder) { o.Prepare = []string{"/bin/false"} }, "true", "repetition 1 could not begin or end: its prepare exited with 1", ""},
		{"a cleanup that fails", func(o *stopwatt.TimeOrder) { o.Cleanup = []string{"/bin/false"} }, "true", "its cleanup exited with 1", ""},
		{"a program that is not there", func(o *stopwatt.TimeOrder) { o.Run = []string{"/nowhere/x"} }, "", "/nowhere/x: no such file or directory", ""},
		{"a program that is not along PATH", func(o *stopwatt.TimeOrder) { o.Run = []string{"no-such-program"} }, "", `there is no program "no-such-program" along PATH`, ""},
		{"a program along PATH", func(o *stopwatt.TimeOrder) { o.Run = []string{"true"} }, "", "", ""},
		{"a file that is no program", func(o *stopwatt.TimeOrder) { o.Run = []string{aFile(t, "this is no program")} }, "", "exec format error; it is built for another architecture, or a script whose first line is not like #!/bin/sh", ""},
		{"a script whose lines end as in Windows", func(o *stopwatt.TimeOrder) { o.Run = []string{aFile(t, "#!/bin/sh\r\ntrue\r\n")} }, "", `its interpreter is "/bin/sh\r": write the file with Unix line ends`, ""},
		{"a script without its interpreter", func(o *stopwatt.TimeOrder) { o.Run = []string{aFile(t, "#! /no/python -u\n")} }, "", `it is there, and its interpreter "/no/python" is not`, ""},
		{"an order without an end", func(o *stopwatt.TimeOrder) { o.Timeout = 0 }, "true", "every program needs a bound", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			order := shell(test.line)
			if test.change != nil {
				test.change(&order)
			}
			reports := timed(t, order, "ready", "time")
			report := reports[len(reports)-1]
			if first := reports[0].Failure; first != "" {
				report.Failure = first
			}
			if (report.Failure == "") != (test.failure == "") || !strings.Contains(report.Failure, test.failure) {
				t.Fatalf("failure %q, want %q in it", report.Failure, test.failure)
			}
			if test.results != "" && (report.Result == nil || string(report.Result.Results) != test.results) {
				t.Errorf("result %+v, want the results %q", report.Result, test.results)
			}
		})
	}
}

// aFile makes a file that may be executed.
func aFile(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAnEmptyProgramIsTimed(t *testing.T) {
	reports := timed(t, shell("true"), "ready")
	ready := reports[0].Ready
	if ready == nil || ready.EmptyAbsent != "" || len(ready.Empty) != emptyRuns {
		t.Fatalf("report %+v", reports[0])
	}
	// A process takes longer than 20 µs to make on any machine, and an empty one
	// never a second.
	if middle := slices.Sorted(slices.Values(ready.Empty))[emptyRuns/2]; middle < 20_000 || middle > int64(time.Second) {
		t.Errorf("an empty program takes %d ns", middle)
	}
}

func TestTheEmptyProgramIsOneOnEachArchitecture(t *testing.T) {
	t.Parallel()
	for architecture := range exits {
		image, err := emptyProgram(architecture)
		if err != nil {
			t.Fatal(err)
		}
		file, err := elf.NewFile(bytes.NewReader(image))
		if err != nil {
			t.Fatalf("%s: %v", architecture, err)
		}
		segment := file.Progs[0]
		code := file.Entry - segment.Vaddr
		if file.Type != elf.ET_EXEC || segment.Filesz != uint64(len(image)) || !bytes.Equal(image[code:], exits[architecture].code) {
			t.Errorf("%s: %+v, %+v", architecture, file.FileHeader, segment)
		}
	}
	if _, err := emptyProgram("riscv64"); err == nil {
		t.Error("there is an empty program for an architecture that the agent is not built for")
	}
	if _, ok := exits[runtime.GOARCH]; !ok {
		t.Skip("the test runs on another architecture")
	}
}

func TestALargeProgramCanBeToldFromTheTimer(t *testing.T) {
	order := shell("head -c 60000000 /dev/zero | tail -c 50000000 >/dev/null") // tail holds what it may print
	reports := timed(t, order, "ready", "time")
	got := reports[len(reports)-1].Result
	if got == nil || got.Repetitions[0].Memory < 30<<20 {
		t.Fatalf("a program that holds 50 MB: %+v", got)
	}
}

func TestAPieceOfInputThatIsNoTextIsTold(t *testing.T) {
	var out bytes.Buffer
	order := `{"Run":["/bin/true"],"OKExit":[0],"Timeout":1000000000,"Repeat":{"Least":1,"Most":1},"StdinPieces":1}`
	if err := Time(t.Context(), strings.NewReader(order+"\n\"***\"\nready\n"), &out); err != nil || !strings.Contains(out.String(), "stdin: illegal base64") {
		t.Errorf("error %v, %s", err, out.String())
	}
}

func TestInputThatEndsEndsTheTimer(t *testing.T) {
	for _, input := range []string{"", "{}", "nothing\nready\n", "{\"Unknown\":1}\nready\ntime\n"} {
		var out bytes.Buffer
		if err := Time(t.Context(), strings.NewReader(input), &out); err != nil {
			t.Errorf("%q: %v", input, err)
		}
		for line := range strings.Lines(out.String()) {
			if !strings.Contains(line, "the order") {
				t.Errorf("%q is answered by %s", input, line)
			}
		}
	}
}

func TestATimerThatIsInterruptedKillsItsProgram(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	fifo := filepath.Join(t.TempDir(), "begun")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	order := shell("echo begun >" + fifo + "; exec sleep 600")
	order.Timeout = time.Hour
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	in, feed := io.Pipe()
	defer feed.Close()
	ended := make(chan error, 1)
	go func() { ended <- Time(ctx, in, io.Discard) }()
	go io.WriteString(feed, string(text)+"\nready\ntime\n")
	if begun, err := os.ReadFile(fifo); err != nil || string(begun) != "begun\n" { // waits until it is written
		t.Fatal(string(begun), err)
	}
	cancel()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("it waits for the program")
	}
}
