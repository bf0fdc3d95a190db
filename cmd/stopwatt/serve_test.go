package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

func TestServeAnswersUntilItIsToldToEnd(t *testing.T) {
	t.Parallel()
	environment := map[string]string{"STOPWATT_DATABASE": embeddedtest.ForTest(t), "STOPWATT_WEB_TOKEN": "secret"}
	ctx, end := context.WithCancel(context.Background())
	defer end()
	told, tell := io.Pipe()
	var complaints strings.Builder
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}, func(name string) string { return environment[name] }, tell, &complaints)
		_ = tell.Close() // so that a reader of nothing ends
	}()
	address, err := bufio.NewReader(told).ReadString('\n')
	if err != nil {
		t.Fatalf("nothing is told of where it listens: %v, %s", err, &complaints)
	}
	address = strings.TrimSpace(address)
	for _, row := range []struct {
		token  string
		status int
	}{{"", http.StatusUnauthorized}, {"secret", http.StatusOK}} {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth("ada", row.token)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		page, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != row.status || strings.Contains(string(page), "stopwatt init") != (row.status == http.StatusOK) {
			t.Errorf("with the token %q: %d %v %s", row.token, answer.StatusCode, err, page)
		}
	}
	end()
	if got := <-status; got != 0 {
		t.Errorf("it ends with %d: %s", got, &complaints)
	}
}
