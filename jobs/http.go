package jobs

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

const (
	mostAsks = 1000
	// mostComposed bounds the requests that the driver composes beforehand, one
	// for each request and row of data.
	mostComposed = stopwatt.MostComposed
)

var askRows = append(rowsOver(requestRows, func(a *stopwatt.Ask) *stopwatt.Request { return &a.Request }),
	row[stopwatt.Ask]{word{key: "weight", kind: "number", fallback: "1", doc: "Its share among all requests that are drawn, 1 to 1000000."},
		func(r *reader, at node, to *stopwatt.Ask) { r.count(at, "weight", &to.Request.Weight, 1, 1_000_000) }},
	row[stopwatt.Ask]{word{key: "expect", kind: "[expect]", fallback: "{}", doc: "What a right answer to it looks like."},
		func(r *reader, at node, to *stopwatt.Ask) { whole(r, at, "expect", expectRows, &to.Expect) }},
)

// rowsOver are the rows of a part, for the whole that it is a part of.
func rowsOver[T, Part any](rows []row[Part], part func(*T) *Part) []row[T] {
	over := make([]row[T], len(rows))
	for i, each := range rows {
		over[i] = row[T]{each.word, func(r *reader, at node, to *T) { each.set(r, at, part(to)) }}
	}
	return over
}

// dataFile is the mapping of the key data.
type dataFile struct {
	name    string
	inOrder bool
}

var dataRows = []row[dataFile]{
	{word{key: "file", kind: "text", example: "file: and the name of a CSV file", doc: "A CSV file, relative to the suite file, of 16 MiB, 100 columns and a million rows at most. Its first line names the columns; a name is letters, digits, `_` and `-`."},
		func(r *reader, at node, to *dataFile) { r.path(at, "file", &to.name) }},
	{word{key: "rows", kind: "text", fallback: "in-order", doc: "`in-order`: each request takes the next row, from the first again behind the last; `random`: it draws one from the run's seed."},
		func(r *reader, at node, to *dataFile) { r.inOrder(at, "rows", "random", &to.inOrder) }},
}

var tlsRows = []row[stopwatt.TLS]{
	{word{key: "name", kind: "text", absent: "the server's address", doc: "The name of the server that is asked for (SNI), and that its certificate must bear if it is verified."},
		func(r *reader, at node, to *stopwatt.TLS) { r.text(at, "name", &to.Name) }},
	{word{key: "verify", kind: "yes or no", fallback: "false", doc: "Whether the certificate must be one that the driver's system trusts. A server that is measured mostly signs its own."},
		func(r *reader, at node, to *stopwatt.TLS) { r.yes(at, "verify", &to.Verify) }},
}

// http reads how a server is asked, and checks what one key alone cannot tell.
func (r *reader) http(at node, to *stopwatt.HTTP) {
	whole(r, at, "http", httpRows, to)
	known := keysOf(httpRows)
	switch {
	case at.kind != mapping:
		return
	case at.has("port") && at.has("socket"):
		r.fault(at.owner, "http has both port and socket; remove one")
	case none(at, known, "port", "socket"):
		r.fault(at.owner, "http has no port; write port: and the port that the server listens on")
	}
	switch {
	case at.has("request") && at.has("requests"):
		r.fault(at.owner, "http has both request and requests; remove one")
	case at.has("requests") && at.has("expect"):
		r.fault(at.owner, "http has both requests and expect; write expect in each of requests")
	case to.Connects && (at.has("request") || at.has("requests") || at.has("data") || at.has("tls")):
		r.fault(at.owner, "http has both ready: connect and something to ask; remove one")
	case !to.Connects && none(at, known, "request", "requests"):
		r.fault(at.owner, "http has no request; write request: {method: GET, path: /}")
	}
	r.composed(at, *to)
}

// isSocket checks the path of a Unix socket, which the kernel bounds (unix(7)).
func isSocket(text string) string {
	const longest = 107
	switch {
	case isInContainer(text) != "":
		return isInContainer(text)
	case len(text) > longest:
		return fmt.Sprintf("it has %d characters, and may have %d; write a shorter one", len(text), longest)
	case path.Clean(text) != text || path.Dir(text) == "/":
		return "write the path of a socket in a folder of its own, like /run/server/socket"
	}
	return ""
}

// asks reads several requests.
func (r *reader) asks(at node, to *stopwatt.HTTP) {
	if !r.is(at, list, "requests") {
		return
	}
	if len(at.items) == 0 || len(at.items) > mostAsks {
		r.fault(at.owner, "there are %d requests; write 1 to %d, as [{path: /}]", len(at.items), mostAsks)
		return
	}
	asks := make([]stopwatt.Ask, len(at.items))
	for i, item := range at.items {
		whole(r, item, "request", askRows, &asks[i])
	}
	to.Request, to.Expect, to.Others = asks[0].Request, asks[0].Expect, asks[1:]
}

// data reads the CSV file that a mapping names.
func (r *reader) data(at node, to *stopwatt.HTTP) {
	var file dataFile
	whole(r, at, "data", dataRows, &file)
	if file.name == "" {
		return
	}
	text := r.content(at, "data", file.name)
	if text == nil {
		return
	}
	data, complaint := readData(string(text))
	if complaint != "" {
		r.fault(at.at, "data: %s: %s", brief(file.name), complaint)
		return
	}
	data.Random = !file.inOrder
	to.Data = &data
}

// Bounds of a file of data, beside that of its bytes: a row takes some fifty bytes of
// memory beside its text, and each column is looked for in each request.
const (
	mostColumns = 100
	mostRows    = 1_000_000
)

// readData understands a CSV file of at most mostColumns columns and mostRows rows, or
// says what is wrong and what to do.
func readData(text string) (data stopwatt.Data, complaint string) {
	lines := csv.NewReader(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	for {
		row, err := lines.Read()
		switch {
		case errors.Is(err, io.EOF) && len(data.Rows) == 0:
			return stopwatt.Data{}, "it has no rows; write a line of column names and one row at least"
		case errors.Is(err, io.EOF):
			return data, ""
		case err != nil:
			return stopwatt.Data{}, fmt.Sprintf("it is no CSV file (%v); mend it", err)
		case data.Columns == nil:
			if complaint := columnsFault(row); complaint != "" {
				return stopwatt.Data{}, complaint
			}
			data.Columns = row
		case len(data.Rows) == mostRows:
			return stopwatt.Data{}, fmt.Sprintf("it has more than %d rows; give fewer", mostRows)
		default:
			data.Rows = append(data.Rows, row)
		}
	}
}

// columnsFault says what is wrong with the names of columns.
func columnsFault(names []string) string {
	if len(names) > mostColumns {
		return fmt.Sprintf("it has %d columns, and may have %d; give fewer", len(names), mostColumns)
	}
	for i, name := range names {
		switch {
		case !isColumn(name):
			return fmt.Sprintf("%s is no name for a column; use letters, digits, _ and -", brief(name))
		case slices.Contains(names[:i], name):
			return fmt.Sprintf("the column %s is there twice; rename one", brief(name))
		}
	}
	return ""
}

// isColumn tells whether {name} can stand for a column.
func isColumn(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}

// composed checks what becomes of the requests when data are put into them.
func (r *reader) composed(at node, http stopwatt.HTTP) {
	if http.Data == nil {
		return
	}
	used, bytes := false, 0
	for _, ask := range http.Asks() {
		text := templated(ask.Request)
		used = used || slices.ContainsFunc(http.Data.Columns, func(name string) bool { return strings.Contains(text, "{"+name+"}") })
		bytes += len(text) * len(http.Data.Rows)
		r.headerValues(at, ask.Request, *http.Data)
	}
	switch {
	case !used:
		r.fault(at.owner, "no request holds a column of data; write {%s} in a path, header or body, or remove data", http.Data.Columns[0])
	case bytes > mostComposed:
		r.fault(at.owner, "requests and rows of data make %d bytes together, and may make %d; give fewer rows", bytes, mostComposed)
	}
}

// templated is all of a request that values are put into.
func templated(request stopwatt.Request) string {
	var b strings.Builder
	b.WriteString(request.Path)
	for _, name := range slices.Sorted(maps.Keys(request.Headers)) {
		b.WriteString(request.Headers[name])
	}
	b.Write(request.Body)
	return b.String()
}

// headerValues checks that no value breaks the header that it is put into.
func (r *reader) headerValues(at node, request stopwatt.Request, data stopwatt.Data) {
	for _, name := range slices.Sorted(maps.Keys(request.Headers)) {
		for i, column := range data.Columns {
			if !strings.Contains(request.Headers[name], "{"+column+"}") {
				continue
			}
			if row := slices.IndexFunc(data.Rows, func(row []string) bool { return isHeaderValue(row[i]) != "" }); row >= 0 {
				r.fault(at.owner, "header %s: column %s of row %d holds %s, which no header can; mend the file", brief(name), column, row+1, brief(data.Rows[row][i]))
				return
			}
		}
	}
}
