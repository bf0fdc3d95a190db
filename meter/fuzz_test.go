package meter

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// FuzzQuestions asks the station of a machine that has no files anything, once it is
// open and before.
func FuzzQuestions(f *testing.F) {
	for _, seed := range []string{
		`{"Ask":"reading"}`, `{"Ask":"account","PID":-1}`, `{"Ask":"usage","Handle":7}`, `{"Ask":"number","Handle":1,"Field":"CPU"}`,
		`{"Ask":"tell","Handle":1,"Window":{"Start":9,"End":-9}}`, `{"Ask":"close","Handle":1}`, `{"Ask":`, `null`, `{"Ask":"watch","Roles":{"server":1}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		var q question
		if json.Unmarshal(line, &q) == nil && (q.Lasting > 0 || q.Ask == askOpen) {
			return // it would wait, or look at this machine
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		heard := make(chan []byte, len(line)+1)
		if err := readQuestions(ctx, bytes.NewReader(line), heard); err != nil || len(heard) > bytes.Count(line, []byte("\n"))+1 {
			t.Errorf("%d questions in %q, %v", len(heard), line, err)
		}
		s := &session{accounts: map[int]Accounting{}, watches: map[int]Watching{}}
		defer s.close()
		for _, said := range []answer{s.answered(ctx, line), func() answer {
			s.station = newStation(StationOrder{MetersRoot: t.TempDir()}, &Meters{}, nil)
			return s.answered(ctx, line)
		}()} {
			if _, err := json.Marshal(said); err != nil {
				t.Errorf("the answer to %q cannot be said: %v", line, err)
			}
		}
	})
}

// deaf are streams that hear nothing.
type deaf struct{ io.Reader }

func (deaf) Write(p []byte) (int, error) { return len(p), nil }
func (deaf) Close() error                { return nil }

// FuzzAnswers lets the meters elsewhere answer anything.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"Greeting":{"Boot":"a"}}` + "\n" + `{"Reading":{"Load":1}}` + "\n" + `{"Handle":1}` + "\n" + `{"Usage":{}}` + "\n"))
	f.Add([]byte(`{"Greeting":{}}` + "\n" + `{"Failure":"no"}` + "\n" + `{"Number":-1}`))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := OpenElsewhere(t.Context(), deaf{bytes.NewReader(text)}, StationOrder{})
		if err != nil {
			return
		}
		defer e.Close()
		e.SameKernel()
		e.Reading()
		if account, err := e.Account(1); err == nil {
			account.Read()
			_ = account.Close()
		}
		watch := e.Watch(nil)
		watch.Edge()
		watch.Tell(stopwatt.Window{Start: 1, End: 2}, stopwatt.Reading{}, stopwatt.Reading{})
		watch.Close()
	})
}

// endless is a line without an end, which counts what is read of it.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestAnAnswerThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	said := &endless{}
	_, err := OpenElsewhere(t.Context(), deaf{said}, StationOrder{})
	if err == nil || !strings.Contains(err.Error(), "a line of more than 64 MiB") || said.read > longestLine+1<<20 {
		t.Errorf("%v after %d bytes", err, said.read)
	}
}

// FuzzCommandLines lets the program of a meter print anything.
func FuzzCommandLines(f *testing.F) {
	f.Add([]byte("1.5\n-2e3\n"))
	f.Add([]byte(strings.Repeat("1", mostLine) + "\n7\n8"))
	f.Fuzz(func(t *testing.T, text []byte) {
		heard := 0
		m := &commandMeter{micro: 1e6, lines: io.NopCloser(bytes.NewReader(text)), hear: func(_, value int64, err error) {
			heard++
			if err != nil && value != 0 {
				t.Errorf("%q is %d and %v", text, value, err)
			}
		}}
		m.readLines()
		if heard > bytes.Count(text, []byte("\n")) {
			t.Errorf("%d numbers in %q", heard, text)
		}
	})
}

// FuzzNumbersOfFiles reads what else is read of /sys and /proc.
func FuzzNumbersOfFiles(f *testing.F) {
	f.Add([]byte("cpu MHz\t\t: 800.1\ncpu MHz : -1\n"))
	f.Add([]byte("nr_throttled 4\nthrottled_usec 9\n"))
	f.Add([]byte("-12\n"))
	f.Add([]byte("1 0 0 0 some 18446744073709551616"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if clocks, err := parseMegahertz(string(text)); err == nil {
			for _, clock := range clocks {
				if clock < 0 {
					t.Errorf("%q: a clock of %d", text, clock)
				}
			}
		}
		if throttled, err := parseThrottled(text); throttled < 0 || err != nil && throttled != 0 {
			t.Errorf("%q: throttled for %d, %v", text, throttled, err)
		}
		if number, err := parseSigned(text); err != nil && number != 0 {
			t.Errorf("%q: %d and %v", text, number, err)
		}
		if first, err := parseFirst(text); err != nil && first != 0 {
			t.Errorf("%q: %d and %v", text, first, err)
		}
		if times, err := parseCPUTimes(text); (err == nil) != (times.All() > 0) {
			t.Errorf("%q: %d and %v", text, times.All(), err)
		}
	})
}
