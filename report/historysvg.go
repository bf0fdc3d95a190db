package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"

	"gitlab.com/stopwatt/stopwatt"
)

// Measures of a history's picture, in pixels.
const (
	trendWidth  = 760.0
	trendLeft   = 76.0 // room for the numbers of the axis
	trendRight  = 16.0
	trendHead   = 46.0 // title and legend
	trendHeight = 170.0
	trendFoot   = 40.0
	trendPoints = 700 // of a line at most: about one for each pixel
)

// trendStyle colours lines as the pages do, in light and dark; dashes say again what
// colours say.
const trendStyle = `<style>
:root { color-scheme: light dark; --ground: #fff; --ink: #1b2430; --quiet: #5b6675; --line: #d9dee5; --c0: #2f6fb3; --c1: #c8692c; --c2: #2a8f6f; --c3: #8a5bb5; --c4: #b3433f; --c5: #64748b; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --ink: #e7ebf0; --quiet: #9aa6b5; --line: #333c47; --c0: #5c9bdc; --c1: #e0894f; --c2: #4db492; --c3: #ad86d6; --c4: #dd7672; --c5: #8a99ad; } }
.ground { fill: var(--ground); } text { font: 12px system-ui, sans-serif; fill: var(--ink); } .quiet { fill: var(--quiet); } .head { font-weight: 600; }
.grid { stroke: var(--line); stroke-width: 1; } .change { stroke: var(--quiet); stroke-dasharray: 3 3; } .epoch { stroke: var(--line); stroke-width: 4; }
.l { fill: none; stroke-width: 1.6; stroke-linejoin: round; stroke-linecap: round; } .c0 { stroke: var(--c0); } .c1 { stroke: var(--c1); stroke-dasharray: 7 3; } .c2 { stroke: var(--c2); stroke-dasharray: 2 3; } .c3 { stroke: var(--c3); stroke-dasharray: 9 3 2 3; } .c4 { stroke: var(--c4); stroke-dasharray: 4 4; } .c5 { stroke: var(--c5); stroke-dasharray: 12 4; }
</style>`

// trendColors is how many lines differ before their look repeats.
const trendColors = 6

// HistorySVG writes a picture: a chart for each series, or, together, for each
// workload and machine. It needs nothing beside itself.
func HistorySVG(w io.Writer, h History, together bool) error {
	groups := h.groups(together)
	height := trendHead + trendHeight + trendFoot
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" aria-labelledby="t d">`,
		place(trendWidth), place(height*float64(max(len(groups), 1))), place(trendWidth), place(height*float64(max(len(groups), 1))))
	words := h.nothing()
	if len(groups) > 0 {
		words = h.trendWords(groups, together)
	}
	fmt.Fprintf(&out, "\n<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n%s\n<rect class=\"ground\" width=\"100%%\" height=\"100%%\"/>\n",
		html.EscapeString(h.title()), html.EscapeString(words), trendStyle)
	if len(groups) == 0 {
		fmt.Fprintf(&out, "<text x=\"16\" y=\"28\">%s</text>\n", html.EscapeString(h.title()+": "+words))
	}
	for i, g := range groups {
		fmt.Fprintf(&out, "<g transform=\"translate(0 %s)\">\n", place(height*float64(i)))
		h.trend(&out, g, together)
		out.WriteString("</g>\n")
	}
	out.WriteString("</svg>\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// trendWords say every line in words, for those who do not see it.
func (h History) trendWords(groups []group, together bool) string {
	var words []string
	for _, g := range groups {
		for i, search := range g.searches {
			first, last := search.Points[0], search.Points[len(search.Points)-1]
			words = append(words, fmt.Sprintf("%s %s: %s to %s over %s, last change %s", short(g.names[i]), h.groupTitle(g, together),
				h.value(g.of[i], first.Value), h.value(g.of[i], last.Value), plural(len(search.Points), "commit"), lastChange(search)))
		}
	}
	return strings.Join(words, "; ") + "."
}

// A trendFrame knows where commits and values lie.
type trendFrame struct {
	first, last int // positions
	up          axis
}

func (f trendFrame) x(position int) float64 {
	share := 0.5
	if f.last > f.first {
		share = float64(position-f.first) / float64(f.last-f.first)
	}
	return trendLeft + share*(trendWidth-trendLeft-trendRight)
}

func (f trendFrame) y(value float64) float64 {
	return f.up.yAt(value, trendHead, trendHead+trendHeight)
}

// frameOf reaches over all values of a group, with a twentieth of room.
func frameOf(g group) trendFrame {
	f := trendFrame{first: math.MaxInt, up: axis{math.Inf(1), math.Inf(-1)}}
	for _, search := range g.searches {
		for _, p := range search.Points {
			f.first, f.last = min(f.first, p.Position), max(f.last, p.Position)
			f.up.low, f.up.high = min(f.up.low, p.Value), max(f.up.high, p.Value)
		}
	}
	room := (f.up.high - f.up.low) / 20
	if room == 0 {
		room = max(math.Abs(f.up.high)/20, math.SmallestNonzeroFloat32)
	}
	f.up.low, f.up.high = f.up.low-room, f.up.high+room
	return f
}

// trend draws one chart.
func (h History) trend(out *strings.Builder, g group, together bool) {
	f := frameOf(g)
	fmt.Fprintf(out, "<text class=\"head\" x=\"16\" y=\"18\">%s</text>\n", html.EscapeString(h.groupTitle(g, together)))
	bottom := trendHead + trendHeight
	for step, n := niceStep((f.up.high-f.up.low)/2), 0; n < 8; n++ {
		value := (math.Ceil(f.up.low/step) + float64(n)) * step
		if value > f.up.high {
			break
		}
		fmt.Fprintf(out, "<path class=\"grid\" d=\"M%s %sH%s\"/><text class=\"quiet\" text-anchor=\"end\" x=\"%s\" y=\"%s\">%s</text>\n",
			place(trendLeft), place(f.y(value)), place(trendWidth-trendRight), place(trendLeft-6), place(f.y(value)+4), html.EscapeString(h.value(g.of[0], value)))
	}
	commits := commitsOf(g)
	for i, commit := range []stopwatt.SeriesPoint{commits[0], commits[len(commits)-1]} {
		fmt.Fprintf(out, "<text class=\"quiet\" text-anchor=\"%s\" x=\"%s\" y=\"%s\">%s %s</text>\n", []string{"start", "end"}[i],
			place([]float64{trendLeft, trendWidth - trendRight}[i]), place(bottom+18), html.EscapeString(Clean(commit.SHA[:min(8, len(commit.SHA))])), commit.Time.Format("2006-01-02"))
	}
	legend := 16.0
	for i, search := range g.searches {
		for _, b := range search.Boundaries {
			h.trendMark(out, f, search.Points[b.Index].Position, "epoch", "kernel, governor or Docker changed")
		}
		for _, c := range search.ChangePoints {
			h.trendMark(out, f, c.First.Position, "change", fmt.Sprintf("%s %s %s since %s", c.State, short(g.names[i]), changeText(c), commitName(c.First)))
		}
		fmt.Fprintf(out, "<path class=\"l c%d\" d=\"%s\"><title>%s</title></path>\n", i%trendColors, f.path(search.Points), html.EscapeString(short(g.names[i])))
		name := cut(short(g.names[i]), nameColumns)
		fmt.Fprintf(out, "<path class=\"l c%d\" d=\"M%s 34h22\"/><text x=\"%s\" y=\"38\">%s</text>\n", i%trendColors, place(legend), place(legend+27), html.EscapeString(name))
		legend += 44 + 7*float64(width(name))
	}
}

// trendMark is a line upright at a commit, and what happened there.
func (h History) trendMark(out *strings.Builder, f trendFrame, position int, class, says string) {
	fmt.Fprintf(out, "<path class=\"%s\" d=\"M%s %sv%s\"><title>%s</title></path>\n", class, place(f.x(position)), place(trendHead), place(trendHeight), html.EscapeString(says))
}

// path draws points, thinned to means where there are too many.
func (f trendFrame) path(points []stopwatt.SeriesPoint) string {
	var out strings.Builder
	n := min(len(points), trendPoints)
	for i := range n {
		from, to := i*len(points)/n, (i+1)*len(points)/n
		x, y := 0.0, 0.0
		for _, p := range points[from:to] {
			x, y = x+f.x(p.Position)/float64(to-from), y+f.y(p.Value)/float64(to-from)
		}
		out.WriteString(map[bool]string{true: "M", false: "L"}[i == 0] + place(x) + " " + place(y))
		if n == 1 {
			out.WriteString("h0")
		}
	}
	return out.String()
}
