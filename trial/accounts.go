package trial

import (
	"errors"

	"gitlab.com/stopwatt/stopwatt"
)

// accounts are the containers' accounting during one trial, in the order in
// which they are read: the first has the tightest window.
type accounts []account

// An account is that of one container. One that could not be opened makes the
// metrics of its role absent, with the reason; the timings stand.
type account struct {
	role   string
	opened Account // nil: see reason
	reason string
}

// open opens the accounts of containers that run.
func (b Bench) open(containers ...*container) accounts {
	var all accounts
	for _, c := range containers {
		a := account{role: c.role}
		a.opened, a.reason = c.bench.account(c.PID)
		all = append(all, a)
	}
	return all
}

// account opens one account, or says why it cannot.
func (b Bench) account(pid int) (Account, string) {
	if b.Account == nil {
		return nil, "the engine runs on another machine: its cgroups cannot be read from here"
	}
	account, err := b.Account(pid)
	if err != nil {
		return nil, err.Error()
	}
	return account, ""
}

// read reads them all. What the containers of one role have used is added up.
func (all accounts) read() stopwatt.Reading {
	var reading stopwatt.Reading
	for i, a := range all {
		usage := a.read()
		if i > 0 && all[i-1].role == a.role {
			usage = reading.Of(a.role).Plus(usage)
		}
		reading.Put(a.role, usage)
	}
	return reading
}

// of reads those of one role.
func (all accounts) of(role string) stopwatt.Usage {
	var some accounts
	for _, a := range all {
		if a.role == role {
			some = append(some, a)
		}
	}
	return some.read().Of(role)
}

// read reads an account; of one that is not there, every field is absent.
func (a account) read() stopwatt.Usage {
	if a.opened != nil {
		return a.opened.Read()
	}
	absent := map[string]string{}
	for _, field := range stopwatt.UsageFields {
		absent[field] = a.reason
	}
	return stopwatt.Usage{Absent: absent}
}

// close closes them all.
func (all accounts) close() {
	for _, a := range all {
		if a.opened != nil {
			_ = a.opened.Close() // files that were only read
		}
	}
}

// watch begins to watch the machine and the containers.
func (b Bench) watch(all accounts) Watch {
	if b.Watch == nil {
		return nobody{}
	}
	byRole := map[string]Account{}
	for _, a := range all {
		switch before := byRole[a.role]; {
		case a.opened == nil:
		case before == nil:
			byRole[a.role] = a.opened
		default:
			byRole[a.role] = together{before, a.opened}
		}
	}
	return b.Watch(byRole)
}

// together are two accounts of one role.
type together [2]Account

func (t together) Read() stopwatt.Usage { return t[0].Read().Plus(t[1].Read()) }
func (t together) Close() error         { return errors.Join(t[0].Close(), t[1].Close()) }
func (t together) Number(field string) (int64, error) {
	one, err := t[0].Number(field)
	other, otherErr := t[1].Number(field)
	return one + other, errors.Join(err, otherErr)
}

// nobody watches: the engine runs on another machine.
type nobody struct{}

func (nobody) Edge() stopwatt.MachineReading { return stopwatt.MachineReading{} }
func (nobody) Tell(stopwatt.Window, stopwatt.Reading, stopwatt.Reading) stopwatt.Testimony {
	var testimony stopwatt.Testimony
	for _, metric := range stopwatt.MachineMetrics {
		testimony.Absent = append(testimony.Absent, stopwatt.Absence{Metric: metric, Reason: "nobody watched the machine: the engine runs on another"})
	}
	return testimony
}
func (nobody) Close() {}
