package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"

	"gitlab.com/stopwatt/stopwatt/storage"
	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// linked is where a page leads to within the server.
var linked = regexp.MustCompile(`(?:href|src)="(/[^"#]*)`)

// TestServeNeedsNoMoreThanTheReadersRole serves as the role that `stopwatt migrate --reader`
// makes, which may read views and no table, and follows every link.
func TestServeNeedsNoMoreThanTheReadersRole(t *testing.T) {
	t.Parallel()
	database := embeddedtest.ForTest(t)
	remembered(t, database, []string{strings.Repeat("1", 40), strings.Repeat("2", 40), strings.Repeat("3", 40)})
	role := fmt.Sprintf("pages_%d", os.Getpid()) // roles belong to all databases of a server, which goes with this process
	if _, err := storage.LetRead(t.Context(), database, role, ""); err != nil {
		t.Fatal(err)
	}
	guest, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	guest.User = url.User(role)
	address, end := serve(t, map[string]string{"STOPWATT_DATABASE": guest.String()})
	defer end()
	waiting := []string{"/", "/api/v1/overview", "/api/v1/alerts", "/api/v1/machines", "/api/v1/suites/web-servers", "/api/v1/suites/web-servers/grid", "/api/v1/suites/web-servers/series", "/api/v1/runs/1", "/api/v1/runs/1/trials/1"}
	seen := map[string]bool{}
	for len(waiting) > 0 && len(seen) < 60 {
		path := strings.ReplaceAll(waiting[0], "&amp;", "&")
		waiting = waiting[1:]
		if seen[path] {
			continue
		}
		seen[path] = true
		answer, err := http.Get(address + path)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		missing := answer.StatusCode == http.StatusNotFound && strings.Contains(path, "/trials/") // this history has no trials
		if err != nil || answer.StatusCode != http.StatusOK && !missing {
			t.Errorf("%s: %d, %v, %.200s", path, answer.StatusCode, err, text)
		}
		for _, found := range linked.FindAllStringSubmatch(string(text), -1) {
			waiting = append(waiting, found[1])
		}
	}
	if len(seen) < 20 {
		t.Errorf("only %d pages were found", len(seen))
	}
}
