package report

import (
	"bytes"
	"encoding"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// widestCell bounds a cell of a table of rows; what is longer is cut.
const widestCell = 48

// smallestTable is the least width that rows are drawn for: a name of 24 columns
// and as much of its value as says something.
const smallestTable = 40

// Table writes rows of a query for people: numbers aligned to the right, nulls
// as "–", cells wider than 48 columns cut. When the rows do not fit in the
// terminal, so many columns wide (0: 80; less than 40 is taken as 40), every row
// is written as a block of lines, one for each column. Foreign text can carry no
// control sequence. Each row has a value per column.
func Table(w io.Writer, columns []string, rows [][]any, terminal int) error {
	if terminal == 0 {
		terminal = defaultWidth
	}
	terminal = max(terminal, smallestTable)
	lines := tabular(columns, rows)
	if longest(lines) > terminal {
		lines = blockwise(columns, rows, terminal)
	}
	lines = append(lines, "("+plural(len(rows), "row")+")")
	if slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "…") }) {
		lines = append(lines, wrap("… : cut; the CSV and JSON forms have it whole", terminal, 2)...)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// tabular lays rows out below each other, under the names of their columns.
func tabular(columns []string, rows [][]any) []string {
	parts := make([][]string, len(rows)+1)
	for c, name := range columns {
		cells := []string{cut(Clean(name), widestCell)}
		numeric := true
		for _, row := range rows {
			cells = append(cells, cut(Clean(written(row[c], absent)), widestCell))
			numeric = numeric && (row[c] == nil || isNumber(row[c]))
		}
		widest := longest(cells)
		for i, cell := range cells {
			if numeric {
				cell = right(cell, widest)
			} else {
				cell = left(cell, widest)
			}
			parts[i] = append(parts[i], cell)
		}
	}
	lines := make([]string, len(parts))
	for i, cells := range parts {
		lines[i] = strings.TrimRight(strings.Join(cells, blanks(gap)), " ")
	}
	return lines
}

// blockwise writes every row as a block of "name  value" lines.
func blockwise(columns []string, rows [][]any, terminal int) []string {
	names := shorten(columns, widestCell/2)
	widest := longest(names)
	var lines []string
	for _, row := range rows {
		for c, name := range names {
			value := cut(Clean(written(row[c], absent)), terminal-widest-gap)
			lines = append(lines, strings.TrimRight(left(name, widest)+blanks(gap)+value, " "))
		}
		lines = append(lines, "")
	}
	return lines
}

// TableCSV writes rows of a query as CSV with a header line: full precision,
// nulls empty.
func TableCSV(w io.Writer, columns []string, rows [][]any) error {
	out := csv.NewWriter(w)
	records := [][]string{columns}
	for _, row := range rows {
		fields := make([]string, len(row))
		for c, value := range row {
			fields[c] = written(value, "")
		}
		records = append(records, fields)
	}
	return out.WriteAll(records)
}

// TableJSON writes rows of a query as an array of objects, their keys in the
// order of the columns; a name that comes twice is numbered. Numbers that JSON
// does not have (NaN, infinities) are null.
func TableJSON(w io.Writer, columns []string, rows [][]any) error {
	keys, err := keysOf(columns)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	out.WriteString("[")
	for r, row := range rows {
		out.WriteString(map[bool]string{true: "\n  {", false: ",\n  {"}[r == 0])
		for c, value := range row {
			if c > 0 {
				out.WriteString(", ")
			}
			encoded, err := json.Marshal(encodable(value))
			if err != nil {
				return fmt.Errorf("write column %s of row %d as JSON: %w", columns[c], r+1, err)
			}
			out.Write(keys[c])
			out.WriteString(": ")
			out.Write(encoded)
		}
		out.WriteString("}")
	}
	out.WriteString("\n]\n")
	_, err = w.Write(out.Bytes())
	return err
}

// keysOf makes the columns' names keys of one JSON object.
func keysOf(columns []string) ([][]byte, error) {
	var keys [][]byte
	used := map[string]bool{}
	for _, name := range columns {
		key := name
		for n := 2; used[key]; n++ {
			key = name + "_" + strconv.Itoa(n)
		}
		used[key] = true
		encoded, err := json.Marshal(key)
		if err != nil {
			return nil, fmt.Errorf("write column name %q as JSON: %w", name, err)
		}
		keys = append(keys, encoded)
	}
	return keys, nil
}

// encodable is a value as JSON can hold it.
func encodable(value any) any {
	switch v := value.(type) {
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
	case float32:
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil
		}
	case []byte, [16]byte:
		return written(v, "")
	}
	return value
}

// written is a value as text; null is what a nil is.
func written(value any, null string) string {
	switch v := value.(type) {
	case nil:
		return null
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'f', -1, 32)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	case []byte:
		return `\x` + hex.EncodeToString(v)
	case [16]byte: // how pgx returns a uuid
		return fmt.Sprintf("%x-%x-%x-%x-%x", v[:4], v[4:6], v[6:8], v[8:10], v[10:])
	case encoding.TextMarshaler:
		if text, err := v.MarshalText(); err == nil {
			return string(text)
		}
	case json.Marshaler, map[string]any, []any:
		if text, err := json.Marshal(v); err == nil {
			return strings.Trim(string(text), `"`)
		}
	}
	return fmt.Sprint(value)
}

// isNumber tells whether a value is aligned like a number.
func isNumber(value any) bool {
	switch value.(type) {
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64, float32, float64, json.Number:
		return true
	}
	return false
}
