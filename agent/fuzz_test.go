//go:build linux

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// idle is a driver that drives nothing.
type idle struct{}

func (idle) Drive(context.Context, stopwatt.DriveOrder, ...int64) (stopwatt.DriveResult, error) {
	return stopwatt.DriveResult{}, nil
}

// FuzzDriveOrder gives a driver any order, and each command that asks nobody.
func FuzzDriveOrder(f *testing.F) {
	order := stopwatt.DriveOrder{Address: "127.0.0.1:1", Request: stopwatt.Request{Method: "GET", Path: "/{a}"}, Expect: stopwatt.Expect{Status: 200},
		Data: &stopwatt.Data{Columns: []string{"a"}, Rows: [][]string{{"1"}, {"é\x00"}}}, Load: stopwatt.Load{Users: 1, Requests: 1, Timeout: time.Second}, ReadyWithin: time.Second}
	for _, change := range []func(o *stopwatt.DriveOrder){
		func(*stopwatt.DriveOrder) {},
		func(o *stopwatt.DriveOrder) { o.Address = "unix:/a" },
		func(o *stopwatt.DriveOrder) { o.Others = []stopwatt.Ask{{}, {}} },
		func(o *stopwatt.DriveOrder) { o.Load.Users = -1 },
		func(o *stopwatt.DriveOrder) { o.Data.Rows = [][]string{{}} },
	} {
		changed := order
		data := *order.Data
		changed.Data = &data
		change(&changed)
		line, err := json.Marshal(changed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(line)
	}
	f.Add([]byte(`{"Address":"[::1]:x","Data":{"Columns":["a","a"],"Rows":[["1"]]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		c := newConversation(idle{}, line)
		if c.fault == nil {
			for _, what := range c.order.Asks() {
				if rows := composeRows(c.order, what.Request); len(rows) == 0 {
					t.Errorf("nothing is asked of %q", line)
				}
			}
		}
		for _, command := range []string{stopwatt.CommandWarm, stopwatt.CommandDrive, "dance", string(line)} {
			var said bytes.Buffer
			err := c.carryOut(t.Context(), command, func(report stopwatt.DriveReport) error { return json.NewEncoder(&said).Encode(report) })
			if err != nil || strings.Count(said.String(), "\n") > 2 {
				t.Errorf("%q says %q, %v", command, said.String(), err)
			}
		}
	})
}

// FuzzTimeOrder gives a timer any order, and starts nothing.
func FuzzTimeOrder(f *testing.F) {
	f.Add([]byte(`{"Run":["/bin/true"],"OKExit":[0],"Timeout":1,"Repeat":{"Least":1,"Most":1},"StdinPieces":1}`), []byte(`"YQ=="`))
	f.Add([]byte(`{"Run":[],"Stdin":"YQ==","Warmup":-1}`), []byte(`7`))
	f.Fuzz(func(t *testing.T, line, piece []byte) {
		timer := newTimer(line)
		defer timer.close()
		timer.take(piece)
		if command(piece) == stopwatt.CommandReady || command(piece) == stopwatt.CommandWarm || command(piece) == stopwatt.CommandTime {
			return
		}
		if report, err := timer.report(t.Context(), command(piece), json.NewEncoder(&bytes.Buffer{})); err == nil {
			t.Errorf("%q is answered by %+v", piece, report)
		}
	})
}

// FuzzAsk reads one answer as it is read before and after a window.
func FuzzAsk(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), false)
	f.Add([]byte("HTTP/1.1 302 Found\r\nLocation: //elsewhere\r\nContent-Length: 0\r\n\r\n"), true)
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nx"), false)
	f.Fuzz(func(t *testing.T, text []byte, head bool) {
		r := read(bytes.NewReader(text), head)
		if r.err == nil && (r.status < 100 || r.status > 999) || r.received > int64(len(text)) || len(r.body) > quotedBytes || len(r.begins) > quotedBytes {
			t.Errorf("%q is read as %+v", text, r)
		}
	})
}

// endlessAnswer is a body without an end, which counts what is read of it.
type endlessAnswer struct {
	head string
	read int
}

func (e *endlessAnswer) Read(p []byte) (int, error) {
	n := copy(p, e.head)
	e.head = e.head[n:]
	for i := n; i < len(p); i++ {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestAnOrderThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	e := &endlessAnswer{}
	if err := readLines(t.Context(), e, nil); err == nil || !strings.Contains(err.Error(), "token too long") || e.read > longestLine+1<<20 {
		t.Errorf("%v after %d bytes", err, e.read)
	}
}

func TestABodyThatNeverEndsIsNotReadOn(t *testing.T) {
	t.Parallel()
	e := &endlessAnswer{head: "HTTP/1.0 200 OK\r\n\r\n"}
	if r := read(e, false); r.err != errBodyTooLong || e.read > longestBody+2*bufferBytes {
		t.Errorf("%v after %d bytes", r.err, e.read)
	}
	e = &endlessAnswer{head: "HTTP/1.1 200 OK\r\nX: "}
	if r := read(e, false); r.err == nil || e.read > maxHead+2*bufferBytes {
		t.Errorf("a header without an end: %v after %d bytes", r.err, e.read)
	}
}
