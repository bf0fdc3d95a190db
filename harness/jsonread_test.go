package harness

import "testing"

func TestValuesOfAJSONTextAreCounted(t *testing.T) {
	for text, ok := range map[string]bool{`[1, 2, {"a": 3}]`: true, `[1, 2, {"a": 3}, 4]`: false} {
		p := parser{text: text, most: 5}
		if _, err := p.value(0); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestTextsOfJSONAreDecodedAsTheToolsWriteThem(t *testing.T) {
	for written, want := range map[string]string{
		`"plain"`:         "plain",
		`"a\tb\"c\\d\/e"`: "a\tb\"c\\d/e",
		`"\u00b5s"`:       "µs",
		`"\ud83d\ude00"`:  "😀",
		`"\ud83d!"`:       "\uFFFD!",
		`"C:\Windows"`:    `C:\Windows`, // a path that nobody escaped
		"\"1,\n    2\"":   "1,\n    2",  // a line break within
		`"\u12"`:          `\u12`,
	} {
		p := parser{text: written, most: 1}
		v, err := p.value(0)
		if err != nil || v.text != want || p.at != len(written) {
			t.Errorf("%s is read as %q, %v", written, v.text, err)
		}
	}
}
