package harness

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
)

// A table is a CSV text, read by the names of its columns.
type table struct {
	*source
	reader *csv.Reader
	header []string
	row    []string
	line   int
}

// maxColumns bounds the columns of a table: one with more of them is no table of
// results, and would take long to look through.
const maxColumns = 200

// table begins to read the text as CSV. A table without columns has no rows.
func (s *source) table() *table {
	t := &table{source: s, reader: csv.NewReader(strings.NewReader(s.text))}
	t.reader.TrimLeadingSpace = true
	t.next()
	if len(t.row) > maxColumns {
		s.faultInLine(1, "has %d columns; %d is the most", len(t.row), maxColumns)
		return t
	}
	t.header, t.row = t.row, nil
	for i, name := range t.header {
		if len(name) > maxName {
			s.faultInLine(1, "the column's name %s is longer than %d bytes", quote(name), maxName)
			return t
		}
		t.header[i] = strings.ToLower(strings.TrimSpace(name))
		if slices.Contains(t.header[:i], t.header[i]) {
			s.faultInLine(1, "the column %s is there twice", quote(name))
		}
	}
	return t
}

// next goes to the next row. Behind the first row that is none it says no.
func (t *table) next() bool {
	row, err := t.reader.Read()
	var wrong *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return false
	case errors.As(err, &wrong) && errors.Is(err, csv.ErrFieldCount):
		t.faultInLine(wrong.Line, "has %d columns; the first line has %d", len(row), len(t.header))
		return false
	case errors.As(err, &wrong):
		t.faultInLine(wrong.Line, "%s", wrong.Err)
		return false
	case err != nil:
		t.faultAt(-1, "%s", err)
		return false
	}
	t.row = row
	t.line, _ = t.reader.FieldPos(0)
	return !t.broken()
}

// has says whether the table has a column.
func (t *table) has(column string) bool { return slices.Contains(t.header, column) }

// cell is the text in a column, empty where there is no such column.
func (t *table) cell(column string) string {
	if i := slices.Index(t.header, column); i >= 0 {
		return strings.TrimSpace(t.row[i])
	}
	return ""
}

// number is the number in a column.
func (t *table) number(column string) reading {
	written := t.cell(column)
	r, ok := parseNumber(written)
	switch {
	case !t.has(column):
		t.faultInLine(t.line, "there is no column %q", column)
	case !ok:
		t.faultInLine(t.line, "%s in the column %s is no number", quote(written), column)
	default:
		return r
	}
	return reading{absent: "is no number"}
}
