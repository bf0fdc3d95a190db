package web

import (
	"context"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserBound is how long all that a browser does may take, on a busy machine.
const browserBound = 4 * time.Minute

// chromium starts a browser, which ends with the test.
func chromium(t *testing.T) context.Context {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no chromium: .ci/install brings it")
		}
		t.Skip("there is no chromium")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(program), chromedp.Flag("hide-scrollbars", true), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(time.Minute))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // which the browser refuses to have as root
	}
	ctx, cancel := context.WithTimeout(context.Background(), browserBound)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	// A minute to be spoken to: beside other tests a browser takes its time to start.
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithBrowserOption(chromedp.WithDialTimeout(time.Minute)))
	t.Cleanup(func() { cancel() })
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("start %s: %v", program, err)
	}
	return ctx
}

// A tab is one page that is open, with what it complained of and whom it asked.
type tab struct {
	context.Context
	t *testing.T

	mu       sync.Mutex
	faults   []string
	requests []string
}

// openTab opens a tab, which ends with the test.
func openTab(t *testing.T, browser context.Context) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{Context: ctx, t: t}
	chromedp.ListenTarget(ctx, b.hear)
	b.run(network.Enable(), log.Enable(), runtime.Enable(), page.Enable())
	return b
}

// hear notes what a page does that it should not.
func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.faults = append(b.faults, "exception: "+e.ExceptionDetails.Error())
	case *runtime.EventConsoleAPICalled:
		b.faults = append(b.faults, fmt.Sprintf("console.%s", e.Type))
	case *log.EventEntryAdded:
		b.faults = append(b.faults, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *page.EventJavascriptDialogOpening:
		b.faults = append(b.faults, "a dialog: "+e.Message)
		go func() { _ = chromedp.Run(b.Context, page.HandleJavaScriptDialog(true)) }() // so that the page goes on
	}
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.Context, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// tell evaluates an expression in the page.
func tell[T any](b *tab, expression string) T {
	b.t.Helper()
	var value T
	b.run(chromedp.Evaluate(expression, &value))
	return value
}

// quiet fails for whatever the page complained of, and for whomever it asked but us.
func (b *tab) quiet(home string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, fault := range b.faults {
		b.t.Errorf("the page complains: %s", fault)
	}
	for _, request := range b.requests {
		if !strings.HasPrefix(request, home+"/") && !strings.HasPrefix(request, "data:") {
			b.t.Errorf("the page asks an outside host: %s", request)
		}
	}
}

// A looks is how a page is looked at.
type looks struct {
	name          string
	width, height int64
	dark          bool
}

var allLooks = []looks{{"light", 1280, 900, false}, {"dark", 1280, 900, true}, {"phone", 390, 844, false}}

// look sets how a page is looked at.
func (b *tab) look(l looks) {
	b.t.Helper()
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	b.run(emulation.SetDeviceMetricsOverride(l.width, l.height, 1, false),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
}

// shoot keeps a picture of the whole page.
func (b *tab) shoot(path string) {
	b.t.Helper()
	var picture []byte
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		var err error
		picture, err = page.CaptureScreenshot().WithCaptureBeyondViewport(true).Do(ctx)
		return err
	}))
	if err := os.WriteFile(path, picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// sideways is how far the page can be scrolled sideways, and by what.
const sideways = `(() => {
	const page = document.documentElement, wide = [];
	if (page.scrollWidth <= page.clientWidth) return "";
	for (const e of document.querySelectorAll("body *")) {
		const box = e.getBoundingClientRect();
		if (box.right > page.clientWidth + 1 && box.width > 0) wide.push(e.tagName + "." + e.className + " " + Math.round(box.right));
	}
	return page.scrollWidth + ": " + wide.slice(0, 5).join("; ");
})()`

// pale lists texts whose contrast with what is behind them is too small: 4.5 to 1,
// or 3 to 1 of large ones (WCAG 2.1, 1.4.3).
const pale = `(() => {
	const rgb = (text) => { const n = (text.match(/[\d.]+/g) || []).map(Number); return n.length < 3 ? null : [n[0], n[1], n[2], n.length > 3 ? n[3] : 1]; };
	const light = (c) => { const [r, g, b] = c.slice(0, 3).map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4); }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c && c[3] > 0) return c; } return [255, 255, 255, 1]; };
	const found = [];
	const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let node; (node = walker.nextNode());) {
		const e = node.parentElement;
		if (!node.data.trim() || !e.getClientRects().length || /^(title|desc|script|style|option)$/i.test(e.tagName)) continue;
		const style = getComputedStyle(e), inDrawing = e instanceof SVGElement;
		const color = rgb(inDrawing ? style.fill : style.color);
		if (!color) continue;
		const [a, b] = [light(color), light(behind(e))].sort((x, y) => y - x);
		const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && parseInt(style.fontWeight) >= 700;
		const ratio = (a + 0.05) / (b + 0.05);
		if (ratio < (large ? 3 : 4.5)) found.push(e.tagName + "." + (e.className.baseVal ?? e.className) + " " + ratio.toFixed(2) + " " + node.data.trim().slice(0, 30));
	}
	return found;
})()`

// interactive numbers what can be acted upon and is shown, so that the tab order can
// be read.
const interactive = `(() => {
	let n = 0;
	for (const e of document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary, [tabindex='0']")) {
		if (e.closest("details:not([open])") && e.tagName !== "SUMMARY") continue;
		if (e.tagName === "SUMMARY" && e.parentElement.parentElement.closest("details:not([open])")) continue;
		e.dataset.stop = n++;
	}
	return n;
})()`

// One tab after the other: a browser draws no picture of a tab that lies behind
// another until it has the time.
func TestPagesInABrowser(t *testing.T) {
	browser := chromium(t)
	pictures := t.ArtifactDir()
	home := httptest.NewServer(serverOf(pastOf(plainNames)).Handler())
	t.Cleanup(home.Close)
	hostile := httptest.NewServer(serverOf(pastOf(hostileNames)).Handler())
	t.Cleanup(hostile.Close)
	empty := httptest.NewServer(serverOf(&memory{}).Handler())
	t.Cleanup(empty.Close)

	plain := addresses(plainNames)
	delete(plain, "badge")
	for _, name := range slices.Sorted(maps.Keys(plain)) {
		t.Run(name, func(t *testing.T) {
			seenWell(t, browser, home.URL, plain[name], filepath.Join(pictures, name))
		})
	}
	t.Run("empty", func(t *testing.T) {
		seenWell(t, browser, empty.URL, "/", filepath.Join(pictures, "empty"))
	})
	strange := addresses(hostileNames)
	delete(strange, "badge")
	t.Run("hostile", func(t *testing.T) {
		staysText(t, browser, hostile.URL, strange, pictures)
	})
	t.Run("values", func(t *testing.T) {
		chartsShowWhatIsStored(t, browser, home.URL)
	})
	t.Run("keys", func(t *testing.T) {
		keysReachEverything(t, browser, home.URL, plain)
	})
	t.Run("without script", func(t *testing.T) {
		worksWithoutScript(t, browser, home.URL, plain["series"])
	})
}

// seenWell looks at a page in every way.
func seenWell(t *testing.T, browser context.Context, home, address, picture string) {
	b := openTab(t, browser)
	b.look(allLooks[0])
	b.run(chromedp.Navigate(home + address))
	for _, l := range allLooks {
		b.look(l)
		b.shoot(picture + "-" + l.name + ".png")
		b.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil))
		if wide := tell[string](b, sideways); l.width == 390 && wide != "" {
			t.Errorf("on a phone the page can be scrolled sideways to %s", wide)
		}
		if found := tell[[]string](b, pale); len(found) > 0 {
			t.Errorf("%s: too pale: %s", l.name, strings.Join(found[:min(len(found), 6)], "; "))
		}
		b.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = false; })`, nil))
	}
	if titles := tell[int](b, `document.querySelectorAll("svg[role=img]").length - document.querySelectorAll("svg[role=img] > title, svg[role=img][aria-label]:not(:has(> title))").length`); titles != 0 {
		t.Errorf("%d drawings have no title", titles)
	}
	b.quiet(home)
}

// staysText opens every page of hostile names.
func staysText(t *testing.T, browser context.Context, home string, pages map[string]string, pictures string) {
	b := openTab(t, browser)
	b.look(allLooks[2])
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		b.run(chromedp.Navigate(home + pages[name]))
		b.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach((d) => { d.open = true; })`, nil))
		if foreign := tell[int](b, `document.querySelectorAll("img, iframe, object, script:not([src^='/static/']), [onerror], a[href^='javascript' i]").length`); foreign != 0 {
			t.Errorf("%s: foreign text has become %d elements", name, foreign)
		}
		if !tell[bool](b, `document.body.textContent.includes("<script>alert(1)</scr" + "ipt>")`) {
			t.Errorf("%s: the hostile name is not there as text", name)
		}
		if wide := tell[string](b, sideways); wide != "" {
			t.Errorf("%s: on a phone the page can be scrolled sideways to %s", name, wide)
		}
		if name == "series" { // one is enough to look at
			b.shoot(filepath.Join(pictures, "hostile-"+name+".png"))
		}
	}
	b.quiet(home)
}

// A dot is a point as the page has it.
type dot struct {
	Value, X, Y, Commit, Absent string
	Cx, Cy                      string
}

// chartsShowWhatIsStored reads points back from the page.
func chartsShowWhatIsStored(t *testing.T, browser context.Context, home string) {
	b := openTab(t, browser)
	m := pastOf(plainNames)
	suite := m.runs[0].line.Suite
	of := m.changes[0].Case
	b.run(chromedp.Navigate(home + seriesAddress(suite, "metric", "energy_board_gross", "case", of.String())))
	dots := tell[[]dot](b, `Array.from(document.querySelectorAll("table.points tr[data-x]"), (row) => {
		const circle = document.querySelector("circle.dot[cx='" + row.dataset.x + "']");
		return { Value: row.dataset.value, X: row.dataset.x, Y: row.dataset.y, Commit: row.dataset.commit, Absent: row.dataset.absent ?? "", Cx: circle ? circle.getAttribute("cx") : "", Cy: circle ? circle.getAttribute("cy") : "" };
	})`)
	slices.Reverse(dots)
	course := m.course(of, coursesAsked(suite, of, "energy_board_gross"))
	if len(dots) != len(course.Points) {
		t.Fatalf("the page has %d points, stored are %d", len(dots), len(course.Points))
	}
	for i, p := range course.Points {
		d := dots[i]
		if d.Commit != p.SHA || d.Absent != p.Absent || p.Absent == "" && d.Value != exact(p.Value) {
			t.Errorf("point %d is %+v, stored is %+v", i, d, p)
		}
		if p.Absent == "" && (d.Cx != d.X || d.Cy != d.Y) {
			t.Errorf("point %d is drawn at %s, %s and should be at %s, %s", i, d.Cx, d.Cy, d.X, d.Y)
		}
	}
	linear(t, course, dots)
	if changes := tell[int](b, `document.querySelectorAll("svg path.change").length`); changes != 1 {
		t.Errorf("%d changes are drawn, 1 is stored", changes)
	}
	if gaps := tell[int](b, `document.querySelectorAll("svg rect.gap").length`); gaps != 4 {
		t.Errorf("%d gaps are drawn, 4 commits have no value", gaps)
	}
}

// worksWithoutScript opens a page in a browser that runs no script.
func worksWithoutScript(t *testing.T, browser context.Context, home, address string) {
	b := openTab(t, browser)
	b.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(home+address))
	// The page's own scripts do not run; what asks from outside does.
	count := func(selector string) int { return tell[int](b, `document.querySelectorAll("`+selector+`").length`) }
	for _, selector := range []string{"svg path.line", "svg circle.dot", "table.points a", "form.ask button", "svg path.change"} {
		if count(selector) == 0 {
			t.Errorf("without a script there is no %s", selector)
		}
	}
	if count(".reading") != 0 {
		t.Error("without a script there is a line that nothing fills")
	}
	b.quiet(home)
}
