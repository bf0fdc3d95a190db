package containers

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gitlab.com/stopwatt/stopwatt"
)

func TestPackagesAreReadAsTheirManagersWriteThem(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		ledger
		text string
		want map[string]string
	}{
		{"Debian's, one of them for two architectures, a description that looks like a field", ledgers[0],
			"Package: libc6\nStatus: install ok installed\nArchitecture: amd64\nVersion: 2.36-9\nDescription: C library\n Package: is\n\nPackage: libc6\nArchitecture: i386\nVersion: 2.36-9\n",
			map[string]string{"libc6:amd64": "2.36-9", "libc6:i386": "2.36-9"}},
		{"Alpine's", ledgers[1], "C:Q1abc\nP:musl\nV:1.2.5-r0\nA:x86_64\nF:lib\n\nP:busybox\nV:1.36\nA:x86_64\n\n",
			map[string]string{"musl:x86_64": "1.2.5-r0", "busybox:x86_64": "1.36"}},
		{"one without a version is not installed", ledgers[0], "Package: ghost\n\n", map[string]string{}},
		{"nothing at all", ledgers[0], "", map[string]string{}},
	} {
		got := map[string]string{}
		if err := row.read(strings.NewReader(row.text), got); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", row.name, diff)
		}
	}
}

func TestPackagesOfAnImageAreFoundAndNothingIsLeft(t *testing.T) {
	t.Parallel()
	d := docker(t)
	image := built(t, d, order(t, map[string]string{
		"Dockerfile": fromProgram + "COPY status /var/lib/dpkg/status\n",
		"status":     "Package: tool\nArchitecture: all\nVersion: 7\n",
	}))
	labels := map[string]string{stopwatt.LabelRun: thisTest + "-packages", stopwatt.LabelRole: "server"}
	got, err := d.Packages(t.Context(), image.ID, labels)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"tool:all": "7"}, got); diff != "" {
		t.Error(diff)
	}
	none, err := d.Packages(t.Context(), theProgram(t), labels)
	if err != nil || len(none) != 0 {
		t.Errorf("an image without a package manager: %v, %v", none, err)
	}
}
