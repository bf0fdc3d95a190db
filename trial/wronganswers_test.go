package trial

import (
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestAReasonAccountsForEveryRequestThatCameDue(t *testing.T) {
	t.Parallel()
	failures := func(requests, unsent int64) *stopwatt.DriveResult {
		return &stopwatt.DriveResult{Requests: requests, Due: requests + 128 + unsent, Unsent: unsent,
			Errors: map[string]int64{stopwatt.ErrorTimeout: 128}, FirstErrors: map[string]string{stopwatt.ErrorTimeout: "no answer"}}
	}
	for _, row := range []struct {
		name   string
		result *stopwatt.DriveResult
		want   string
	}{
		{"where all were sent", failures(72, 0), "128 of 200 requests failed: 128 timeout (first: no answer)"},
		{"where a mute server held every connection", failures(0, 72), "128 of 128 requests failed: 128 timeout (first: no answer); 72 more came due and were never sent, for no connection was free"},
		{"where nothing came of anything", &stopwatt.DriveResult{}, "no request was answered"},
	} {
		if err := wrongAnswers(row.result); err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, want %s", row.name, err, row.want)
		}
	}
	if err := wrongAnswers(&stopwatt.DriveResult{Requests: 1}); err != nil {
		t.Errorf("one right answer and no error: %v", err)
	}
}
