package report

import (
	"testing"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	good, goodTrials := servers(2)
	bad, badTrials := hostile()
	for name, run := range map[string]func() (map[string][]byte, error){
		"servers": func() (map[string][]byte, error) {
			return Folder(good, contrastOf(good, DefaultMetrics(good)), goodTrials)
		},
		"hostile": func() (map[string][]byte, error) {
			return Folder(bad, contrastOf(bad, DefaultMetrics(bad)), badTrials)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := run()
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != 5 {
				t.Errorf("%d files, want 5", len(files))
			}
			for file, content := range files {
				if name == "servers" || file == Page || file == "results.md" {
					golden(t, name+"-"+file, content)
				}
			}
		})
	}
}
