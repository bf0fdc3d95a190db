package meter

import (
	"context"
	"time"

	"gitlab.com/stopwatt/stopwatt"
)

// Where a machine cannot be read from the process that needs it, a Station on
// that machine is asked over two streams: a question in one line of JSON, and
// its answer in one line. The first question opens the station. The end of the
// questions ends it.

// What is asked.
const (
	askOpen     = "open"     // Order; answers Greeting
	askReading  = "reading"  // answers Reading
	askAccount  = "account"  // PID; answers Handle
	askUsage    = "usage"    // Handle; answers Usage
	askNumber   = "number"   // Handle, Field; answers Number
	askClose    = "close"    // Handle
	askWatch    = "watch"    // Roles; answers Handle
	askEdge     = "edge"     // Handle; answers Reading
	askTell     = "tell"     // Handle, Window, Before, After; answers Testimony
	askIdle     = "idle"     // Place, Lasting; answers Idle
	askSettle   = "settle"   // Before.Machine, Lasting; answers Reading and Waited
	askFindings = "findings" // Lasting; answers Findings
)

// A question is what the station is asked.
type question struct {
	Ask     string
	Order   *StationOrder      `json:",omitempty"`
	PID     int                `json:",omitempty"`
	Handle  int                `json:",omitempty"` // of an account or a watch
	Field   string             `json:",omitempty"` // of a Usage
	Roles   map[string]int     `json:",omitempty"` // role to the handle of its account
	Window  stopwatt.Window    `json:",omitzero"`
	Before  stopwatt.Reading   `json:",omitzero"`
	After   stopwatt.Reading   `json:",omitzero"`
	Place   stopwatt.IdlePlace `json:",omitempty"`
	Lasting time.Duration      `json:",omitempty"`
}

// An answer is what the station says.
type answer struct {
	Failure   string                   `json:",omitempty"` // why the question has no answer
	Greeting  *greeting                `json:",omitempty"`
	Handle    int                      `json:",omitempty"`
	Number    int64                    `json:",omitempty"`
	Usage     *stopwatt.Usage          `json:",omitempty"`
	Reading   *stopwatt.MachineReading `json:",omitempty"`
	Testimony *stopwatt.Testimony      `json:",omitempty"`
	Idle      *stopwatt.IdleWindow     `json:",omitempty"`
	Waited    time.Duration            `json:",omitempty"`
	Findings  []stopwatt.Finding       `json:",omitempty"`
}

// A greeting is what a station says of its machine when it is opened.
type greeting struct {
	Boot    string // of its kernel, as in Host.boot
	Machine stopwatt.Machine
	Meters  []stopwatt.Meter
}

// A session is a station that answers, with what was opened for the asker.
type session struct {
	station  *Station
	accounts map[int]Accounting
	watches  map[int]Watching
	given    int // handles, so far
}

// handle gives a new handle.
func (s *session) handle() int {
	s.given++
	return s.given
}

// answer answers one question.
func (s *session) answer(ctx context.Context, q question) (answer, error) {
	if q.Ask == askOpen {
		return s.open(q)
	}
	if s.station == nil {
		return answer{}, errNotOpen
	}
	switch q.Ask {
	case askReading:
		reading := s.station.Reading()
		return answer{Reading: &reading}, nil
	case askAccount, askUsage, askNumber, askClose:
		return s.account(q)
	case askWatch, askEdge, askTell:
		return s.watch(q)
	case askIdle:
		window, err := s.station.Idle(ctx, q.Place, q.Lasting)
		return answer{Idle: &window}, err
	case askSettle:
		waited, reading, err := s.station.Settle(ctx, q.Before.Machine, q.Lasting)
		return answer{Waited: waited, Reading: &reading}, err
	case askFindings:
		findings, err := s.station.Findings(ctx, q.Lasting)
		return answer{Findings: findings}, err
	}
	return answer{}, errUnknown
}

// open opens the station, once.
func (s *session) open(q question) (answer, error) {
	if s.station != nil || q.Order == nil {
		return answer{}, errUnknown
	}
	meters, refused := openMeters(Host{Root: q.Order.MetersRoot}, q.Order.File, Host.openFiles)
	s.station = newStation(*q.Order, meters, refused)
	return answer{Greeting: &greeting{Boot: s.station.host.boot(), Machine: s.station.Machine(), Meters: s.station.Meters()}}, nil
}

// account answers what is asked of containers.
func (s *session) account(q question) (answer, error) {
	if q.Ask == askAccount {
		account, err := s.station.Account(q.PID)
		if err != nil {
			return answer{}, err
		}
		handle := s.handle()
		s.accounts[handle] = account
		return answer{Handle: handle}, nil
	}
	account, known := s.accounts[q.Handle]
	switch {
	case q.Ask == askClose && known:
		delete(s.accounts, q.Handle)
		return answer{}, account.Close()
	case q.Ask == askClose:
		return answer{}, s.unwatch(q.Handle)
	case !known:
		return answer{}, errUnknown
	case q.Ask == askUsage:
		usage := account.Read()
		return answer{Usage: &usage}, nil
	}
	number, err := account.Number(q.Field)
	return answer{Number: number}, err
}

// watch answers what is asked of a window.
func (s *session) watch(q question) (answer, error) {
	if q.Ask == askWatch {
		counters := map[string]Counter{}
		for role, handle := range q.Roles {
			if account, known := s.accounts[handle]; known {
				counters[role] = account
			}
		}
		handle := s.handle()
		s.watches[handle] = s.station.Watch(counters)
		return answer{Handle: handle}, nil
	}
	watch, known := s.watches[q.Handle]
	if !known {
		return answer{}, errUnknown
	}
	if q.Ask == askEdge {
		reading := watch.Edge()
		return answer{Reading: &reading}, nil
	}
	testimony := watch.Tell(q.Window, q.Before, q.After)
	return answer{Testimony: &testimony}, nil
}

// unwatch ends a watch.
func (s *session) unwatch(handle int) error {
	watch, known := s.watches[handle]
	if !known {
		return errUnknown
	}
	delete(s.watches, handle)
	watch.Close()
	return nil
}

// close closes everything that was opened for the asker.
func (s *session) close() {
	for _, watch := range s.watches {
		watch.Close()
	}
	for _, account := range s.accounts {
		_ = account.Close() // files that were only read
	}
	if s.station != nil {
		s.station.Close()
	}
}
