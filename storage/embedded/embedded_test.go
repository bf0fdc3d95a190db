package embedded_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"gitlab.com/stopwatt/stopwatt/storage/embedded"
)

// TestMain is the keeper when the test binary is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "postgres-keeper" {
		if err := embedded.Keep(context.Background(), os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	m.Run()
}

func TestSmoke(t *testing.T) {
	exe, _ := os.Executable()
	dsn, release, err := embedded.Start(t.Context(), embedded.Config{Data: os.Getenv("SWD"), Keeper: []string{exe, "postgres-keeper"}, Idle: 300e6})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(dsn)
	release()
}
