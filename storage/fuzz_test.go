package storage

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzNameOfADatabase looks for a name whose fault tells the password.
func FuzzNameOfADatabase(f *testing.F) {
	f.Add("postgres://me:", "@host/db")
	f.Add("host=a password=", " port=x")
	f.Add("mysql://me:", "@host")
	f.Fuzz(func(t *testing.T, before, after string) {
		if strings.Contains(before+after, "hunter2") || strings.Contains(before+after, "file") || strings.Contains(before+after, "ssl") || strings.Contains(before+after, "service") {
			return // which name files of this machine
		}
		if _, err := parse(before + "hunter2" + after); err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	})
}

// FuzzReadValue reads what Postgres answers to a statement of its user's, which then
// goes out as JSON.
func FuzzReadValue(f *testing.F) {
	for _, oid := range []uint32{16, 20, 701, 1700, 114, 3802, 1184, 25} {
		for _, text := range []string{"t", "-1", "1e400", "NaN", "-Infinity", `{"a":1}`, "2026-11-30 12:00:00+00", "é\x00", "infinity"} {
			f.Add(oid, []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, oid uint32, text []byte) {
		value, err := readValue(oid, text)
		if err != nil {
			return
		}
		if _, isJSON := value.(json.RawMessage); isJSON && !json.Valid(text) {
			return // which Postgres never says
		}
		if _, isNumber := value.(json.Number); isNumber {
			return // the same
		}
		if _, err := json.Marshal(value); err != nil {
			t.Errorf("%d %q cannot be said: %v", oid, text, err)
		}
	})
}
