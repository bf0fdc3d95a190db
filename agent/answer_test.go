//go:build linux

package agent

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// outcome is all that the reading of one answer tells.
type outcome struct {
	Status   int
	Body     string
	Kept     bool
	Complete bool
	Err      error
	Rest     string // what follows a complete answer
}

// readWhole feeds all input at once and then ends the connection.
func readWhole(input string, head bool) outcome {
	return readPieces(input, head, func(rest int) int { return rest })
}

// readPieces feeds as many bytes as size says, again and again.
func readPieces(input string, head bool, size func(rest int) int) outcome {
	var body strings.Builder
	a := answer{body: func(part []byte) { body.Write(part) }}
	a.await(head)
	rest := input
	for rest != "" && !a.done() {
		piece := rest[:size(len(rest))]
		rest = rest[a.feed([]byte(piece)):]
	}
	if !a.done() {
		a.end()
	}
	return outcomeOf(&a, body.String(), rest)
}

func outcomeOf(a *answer, body, rest string) outcome {
	o := outcome{Err: a.err}
	if a.stage == complete {
		o = outcome{Status: a.status, Body: body, Kept: a.kept(), Complete: true, Rest: rest}
	}
	return o
}

func TestReadingAnAnswer(t *testing.T) {
	t.Parallel()
	right := func(status int, body string) outcome {
		return outcome{Status: status, Body: body, Kept: true, Complete: true}
	}
	last := func(status int, body string) outcome {
		return outcome{Status: status, Body: body, Complete: true}
	}
	wrong := func(err error) outcome { return outcome{Err: err} }
	long := strings.Repeat("x", maxHead)

	tests := []struct {
		name  string
		input string
		head  bool
		want  outcome
	}{
		{name: "a body ends after its Content-Length", input: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", want: right(200, "hello")},
		{name: "header names may be in any case", input: "HTTP/1.1 200 OK\r\ncOnTeNt-LeNgTh: 5\r\n\r\nhello", want: right(200, "hello")},
		{name: "a reason may be missing", input: "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", want: right(200, "")},
		{name: "an empty reason may follow a space", input: "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n", want: right(200, "")},
		{name: "lines may end with a line feed alone", input: "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", want: right(200, "hi")},
		{name: "Content-Length may be said twice alike", input: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nhi", want: right(200, "hi")},
		{name: "what follows is left alone", input: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP", want: outcome{Status: 200, Body: "hi", Kept: true, Complete: true, Rest: "HTTP"}},
		{name: "chunks are put together", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n, world!!!\r\n0\r\n\r\n", want: right(200, "hello, world!!!")},
		{name: "trailers end a chunked body", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nDigest: y\r\n\r\n", want: right(200, "x")},
		{name: "chunked may follow another coding", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", want: right(200, "x")},
		{name: "another coding ends with the connection", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nxyz", want: last(200, "xyz")},
		{name: "a body without length ends with the connection", input: "HTTP/1.1 200 OK\r\n\r\nhello", want: last(200, "hello")},
		{name: "Connection: close is heeded", input: "HTTP/1.1 200 OK\r\nConnection: foo, Close\r\nContent-Length: 1\r\n\r\nx", want: last(200, "x")},
		{name: "HTTP/1.0 closes", input: "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx", want: last(200, "x")},
		{name: "HTTP/1.0 keeps the connection when it says so", input: "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\nx", want: right(200, "x")},
		{name: "204 has no body", input: "HTTP/1.1 204 No Content\r\n\r\n", want: right(204, "")},
		{name: "304 has no body whatever its length", input: "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", want: right(304, "")},
		{name: "an answer to HEAD has no body whatever its length", input: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", head: true, want: right(200, "")},
		{name: "an answer to HEAD has no chunks", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", head: true, want: right(200, "")},
		{name: "interim answers are passed over", input: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", want: right(200, "x")},
		{name: "an ordinary header may be folded", input: "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 1\r\n\r\nx", want: right(200, "x")},

		{name: "101 was not asked for", input: "HTTP/1.1 101 Switching Protocols\r\n\r\n", want: wrong(errUpgrade)},
		{name: "another protocol is no answer", input: "SSH-2.0-OpenSSH_9\r\n", want: wrong(errNotHTTP)},
		{name: "another protocol needs no line end", input: "\x16\x03\x01", want: wrong(errNotHTTP)},
		{name: "HTTP/2 is no answer", input: "HTTP/2 200\r\n\r\n", want: wrong(errNotHTTP)},
		{name: "an empty line is no answer", input: "\r\nHTTP/1.1 200 OK\r\n\r\n", want: wrong(errNotHTTP)},
		{name: "a status has three digits", input: "HTTP/1.1 2000 OK\r\n\r\n", want: wrong(errStatusLine)},
		{name: "a status is no less than 100", input: "HTTP/1.1 099 OK\r\n\r\n", want: wrong(errStatusLine)},
		{name: "a status is a number", input: "HTTP/1.1 2x0 OK\r\n\r\n", want: wrong(errStatusLine)},
		{name: "a status line may not be short", input: "HTTP/1.1\r\n\r\n", want: wrong(errStatusLine)},
		{name: "a header needs a colon", input: "HTTP/1.1 200 OK\r\nfoo\r\n\r\n", want: wrong(errHeader)},
		{name: "a header needs a name", input: "HTTP/1.1 200 OK\r\n: foo\r\n\r\n", want: wrong(errHeader)},
		{name: "no space stands before a colon", input: "HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\nhello", want: wrong(errHeader)},
		{name: "a bare carriage return ends no line", input: "HTTP/1.1 200 OK\r\nX: a\rb\r\n\r\n", want: wrong(errHeader)},
		{name: "a header value holds no NUL", input: "HTTP/1.1 200 OK\r\nX: \x00\r\n\r\n", want: wrong(errHeader)},
		{name: "a status line cannot be folded", input: "HTTP/1.1 200 OK\r\n X: a\r\n\r\n", want: wrong(errHeader)},
		{name: "Content-Length cannot be folded", input: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n 0\r\n\r\n", want: wrong(errHeader)},
		{name: "Content-Length has no sign", input: "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", want: wrong(errLength)},
		{name: "Content-Length is not empty", input: "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", want: wrong(errLength)},
		{name: "Content-Length overflows nothing", input: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", want: wrong(errLength)},
		{name: "two Content-Lengths may not differ", input: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", want: wrong(errLength)},
		{name: "a length and chunks contradict each other", input: "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", want: wrong(errFraming)},
		{name: "HTTP/1.0 knows no chunks", input: "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", want: wrong(errFraming)},
		{name: "chunked comes last", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", want: wrong(errCoding)},
		{name: "chunked comes once", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", want: wrong(errCoding)},
		{name: "a chunk's size is hexadecimal", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", want: wrong(errChunk)},
		{name: "a chunk has a size", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;\r\n", want: wrong(errChunk)},
		{name: "a chunk's size overflows nothing", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", want: wrong(errChunk)},
		{name: "a chunk is no longer than it says", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxyz\r\n", want: wrong(errChunk)},
		{name: "headers do not go on for ever", input: "HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", maxHead/6) + "\r\n", want: wrong(errHeadTooLong)},
		{name: "one header does not go on for ever", input: "HTTP/1.1 200 OK\r\nX: " + long, want: wrong(errHeadTooLong)},
		{name: "interim answers do not go on for ever", input: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxHead/25+1), want: wrong(errHeadTooLong)},
		{name: "a chunk's line does not go on for ever", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + long, want: wrong(errHeadTooLong)},
		{name: "nothing is no answer", input: "", want: wrong(errCutShort)},
		{name: "half a status line is cut short", input: "HTTP/1.1 20", want: wrong(errCutShort)},
		{name: "half a head is cut short", input: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", want: wrong(errCutShort)},
		{name: "half a body is cut short", input: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", want: wrong(errCutShort)},
		{name: "half a chunk is cut short", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", want: wrong(errCutShort)},
		{name: "chunks without an end are cut short", input: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", want: wrong(errCutShort)},
		{name: "an interim answer alone is cut short", input: "HTTP/1.1 100 Continue\r\n\r\n", want: wrong(errCutShort)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			compare := cmp.Comparer(func(a, b error) bool { return a == b })
			if diff := cmp.Diff(test.want, readWhole(test.input, test.head), compare); diff != "" {
				t.Errorf("all at once (-want +got):\n%s", diff)
			}
			single := readPieces(test.input, test.head, func(int) int { return 1 })
			if diff := cmp.Diff(test.want, single, compare); diff != "" {
				t.Errorf("byte by byte (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAManyChunkedBodyIsNoLongHead(t *testing.T) {
	t.Parallel()
	chunks := strings.Repeat("1\r\nx\r\n", maxHead)
	got := readWhole("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks+"0\r\n\r\n", false)
	if !got.Complete || len(got.Body) != maxHead {
		t.Errorf("got %d bytes of body, error %v; want all %d", len(got.Body), got.Err, maxHead)
	}
}

// FuzzAnswer checks that reading never panics, takes no more than it is given,
// comes to the same end in whatever pieces the input arrives, whether body
// bytes are seen or skipped and heads remembered, and agrees with net/http where both read an
// answer.
func FuzzAnswer(f *testing.F) {
	for _, input := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200\nX: a\n b\n\nhello",
		"HTTP/1.1 204 No Content\r\nConnection: a, keep-alive\r\n\r\nHTTP/1.1",
		"SSH-2.0",
	} {
		f.Add(input, uint64(0x9e3779b97f4a7c15), false)
		f.Add(input, uint64(1), true)
	}
	f.Fuzz(func(t *testing.T, input string, cuts uint64, head bool) {
		whole := readWhole(input, head)
		compare := cmp.Comparer(func(a, b error) bool { return a == b })
		if diff := cmp.Diff(whole, readPieces(input, head, cutter(cuts)), compare); diff != "" {
			t.Errorf("in pieces (-whole +pieces):\n%s", diff)
		}
		skipped := readSkipping(t, input, head, cutter(cuts))
		seen := whole
		seen.Body = strings.Repeat("?", len(whole.Body))
		if diff := cmp.Diff(seen, skipped, compare); diff != "" {
			t.Errorf("skipping bodies (-seen +skipped):\n%s", diff)
		}
		var m memory
		for _, which := range []string{"first", "second"} {
			if diff := cmp.Diff(seen, readRemembering(&m, input, head), compare); diff != "" {
				t.Errorf("the %s time with a memory (-without +with):\n%s", which, diff)
			}
		}
		agree(t, input, head, whole)
	})
}

// cutter makes pieces of 1 to 16 bytes, after the bits of a number.
func cutter(bits uint64) func(rest int) int {
	return func(rest int) int {
		bits = bits>>4 | bits<<60
		return min(int(bits&15)+1, rest)
	}
}

// readSkipping is readPieces the way a loop does it that discards bodies.
func readSkipping(t *testing.T, input string, head bool, size func(int) int) outcome {
	var a answer
	a.await(head)
	rest := input
	for rest != "" && !a.done() {
		n := size(len(rest))
		if skippable := a.skippable(); skippable > 0 {
			n = int(min(int64(n), skippable))
			a.skip(int64(n))
			rest = rest[n:]
			continue
		}
		used := a.feed([]byte(rest[:n]))
		if used > n || used < n && !a.done() {
			t.Fatalf("took %d of %d bytes", used, n)
		}
		rest = rest[used:]
	}
	if !a.done() {
		a.end()
	}
	return outcomeOf(&a, strings.Repeat("?", int(a.bodyBytes)), rest)
}

// readRemembering is readWhole with a memory.
func readRemembering(m *memory, input string, head bool) outcome {
	var a answer
	a.await(head)
	rest := input[m.feed(&a, []byte(input)):]
	if !a.done() {
		a.end()
	}
	return outcomeOf(&a, strings.Repeat("?", int(a.bodyBytes)), rest)
}

func TestAMemoryChangesNoAnswer(t *testing.T) {
	t.Parallel()
	var m memory
	for _, input := range []string{
		okAnswer,
		okAnswer, // remembered
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell",
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nhell, and more",
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", // not to be remembered
		"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
		okAnswer[:30], // cut short
		"HTTP/1.1 100 Continue\r\n\r\n" + okAnswer,
		"HTTP/1.1 100 Continue\r\n\r\n" + okAnswer,
	} {
		want := readWhole(input, false)
		want.Body = strings.Repeat("?", len(want.Body))
		compare := cmp.Comparer(func(a, b error) bool { return a == b })
		if diff := cmp.Diff(want, readRemembering(&m, input, false), compare); diff != "" {
			t.Errorf("%q (-without +with):\n%s", input, diff)
		}
	}
}

// agree compares with net/http, which knows no interim answers and is more
// lenient in places, but must not find another answer than we do.
func agree(t *testing.T, input string, head bool, ours outcome) {
	method := http.MethodGet
	if head {
		method = http.MethodHead
	}
	response, err := http.ReadResponse(bufio.NewReader(bytes.NewReader([]byte(input))), &http.Request{Method: method})
	if err != nil || !ours.Complete || response.StatusCode < 200 {
		return
	}
	defer response.Body.Close() // over memory
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return
	}
	if response.StatusCode != ours.Status || string(body) != ours.Body {
		t.Errorf("net/http finds status %d and body %q; ours %d and %q", response.StatusCode, body, ours.Status, ours.Body)
	}
}
