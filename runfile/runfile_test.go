package runfile_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gitlab.com/stopwatt/stopwatt"
	"gitlab.com/stopwatt/stopwatt/runfile"
	"gitlab.com/stopwatt/stopwatt/storage/storagetest"
)

// written is a file of two runs: one with all that a run may have, one without
// trials.
func written(t testing.TB) (lines []runfile.Line, file string) {
	t.Helper()
	run := storagetest.OfMergeRequest()
	run.Status, run.Ended, run.Idle = stopwatt.Finished, run.Started.Add(time.Hour), []stopwatt.IdleWindow{storagetest.Idle(stopwatt.IdleBefore)}
	empty := storagetest.Run()
	empty.Key, empty.Status, empty.Ended = "k-2", stopwatt.Aborted, empty.Started.Add(time.Hour)
	trial := storagetest.Trial(1, "go", "csv")
	summaries, none := []stopwatt.Summary{storagetest.Summary("go", "csv", "time", 5)}, []stopwatt.Summary{}
	judgement := runfile.Judgement{Taken: run.Ended, Said: storagetest.Judgement()}
	calibration := storagetest.Calibration()
	var out bytes.Buffer
	w := runfile.NewWriter(&out)
	if err := errors.Join(w.Run(run), w.Trial(trial), w.Trial(trial), w.Summaries(summaries), w.Judgement(judgement), w.Calibration(calibration), w.End(),
		w.Run(empty), w.Summaries(none), w.End()); err != nil {
		t.Fatal(err)
	}
	return []runfile.Line{{Run: &run}, {Trial: &trial}, {Trial: &trial}, {Summaries: &summaries}, {Judgement: &judgement}, {Calibration: &calibration}, {},
		{Run: &empty}, {Summaries: &none}, {}}, out.String()
}

// read reads a file to its end, or to its first fault.
func read(text string) (lines []runfile.Line, ends int, err error) {
	in := runfile.NewReader("runs.jsonl", strings.NewReader(text))
	for {
		line, err := in.Next()
		if errors.Is(err, io.EOF) {
			return lines, ends, nil
		}
		if err != nil {
			return lines, ends, err
		}
		if line.End != nil {
			ends++
			line.End = nil
		}
		lines = append(lines, line)
	}
}

func TestRunsComeBackAsTheyWereWritten(t *testing.T) {
	want, file := written(t)
	got, ends, err := read(file)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(sameLatencies)); err != nil || ends != 2 || diff != "" {
		t.Errorf("%d runs, error %v\n%s", ends, err, diff)
	}
	if !runfile.Looks([]byte(file)) || runfile.Looks([]byte(`{"run":`)) {
		t.Error("a file is told by its beginning")
	}
}

// sameLatencies compares what is written of them: buckets and their counts.
func sameLatencies(a, b *stopwatt.Histogram) bool {
	if a == nil || b == nil {
		return a == b
	}
	one, err := a.MarshalText()
	other, otherErr := b.MarshalText()
	return err == nil && otherErr == nil && bytes.Equal(one, other)
}

func TestAFileWithoutRunsIsNoneThatWasCutOff(t *testing.T) {
	var out bytes.Buffer
	if err := runfile.NewWriter(&out).Begin(); err != nil {
		t.Fatal(err)
	}
	if lines, _, err := read(out.String()); len(lines) != 0 || err != nil {
		t.Errorf("%d lines, error %v", len(lines), err)
	}
}

func TestACutFileHasNoMoreRunsThanItHasWhole(t *testing.T) {
	_, file := written(t)
	ends := []int{strings.Index(file, `{"run"`)} // behind which a file may end
	for at := range file {
		if strings.HasPrefix(file[at:], `{"end"`) {
			ends = append(ends, at+strings.Index(file[at:], "\n")+1)
		}
	}
	for at := 0; at < len(file); at += 1 + len(file)/300 {
		whole := 0
		for _, end := range ends[1:] {
			if end <= at {
				whole++
			}
		}
		_, got, err := read(file[:at])
		if got != whole || err == nil || !strings.Contains(err.Error(), "cut off") {
			t.Errorf("cut behind %d bytes: %d runs, want %d, error %v", at, got, whole, err)
		}
	}
}

func TestWhatIsNotAsItWasWrittenIsToldWithItsLineAndTheRemedy(t *testing.T) {
	_, file := written(t)
	rows := strings.SplitAfter(file, "\n")
	join := func(rows ...string) string { return strings.Join(rows, "") }
	for name, row := range map[string]struct{ file, says string }{
		"another figure":         {strings.Replace(file, `"Mean":5`, `"Mean":4`, 1), "runs.jsonl:8:1: the run that ends here is not as it was exported: its checksum differs; copy or export the file again"},
		"a trial less":           {join(append(append([]string{}, rows[:3]...), rows[4:]...)...), "runs.jsonl:7:1: the run that ends here is not as it was exported"},
		"another run's end":      {join(rows[0], rows[8], rows[9], rows[7]), "runs.jsonl:4:1: the run that ends here is not as it was exported"},
		"an end alone":           {join(rows[0], rows[7]), "runs.jsonl:2:1: this line does not belong here"},
		"a run within a run":     {join(rows[0], rows[1], rows[8]), "runs.jsonl:3:1: this line does not belong here"},
		"a trial too late":       {join(rows[0], rows[1], rows[4], rows[2]), "runs.jsonl:4:1: this line does not belong here"},
		"no summaries":           {join(rows[0], rows[1], rows[7]), "runs.jsonl:3:1: this line does not belong here"},
		"another version":        {`{"stopwatt":2}` + "\n", "runs.jsonl:1:1: the first line names no version that is known here, which is 1; import it with the stopwatt that has exported it"},
		"no version":             {rows[1], "runs.jsonl:1:1: the first line names no version"},
		"a field of the future":  {rows[0] + `{"run":{"Key":"k","Moon":1}}` + "\n", `runs.jsonl:2:1: the field "Moon" is not known here`},
		"no JSON":                {rows[0] + "hello\n", "runs.jsonl:2:1: this is no line of stopwatt export"},
		"two things in one line": {rows[0] + `{"run":{"Key":"k"},"summaries":[]}` + "\n", "runs.jsonl:2:1: this is no line of stopwatt export"},
		"something behind it":    {rows[0] + `{"run":{"Key":"k"}} {}` + "\n", "runs.jsonl:2:1: this is no line of stopwatt export"},
		"a run without a key":    {rows[0] + `{"run":{}}` + "\n", "runs.jsonl:2:1: this line does not belong here"},
	} {
		_, _, err := read(row.file)
		var faults stopwatt.Faults
		if !errors.As(err, &faults) || !strings.HasPrefix(err.Error(), row.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALineThatIsTooLongIsNotHeld(t *testing.T) {
	endless := io.MultiReader(strings.NewReader(`{"stopwatt":1}`+"\n"), &letters{})
	in := runfile.NewReader("runs.jsonl", endless)
	if _, err := in.Next(); err == nil || !strings.Contains(err.Error(), "longer than 128 MiB") {
		t.Errorf("error %v", err)
	}
}

// letters never end.
type letters struct{}

func (*letters) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = 'a'
	}
	return len(into), nil
}

func FuzzNext(f *testing.F) {
	_, file := written(f)
	for _, seed := range []string{file, file[:len(file)/2], "", `{"stopwatt":1}` + "\n", `{"stopwatt":1}` + "\n" + `{"run":{"Key":"k"}}` + "\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines, ends, err := read(text)
		runs := 0
		for _, line := range lines {
			if line.Run != nil {
				runs++
			}
		}
		if err == nil && runs != ends || ends > runs {
			t.Errorf("%d runs have %d ends, error %v", runs, ends, err)
		}
	})
}

func TestALineOfTooManyObjectsIsNotUnpacked(t *testing.T) {
	text := `{"stopwatt":1}` + "\n" + `{"summaries":[` + strings.Repeat("{},", 5<<20) + `{}]}` + "\n"
	if _, err := runfile.NewReader("runs.jsonl", strings.NewReader(text)).Next(); err == nil || !strings.Contains(err.Error(), "more objects and lists") {
		t.Errorf("error %v", err)
	}
}
