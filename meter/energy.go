package meter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// An instrument is an energy meter that was opened.
type instrument struct {
	source  string        // where its numbers come from, for people
	renewal time.Duration // from one value to the next; 0: not known
	// counters are those of a cumulative meter, whose joules are their sum, as
	// they are before the first value. None: a power sensor, in µW.
	counters []counter
	// read reads every counter, or the power, once. It is nil where listen is set.
	read func(into []int64) error
	slow bool // a reading takes milliseconds, or until its time limit
	// listen has an instrument that speaks by itself tell every value when it
	// comes, until it is listened to by nil.
	listen func(hear func(at, value int64, err error))
	close  func() error
}

// A refusal is an error that says why a meter cannot be read, and how to mend it.
type refusal struct {
	says     string
	remedies []stopwatt.Remedy
	nothing  bool // there is no such meter at all, and nobody need wait for it
	denied   bool // it is there, and this user may not read it
}

func (r refusal) Error() string { return r.says }

// Meters are the energy meters of this machine, opened. They may be sampled by
// one Sampler at a time.
type Meters struct {
	host   Host
	meters []openMeter
}

// An openMeter is one that was opened, or the reason why it was not.
type openMeter struct {
	name string
	instrument
	refused error
}

// OpenMeters opens the meters that a machine file names; when it names none,
// those that are found: RAPL's packages as cpu, its platform as psys, a sensor
// of the INA226's kind as board. It never fails: a meter that cannot be read
// stays in the list, absent, and the findings say why and how to mend it. What
// was looked for without being named, and is not there at all, is a finding only.
func OpenMeters(host Host, file stopwatt.MachineFile) (*Meters, []stopwatt.Finding) {
	return openMeters(host, file, Host.openMeter)
}

// openMeters opens each meter by a function that knows its kind.
func openMeters(host Host, file stopwatt.MachineFile, open func(Host, stopwatt.MeterSetting, string) (instrument, error)) (*Meters, []stopwatt.Finding) {
	m := &Meters{host: host}
	settings := file.Meters
	if settings == nil {
		settings = host.discover(file.Powercap)
	}
	var findings []stopwatt.Finding
	for _, setting := range settings {
		opened, err := open(host, setting, file.Powercap)
		if err != nil {
			findings = append(findings, finding(setting.Name, err))
		}
		var refused refusal
		if errors.As(err, &refused) && refused.nothing && file.Meters == nil {
			continue
		}
		m.meters = append(m.meters, openMeter{setting.Name, opened, err})
	}
	return m, findings
}

// finding says that a meter is not there.
func finding(name string, err error) stopwatt.Finding {
	f := stopwatt.Finding{Subject: "energy_" + name, Verdict: stopwatt.Unfit, Says: err.Error()}
	for _, metric := range stopwatt.EnergyMetrics(name) {
		f.Metrics = append(f.Metrics, metric.Name)
	}
	var refused refusal
	if errors.As(err, &refused) {
		f.Remedies = refused.remedies
	}
	return f
}

// openMeter opens one meter.
func (h Host) openMeter(setting stopwatt.MeterSetting, powercapDir string) (instrument, error) {
	switch {
	case setting.HTTP != nil:
		return h.openHTTP(*setting.HTTP)
	case setting.Command != nil:
		return openCommand(h, *setting.Command)
	}
	return h.openFiles(setting, powercapDir)
}

// openFiles opens a meter that is read from files of the machine. Apart from
// openMeter, so that a program that has only these is half as large: without
// net/http.
func (h Host) openFiles(setting stopwatt.MeterSetting, powercapDir string) (instrument, error) {
	switch {
	case setting.RAPL != "":
		return h.openRAPL(powercapDir, setting.RAPL)
	case setting.HWMon != nil:
		return h.openHWMon(*setting.HWMon)
	}
	return instrument{}, refusal{says: "it is asked over the network or by a program, which is done where stopwatt itself runs, and that is not this machine"}
}

// denied names the meters that this user may not read.
func (m *Meters) denied() []string {
	var names []string
	for _, meter := range m.meters {
		var refused refusal
		if errors.As(meter.refused, &refused) && refused.denied {
			names = append(names, meter.name)
		}
	}
	return names
}

// discover says what to look for where no file names the meters.
func (h Host) discover(powercapDir string) []stopwatt.MeterSetting {
	found := []stopwatt.MeterSetting{
		{Name: "cpu", RAPL: stopwatt.RAPLPackage},
		{Name: "board", HWMon: &stopwatt.HWMonMeter{}},
	}
	zones := powercap(h.powercapDir(powercapDir)).zones
	if slices.ContainsFunc(zones, func(z raplZone) bool { return z.kind() == stopwatt.RAPLPlatform }) {
		found = append(found, stopwatt.MeterSetting{Name: "psys", RAPL: stopwatt.RAPLPlatform})
	}
	return found
}

// powercapDir is where the zones of RAPL are.
func (h Host) powercapDir(named string) string {
	return cmp.Or(named, h.path("sys/class/powercap"))
}

// Foresee says which meters a run would have, as far as their files say it: it
// starts no program and asks nothing over the network. The Renewal of a power
// sensor is no shorter than the time from one reading to the next. Meters that
// cannot be read by this user are left out, for a run reads them through a
// helper.
func Foresee(host Host, file stopwatt.MachineFile, every time.Duration) []stopwatt.Meter {
	meters, _ := openMeters(host, file, Host.openQuietly)
	defer meters.Close() // which was only read from
	denied := meters.denied()
	var list []stopwatt.Meter
	for i, meter := range meters.List() {
		if slices.Contains(denied, meter.Name) {
			continue
		}
		if opened := meters.meters[i]; len(opened.counters) == 0 && meter.Renewal > 0 {
			meter.Renewal = max(meter.Renewal, every)
		}
		list = append(list, meter)
	}
	return list
}

// openQuietly opens a meter, and of a command meter only what is known without
// its program. What is asked over HTTP is not asked here, and needs nobody who does.
func (h Host) openQuietly(setting stopwatt.MeterSetting, powercapDir string) (instrument, error) {
	h.Fetch = func(context.Context, string) (Answer, error) { return Answer{}, errors.New("it is not asked yet") }
	if setting.Command != nil {
		return instrument{source: "command", counters: countersOf(setting.Command.Unit), close: func() error { return nil }}, nil
	}
	return h.openMeter(setting, powercapDir)
}

// List says which meters there are, those that cannot be read among them.
func (m *Meters) List() []stopwatt.Meter {
	var list []stopwatt.Meter
	for _, meter := range m.meters {
		as := stopwatt.Meter{Name: meter.name, Source: meter.source, Renewal: meter.renewal}
		if meter.refused != nil {
			as.Absent = meter.refused.Error()
		}
		list = append(list, as)
	}
	return list
}

// Look samples the meters for a while, a second or more, and says what each of
// them reads now. Those that OpenMeters has refused are left out: their findings
// were told already. The error is that of ctx.
func (m *Meters) Look(ctx context.Context, lasting time.Duration) ([]stopwatt.Finding, error) {
	s := m.Sample(100 * time.Millisecond)
	defer s.Stop()
	if err := pause(ctx, lasting); err != nil {
		return nil, err
	}
	watts := s.Latest()
	var findings []stopwatt.Finding
	for i, meter := range m.meters {
		if meter.refused != nil {
			continue
		}
		now, ok := watts[meter.name]
		if !ok {
			findings = append(findings, meter.mute(s.tracks[i], lasting))
			continue
		}
		says := fmt.Sprintf("%s: %.2f W now", meter.source, now)
		if meter.renewal > 0 {
			says += fmt.Sprintf(", renewed every %s", meter.renewal)
		}
		findings = append(findings, stopwatt.Finding{Subject: "energy_" + meter.name, Verdict: stopwatt.Fit, Says: says})
	}
	return findings, nil
}

// mute says why a meter has told no power in the time that it was looked at. A
// total that stood still is no 0 W: of one whose renewals are not known, it may
// only not have been renewed yet.
func (m openMeter) mute(t *track, lasting time.Duration) stopwatt.Finding {
	_, reason := t.trouble()
	t.mu.Lock()
	readings := len(t.times)
	t.mu.Unlock()
	if reason != "" || readings < 2 || !t.cumulative() {
		return finding(m.name, fmt.Errorf("%s is here, but gave no reading: %s", m.source, cmp.Or(reason, "not yet")))
	}
	f := finding(m.name, fmt.Errorf("%s is here, but its counter stood still for %s", m.source, lasting))
	if m.renewal == 0 || m.renewal > lasting {
		f.Verdict = stopwatt.Doubtful
	}
	return f
}

// Close closes the meters. A program that a command meter runs is ended.
func (m *Meters) Close() error {
	var errs []error
	for _, meter := range m.meters {
		if meter.refused == nil {
			errs = append(errs, meter.close())
		}
	}
	return errors.Join(errs...)
}
