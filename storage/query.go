package storage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"gitlab.com/stopwatt/stopwatt"
)

// An Answer is what a query found.
type Answer struct {
	Columns []string
	// Rows hold, of each column, nil, bool, int64, float64, time.Time (UTC),
	// json.Number for numeric, json.RawMessage for json, or else the text that
	// Postgres shows. NaN and infinities are text, which JSON can hold.
	Rows [][]any
	Cut  bool // there were more rows than asked for, or more than can be held
}

const (
	// queryBound is how long a query of somebody's own may take.
	queryBound = time.Minute
	// mostBytes bounds what the values of an answer take, in the text form of
	// Postgres and with valueBytes for each.
	mostBytes  = 64 << 20
	valueBytes = 32 // of an any and the string that it holds, on 64 bits
)

// Query answers one statement of somebody's own, which may read what its role
// may read and change nothing; see asking for the role that a superuser gives
// way to. The views in schema stopwatt need no prefix. It returns at most limit
// rows, 0 is no limit, and at most 64 MiB. A fault in the statement is a
// stopwatt.Faults with its place.
func (s *Store) Query(ctx context.Context, sql string, limit int) (Answer, error) {
	conn, err := s.asking(ctx)
	if err != nil {
		return Answer{}, fmt.Errorf("query: %w", s.name(err))
	}
	defer letGo(ctx, conn)
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return Answer{}, fmt.Errorf("query: %w", s.name(err))
	}
	answer, err := ask(ctx, tx, sql, limit) // there is nothing to commit
	if err != nil {
		return Answer{}, s.name(placed(err, sql))
	}
	return answer, nil
}

func ask(ctx context.Context, tx pgx.Tx, sql string, limit int) (Answer, error) {
	_, err := tx.Exec(ctx, "SELECT set_config('search_path', 'stopwatt', true), set_config('statement_timeout', $1, true)",
		strconv.FormatInt(queryBound.Milliseconds(), 10))
	if err != nil {
		return Answer{}, err
	}
	// The extended protocol takes one statement only. What has no columns is no
	// question: COPY, which can write files in a read-only transaction, SET, DO.
	statement, err := tx.Prepare(ctx, "", sql)
	if err != nil {
		return Answer{}, err
	}
	if len(statement.Fields) == 0 {
		return Answer{}, errors.New("the statement returns no rows; only those that read are answered, such as SELECT")
	}
	rows, err := tx.Query(ctx, sql, pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return Answer{}, err
	}
	defer rows.Close()
	answer, err := readAnswer(rows, limit)
	if answer.Cut {
		// Close would read the rest, however much it is.
		err = tx.Conn().PgConn().CancelRequest(ctx)
	}
	return answer, err
}

// readAnswer reads rows until they end or become too many.
func readAnswer(rows pgx.Rows, limit int) (Answer, error) {
	var answer Answer
	fields := rows.FieldDescriptions()
	for _, field := range fields {
		answer.Columns = append(answer.Columns, field.Name)
	}
	bytes := 0
	for rows.Next() {
		texts := rows.RawValues()
		bytes += size(texts)
		if limit > 0 && len(answer.Rows) == limit || bytes > mostBytes {
			answer.Cut = true
			return answer, nil
		}
		row := make([]any, len(fields))
		for i, text := range texts {
			value, err := readValue(fields[i].DataTypeOID, text)
			if err != nil {
				return Answer{}, fmt.Errorf("column %s: %w", fields[i].Name, err)
			}
			row[i] = value
		}
		answer.Rows = append(answer.Rows, row)
	}
	return answer, rows.Err()
}

// size is what the values of a row take.
func size(texts [][]byte) int {
	bytes := valueBytes * len(texts)
	for _, text := range texts {
		bytes += len(text)
	}
	return bytes
}

// readValue reads a value in Postgres's text form. text lasts no longer than
// the row.
func readValue(oid uint32, text []byte) (any, error) {
	if text == nil {
		return nil, nil
	}
	shown := string(text)
	switch oid {
	case pgtype.BoolOID:
		return shown == "t", nil
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		return strconv.ParseInt(shown, 10, 64)
	case pgtype.Float4OID, pgtype.Float8OID:
		number, err := strconv.ParseFloat(shown, 64)
		if err == nil && (math.IsNaN(number) || math.IsInf(number, 0)) { // which JSON has no word for
			return shown, nil
		}
		return number, err
	case pgtype.NumericOID:
		if !finite(shown) {
			return shown, nil
		}
		return json.Number(shown), nil
	case pgtype.JSONOID, pgtype.JSONBOID:
		return json.RawMessage(shown), nil
	case pgtype.TimestamptzOID:
		if when, err := time.Parse("2006-01-02 15:04:05.999999Z07", shown); err == nil {
			return when.UTC(), nil
		}
	}
	return shown, nil
}

func finite(shown string) bool { return shown != "NaN" && !strings.HasSuffix(shown, "Infinity") }

// placed makes a fault with its place of an error about a statement.
func placed(err error, sql string) error {
	var refused *pgconn.PgError
	if !errors.As(err, &refused) {
		return err
	}
	fault := stopwatt.Fault{File: "sql", Message: refused.Message}
	switch refused.Code {
	case "25006":
		fault.Message += "; stopwatt sql reads only"
	case "57014":
		fault.Message = fmt.Sprintf("the statement was ended after %v; ask for less", queryBound)
	}
	if refused.Hint != "" {
		fault.Message += "; " + strings.TrimSuffix(refused.Hint, ".")
	}
	if refused.Position > 0 {
		fault.Line, fault.Column, fault.Source = lineOf(sql, int(refused.Position))
		fault.Width = 1
	}
	return stopwatt.Faults{fault}
}

// lineOf is the line, the column in it and its text, of the character at a
// position, from 1, that Postgres names.
func lineOf(sql string, position int) (line, column int, source string) {
	runes := []rune(sql)
	before := string(runes[:min(position-1, len(runes))])
	line = 1 + strings.Count(before, "\n")
	column = 1 + utf8.RuneCountInString(before[strings.LastIndex(before, "\n")+1:])
	return line, column, strings.Split(sql, "\n")[line-1]
}
