package meter

import (
	"slices"
	"sync"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// A Sampler reads every meter again and again, and keeps what it read. It is
// begun before the first edge of what is to be measured, by twice the time that
// the slowest meter takes to renew its value.
type Sampler struct {
	host    Host
	meters  []openMeter
	tracks  []*track // of each meter; nil where there is none to read
	stopped chan struct{}
	stop    sync.Once
	running sync.WaitGroup
	grew    chan struct{} // holds a value when a track has grown

	riding sync.Mutex // held while riders read
	riders []*rider
}

// A rider is something else that is read again and again, when the sampler is
// awake anyhow: to wake up costs more than to read.
type rider struct {
	period, due int64 // nanoseconds
	read        func()
}

// Sample begins to read the meters, each of them every so often, or as often as
// it renews its value if that is less often. Stop must be called in the end.
func (m *Meters) Sample(every time.Duration) *Sampler {
	s := &Sampler{host: m.host, meters: m.meters, stopped: make(chan struct{}), grew: make(chan struct{}, 1)}
	for _, meter := range m.meters {
		if meter.refused != nil {
			s.tracks = append(s.tracks, nil)
			continue
		}
		s.tracks = append(s.tracks, newTrack(meter.instrument, every, s.note))
	}
	for _, t := range s.present() {
		if t.listen != nil {
			t.listen(t.heard)
		}
	}
	s.running.Add(1)
	go s.run(every)
	return s
}

// present are the tracks of the meters that can be read.
func (s *Sampler) present() []*track {
	var present []*track
	for _, t := range s.tracks {
		if t != nil {
			present = append(present, t)
		}
	}
	return present
}

// Stop ends the sampling and waits until nothing is read any more. What was
// read stays. It may be called twice.
func (s *Sampler) Stop() {
	s.stop.Do(func() { close(s.stopped) })
	s.running.Wait()
	for _, t := range s.present() {
		if t.listen != nil {
			t.listen(nil)
		}
	}
}

// ride has something read every so often, in the sampler's own goroutine, until
// it leaves. Nothing of it is read any more when leave has returned.
func (s *Sampler) ride(every time.Duration, read func()) (leave func()) {
	r := &rider{period: int64(every), due: s.host.Monotonic() + int64(every), read: read}
	s.riding.Lock()
	defer s.riding.Unlock()
	s.riders = append(s.riders, r)
	return func() {
		s.riding.Lock()
		defer s.riding.Unlock()
		s.riders = slices.DeleteFunc(s.riders, func(other *rider) bool { return other == r })
	}
}

// note tells whoever waits that there is a new reading.
func (s *Sampler) note() {
	select {
	case s.grew <- struct{}{}:
	default:
	}
}

// run reads each meter when it is due.
func (s *Sampler) run(every time.Duration) {
	defer s.running.Done()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.stopped:
			return
		case <-timer.C:
			timer.Reset(s.round(every))
		}
	}
}

// round reads the meters and the riders that are due and says when the next one
// is. Of those whose time does not matter to the microsecond it reads the ones
// that are due soon as well, so that all of one period come to share a wake-up.
func (s *Sampler) round(every time.Duration) time.Duration {
	now := s.host.Monotonic()
	next := now + int64(every)
	for _, t := range s.tracks {
		if t == nil || t.read == nil {
			continue
		}
		if t.due.Load()-t.give() <= now {
			t.due.Store(now + int64(t.period)) // a late round is not made up for
			s.poll(t)
		}
		next = min(next, t.due.Load())
	}
	s.riding.Lock()
	defer s.riding.Unlock()
	for _, r := range s.riders {
		if r.due-r.period/2 <= now {
			r.due = now + r.period
			r.read()
		}
		next = min(next, r.due)
	}
	return time.Duration(next - s.host.Monotonic())
}

// poll reads one meter. One that is slow is read beside the others, and not
// while it is being read already.
func (s *Sampler) poll(t *track) {
	if !t.slow {
		t.reading.Lock()
		defer t.reading.Unlock()
		t.take(s.host)
		return
	}
	if !t.reading.TryLock() {
		return
	}
	s.running.Go(func() {
		defer t.reading.Unlock()
		t.take(s.host)
	})
}

// An Edge is a reading of every meter, asked for at one edge of a window.
type Edge struct {
	At    int64 // CLOCK_MONOTONIC when all had been read, nanoseconds
	slept int64 // how long the machine was suspended until then, since it was started
	marks []mark
}

// A mark says when a meter was read at an edge, or why it was not.
type mark struct {
	first, last int64 // of several readings; 0: none was asked for
	reason      string
}

// Edge reads every meter now. It takes microseconds for counters and sensors,
// and no more than a time limit for meters that must be asked. Those that are
// quick are read before these and after, so that one reading is near to what
// comes before the call, and one to what follows it.
func (s *Sampler) Edge() Edge {
	edge := Edge{marks: make([]mark, len(s.tracks))}
	s.markQuick(&edge)
	if s.markSlow(&edge) {
		s.markQuick(&edge)
	}
	edge.At, edge.slept = s.host.Monotonic(), suspended()
	return edge
}

// markQuick reads counters and sensors, one after the other.
func (s *Sampler) markQuick(edge *Edge) {
	for i, t := range s.tracks {
		if t != nil && t.read != nil && !t.slow {
			t.mark(s.host, &edge.marks[i])
		}
	}
}

// markSlow reads the meters that must be asked, all at the same time, and tells
// whether there are any.
func (s *Sampler) markSlow(edge *Edge) bool {
	var reading sync.WaitGroup
	there := false
	for i, t := range s.tracks {
		if t != nil && t.slow {
			there = true
			reading.Go(func() { t.mark(s.host, &edge.marks[i]) })
		}
	}
	reading.Wait()
	return there
}

// Samples are the readings from one edge to another, and those next to them.
func (s *Sampler) Samples(before, after Edge) []stopwatt.Samples {
	var all []stopwatt.Samples
	for i, t := range s.tracks {
		if t == nil {
			continue
		}
		t.mu.Lock()
		samples := t.samples(stopwatt.Window{Start: before.At, End: after.At})
		t.mu.Unlock()
		samples.Meter = s.meters[i].name
		all = append(all, samples)
	}
	return all
}

// Latest is the mean power of each meter over the last second or so, in watts,
// for people who watch. A meter that has not been read lately is not in it, and
// neither is one whose total stood still: nobody is shown 0 W.
func (s *Sampler) Latest() map[string]float64 {
	watts := map[string]float64{}
	now := s.host.Monotonic()
	for i, t := range s.tracks {
		if t == nil {
			continue
		}
		t.mu.Lock()
		if power, ok := t.recent(now); ok && power > 0 {
			watts[s.meters[i].name] = power
		}
		t.mu.Unlock()
	}
	return watts
}
