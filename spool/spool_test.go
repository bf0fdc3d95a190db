package spool_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/sys/unix"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/spool"
)

// open opens the queue of a run, and closes it with the test.
func open(t *testing.T, s spool.Spool, key string) *spool.Queue {
	t.Helper()
	queue, err := s.Queue(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = queue.Close() }) // perhaps once more
	return queue
}

// folder is a spool's, which is not there yet.
func folder(t *testing.T) string { return filepath.Join(t.TempDir(), "stopwatt", "spool") }

// trial is one with all that a trial can have.
func trial(round int) spool.Item {
	latency := &stopwatt.Histogram{}
	latency.Record(1234)
	return spool.Item{Trial: &stopwatt.Trial{
		PlannedTrial: stopwatt.PlannedTrial{Case: stopwatt.Case{Implementation: "go", Workload: "hello\x00\xff"}, Round: round, Revision: stopwatt.Base, Attempt: 1},
		Position:     round, Status: stopwatt.Valid, Started: time.Unix(1, 2).UTC(), Window: stopwatt.Window{Start: 1, End: 1 << 62},
		Measurements: []stopwatt.Measurement{{Metric: "time", Value: 0.1}},
		Absent:       []stopwatt.Absence{{Metric: "energy", Reason: "no meter"}},
		Warnings:     []string{"busy"}, Latency: latency,
		Samples:     []stopwatt.Samples{{Meter: "board", Quantity: stopwatt.PowerDrawn}},
		Repetitions: []stopwatt.Repetitions{{Metric: "time", Values: []float64{1, 2}}},
		Parts:       []stopwatt.Part{{Case: stopwatt.Case{Implementation: "go", Workload: "hello/a"}}},
	}}
}

func put(t *testing.T, queue *spool.Queue, items ...spool.Item) {
	t.Helper()
	for _, item := range items {
		if err := queue.Put(item); err != nil {
			t.Fatal(err)
		}
	}
}

// deliver delivers to somebody who takes everything.
func deliver(t *testing.T, queue *spool.Queue) ([]spool.Item, spool.Delivery) {
	t.Helper()
	var taken []spool.Item
	delivery, err := queue.Deliver(func(_ string, item spool.Item) error { taken = append(taken, item); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return taken, delivery
}

func TestWhatWaitsIsDeliveredWholeInItsOrderAndOnce(t *testing.T) {
	t.Parallel()
	items := []spool.Item{
		{Idle: &stopwatt.IdleWindow{Place: stopwatt.IdleBefore, Started: time.Unix(3, 0).UTC(), Powers: []stopwatt.IdlePower{{Meter: "board", Watts: 2}}}},
		{DriverShare: &stopwatt.DriverShare{Workload: "hello", Reason: "none"}},
		trial(1), trial(2),
		{Judgement: &stopwatt.Judgement{Family: 3, Notes: []string{"a note"}}},
		{End: &spool.End{Status: stopwatt.Finished, At: time.Unix(4, 0).UTC()}},
	}
	s := spool.Spool{Folder: folder(t)}
	first := open(t, s, "k-1")
	put(t, first, items[:3]...)
	if err := first.Close(); err != nil { // as the kernel does when the process is killed
		t.Fatal(err)
	}
	queue := open(t, s, "k-1")
	put(t, queue, items[3:]...)
	if n, trials, err := queue.Waiting(); n != 6 || trials != 2 || err != nil {
		t.Errorf("%d items wait, %d trials, error %v", n, trials, err)
	}
	taken, delivery := deliver(t, queue)
	sameCounts := cmp.Comparer(func(a, b stopwatt.Histogram) bool { return a.Count() == b.Count() })
	replaced := func(s string) string { return strings.ToValidUTF8(s, "\ufffd") } // text that is none, as Postgres gets it, too
	if diff := cmp.Diff(items, taken, sameCounts, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b string) bool { return replaced(a) == replaced(b) })); diff != "" {
		t.Errorf("put, then delivered:\n%s", diff)
	}
	if delivery.Items != 6 || delivery.Trials != 2 || len(delivery.Aside) != 0 {
		t.Errorf("delivery %+v", delivery)
	}
	if again, _ := deliver(t, queue); len(again) != 0 {
		t.Errorf("%d delivered twice", len(again))
	}
	if err := queue.Close(); err != nil {
		t.Fatal(err)
	}
	if runs, err := s.Runs(); len(runs) != 0 || err != nil {
		t.Errorf("folders %v stay, error %v", runs, err)
	}
}

func TestWhatIsNotTakenGoesOnWaitingAndWhatIsRefusedIsSetAside(t *testing.T) {
	t.Parallel()
	queue := open(t, spool.Spool{Folder: folder(t)}, "k-1")
	put(t, queue, trial(1), trial(2), trial(3))
	away := errors.New("away")
	delivery, err := queue.Deliver(func(_ string, item spool.Item) error {
		return map[int]error{1: fmt.Errorf("%w: no figure", spool.ErrRefused), 2: away}[item.Trial.Round]
	})
	if !errors.Is(err, away) || len(delivery.Aside) != 1 || !strings.HasSuffix(delivery.Aside[0], "00000001-trial.item.refused: refused: no figure") {
		t.Errorf("delivery %+v, error %v", delivery, err)
	}
	if taken, _ := deliver(t, queue); len(taken) != 2 || taken[0].Trial.Round != 2 {
		t.Errorf("%d delivered then", len(taken))
	}
	if aside, err := queue.Aside(); len(aside) != 1 || err != nil {
		t.Errorf("%v are set aside, error %v", aside, err)
	}
}

func TestAFileThatIsNotAsItWasWrittenIsSetAsideAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	rewrite := func(change func(text []byte) []byte) func(string) error {
		return func(path string) error {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, change(text), 0o600)
		}
	}
	instead := func(make func(path string) error) func(string) error {
		return func(path string) error { return errors.Join(os.Remove(path), make(path)) }
	}
	for name, test := range map[string]struct {
		spoil func(path string) error
		says  string
	}{
		"cut short":             {rewrite(func(text []byte) []byte { return text[:len(text)-1] }), "bytes are there"},
		"cut in the first line": {rewrite(func(text []byte) []byte { return text[:20] }), "no first line"},
		"empty":                 {rewrite(func([]byte) []byte { return nil }), "no first line"},
		"longer":                {rewrite(func(text []byte) []byte { return append(text, ' ') }), "bytes are there"},
		"changed":               {rewrite(func(text []byte) []byte { return bytes.Replace(text, []byte("hello"), []byte("jello"), 1) }), "checksum"},
		"another form":          {rewrite(func(text []byte) []byte { return bytes.Replace(text, []byte("spool-1"), []byte("spool-2"), 1) }), "first line"},
		"a link":                {instead(func(path string) error { return os.Symlink("/etc/passwd", path) }), "a link"},
		"a pipe":                {instead(func(path string) error { return syscall.Mkfifo(path, 0o600) }), "no file"},
		"a folder":              {instead(func(path string) error { return os.Mkdir(path, 0o700) }), "no file"},
		"gigantic":              {func(path string) error { return os.Truncate(path, 1<<40) }, "more than 64 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			queue := open(t, spool.Spool{Folder: folder(t)}, "k-1")
			put(t, queue, trial(1), trial(2))
			if err := test.spoil(filepath.Join(queue.Path(), "00000001-trial.item")); err != nil {
				t.Fatal(err)
			}
			taken, delivery := deliver(t, queue)
			if len(taken) != 1 || taken[0].Trial.Round != 2 {
				t.Errorf("%d delivered", len(taken))
			}
			if len(delivery.Aside) != 1 || !strings.Contains(delivery.Aside[0], "00000001-trial.item.broken: broken: ") || !strings.Contains(delivery.Aside[0], test.says) {
				t.Errorf("set aside: %q", delivery.Aside)
			}
			if _, again := deliver(t, queue); len(again.Aside) != 0 {
				t.Errorf("set aside again: %q", again.Aside)
			}
		})
	}
}

func TestAnotherRunsFileIsSetAside(t *testing.T) {
	t.Parallel()
	s := spool.Spool{Folder: folder(t)}
	mine, theirs := open(t, s, "k-1"), open(t, s, "k-2")
	put(t, theirs, trial(1))
	if err := os.Rename(filepath.Join(theirs.Path(), "00000001-trial.item"), filepath.Join(mine.Path(), "00000007-trial.item")); err != nil {
		t.Fatal(err)
	}
	if taken, delivery := deliver(t, mine); len(taken) != 0 || len(delivery.Aside) != 1 {
		t.Errorf("%d delivered, %v set aside", len(taken), delivery.Aside)
	}
}

func TestWhatADeadProcessHadBegunToWriteIsRemoved(t *testing.T) {
	t.Parallel()
	s := spool.Spool{Folder: folder(t)}
	queue := open(t, s, "k-1")
	put(t, queue, trial(1))
	half := filepath.Join(queue.Path(), ".part-00000002-trial.item")
	if err := os.WriteFile(half, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := queue.Close(); err != nil {
		t.Fatal(err)
	}
	if taken, _ := deliver(t, open(t, s, "k-1")); len(taken) != 1 {
		t.Errorf("%d delivered", len(taken))
	}
	if _, err := os.Stat(half); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the half file stays: %v", err)
	}
}

func TestADiskThatTakesNothingLeavesNothing(t *testing.T) {
	t.Parallel()
	for failing := 1; failing <= 2; failing++ { // the file, then its folder
		full := false
		calls := 0
		s := spool.Spool{Folder: folder(t), Sync: func(file *os.File) error {
			if calls++; full && calls == failing {
				return syscall.ENOSPC
			}
			return file.Sync()
		}}
		queue := open(t, s, "k-1")
		full, calls = true, 0
		if err := queue.Put(trial(1)); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("error %v", err)
		}
		if n, _, err := queue.Waiting(); err != nil || n > failing-1 { // one that was renamed may be there, whole
			t.Errorf("%d wait, error %v", n, err)
		}
		put(t, queue, trial(2))
		if taken, _ := deliver(t, queue); taken[len(taken)-1].Trial.Round != 2 {
			t.Errorf("%d delivered", len(taken))
		}
	}
}

func TestOneProcessAtATimeHasAQueue(t *testing.T) {
	t.Parallel()
	s := spool.Spool{Folder: folder(t)}
	queue := open(t, s, "k-1")
	if _, err := s.Open("k-1"); !errors.Is(err, spool.ErrInUse) {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Queue(ctx, "k-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	got := make(chan error)
	go func() {
		second, err := s.Queue(t.Context(), "k-1")
		if err == nil {
			err = errors.Join(second.Put(trial(1)), second.Close())
		}
		got <- err
	}()
	if err := queue.Close(); err != nil { // which removes the folder that the second waits for
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestAHostileKeyStaysInTheSpool(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"../../../etc", "a/b", ".", "..", "a\x00b", "a\nb", "-rf", strings.Repeat("k", 5000)} {
		s := spool.Spool{Folder: folder(t)}
		queue := open(t, s, key)
		put(t, queue, trial(1))
		if filepath.Dir(queue.Path()) != s.Folder {
			t.Errorf("key %q waits in %s", key, queue.Path())
		}
		if delivery, err := queue.Deliver(func(run string, _ spool.Item) error {
			if run != key {
				return fmt.Errorf("key %q", run)
			}
			return nil
		}); err != nil || delivery.Items != 1 {
			t.Errorf("key %q: %+v, error %v", key, delivery, err)
		}
	}
}

func TestNobodyElseReadsTheSpoolWhateverTheUmask(t *testing.T) {
	before := unix.Umask(0)
	defer unix.Umask(before)
	queue := open(t, spool.Spool{Folder: folder(t)}, "k-1")
	put(t, queue, trial(1))
	for path, want := range map[string]fs.FileMode{queue.Path(): 0o700, filepath.Join(queue.Path(), "00000001-trial.item"): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, error %v", path, info.Mode(), err)
		}
	}
}

func TestAnItemIsOneThing(t *testing.T) {
	t.Parallel()
	queue := open(t, spool.Spool{Folder: folder(t)}, "k-1")
	two := trial(1)
	two.End = &spool.End{}
	for _, item := range []spool.Item{{}, two} {
		if err := queue.Put(item); err == nil {
			t.Errorf("%+v was put", item)
		}
	}
}

// FuzzAFileIsReadWholeOrSetAside puts foreign bytes in the place of a file.
func FuzzAFileIsReadWholeOrSetAside(f *testing.F) {
	s := spool.Spool{Folder: filepath.Join(f.TempDir(), "spool")}
	queue, err := s.Queue(context.Background(), "k-1")
	if err != nil {
		f.Fatal(err)
	}
	defer queue.Close()
	if err := queue.Put(trial(1)); err != nil {
		f.Fatal(err)
	}
	path := filepath.Join(queue.Path(), "00000001-trial.item")
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte("stopwatt-spool-1 sha256: 0\n"))
	f.Add([]byte("stopwatt-spool-1 sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a 2\n{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		taken, delivery := deliver(t, queue)
		if len(taken)+len(delivery.Aside) != 1 {
			t.Errorf("%d delivered, %d set aside", len(taken), len(delivery.Aside))
		}
		if len(taken) == 1 && !bytes.HasPrefix(text, []byte("stopwatt-spool-1 sha256:")) {
			t.Errorf("%q was taken for a file of ours", text)
		}
		_ = os.RemoveAll(path + ".broken")
	})
}
