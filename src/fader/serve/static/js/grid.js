// The perplexity-proximity plane, drawn: rows are shares of the query's IDF (rare words above), columns are nearness
// (near to the right). Cells are shaded by learned weight; circles are the words of the query, sized by contexts.
//
// Cells form one grid for the keyboard: arrows move, and a line below says the exact numbers of the cell.
// Knows nothing of where the numbers come from.

import { h, plural, score, svg, visible } from "./dom.js";
import { READING, caption, circle, redrawn, tableBehind, wordOf } from "./plane.js";

const LABELS = 74;
const BELOW = 46;
const MOST = 9; // circles drawn in one cell; the numbers of all of them are in the line below and in the table
/** One grid with its points; redrawn when its place gets wider or narrower. */
export function gridFigure(grid, literals) {
  const readout = h("p", { class: "plane-readout small", text: HELP });
  const place = redrawn((width) => drawGrid(grid, literals, width, readout));
  const reading = `${READING} Cells of a stronger colour weigh more, larger circles are more contexts.`;
  return h(
    "figure",
    { class: "figure" },
    caption(titleOf(grid), reading),
    place,
    readout,
    weightScale(grid),
    pointsTable(grid, literals),
  );
}

const HELP = "Point at a cell, or reach it by Tab and the arrow keys, to read its numbers.";

function titleOf(grid) {
  const side = grid.side ? `, ${grid.side} of the name` : "";
  return `Learned weights (${visible(grid.feature)})${side}`;
}

function drawGrid(grid, literals, width, readout) {
  const rows = grid.values.length;
  const columns = grid.values[0]?.length ?? 0;
  const wide = (width - LABELS - 4) / columns;
  const byCell = cellsOf(grid.points, columns);
  const heights = rowHeights(byCell, rows, columns, wide);
  const tops = stackedUp(heights);
  const ground = tops[0] + heights[0];
  const height = ground + BELOW + 18;
  const drawing = svg("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "grid",
    class: "plane-grid",
    "aria-label": `${titleOf(grid)}, ${rows} rows by ${columns} columns`,
  });
  const largest = Math.max(1e-300, ...grid.values.flat().map(Math.abs));
  const box = (r, c) => ({ x: LABELS + c * wide, y: tops[r], w: wide, h: heights[r] });
  const most = Math.max(1, ...grid.points.map((p) => p.contexts));
  const cells = [];
  for (let r = rows - 1; r >= 0; r -= 1) {
    const line = svg("g", { role: "row" });
    for (let c = 0; c < columns; c += 1) {
      const points = byCell.get(r * columns + c) ?? [];
      const made = drawCell(grid, literals, r, c, points, box(r, c), largest, most);
      cells.push({ r, c, element: made, text: describe(grid, literals, r, c, points) });
      line.append(made);
    }
    drawing.append(line);
  }
  drawing.append(...axes(grid, box, width, ground, columns));
  navigate(drawing, cells, columns, readout);
  return drawing;
}

/** The points of each cell, by its number. */
function cellsOf(points, columns) {
  const byCell = new Map();
  for (const point of points) {
    const key = point.row * columns + point.column;
    byCell.set(key, [...(byCell.get(key) ?? []), point]);
  }
  return byCell;
}

/** Rows with many words in one cell are higher, those without any are low. */
function rowHeights(byCell, rows, columns, wide) {
  const most = Array.from({ length: rows }, () => 0);
  for (const [key, points] of byCell) {
    const r = Math.floor(key / columns);
    most[r] = Math.max(most[r], Math.min(points.length, MOST));
  }
  const across = Math.max(1, Math.floor(wide / 15));
  const [least, usual] = wide > 24 ? [22, 32] : [19, 27];
  return most.map((n) => (n === 0 ? least : Math.max(usual, 16 * Math.ceil(n / across))));
}

/** Where each row begins; the first row is lowest. */
function stackedUp(heights) {
  const tops = [];
  let at = 4;
  for (let r = heights.length - 1; r >= 0; r -= 1) {
    tops[r] = at;
    at += heights[r];
  }
  return tops;
}

function drawCell(grid, literals, r, c, points, box, largest, most) {
  const value = grid.values[r][c];
  const square = svg("rect", {
    class: value < 0 ? "plane-cell is-negative" : "plane-cell",
    x: box.x + 0.75,
    y: box.y + 0.75,
    width: Math.max(1, box.w - 1.5),
    height: Math.max(1, box.h - 1.5),
    rx: 2.5,
  });
  square.style.setProperty("--weight", String(Math.abs(value) / largest));
  return svg(
    "g",
    { role: "gridcell", class: "plane-box", tabindex: -1, "aria-label": describe(grid, literals, r, c, points) },
    svg("rect", {
      class: "plane-ground",
      x: box.x + 0.75,
      y: box.y + 0.75,
      width: Math.max(1, box.w - 1.5),
      height: Math.max(1, box.h - 1.5),
      rx: 2.5,
    }),
    square,
    circles(points, box, most),
  );
}

/** The circles of one cell, side by side where there are several. */
function circles(points, box, most) {
  const shown = points.slice(0, MOST);
  const ways = shown
    .map((_, i) => i + 1)
    .map((n) => ({ n, room: Math.min(box.w / n, box.h / Math.ceil(shown.length / n)) / 2 - 0.5 }));
  const { n: across = 1, room = 0 } = ways.toSorted((a, b) => b.room - a.room)[0] ?? {};
  const down = Math.max(1, Math.ceil(shown.length / across));
  return shown.map((point, i) => {
    const x = box.x + (box.w * ((i % across) + 0.5)) / across;
    const y = box.y + (box.h * (Math.floor(i / across) + 0.5)) / down;
    const radius = Math.max(Math.min(room, 6), room * Math.sqrt(point.contexts / most));
    return circle(point.literal, x, y, radius);
  });
}

function describe(grid, literals, r, c, points) {
  const told = points.map(
    (p) => `${wordOf(literals, p.literal)} in ${plural(p.contexts, "context")}, contributing ${score(p.contribution)}`,
  );
  const where = `IDF share ${grid.rows[r]}, distance ${grid.columns[c]}`;
  return `${where}: weight ${score(grid.values[r][c])}. ${told.length ? told.join("; ") + "." : "No match."}`;
}

function axes(grid, box, width, ground, columns) {
  const short = (label) => label.replace(" to ", "–").replace("overlap", "in name").replace("anywhere", "any");
  const left = grid.rows.map((label, r) => {
    const b = box(r, 0);
    return svg(
      "text",
      { class: "axis", x: LABELS - 8, y: b.y + b.h / 2, dy: "0.35em", "text-anchor": "end" },
      short(label),
    );
  });
  const first = box(0, 0);
  const every = first.w < 17 ? 2 : 1;
  const below = grid.columns.map((label, c) => {
    if ((columns - 1 - c) % every) return null;
    const b = box(0, c);
    const x = b.x + b.w / 2 + 3;
    const y = b.y + b.h + 10;
    return svg("text", { class: "axis", x, y, "text-anchor": "end", transform: `rotate(-42 ${x} ${y})` }, short(label));
  });
  const bottom = ground + BELOW + 14;
  return [
    svg("g", { "aria-hidden": "true" }, left, below),
    svg(
      "text",
      { class: "axis-title", x: width - 2, y: bottom, "text-anchor": "end", "aria-hidden": "true" },
      "nearer to the name →",
    ),
    svg(
      "text",
      { class: "axis-title", transform: `translate(10 ${ground - 2}) rotate(-90)`, "aria-hidden": "true" },
      "rarer word →",
    ),
  ];
}

/** Arrow keys move among the cells; one of them is in the order of Tab. */
function navigate(drawing, cells, columns, readout) {
  let at = Math.max(
    0,
    cells.findIndex((cell) => cell.element.querySelector(".point")),
  );
  const tell = (i) => (readout.textContent = cells[i].text);
  const go = (i) => {
    if (i < 0 || i >= cells.length) return;
    cells[at].element.setAttribute("tabindex", "-1");
    at = i;
    cells[at].element.setAttribute("tabindex", "0");
    cells[at].element.focus();
  };
  if (cells.length === 0) return;
  cells[at].element.setAttribute("tabindex", "0");
  const steps = {
    ArrowRight: () => at % columns < columns - 1 && go(at + 1),
    ArrowLeft: () => at % columns > 0 && go(at - 1),
    ArrowDown: () => go(at + columns),
    ArrowUp: () => go(at - columns),
    Home: () => go(at - (at % columns)),
    End: () => go(at - (at % columns) + columns - 1),
  };
  drawing.addEventListener("keydown", (event) => {
    if (!steps[event.key]) return;
    event.preventDefault();
    steps[event.key]();
  });
  cells.forEach((cell, i) => {
    cell.element.addEventListener("focus", () => tell(i));
    cell.element.addEventListener("pointerenter", () => tell(i));
  });
  drawing.addEventListener("pointerleave", () => (readout.textContent = HELP));
}

function weightScale(grid) {
  const values = grid.values.flat();
  const low = Math.min(0, ...values);
  const strip = h("span", { class: "plane-scale", "aria-hidden": "true" });
  return h("p", { class: "plane-key small muted" }, "weight ", score(low), strip, score(Math.max(...values)));
}

function pointsTable(grid, literals) {
  const ordered = [...grid.points].sort((a, b) => b.contribution - a.contribution);
  const rows = ordered.map((p) => [
    wordOf(literals, p.literal),
    grid.rows[p.row],
    grid.columns[p.column],
    score(grid.values[p.row]?.[p.column]),
    String(p.contexts),
    score(p.contribution),
  ]);
  return tableBehind(
    "Matches of this entity, by cell",
    ["Word", "IDF share", "Distance", "Weight", "Contexts", "Contribution"],
    rows,
    3,
  );
}
