// What the figures of an explanation share: the plane of perplexity and proximity has rare words above and near ones to
// the right, and each literal has a letter and a hue.
//
// Knows nothing of grids and weights.

import { button, cut, fill, h, svg, uid, visible } from "./dom.js";

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** The letter of a literal, by its number in the query. */
export function letter(i) {
  return LETTERS[i % LETTERS.length];
}

/** A small circle with the letter of a literal, as in the plane. */
export function badge(i) {
  return h("span", { class: `badge hue-${i % 6}`, "aria-hidden": "true", text: letter(i) });
}

/** The text of a literal, for labels. */
export function wordOf(literals, i) {
  return visible(cut(literals[i]?.text, 60));
}

/** How to read the plane. */
export const READING =
  "A circle is a word of the query: further right it stands nearer to the name, further up it is the rarer word.";

/** The title of a figure and how to read it. */
export function caption(title, reading) {
  return h(
    "figcaption",
    {},
    h("p", { class: "figure-title", text: title }),
    h("p", { class: "figure-reading small muted", text: reading }),
  );
}

/** A place for a drawing that is made anew, by `draw(width)`, when it gets wider or narrower. */
export function redrawn(draw) {
  const place = h("div", { class: "plane" });
  let width = 0;
  const watcher = new ResizeObserver(([entry]) => {
    const now = Math.floor(entry.contentRect.width);
    if (now < 40 || now === width) return;
    width = now;
    fill(place, draw(width));
  });
  watcher.observe(place);
  return place;
}

/** The circle of a literal, with its letter where there is room. */
export function circle(literal, x, y, radius) {
  const round = svg("circle", { cx: x, cy: y, r: radius });
  const name =
    radius >= 5.5 &&
    svg(
      "text",
      { x, y, dy: "0.35em", "text-anchor": "middle", "font-size": Math.min(12, radius * 1.35) },
      letter(literal),
    );
  return svg("g", { class: `point hue-${literal % 6}` }, round, name);
}

/** A table of numbers behind a button, for those who cannot see the figure or want it exact. */
export function tableBehind(caption, heads, rows, firstNumber) {
  return tableToggle(numbersTable(caption, heads, rows, firstNumber));
}

function numbersTable(caption, heads, rows, firstNumber) {
  const cell = (tag) => (text, i) =>
    h(tag, { class: i >= firstNumber ? "num" : "", scope: tag === "th" ? "col" : undefined }, h("bdi", { text }));
  return h(
    "div",
    { class: "table-scroll", role: "region", "aria-label": caption, tabindex: "0" },
    h(
      "table",
      { class: "table" },
      h("caption", { text: caption }),
      h("thead", {}, h("tr", {}, heads.map(cell("th")))),
      h(
        "tbody",
        {},
        rows.map((row) => h("tr", {}, row.map(cell("td")))),
      ),
    ),
  );
}

function tableToggle(table) {
  const id = uid("table");
  const holder = h("div", { id, hidden: true }, table);
  const toggle = button(
    "Show as a table",
    () => {
      holder.hidden = !holder.hidden;
      toggle.setAttribute("aria-expanded", String(!holder.hidden));
      toggle.textContent = holder.hidden ? "Show as a table" : "Hide the table";
    },
    { class: "button quiet small", "aria-expanded": "false", "aria-controls": id },
  );
  return h("div", { class: "figure-table" }, toggle, holder);
}
