package embedded_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

// stopElsewhere is what the keeper of these tests does to stop a server: it
// writes the name into the file that its environment names.
func stopElsewhere(_ context.Context, name string) error {
	return os.WriteFile(os.Getenv("STOPPED"), []byte(name), 0o600)
}

// A launcher answers for servers elsewhere, and notes what it was told. Nothing
// listens at the address.
type launcher struct {
	orders []embedded.ServerOrder
	err    error
}

const nowhere = "127.0.0.1:1"

func (l *launcher) launch(_ context.Context, order embedded.ServerOrder) (string, error) {
	l.orders = append(l.orders, order)
	return nowhere, l.err
}

func (l *launcher) config(folder string, idle time.Duration) embedded.Config {
	c := config(folder, folder+"/run", idle)
	c.Launch, c.KeeperEnv = l.launch, []string{"STOPPED=" + folder + "/stopped"}
	return c
}

// withoutBinaries hides this machine's Postgres, and returns a data folder.
func withoutBinaries(t *testing.T) string {
	t.Helper()
	folder := folder(t)
	t.Setenv("PATH", folder)
	embedded.WithoutBinaries(t)
	return folder
}

func startWith(t *testing.T, c embedded.Config) string {
	t.Helper()
	dsn, release, err := embedded.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return dsn
}

func TestWithoutBinariesAnotherServerIsLaunched(t *testing.T) {
	folder := withoutBinaries(t)
	var l launcher
	first := startWith(t, l.config(folder, time.Hour))
	second := startWith(t, l.config(folder, time.Hour)) // nothing answers: it is launched again
	order, again := l.orders[0], l.orders[1]
	want := "postgres://stopwatt:" + order.Password + "@" + nowhere + "/stopwatt?require_auth=scram-sha-256&sslmode=disable"
	if first != want || second != want {
		t.Errorf("names %q and %q; want %q", first, second, want)
	}
	if len(order.Password) != 32 || order.Name == "" || order.User != "stopwatt" || order.Database != "stopwatt" {
		t.Errorf("order %+v", order)
	}
	if !slices.Contains(order.Settings, "stopwatt.private=on") || !slices.Contains(order.Settings, "autovacuum=off") {
		t.Errorf("settings %q do not keep it still", order.Settings)
	}
	if err := order.Answers(t.Context(), nowhere); err == nil || strings.Contains(err.Error(), order.Password) {
		t.Errorf("where nobody listens: %v; want an error without the password", err)
	}
	if !order.Fresh || again.Fresh || again.Name != order.Name || again.Password != order.Password {
		t.Errorf("first fresh %v, then %v; names %s, %s", order.Fresh, again.Fresh, order.Name, again.Name)
	}
	info, err := os.Stat(folder + "/postgres/elsewhere.json")
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the password's file: %v, %v", info.Mode(), err)
	}
}

func TestDataThatBeganElsewhereStayThere(t *testing.T) {
	folder := folder(t)
	var l launcher
	file := folder + "/postgres/elsewhere.json"
	if err := errors.Join(os.Mkdir(folder+"/postgres", 0o755),
		os.WriteFile(file, []byte(`{"Name":"ab12","Password":"secret","Address":"`+nowhere+`"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	startWith(t, l.config(folder, time.Hour))
	if len(l.orders) != 1 || l.orders[0].Name != "ab12" || l.orders[0].Password != "secret" || l.orders[0].Fresh {
		t.Errorf("orders %+v", l.orders)
	}
	if err := os.WriteFile(file, []byte(`{"Name":"ab`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := embedded.Start(t.Context(), l.config(folder, time.Hour)); err == nil || !strings.Contains(err.Error(), "elsewhere.json is garbled; restore it") {
		t.Errorf("garbled: %v", err)
	}
}

func TestServerElsewhereGoesWhenNobodyUsesIt(t *testing.T) {
	folder := withoutBinaries(t)
	var l launcher
	c := l.config(folder, 50*time.Millisecond)
	_, releaseFirst, errFirst := embedded.Start(t.Context(), c)
	_, releaseSecond, errSecond := embedded.Start(t.Context(), c)
	if err := errors.Join(errFirst, errSecond); err != nil {
		t.Fatal(err)
	}
	releaseFirst()
	if _, err := os.Stat(folder + "/stopped"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stopped while it is used: %v", err)
	}
	releaseSecond()
	await(t, "the keeper to end", func() bool { return len(processes(t, folder)) == 0 })
	if stopped, err := os.ReadFile(folder + "/stopped"); err != nil || string(stopped) != l.orders[0].Name {
		t.Errorf("stopped %q, %v; want %q", stopped, err, l.orders[0].Name)
	}
}

func TestNothingGoesOnWhenNoServerCouldBeLaunched(t *testing.T) {
	folder := withoutBinaries(t)
	l := launcher{err: errors.New("no engine")}
	_, _, err := embedded.Start(t.Context(), l.config(folder, time.Hour))
	if !errors.Is(err, embedded.ErrNoBinaries) || !errors.Is(err, l.err) {
		t.Errorf("error %v; want one that says both", err)
	}
	await(t, "the keeper to end", func() bool { return len(processes(t, folder)) == 0 })
	c := l.config(folder, time.Hour)
	c.Launch = nil
	if _, _, err := embedded.Start(t.Context(), c); !errors.Is(err, embedded.ErrNoBinaries) {
		t.Errorf("without a launcher: %v", err)
	}
}

func TestDataOfThisMachinesPostgresAreNotBegunAnewElsewhere(t *testing.T) {
	folder := withoutBinaries(t)
	if err := errors.Join(os.MkdirAll(folder+"/postgres/data", 0o700),
		os.WriteFile(filepath.Join(folder, "postgres/data/PG_VERSION"), []byte("15\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	var l launcher
	_, _, err := embedded.Start(t.Context(), l.config(folder, time.Hour))
	if err == nil || !strings.Contains(err.Error(), "made by PostgreSQL 15 and this machine has none; install postgresql-15") {
		t.Errorf("error %v", err)
	}
	if len(l.orders) != 0 {
		t.Error("another was launched")
	}
}
