package web

import (
	"context"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"
)

// siteOf writes a site into memory.
func siteOf(t *testing.T, n names) map[string]string {
	t.Helper()
	files := map[string]string{}
	pages, left, err := serverOf(pastOf(n)).Site(context.Background(), func(name string, content []byte) error {
		if _, twice := files[name]; twice {
			t.Errorf("%s is written twice", name)
		}
		files[name] = string(content)
		return nil
	})
	if err != nil || left != 0 || pages != len(files) {
		t.Fatalf("%d pages, %d files, %d left out: %v", pages, len(files), left, err)
	}
	return files
}

func TestASiteLeadsToNothingButItsOwnFiles(t *testing.T) {
	t.Parallel()
	for _, n := range []names{plainNames, hostileNames} {
		files := siteOf(t, n)
		kinds := map[string]int{}
		for name, content := range files {
			kinds[strings.SplitN(name, "/", 2)[0]]++
			if !strings.HasSuffix(name, ".html") {
				continue
			}
			for _, link := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(content, -1) {
				to, err := url.Parse(link[1])
				if err != nil || strings.HasPrefix(link[1], "https://gitlab.example.org/") || link[1] == "#content" {
					continue
				}
				if _, there := files[path.Join(path.Dir(name), to.Path)]; !there || to.IsAbs() || to.RawQuery != "" {
					t.Errorf("%s leads to %s, which is no file of the site", name, link[1])
				}
			}
			if strings.Contains(content, "<form") {
				t.Errorf("%s asks a server that is not there", name)
			}
		}
		for _, kind := range []string{"index.html", "s", "runs", "machines", "machines.html", "static"} {
			if kinds[kind] == 0 {
				t.Errorf("the site has no %s", kind)
			}
		}
	}
}

func TestNamesOfFilesStayInTheirFolder(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ address, name string }{
		{"/", "index.html"},
		{"/machines", "machines.html"},
		{"/runs/412/trials/3", "runs/412/trials/3.html"},
		{"/static/pages.css?v=1", "static/pages.css"},
	} {
		if got := fileOf(row.address); got != row.name {
			t.Errorf("%s becomes %s, not %s", row.address, got, row.name)
		}
	}
	for _, address := range []string{"/s/..%2f..%2fetc", "/s/%2e%2e/%2e%2e/x", "/s/CON:?a=1", "/s/a?b", "/s/%00", "//host/x"} {
		name := fileOf(address)
		if strings.Contains(name, "..") || strings.HasPrefix(name, "/") || !regexp.MustCompile(`^[a-z0-9./_-]+$`).MatchString(name) {
			t.Errorf("%s becomes %s", address, name)
		}
	}
}
