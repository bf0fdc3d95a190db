package stopwatt_test

import (
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt"
)

func TestEveryFieldOfAUsageHasAPlaceOfItsOwn(t *testing.T) {
	var usage stopwatt.Usage
	for i, name := range stopwatt.UsageFields {
		place := usage.Place(name)
		if place == nil || *place != 0 {
			t.Fatalf("%s has no place of its own", name)
		}
		*place = int64(i + 1)
	}
	for i, name := range stopwatt.UsageFields {
		if value, reason := usage.Field(name); value != int64(i+1) || reason != "" {
			t.Errorf("%s is %d, %q; want %d", name, value, reason, i+1)
		}
	}
	if _, reason := usage.Field("Joules"); reason == "" || usage.Place("Joules") != nil {
		t.Error("there is a field that is none")
	}
}

func TestWhatAContainerUsedBetweenTwoReadings(t *testing.T) {
	const ms = 1_000_000
	absent := func(name string) map[string]string { return map[string]string{name: "why"} }
	tests := []struct {
		name, field   string
		before, after stopwatt.Usage
		rise          int64
		says          string
	}{
		{"a counter rose", "CPU", stopwatt.Usage{CPU: 5}, stopwatt.Usage{CPU: 12}, 7, ""},
		{"a counter stood still", "CPU", stopwatt.Usage{CPU: 5}, stopwatt.Usage{CPU: 5}, 0, ""},
		{"a counter fell", "CPU", stopwatt.Usage{CPU: 5}, stopwatt.Usage{CPU: 4}, 0, "went backwards"},
		{"the first reading lacks it", "CPU", stopwatt.Usage{Absent: absent("CPU")}, stopwatt.Usage{CPU: 4}, 0, "why"},
		{"the second reading lacks it", "CPU", stopwatt.Usage{CPU: 5}, stopwatt.Usage{Absent: absent("CPU")}, 0, "why"},
		{"all threads live", "SwitchesVoluntary",
			stopwatt.Usage{SwitchesVoluntary: 3, CPU: 100 * ms, ThreadCPU: 90 * ms, ThreadsEnded: 2},
			stopwatt.Usage{SwitchesVoluntary: 9, CPU: 1100 * ms, ThreadCPU: 1081 * ms, ThreadsEnded: 2}, 6, ""},
		{"a thread ended, so that their sum fell", "SwitchesInvoluntary",
			stopwatt.Usage{SwitchesInvoluntary: 9},
			stopwatt.Usage{SwitchesInvoluntary: 3, ThreadsEnded: 1}, 0, "threads ended meanwhile (1)"},
		{"threads came and went unseen", "SwitchesVoluntary",
			stopwatt.Usage{},
			stopwatt.Usage{SwitchesVoluntary: 9, CPU: 1000 * ms, ThreadCPU: 980 * ms}, 0, "used 20 ms of CPU time"},
		{"a short window whose readings lie 4 ms apart", "SwitchesVoluntary",
			stopwatt.Usage{},
			stopwatt.Usage{SwitchesVoluntary: 9, CPU: 14 * ms, ThreadCPU: 10 * ms}, 9, ""},
		{"threads that cannot be checked", "SwitchesVoluntary",
			stopwatt.Usage{}, stopwatt.Usage{SwitchesVoluntary: 9, Absent: absent("ThreadCPU")}, 0, "not known without theirs: why"},
		{"a container whose CPU time is not known", "SwitchesVoluntary",
			stopwatt.Usage{}, stopwatt.Usage{SwitchesVoluntary: 9, Absent: absent("CPU")}, 0, "not known without the CPU time: why"},
	}
	for _, test := range tests {
		rise, reason := test.after.Since(test.before, test.field)
		if rise != test.rise || (reason == "") != (test.says == "") || !strings.Contains(reason, test.says) {
			t.Errorf("%s: %d, %q; want %d, %q", test.name, rise, reason, test.rise, test.says)
		}
	}
}
