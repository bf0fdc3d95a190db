package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"gitlab.com/stopwatt/stopwatt/storage/embedded/embeddedtest"
)

// browserTab is a tab of a browser, which ends with the test.
func browserTab(t *testing.T) context.Context {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no chromium: .ci/install brings it")
		}
		t.Skip("there is no chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:len(chromedp.DefaultExecAllocatorOptions):len(chromedp.DefaultExecAllocatorOptions)],
		chromedp.ExecPath(program), chromedp.Flag("disable-dev-shm-usage", true), chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which the browser refuses to have as root
	}
	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithBrowserOption(chromedp.WithDialTimeout(time.Minute)))
	t.Cleanup(cancel)
	return ctx
}

// A browser asks for the password, sends the form with all that it adds by itself, and
// shows what came of it; the database then holds it.
func TestAnAlertIsAcknowledgedInABrowser(t *testing.T) {
	database := embeddedtest.ForTest(t)
	folder, commits := grownRepository(t, 45)
	remembered(t, database, commits)
	t.Chdir(folder)
	entered(t, database)
	tab := browserTab(t)
	address, end := serve(t, map[string]string{"STOPWATT_DATABASE": database, "STOPWATT_WEB_TOKEN": "secret"})
	var open, others, left string
	err := chromedp.Run(tab,
		chromedp.Navigate(strings.Replace(address, "http://", "http://ada:secret@", 1)+"/alerts"),
		chromedp.Text("section[aria-labelledby=open] li", &open),
		chromedp.SendKeys("input[name=why]", "validates <b>every</b> line"),
		chromedp.SendKeys("input[name=until]", "2099-01-31"+kb.Enter),
		chromedp.WaitVisible("section[aria-labelledby=others] li"),
		chromedp.Text("section[aria-labelledby=others] li", &others),
		chromedp.Text("section[aria-labelledby=open]", &left),
	)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(open, "go/static") || !strings.Contains(others, "acknowledged: validates <b>every</b> line, by ada, until 2099-01-31") ||
		!strings.Contains(left, "No alert is open") {
		t.Errorf("before:\n%s\nafterwards:\n%s\n%s", open, others, left)
	}
	if status, complaints := end(); status != exitOK || complaints != "" {
		t.Errorf("serve ended with status %d\n%s", status, complaints)
	}
	if got := alertsOf(t, database, exitOK, "--all"); !strings.Contains(strings.Join(strings.Fields(got), " "), "until 2099-01-31: validates <b>every</b> line") {
		t.Errorf("stored:\n%s", got)
	}
}
