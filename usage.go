package stopwatt

import (
	"cmp"
	"fmt"
	"time"
)

// Usage is what a container has used, read from its cgroup. What is counted
// from its start until now may be subtracted: see Since. A field that could not
// be read is named in Absent with the reason, and is no number then.
type Usage struct {
	CPU       int64 // nanoseconds
	CPUUser   int64 // nanoseconds
	CPUSystem int64 // nanoseconds
	Throttled int64 // periods in which its CPU quota ran out

	MemoryCurrent int64 // bytes
	MemoryPeak    int64 // bytes
	PidsCurrent   int64 // processes and threads
	PidsPeak      int64 // processes and threads

	IORead    int64 // bytes read from block devices
	IOWritten int64 // bytes written to block devices

	// For how long some of its threads waited for a resource, in nanoseconds:
	// "some" of pressure stall information.
	PressureCPU    int64
	PressureMemory int64
	PressureIO     int64

	// Counted by perf events since they were opened, not since the start.
	ContextSwitches int64
	Instructions    int64
	Cycles          int64
	CacheMisses     int64

	// Of the threads that live now: what a thread has counted goes with it.
	SwitchesVoluntary   int64
	SwitchesInvoluntary int64
	ThreadCPU           int64 // nanoseconds that the living threads ran
	ThreadsEnded        int64 // threads of an earlier reading that live no more

	Absent map[string]string // a name of UsageFields to the reason
}

// usageFields are the numbers of a Usage and their places.
var usageFields = []struct {
	name string
	of   func(*Usage) *int64
}{
	{"CPU", func(u *Usage) *int64 { return &u.CPU }},
	{"CPUUser", func(u *Usage) *int64 { return &u.CPUUser }},
	{"CPUSystem", func(u *Usage) *int64 { return &u.CPUSystem }},
	{"Throttled", func(u *Usage) *int64 { return &u.Throttled }},
	{"MemoryCurrent", func(u *Usage) *int64 { return &u.MemoryCurrent }},
	{"MemoryPeak", func(u *Usage) *int64 { return &u.MemoryPeak }},
	{"PidsCurrent", func(u *Usage) *int64 { return &u.PidsCurrent }},
	{"PidsPeak", func(u *Usage) *int64 { return &u.PidsPeak }},
	{"IORead", func(u *Usage) *int64 { return &u.IORead }},
	{"IOWritten", func(u *Usage) *int64 { return &u.IOWritten }},
	{"PressureCPU", func(u *Usage) *int64 { return &u.PressureCPU }},
	{"PressureMemory", func(u *Usage) *int64 { return &u.PressureMemory }},
	{"PressureIO", func(u *Usage) *int64 { return &u.PressureIO }},
	{"ContextSwitches", func(u *Usage) *int64 { return &u.ContextSwitches }},
	{"Instructions", func(u *Usage) *int64 { return &u.Instructions }},
	{"Cycles", func(u *Usage) *int64 { return &u.Cycles }},
	{"CacheMisses", func(u *Usage) *int64 { return &u.CacheMisses }},
	{"SwitchesVoluntary", func(u *Usage) *int64 { return &u.SwitchesVoluntary }},
	{"SwitchesInvoluntary", func(u *Usage) *int64 { return &u.SwitchesInvoluntary }},
	{"ThreadCPU", func(u *Usage) *int64 { return &u.ThreadCPU }},
	{"ThreadsEnded", func(u *Usage) *int64 { return &u.ThreadsEnded }},
}

// UsageFields names the numbers of a Usage.
var UsageFields = usageFieldNames()

func usageFieldNames() []string {
	names := make([]string, len(usageFields))
	for i, field := range usageFields {
		names[i] = field.name
	}
	return names
}

// Place is where the number of this name is kept, nil when there is no such
// field.
func (u *Usage) Place(name string) *int64 {
	for _, field := range usageFields {
		if field.name == name {
			return field.of(u)
		}
	}
	return nil
}

// Field returns the number of this name, or the reason why there is none.
func (u Usage) Field(name string) (value int64, reason string) {
	if reason := u.Absent[name]; reason != "" {
		return 0, reason
	}
	place := u.Place(name)
	if place == nil {
		return 0, "there is no such field: " + name
	}
	return *place, ""
}

// Plus is what two containers have used together. What is absent of one is absent
// of both.
func (u Usage) Plus(other Usage) Usage {
	sum := Usage{Absent: map[string]string{}}
	for _, field := range usageFields {
		*field.of(&sum) = *field.of(&u) + *field.of(&other)
		if reason := cmp.Or(u.Absent[field.name], other.Absent[field.name]); reason != "" {
			*field.of(&sum), sum.Absent[field.name] = 0, reason
		}
	}
	return sum
}

// Since returns by how much the number of this name has risen since an earlier
// reading of the same container, or the reason why that is not known.
func (u Usage) Since(before Usage, name string) (rise int64, reason string) {
	start, reason := before.Field(name)
	if reason != "" {
		return 0, reason
	}
	end, reason := u.Field(name)
	if reason != "" {
		return 0, reason
	}
	if name == "SwitchesVoluntary" || name == "SwitchesInvoluntary" {
		if reason := u.lostThreads(before); reason != "" {
			return 0, reason
		}
	}
	if end < start {
		return 0, "the counter went backwards"
	}
	return end - start, ""
}

// lostThreads says why the threads that live now cannot speak for the
// container since an earlier reading; empty when they can. Those that both
// started and ended in between were never seen, but the container's CPU time
// tells of them. A hundredth of it, or 5 ms, is what the readings of the two
// may lie apart.
func (u Usage) lostThreads(before Usage) string {
	ended, reason := u.Since(before, "ThreadsEnded")
	if reason != "" {
		return reason
	}
	if ended > 0 {
		return fmt.Sprintf("threads ended meanwhile (%d), and their counts with them", ended)
	}
	all, reason := u.Since(before, "CPU")
	if reason != "" {
		return "whether threads ended is not known without the CPU time: " + reason
	}
	living, reason := u.Since(before, "ThreadCPU")
	if reason != "" {
		return "whether threads ended is not known without theirs: " + reason
	}
	if unseen := all - living; unseen > max(all/100, int64(5*time.Millisecond)) {
		return fmt.Sprintf("threads that came and went meanwhile used %d ms of CPU time, and their counts are gone with them", unseen/1e6)
	}
	return ""
}
