// Making elements, and showing texts and numbers that come from data.
//
// Every text from data goes through `data` (or `visible`): it is cut, its control and direction-turning characters are
// made visible, and it stands in a <bdi>, so that it cannot turn what stands around it. Nothing here parses HTML.
// Knows nothing of the service.

const SVG = "http://www.w3.org/2000/svg";

/** An element: `attrs`, `on` (listeners), `class`, `dataset` and `text` are understood, all else is an attribute. */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  const { attrs = {}, on = {}, class: names, dataset = {}, text, ...rest } = props ?? {};
  if (names) element.className = names;
  for (const [name, value] of Object.entries({ ...attrs, ...rest })) setAttribute(element, name, value);
  for (const [name, listener] of Object.entries(on)) element.addEventListener(name, listener);
  for (const [name, value] of Object.entries(dataset)) element.dataset[name] = value;
  if (text !== undefined && text !== null) element.textContent = text;
  element.append(...nodes(children));
  return element;
}

/** An SVG element; attribute `class` included. */
export function svg(tag, attrs = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attrs ?? {})) setAttribute(element, name, value);
  element.append(...nodes(children));
  return element;
}

function setAttribute(element, name, value) {
  if (value === undefined || value === null || value === false) return;
  element.setAttribute(name, value === true ? "" : String(value));
}

function nodes(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

/** Put children in the place of all that an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...nodes(children));
  return element;
}

const PICTURES = {
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14Zm5 12 5 5",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1m2 4a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  down: "m6 9 6 6 6-6",
  right: "m9 6 6 6-6 6",
  close: "M6 6l12 12M18 6 6 18",
  check: "m5 13 4 4L19 7",
  out: "M9 5H5v14h14v-4M13 5h6v6M19 5l-9 9",
  warning: "M12 4 2.8 20h18.4L12 4Zm0 6v5m0 2.2v.3",
};

/** A small line drawing beside a label; decoration for screen readers. */
export function icon(name) {
  const drawing = svg("path", { d: PICTURES[name] });
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true", focusable: "false" }, drawing);
}

/** A button that does something here (what leads elsewhere is a link). */
export function button(label, onClick, props = {}) {
  const { class: names = "button", picture, ...rest } = props;
  return h(
    "button",
    { type: "button", class: names, on: { click: onClick }, ...rest },
    picture && icon(picture),
    label,
  );
}

const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

// More marks on one letter than any script has: they can be broken nowhere, and would be drawn over all around them.
const HEAPED = /(\p{M}{8})\p{M}+/gu;
// Wide blanks in a row hang over the end of a line, and make the page wider than the screen.
const BLANKS = /(\p{Zs}{2})\p{Zs}+/gu;

/** A text from data with control and direction-turning characters shown as code points, and no heaps of marks or blanks. */
export function visible(text) {
  const bare = String(text ?? "")
    .replace(HEAPED, "$1…")
    .replace(BLANKS, "$1");
  return bare.replace(HIDDEN, (c) =>
    c === "\n" || c === "\t" || c === "\r"
      ? " "
      : joins(c)
        ? c
        : `⟨U+${c.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`,
  );
}

// Joiners belong to words of many scripts and turn nothing.
function joins(character) {
  return character === "\u200c" || character === "\u200d";
}

/** A text cut to at most `limit` characters. */
export function cut(text, limit = 200) {
  const characters = Array.from(String(text ?? "").slice(0, 2 * limit + 2));
  return characters.length > limit ? characters.slice(0, limit - 1).join("") + "…" : characters.join("");
}

/** A text from data as a <bdi>, cut and made visible; what was cut can be read in its title. */
export function data(text, limit = 200, props = {}) {
  const shown = visible(cut(text, limit));
  const whole = shown.endsWith("…") && String(text).length > limit ? visible(cut(text, 2000)) : undefined;
  return h("bdi", { title: whole, ...props, text: shown });
}

/** Say something to screen readers without showing it. */
export function announce(text) {
  const region = document.getElementById("announcer");
  if (!region) return;
  region.textContent = "";
  setTimeout(() => (region.textContent = visible(text)), 50);
}

const WHOLE = new Intl.NumberFormat("en");

/** A number as people read it: 12,345; 0.25; – where there is none. */
export function number(x) {
  if (x === null || x === undefined || !Number.isFinite(Number(x))) return "–";
  return Number.isInteger(x) ? WHOLE.format(x) : score(x);
}

/** A score in four significant digits, without exponents as long as they can be avoided. */
export function score(x) {
  if (x === null || x === undefined || !Number.isFinite(Number(x))) return "–";
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size >= 1e7 || size < 1e-4) return minus(Number(x).toExponential(2));
  if (size >= 1000) return minus(WHOLE.format(Math.round(x)));
  return minus(
    Number(x)
      .toPrecision(size < 0.01 ? 2 : 4)
      .replace(/(\.\d*?)0+$/, "$1")
      .replace(/\.$/, ""),
  );
}

function minus(text) {
  return text.replace(/^-/, "−");
}

/** `1 context`, `2 contexts`. */
export function plural(n, one, many = one + "s") {
  return `${number(n)} ${n === 1 ? one : many}`;
}

let last = 0;

/** An id that no other element has. */
export function uid(prefix = "u") {
  last += 1;
  return `${prefix}-${last}`;
}
