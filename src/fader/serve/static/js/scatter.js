// The matches of an entity as points of distance and IDF share, for systems without a grid of weights.
//
// Distances are drawn by their logarithm, near ones to the right. Knows nothing of where the numbers come from.

import { h, plural, score, svg } from "./dom.js";
import { away } from "./evidence.js";
import { READING, caption, circle, redrawn, tableBehind, wordOf } from "./plane.js";

const TICKS = [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

/** Matches as points of distance and IDF share. */
export function scatterFigure(matches, literals) {
  const readout = h("p", { class: "plane-readout small", text: "Point at a circle to read its numbers." });
  const place = redrawn((width) => drawScatter(matches, literals, width, readout));
  const rows = matches.map((m) => [
    wordOf(literals, m.literal),
    score(m.share),
    away(m.distance),
    m.side || "–",
    String(m.context + 1),
    score(m.contribution),
  ]);
  const table = tableBehind(
    "Matches of this entity",
    ["Word", "IDF share", "Distance", "Side", "Context", "Contribution"],
    rows,
    4,
  );
  return h(
    "figure",
    { class: "figure" },
    caption("Where the words stand", `${READING} This system has no grid of weights.`),
    place,
    readout,
    table,
  );
}

function drawScatter(matches, literals, width, readout) {
  const height = 272;
  const plot = { left: 40, right: width - 14, top: 12, bottom: height - 44 };
  const far = Math.max(10, ...matches.map((m) => m.distance));
  const x = (distance) => plot.right - ((plot.right - plot.left) * Math.log1p(distance)) / Math.log1p(far);
  const y = (share) => plot.bottom - (plot.bottom - plot.top) * Math.max(0, Math.min(1, share));
  const drawing = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": `${plural(matches.length, "match", "matches")} by distance and IDF share, with a table below`,
  });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    drawing.append(
      svg("line", { class: "rule", x1: plot.left, x2: plot.right, y1: y(share), y2: y(share) }),
      svg("text", { class: "axis", x: plot.left - 8, y: y(share), dy: "0.35em", "text-anchor": "end" }, String(share)),
    );
  }
  let free = Number.POSITIVE_INFINITY;
  for (const tick of TICKS.filter((t) => t <= far)) {
    if (x(tick) > free) continue;
    free = x(tick) - 30;
    drawing.append(
      svg(
        "text",
        { class: "axis", x: x(tick), y: plot.bottom + 18, "text-anchor": tick === 0 ? "end" : "middle" },
        tick === 0 ? "in name" : String(tick),
      ),
    );
  }
  drawing.append(
    svg(
      "text",
      { class: "axis-title", x: plot.right, y: height - 6, "text-anchor": "end" },
      "words away; nearer to the name →",
    ),
    svg("text", { class: "axis-title", x: 0, y: height - 6 }, "↑ rarer word"),
  );
  for (const group of stacked(matches)) drawing.append(scatterPoint(group, x, y, literals, readout));
  return drawing;
}

/** Matches of one literal at one distance are one circle. */
function stacked(matches) {
  const groups = new Map();
  for (const m of matches) {
    const key = `${m.literal} ${m.distance}`;
    const group = groups.get(key) ?? { ...m, n: 0, contribution: 0 };
    groups.set(key, { ...group, n: group.n + 1, contribution: group.contribution + m.contribution });
  }
  return groups.values();
}

function scatterPoint(group, x, y, literals, readout) {
  const radius = Math.min(13, 7 + 2 * Math.sqrt(group.n - 1));
  const point = circle(group.literal, x(group.distance), y(group.share), radius);
  const where = `${wordOf(literals, group.literal)}, ${away(group.distance)}, IDF share ${score(group.share)}`;
  const text = `${where}: ${plural(group.n, "context")}, contributing ${score(group.contribution)}.`;
  point.addEventListener("pointerenter", () => (readout.textContent = text));
  return point;
}
