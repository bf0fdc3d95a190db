// What pages do better with a little of it: charts say what lies under the pointer
// or the keys, and can be zoomed by drawing over them. Everything is there without.
"use strict";
(function () {
  const svg = "http://www.w3.org/2000/svg";

  function make(name, attributes, into) {
    const element = document.createElementNS(svg, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    into.append(element);
    return element;
  }

  // A chart's points are the rows of the table below it.
  function pointsOf(rows) {
    return Array.from(rows, (row) => ({
      row, line: row.dataset.line, x: parseFloat(row.dataset.x), y: row.dataset.y, when: row.dataset.when,
    })).sort((a, b) => a.x - b.x || a.line - b.line);
  }

  function watch(section) {
    const plot = section.querySelector(".plot");
    const points = pointsOf(document.querySelectorAll("table.points tr[data-x]"));
    if (!plot || !points.length) return;
    const drawing = plot.querySelector("svg.whole");
    const height = plot.querySelector("svg.stretch").getAttribute("height");
    const cursor = make("line", { class: "cursor", y1: 0, y2: height, visibility: "hidden" }, drawing);
    const here = make("circle", { class: "here", r: 5, visibility: "hidden" }, drawing);
    const box = make("rect", { class: "zoom", y: 0, height: height, visibility: "hidden" }, drawing);
    const reading = document.createElement("div");
    reading.className = "reading";
    reading.setAttribute("role", "status");
    reading.textContent = "Point at the chart, or move along it with the arrow keys; draw over a stretch to zoom.";
    section.querySelector("figure").append(reading);
    plot.tabIndex = 0;
    plot.setAttribute("role", "application");
    plot.setAttribute("aria-label", "Points of the chart: left and right move along, up and down to another case, Enter opens the run");
    let at = -1;

    function show(index) {
      at = Math.min(Math.max(index, 0), points.length - 1);
      const point = points[at];
      cursor.setAttribute("x1", point.x + "%");
      cursor.setAttribute("x2", point.x + "%");
      cursor.setAttribute("visibility", "visible");
      here.setAttribute("visibility", point.y ? "visible" : "hidden");
      if (point.y) {
        here.setAttribute("cx", point.x + "%");
        here.setAttribute("cy", point.y);
      }
      reading.textContent = "";
      for (const cell of point.row.cells) {
        const part = document.createElement("span");
        for (const node of cell.cloneNode(true).childNodes) {
          if (node.nodeName === "BR") part.append(" · ");
          else part.append(node.cloneNode(true));
        }
        reading.append(part, " ");
      }
    }

    function nearest(event) {
      const area = plot.getBoundingClientRect();
      const x = 100 * (event.clientX - area.left) / area.width, y = event.clientY - area.top;
      let best = 0, far = Infinity;
      points.forEach((point, index) => {
        const d = Math.abs(point.x - x) * 1000 + Math.abs((parseFloat(point.y) || 0) - y);
        if (d < far) { far = d; best = index; }
      });
      return best;
    }

    function along(step) {
      const line = at < 0 ? points[points.length - 1].line : points[at].line;
      let index = at < 0 ? points.length : at;
      do { index += step; } while (points[index] && points[index].line !== line);
      if (points[index]) show(index);
    }

    function other(step) {
      const lines = [...new Set(points.map((p) => p.line))].sort((a, b) => a - b);
      const from = points[Math.max(at, 0)];
      const line = lines[(lines.indexOf(from.line) + step + lines.length) % lines.length];
      let best = 0;
      points.forEach((point, index) => {
        if (point.line === line && (points[best].line !== line || Math.abs(point.x - from.x) < Math.abs(points[best].x - from.x))) best = index;
      });
      show(best);
    }

    plot.addEventListener("keydown", (event) => {
      const does = {
        ArrowLeft: () => along(-1), ArrowRight: () => along(1), ArrowUp: () => other(-1), ArrowDown: () => other(1),
        Home: () => show(0), End: () => show(points.length - 1),
        Enter: () => { const link = at >= 0 && points[at].row.querySelector("td:last-child a"); if (link) link.click(); },
      }[event.key];
      if (!does) return;
      event.preventDefault();
      does();
    });

    let begun = null;
    plot.addEventListener("pointermove", (event) => {
      const index = nearest(event);
      show(index);
      if (begun === null) return;
      const [a, b] = [points[begun].x, points[index].x].sort((p, q) => p - q);
      box.setAttribute("x", a + "%");
      box.setAttribute("width", (b - a) + "%");
      box.setAttribute("visibility", "visible");
    });
    if (!section.dataset.zoom) return;
    plot.addEventListener("pointerdown", (event) => { if (event.button === 0 && event.pointerType !== "touch") begun = nearest(event); });
    addEventListener("pointerup", () => {
      if (begun === null) return;
      const [a, b] = [points[begun], points[at]].sort((p, q) => p.x - q.x);
      begun = null;
      box.setAttribute("visibility", "hidden");
      if (b.x - a.x < 3) return;
      const to = new URL(section.dataset.zoom, location.href);
      to.searchParams.set("from", a.when);
      to.searchParams.set("to", b.when);
      location.assign(to);
    });
  }

  document.querySelectorAll("section.chart[data-zoom], section.chart[data-watch]").forEach(watch);
})();
