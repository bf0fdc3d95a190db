package storage

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzDocumentHoldsNoNUL checks that foreign text survives as JSON that jsonb
// takes, with nothing but U+0000 replaced.
func FuzzDocumentHoldsNoNUL(f *testing.F) {
	for _, text := range []string{"", "\x00", `\u0000`, `\\u0000`, "a\x00\\\x00", "\xff\x00", "\\", "\u2028\x00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoded, err := document(map[string]string{"text": text})
		if err != nil {
			t.Fatal(err)
		}
		var decoded map[string]string
		if err := json.Unmarshal(encoded, &decoded); err != nil {
			t.Fatalf("%s: %v", encoded, err)
		}
		want := strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
		if strings.ToValidUTF8(text, "") != text {
			want = decoded["text"] // JSON replaces each broken byte, ToValidUTF8 each run of them
		}
		if decoded["text"] != want || strings.Contains(decoded["text"], "\x00") {
			t.Errorf("%q became %q", text, decoded["text"])
		}
	})
}
