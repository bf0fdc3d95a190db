//go:build linux

package agent

import (
	"bytes"
	"errors"
	"math"
)

// What may be wrong with an answer's bytes. Each is an ErrorProtocol, except
// errCutShort, which is an ErrorClosed.
var (
	errNotHTTP     = errors.New("the answer is no HTTP/1.1")
	errStatusLine  = errors.New("the status line cannot be understood")
	errHeadTooLong = errors.New("the head of the answer is longer than 64 KiB")
	errHeader      = errors.New("a header line has no name, or a character that may not stand there")
	errLength      = errors.New("Content-Length is no number, or two that differ")
	errCoding      = errors.New("Transfer-Encoding cannot be understood")
	errFraming     = errors.New("the answer has both Content-Length and Transfer-Encoding, or HTTP/1.0 with the latter")
	errUpgrade     = errors.New("the answer is 101, a change of protocol that was not asked for")
	errChunk       = errors.New("a chunk of the body cannot be understood")
	errCutShort    = errors.New("the connection ended before the answer did")
	errTooMuch     = errors.New("more was sent than one answer")
	errEarly       = errors.New("an answer came before it was asked for")
)

// maxHead bounds the head of an answer, 1xx heads before it included, and each
// line of a chunked body. Servers and proxies commonly stop at 8 to 64 KiB.
const maxHead = 64 << 10

// stage is how far the reading of an answer has come.
type stage uint8

const (
	atStatus   stage = iota // a status line comes next
	atHeader                // a header line, or the empty line that ends the head
	atChunk                 // the line that tells a chunk's size
	afterChunk              // the line end that follows a chunk
	atTrailer               // a header line after the last chunk, or the empty line
	inBody                  // left bytes of the body
	inChunk                 // left bytes of the chunk
	untilClose              // the body ends with the connection
	complete                // nothing more belongs to the answer
	broken                  // err says why
)

// An answer reads one HTTP/1.1 response from pieces of any size. It keeps no
// more of it than the line it is in. The zero value is not usable: see await.
type answer struct {
	state
	head bool              // the request was a HEAD
	last string            // the Location that was read last, so that it is kept once
	line []byte            // beginning of a line whose end has not come yet
	body func(part []byte) // is given the body, when not nil
}

// state is what is known of an answer that is being read.
type state struct {
	stage      stage
	old        bool // HTTP/1.0
	closing    bool // the server will close the connection
	keeping    bool // the server said that it keeps the connection
	unfoldable bool // the next line may not continue this one
	chunked    bool
	coded      bool // Transfer-Encoding is present
	status     int
	headBytes  int
	length     int64 // Content-Length, or -1
	left       int64 // bytes until the body or chunk ends
	bodyBytes  int64 // read so far, decoded
	location   string
	err        error
}

// await prepares for the next answer. It keeps the memory of the last one.
func (a *answer) await(head bool) {
	a.state = state{length: -1}
	a.head = head
	a.line = a.line[:0]
}

// done tells whether nothing more is read for this answer.
func (a *answer) done() bool { return a.stage >= complete }

// kept tells whether a complete answer leaves its connection usable.
func (a *answer) kept() bool { return !a.closing && (!a.old || a.keeping) }

// feed reads the next bytes of the connection and returns how many of them
// belong to the answer: all, unless it is done.
func (a *answer) feed(p []byte) int {
	at := 0
	for at < len(p) && !a.done() {
		switch a.stage {
		case inBody, inChunk, untilClose:
			at += a.take(p[at:])
		default:
			at += a.feedLine(p[at:])
		}
	}
	return at
}

// feedLast is feed where nothing may follow the answer.
func (a *answer) feedLast(p []byte) {
	if n := a.feed(p); n < len(p) && a.err == nil {
		a.fail(errTooMuch)
	}
}

// end says that the connection has ended.
func (a *answer) end() {
	switch {
	case a.stage == untilClose:
		a.stage = complete
	case !a.done():
		a.fail(errCutShort)
	}
}

func (a *answer) fail(err error) {
	a.stage, a.err = broken, err
}

// take reads body bytes.
func (a *answer) take(p []byte) int {
	n := int(min(int64(len(p)), a.left))
	if a.body != nil {
		a.body(p[:n])
	}
	a.skip(int64(n))
	return n
}

// skippable is how many bytes of body may be discarded unseen, at most.
func (a *answer) skippable() int64 {
	if a.body != nil || a.stage < inBody || a.stage > untilClose {
		return 0
	}
	return a.left
}

// skip says that n body bytes, at most skippable, were read by somebody else.
func (a *answer) skip(n int64) {
	a.bodyBytes += n
	if a.stage == untilClose {
		return
	}
	a.left -= n
	if a.left > 0 {
		return
	}
	if a.stage == inBody {
		a.stage = complete
	} else {
		a.stage = afterChunk
	}
}

// feedLine reads up to the end of a line and, when it is there, understands it.
func (a *answer) feedLine(p []byte) int {
	end := bytes.IndexByte(p, '\n')
	size := end + 1
	if end < 0 {
		size = len(p)
	}
	a.headBytes += size
	if end >= 0 && len(a.line) == 0 && a.headBytes <= maxHead {
		a.understand(p[:end])
		return size
	}
	a.line = append(a.line, p[:size]...)
	switch {
	case a.stage == atStatus && !beginsHTTP(a.line):
		a.fail(errNotHTTP) // nobody should wait for the end of such a line
	case a.headBytes > maxHead:
		a.fail(errHeadTooLong)
	case end >= 0:
		a.understand(a.line[:len(a.line)-1])
		a.line = a.line[:0]
	}
	return size
}

// understand reads one line, without its line feed.
func (a *answer) understand(line []byte) {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	switch a.stage {
	case atStatus:
		a.statusLine(line)
	case atHeader:
		if len(line) == 0 {
			a.endHead()
			return
		}
		a.header(line)
	case atChunk:
		a.chunkLine(line)
	case afterChunk:
		a.endChunk(line)
	case atTrailer:
		a.trailer(line)
	}
}

const protocol = "HTTP/1."

// beginsHTTP tells whether a status line, or a part of one, begins as it must.
func beginsHTTP(line []byte) bool {
	n := min(len(line), len(protocol))
	return string(line[:n]) == protocol[:n]
}

// statusLine reads "HTTP/1.1 200 OK"; the reason may be missing.
func (a *answer) statusLine(line []byte) {
	const minimal = len("HTTP/1.1 200")
	if len(line) < len(protocol) || !beginsHTTP(line) {
		a.fail(errNotHTTP)
		return
	}
	if len(line) < minimal || line[8] != ' ' || len(line) > minimal && line[minimal] != ' ' || !isDigit(line[7]) {
		a.fail(errStatusLine)
		return
	}
	status, ok := decimal(line[9:minimal])
	if !ok || status < 100 {
		a.fail(errStatusLine)
		return
	}
	a.old = line[7] == '0'
	a.status = int(status)
	a.unfoldable = true
	a.stage = atHeader
}

// header reads one header line and heeds those that say where the answer ends.
func (a *answer) header(line []byte) {
	if line[0] == ' ' || line[0] == '\t' {
		a.fold()
		return
	}
	name, value, ok := splitHeader(line)
	if !ok {
		a.fail(errHeader)
		return
	}
	a.unfoldable = false
	switch {
	case len(name) == 14 && equalFold(name, "content-length"):
		a.unfoldable = true
		a.contentLength(value)
	case len(name) == 17 && equalFold(name, "transfer-encoding"):
		a.unfoldable = true
		a.transferEncoding(value)
	case len(name) == 10 && equalFold(name, "connection"):
		a.connection(value)
	case len(name) == 8 && equalFold(name, "location"):
		if string(value) != a.last {
			a.last = string(value)
		}
		a.location = a.last
	}
}

// fold reads a line that continues the header before it (obs-fold, RFC 9112,
// section 5.2). That is allowed, but not where it would change the framing.
func (a *answer) fold() {
	if a.unfoldable {
		a.fail(errHeader)
	}
}

// splitHeader splits a header line, without the spaces round its value.
func splitHeader(line []byte) (name, value []byte, ok bool) {
	colon := bytes.IndexByte(line, ':')
	if colon <= 0 {
		return nil, nil, false
	}
	name, value = line[:colon], trimSpace(line[colon+1:])
	for _, c := range name {
		if !tokenBytes[c] {
			return nil, nil, false
		}
	}
	if bytes.IndexByte(value, '\r') >= 0 || bytes.IndexByte(value, 0) >= 0 {
		return nil, nil, false
	}
	return name, value, true
}

func (a *answer) contentLength(value []byte) {
	length, ok := decimal(value)
	if !ok || a.length >= 0 && a.length != length {
		a.fail(errLength)
		return
	}
	a.length = length
}

// transferEncoding reads a list of codings. Only chunked, which must be the
// last and alone of its kind, tells where the body ends.
func (a *answer) transferEncoding(value []byte) {
	a.coded = true
	for more := true; more; {
		var coding []byte
		coding, value, more = cutList(value)
		if len(coding) == 0 {
			continue
		}
		if a.chunked {
			a.fail(errCoding)
			return
		}
		a.chunked = equalFold(coding, "chunked")
	}
}

func (a *answer) connection(value []byte) {
	for more := true; more; {
		var option []byte
		option, value, more = cutList(value)
		a.closing = a.closing || equalFold(option, "close")
		a.keeping = a.keeping || equalFold(option, "keep-alive")
	}
}

// endHead decides, at the empty line, how the body ends (RFC 9112, section 6.3).
func (a *answer) endHead() {
	switch {
	case a.status == 101:
		a.fail(errUpgrade)
	case a.coded && (a.length >= 0 || a.old):
		a.fail(errFraming)
	case a.status < 200:
		a.continued()
	case a.head || a.status == 204 || a.status == 304:
		a.stage = complete
	case a.chunked:
		a.startChunk()
	case a.coded || a.length < 0:
		a.stage, a.left, a.closing = untilClose, math.MaxInt64, true
	case a.length == 0:
		a.stage = complete
	default:
		a.stage, a.left = inBody, a.length
	}
}

// continued awaits the head that follows an interim (1xx) one. Their sizes
// add up, so that they cannot go on for ever.
func (a *answer) continued() {
	a.state = state{length: -1, headBytes: a.headBytes}
}

func (a *answer) startChunk() {
	a.stage, a.headBytes = atChunk, 0
}

// chunkLine reads a chunk's size in hex; extensions after it mean nothing.
func (a *answer) chunkLine(line []byte) {
	if semicolon := bytes.IndexByte(line, ';'); semicolon >= 0 {
		line = line[:semicolon]
	}
	size, ok := hexNumber(trimSpace(line))
	switch {
	case !ok:
		a.fail(errChunk)
	case size == 0:
		a.stage = atTrailer
	default:
		a.stage, a.left = inChunk, size
	}
}

func (a *answer) endChunk(line []byte) {
	if len(line) != 0 {
		a.fail(errChunk)
		return
	}
	a.startChunk()
}

func (a *answer) trailer(line []byte) {
	if len(line) == 0 {
		a.stage = complete
		return
	}
	if _, _, ok := splitHeader(line); !ok {
		a.fail(errHeader)
	}
}
