package meter

import (
	"errors"
	"fmt"
	"io/fs"

	"gitlab.com/stopwatt/stopwatt"
)

// A powerSensor tells how much power flows through one channel of a chip.
type powerSensor struct {
	power   *numberFile // µW; nil: voltage times current
	voltage *numberFile // of the supply line, mV; nil where there is none
	current *numberFile // mA, negative when it flows the other way; nil where there is none
}

// read reads the power in µW. A value that no machine that runs can have is an
// error.
func (s *powerSensor) read(into []int64) (err error) {
	if s.power != nil {
		into[0], err = s.power.read()
	} else {
		into[0], err = s.product()
	}
	if err == nil {
		err = s.plausible(into[0])
	}
	return err
}

// product is voltage times current: mV times mA are µW.
func (s *powerSensor) product() (int64, error) {
	millivolts, err := s.voltage.read()
	if err != nil {
		return 0, err
	}
	milliamperes, err := s.current.read()
	if err != nil {
		return 0, err
	}
	const most = 1 << 30 // a megavolt, a megaampere: their product has 60 bits
	if millivolts < 0 || millivolts > most || milliamperes > most {
		return 0, fmt.Errorf("%d mV and %d mA are no line of a machine", millivolts, milliamperes)
	}
	return millivolts * milliamperes, nil
}

// plausible says what is wrong with a power.
func (s *powerSensor) plausible(microwatts int64) error {
	switch {
	case microwatts < 0:
		return fmt.Errorf("it says %.3f W: the current flows backwards", float64(microwatts)/1e6)
	case microwatts == 0 && s.voltage != nil:
		return s.zero()
	}
	return believable(microwatts)
}

// zero says why 0 W is not believed, by the voltage. An INA226 that was reset has
// lost its calibration, and says 0 W and 0 A until the driver notices.
func (s *powerSensor) zero() error {
	millivolts, err := s.voltage.read()
	if err != nil {
		return fmt.Errorf("it says 0 W; %w", err)
	}
	if millivolts == 0 {
		return errors.New("it says 0 W and 0 V: nothing is connected")
	}
	return fmt.Errorf("it says 0 W, with %.3f V on the line: it has lost its calibration", float64(millivolts)/1000)
}

// forwards checks which way the current flows. The power register of an INA226
// has no sign: with a shunt the wrong way round it shows something else.
func (s *powerSensor) forwards() error {
	if s.current == nil {
		return nil
	}
	if milliamperes, err := s.current.read(); err == nil && milliamperes < 0 {
		return refusal{says: fmt.Sprintf("its current is negative (%d mA): the shunt is connected the wrong way round, or the line feeds the meter's other side", milliamperes)}
	}
	return nil
}

// close closes its files.
func (s *powerSensor) close() error {
	var files []numberFile
	for _, file := range []*numberFile{s.power, s.voltage, s.current} {
		if file != nil {
			files = append(files, *file)
		}
	}
	return closeAll(files)
}

// unreadable says why a channel gives no power.
func (c chip) unreadable(channel int, errs ...error) error {
	for _, err := range errs {
		if errors.Is(err, fs.ErrPermission) {
			return refusal{denied: true, says: fmt.Sprintf("%s is here, but this user may not read it", c), remedies: []stopwatt.Remedy{
				{When: "until the next boot", Line: "sudo chmod a+r " + c.dir + "/*_input"},
			}}
		}
	}
	return refusal{says: fmt.Sprintf("%s has no energy, power, or voltage and current of channel %d", c, channel)}
}
