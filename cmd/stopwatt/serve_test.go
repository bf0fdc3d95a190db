package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// serve runs `stopwatt serve` and returns where it listens; end ends it and returns its
// exit status.
func serve(t *testing.T, environment map[string]string) (address string, end func() (status int, complaints string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	told, tell := io.Pipe()
	var complaints strings.Builder
	status := make(chan int, 1)
	go func() {
		status <- run(ctx, []string{"serve", "--listen", "127.0.0.1:0"}, func(name string) string { return environment[name] }, tell, &complaints)
		_ = tell.Close() // so that a reader of nothing ends
	}()
	line, err := bufio.NewReader(told).ReadString('\n')
	if err != nil {
		t.Fatalf("nothing is told of where it listens: %v, %s", err, &complaints)
	}
	return strings.TrimSpace(line), func() (int, string) {
		cancel()
		return <-status, complaints.String()
	}
}

func TestServeAnswersUntilItIsToldToEnd(t *testing.T) {
	t.Parallel()
	address, end := serve(t, map[string]string{"STOPWATT_DATABASE": embeddedtest.ForTest(t), "STOPWATT_WEB_TOKEN": "secret"})
	for _, row := range []struct {
		token  string
		status int
	}{{"", http.StatusUnauthorized}, {"secret", http.StatusOK}} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/", nil)
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
	if got, complaints := end(); got != 0 {
		t.Errorf("it ends with %d: %s", got, complaints)
	}
}

// shownPoint is a row of the table below a chart: what the chart is drawn from.
var shownPoint = regexp.MustCompile(`data-commit="([^"]*)"[^>]*data-value="([^"]*)"|data-value="([^"]*)"[^>]*data-commit="([^"]*)"`)

func TestASeriesShowsWhatTheDatabaseHolds(t *testing.T) {
	t.Parallel()
	database := embeddedtest.ForTest(t)
	var commits []string
	for i := range 40 {
		commits = append(commits, fmt.Sprintf("%040x", i+1))
	}
	remembered(t, database, commits)
	store, err := storage.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	stored, err := store.Query(t.Context(), "select commit, mean from series where implementation = 'go' and workload = 'static' and metric = 'time'", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, row := range stored.Rows {
		want[row[0].(string)] = strconv.FormatFloat(row[1].(float64), 'g', -1, 64)
	}
	address, end := serve(t, map[string]string{"STOPWATT_DATABASE": database})
	defer end()
	answer, err := http.Get(address + "/s/web-servers/series?project=team%2Fservers&case=go%2Fstatic&metric=time")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	page, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, found := range shownPoint.FindAllStringSubmatch(string(page), -1) {
		shown[found[1]+found[4]] = found[2] + found[3]
	}
	if diff := cmp.Diff(want, shown); diff != "" || len(want) != len(commits) {
		t.Errorf("%d points are stored; status %d; shown (-stored +shown):\n%s", len(want), answer.StatusCode, diff)
	}
}
