package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"gitlab.com/stopwatt/stopwatt/containers"
)

// TestPrivateDatabaseInAContainer uses the official image of Postgres, or the
// stand-in of docker/base, which it builds where no registry answers. A data
// folder that began so stands for a machine without binaries.
func TestPrivateDatabaseInAContainer(t *testing.T) {
	t.Parallel()
	requireDocker(t)
	bases := postgresBases(t)
	testscript.Run(t, testscript.Params{
		Files:       []string{"testdata/database-in-a-container.txtar"},
		WorkdirRoot: openFolder(t),
		Setup: func(env *testscript.Env) error {
			env.Setenv("DOCKER_HOST", os.Getenv("DOCKER_HOST"))
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
			env.Setenv("STOPWATT_BASES", bases)
			env.Setenv("STOPWATT_DATABASE_IDLE", "1s")
			return beginElsewhere(t, env)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"gone": gone},
	})
}

// postgresBases is what STOPWATT_BASES must be for Postgres to be had.
func postgresBases(t *testing.T) string {
	t.Helper()
	ensure := exec.Command("../../docker/base/ensure.sh", "postgres")
	ensure.Stderr = os.Stderr
	line, err := ensure.Output()
	if err != nil && os.Getenv("CI") != "true" {
		t.Skip("no image of Postgres: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(line))
}

// A rememberedServer is what package embedded remembers of a server that was
// launched by other means.
type rememberedServer struct{ Name, Password, Address string }

func rememberedFile(folder string) string {
	return filepath.Join(folder, "data", "stopwatt", "postgres", "elsewhere.json")
}

// beginElsewhere makes a data folder that began in a container, of which
// nothing is left when the script ends.
func beginElsewhere(t *testing.T, env *testscript.Env) error {
	server := rememberedServer{Name: fmt.Sprintf("test-%d", os.Getpid()), Password: "secret", Address: "127.0.0.1:1"}
	text, err := json.Marshal(server)
	if err != nil {
		return err
	}
	env.Defer(func() { removeDatabase(t, server.Name) })
	file := rememberedFile(env.WorkDir)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func removeDatabase(t *testing.T, name string) {
	docker, err := containers.Connect(context.Background(), containers.Config{})
	if err == nil {
		defer docker.Close()
		err = docker.RemoveDatabase(context.Background(), name)
	}
	if err != nil {
		t.Error(err)
	}
}

// gone waits until nothing listens where the database was: gone.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: gone")
	}
	var server rememberedServer
	text, err := os.ReadFile(rememberedFile(ts.Getenv("WORK")))
	ts.Check(err)
	ts.Check(json.Unmarshal(text, &server))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("tcp", server.Address)
		if err != nil {
			return
		}
		ts.Check(conn.Close())
		if time.Now().After(deadline) {
			ts.Fatalf("something still listens at %s", server.Address)
		}
	}
}
