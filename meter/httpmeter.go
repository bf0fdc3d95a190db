package meter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Bounds of what a meter is given over HTTP.
const (
	httpLimit  = time.Second // for one answer; a meter that is slower cannot tell the edges of a window
	mostAnswer = 64 << 10    // bytes
)

// An Answer is what a meter said over HTTP: at most 64 KiB and a byte more, which
// tells that there was more.
type Answer struct {
	Status int
	Header func(name string) string
	Body   []byte
}

// MostAnswer is how many bytes of a meter's answer are needed to tell that it is too
// long.
const MostAnswer = mostAnswer + 1

// openHTTP opens a meter that is asked over HTTP. Nothing is asked yet: whether
// it answers is for the first reading to tell.
func (h Host) openHTTP(setting stopwatt.HTTPMeter) (instrument, error) {
	at, err := url.Parse(setting.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return instrument{}, refusal{says: fmt.Sprintf("%q is no address of a meter; write http://host/path", setting.URL)}
	}
	micro := setting.Unit.Micro()
	switch {
	case micro == 0:
		return instrument{}, refusal{says: fmt.Sprintf("%q is no unit of a meter", setting.Unit)}
	case h.Fetch == nil:
		return instrument{}, refusal{says: "nobody asks over HTTP here"}
	}
	meter := &httpMeter{setting: setting, fetch: h.Fetch}
	return instrument{
		source:   "http " + at.Host,
		renewal:  setting.Renewal,
		counters: countersOf(setting.Unit),
		read:     meter.read,
		slow:     true,
		close:    func() error { return nil },
	}, nil
}

// countersOf is the counter of a meter of this unit, none when that is one of
// power. How far it counts is not known. It may be renewed in steps as coarse
// as plugs show them: a hundredth of a kilowatt-hour.
func countersOf(unit stopwatt.MeterUnit) []counter {
	if !unit.Energy() {
		return nil
	}
	return []counter{{most: mostPower, lump: stopwatt.KilowattHours.Micro() / 100}}
}

// An httpMeter asks one address for one number.
type httpMeter struct {
	setting stopwatt.HTTPMeter
	fetch   func(ctx context.Context, address string) (Answer, error)
}

// read asks once.
func (m *httpMeter) read(into []int64) error {
	ctx, cancel := context.WithTimeout(context.Background(), httpLimit)
	defer cancel()
	answer, err := m.fetch(ctx, m.setting.URL)
	switch {
	case err != nil:
		return cause(err)
	case len(answer.Body) > mostAnswer:
		return fmt.Errorf("its answer has more than %d bytes", mostAnswer)
	case answer.Status != statusOK:
		return fmt.Errorf("it answered %d", answer.Status)
	}
	into[0], err = m.understand(answer)
	return err
}

// statusOK is HTTP's. Its package is not imported: an agent that links this room
// would start with all of it in memory, and its memory is the least that a command
// which it starts can be told to use.
const statusOK = 200

// cause leaves the address out of an error: it may hold a password.
func cause(err error) error {
	var told *url.Error
	if errors.As(err, &told) {
		if told.Timeout() {
			return fmt.Errorf("it did not answer within %s", httpLimit)
		}
		return told.Err
	}
	return err
}

// understand finds the number in an answer.
func (m *httpMeter) understand(answer Answer) (int64, error) {
	text := answer.Header(m.setting.Header)
	if m.setting.Header == "" {
		var err error
		if text, err = jsonNumber(answer.Body, m.setting.Field); err != nil {
			return 0, err
		}
	} else if text == "" {
		return 0, fmt.Errorf("its answer has no header %s", m.setting.Header)
	}
	return parseMicro([]byte(strings.TrimSpace(text)), m.setting.Unit.Micro())
}

// jsonNumber finds a number in JSON, by the names of fields and the places of
// elements on the way to it, with dots between: "emeters.0.total". It keeps the
// digits as they were written; a text of digits is as good.
func jsonNumber(body []byte, field string) (string, error) {
	at := json.RawMessage(body)
	for step := range strings.SplitSeq(field, ".") {
		next, err := into(at, step)
		if err != nil {
			return "", fmt.Errorf("field %s of its answer: %w", field, err)
		}
		at = next
	}
	var text string
	if json.Unmarshal(at, &text) == nil {
		return text, nil
	}
	var number json.Number
	if err := json.Unmarshal(at, &number); err != nil {
		return "", fmt.Errorf("field %s of its answer is no number", field)
	}
	return number.String(), nil
}

// into takes one step into a JSON value.
func into(at json.RawMessage, step string) (json.RawMessage, error) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(at, &fields) == nil {
		if value, has := fields[step]; has {
			return value, nil
		}
		return nil, fmt.Errorf("there is no %s", step)
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(at, &elements); err != nil {
		return nil, errors.New("it is no JSON with fields")
	}
	if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(elements) {
		return elements[i], nil
	}
	return nil, fmt.Errorf("there is no element %s", step)
}
