package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"gitlab.com/stopwatt/stopwatt"
)

// machineID returns the key of the machine, which has been seen now. Its long
// text stays out of the row: machine_epochs has it.
func machineID(ctx context.Context, tx pgx.Tx, machine stopwatt.Machine, seen time.Time) (int64, error) {
	short := machine.Identity
	short.CPUInfo = ""
	identity, err := document(short)
	if err != nil {
		return 0, err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.machines (fingerprint, name, identity, first_seen, last_seen) VALUES ($1, $2, $3, $4, $4)
		ON CONFLICT (fingerprint) DO UPDATE
			SET name = excluded.name, last_seen = greatest(machines.last_seen, excluded.last_seen)
		RETURNING id`, fingerprintOf(machine), plain(machine.Name), identity, seen).Scan(&id)
	return id, err
}

// named and the name stand in the place of a fingerprint where a machine has
// none.
const named = "named "

func fingerprintOf(machine stopwatt.Machine) string {
	if machine.Named {
		return plain(named + machine.Name)
	}
	return Fingerprint(machine.Identity)
}

// Fingerprint is a hash, in hexadecimal, of what makes a machine this one: of
// its ID, its CPU's model, cores and threads, its memory, and whether it is
// virtual. The fields are named one by one, so that one which a newer stopwatt
// learns to read does not make every machine a new one. What is not among them,
// such as whether the CPU may run faster for a while, belongs to the machine's
// epoch: see epochKey.
func Fingerprint(m stopwatt.MachineIdentity) string {
	return hashed(fmt.Sprintf("%q %q %d %d %d %t", m.ID, m.CPUModel, m.Cores, m.Threads, m.MemoryBytes, m.Virtual))
}

func hashed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// epochID returns the key of what the machine is like now, nil for one that is
// known by its name alone.
func epochID(ctx context.Context, tx pgx.Tx, machineID int64, machine stopwatt.Machine, seen time.Time) (*int64, error) {
	if machine.Named {
		return nil, nil
	}
	key, err := epochKey(machine)
	if err != nil {
		return nil, err
	}
	identity, err := document(machine.Identity)
	if err != nil {
		return nil, err
	}
	epoch, err := document(machine.Epoch)
	if err != nil {
		return nil, err
	}
	var id int64
	err = tx.QueryRow(ctx, `
		INSERT INTO stopwatt_store.machine_epochs (machine_id, key, identity, epoch, first_seen, last_seen) VALUES ($1, $2, $3, $4, $5, $5)
		ON CONFLICT (machine_id, key) DO UPDATE SET last_seen = greatest(machine_epochs.last_seen, excluded.last_seen)
		RETURNING id`, machineID, key, identity, epoch, seen).Scan(&id)
	return &id, err
}

// epochKey is a hash of all that is known of a machine but its name and the text
// of /proc/cpuinfo, in which some kernel may show what changes from moment to
// moment. What is not known is left out of it: a field that a newer stopwatt
// adds begins a new epoch where it can be read, and nowhere else.
func epochKey(machine stopwatt.Machine) (string, error) {
	machine.Identity.CPUInfo = ""
	identity, err := known(machine.Identity)
	if err != nil {
		return "", err
	}
	epoch, err := known(machine.Epoch)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal([]map[string]any{identity, epoch}) // which sorts the names
	return hashed(string(text)), err
}

// known are the fields of a struct that are not zero, by their names.
func known(of any) (map[string]any, error) {
	text, err := json.Marshal(of)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	for name, value := range fields {
		if value == "" || value == 0.0 || value == false || value == nil {
			delete(fields, name)
		}
	}
	return fields, nil
}
