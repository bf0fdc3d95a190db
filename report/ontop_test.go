package report

import (
	"strings"
	"testing"
)

func TestWhatIsToldAfterAMergeStandsOnceOnTopOfTheNote(t *testing.T) {
	const note = "### stopwatt `web`: nothing worse\n\n6 cases unchanged.\n"
	once := OnTop("### first\n- a\n", note)
	again := OnTop("### second\n- b\n", once)
	for text, want := range map[string]int{"### first": 0, "### second": 1, "### stopwatt `web`: nothing worse": 1, "6 cases unchanged.": 1, "\n---\n": 1} {
		if got := strings.Count(again, text); got != want {
			t.Errorf("%q stands %d times, want %d:\n%s", text, got, want, again)
		}
	}
	if third := OnTop("### second\n- b\n", again); third != again {
		t.Errorf("the same again is not the same:\n%s\n%s", again, third)
	}
	if strings.Index(again, "### second") > strings.Index(again, "nothing worse") {
		t.Errorf("it does not stand on top:\n%s", again)
	}
}

func TestWhatIsToldAfterAMergeNeedsNoNote(t *testing.T) {
	alone := OnTop("### first\n", "")
	if strings.Contains(alone, "---\n") || !strings.Contains(alone, "### first\n") {
		t.Errorf("got %q", alone)
	}
	if OnTop("### first\n", alone) != alone {
		t.Errorf("the same again is not the same:\n%s", OnTop("### first\n", alone))
	}
}
