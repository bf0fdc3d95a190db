package trial

import "gitlab.com/stopwatt/stopwatt"

// accounts are the two containers' accounting during one trial.
type accounts struct {
	serverAccount, driverAccount Account
	serverReason, driverReason   string // why there is none
}

// open opens both accounts. One that cannot be opened makes its metrics
// absent, with the reason; the timings stand.
func (b Bench) open(server *container, driver *driver) *accounts {
	a := &accounts{}
	a.serverAccount, a.serverReason = b.account(server.PID)
	a.driverAccount, a.driverReason = b.account(driver.PID)
	return a
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

// read reads both, the server first: its window is the tighter one.
func (a *accounts) read() stopwatt.Reading {
	return stopwatt.Reading{Server: a.server(), Driver: readAccount(a.driverAccount, a.driverReason)}
}

// server reads the server's account alone.
func (a *accounts) server() stopwatt.Usage {
	return readAccount(a.serverAccount, a.serverReason)
}

// readAccount reads an account; of one that is not there, every field is absent.
func readAccount(account Account, reason string) stopwatt.Usage {
	if account != nil {
		return account.Read()
	}
	absent := map[string]string{}
	for _, field := range stopwatt.UsageFields {
		absent[field] = reason
	}
	return stopwatt.Usage{Absent: absent}
}

// close closes both accounts.
func (a *accounts) close() {
	for _, account := range []Account{a.serverAccount, a.driverAccount} {
		if account != nil {
			_ = account.Close() // files that were only read
		}
	}
}

// watch begins to watch the machine and both containers.
func (b Bench) watch(a *accounts) Watch {
	if b.Watch == nil {
		return nobody{}
	}
	return b.Watch(map[string]Account{stopwatt.RoleServer: a.serverAccount, stopwatt.RoleDriver: a.driverAccount})
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
