package report

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestFolder(t *testing.T) {
	t.Parallel()
	good, goodTrials := servers(2)
	bad, badTrials := hostile()
	hungry, hungryTrials := metered(1)
	hungryTrials = []stopwatt.Trial{hungryTrials[3], hungryTrials[4]}
	for name, run := range map[string]func() (map[string][]byte, error){
		"servers": func() (map[string][]byte, error) {
			return Folder(good, contrastOf(good, DefaultMetrics(good)), goodTrials)
		},
		"hostile": func() (map[string][]byte, error) {
			return Folder(bad, contrastOf(bad, DefaultMetrics(bad)), badTrials)
		},
		"metered": func() (map[string][]byte, error) {
			return Folder(hungry, contrastOf(hungry, DefaultMetrics(hungry)), hungryTrials)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := run()
			if err != nil {
				t.Fatal(err)
			}
			want := 6
			if name == "servers" {
				want = 5 // no samples
			}
			if len(files) != want {
				t.Errorf("%d files, want %d", len(files), want)
			}
			for file, content := range files {
				if name == "servers" || file == Page || file == "results.md" || name == "metered" && file == "results.json" {
					golden(t, name+"-"+file, content)
				}
			}
		})
	}
}
