// A table of rows that can be sorted by its heads and leafed through.
//
// A column is {key, title, kind: "num" | "text", value: row => what to sort by, cell: row => node or text, first: "-"
// where the largest comes first, heads: true where it names its row, wide: true where it may take the room that is
// left, fixed: true where it is no order, hint}. An order is written as in an address: "AP" or "-AP". Rows without a value come last in every order.
// Knows nothing of what the rows are.

import { announce, button, fill, h, number } from "./dom.js";

/**
 * The table with its pager: {element, show(rows)}. `onChange({sort, page})` is told what is shown now.
 */
export function sortable({
  caption,
  columns,
  rows,
  sort = "",
  page = 1,
  size = Infinity,
  onChange = () => {},
  className = "",
}) {
  const state = { rows, sort: orderOf(sort, columns), page };
  const heads = columns.map((column) => head(column, () => turn(column)));
  const body = h("tbody");
  const table = h(
    "table",
    { class: `table ${className}` },
    h("caption", { class: "sr-only" }, caption),
    h("thead", {}, h("tr", {}, heads)),
    body,
  );
  const scroll = h("div", { class: "table-scroll", role: "region", "aria-label": caption, tabindex: "0" }, table);
  const foot = h("nav", { class: "pager row wrap", "aria-label": `Pages: ${caption}` });
  const element = h("div", { class: "sortable" }, scroll, foot);

  function turn(column) {
    const current = state.sort;
    const down = current.column === column ? !current.down : column.first === "-";
    state.sort = { column, down };
    state.page = 1;
    draw();
    announce(`Sorted by ${column.title}, ${down ? "descending" : "ascending"}`);
    told();
  }

  function leaf(to) {
    state.page = to;
    draw();
    scroll.focus({ preventScroll: true });
    scroll.scrollIntoView({ block: "start" });
    announce(`Page ${to} of ${pages()}`);
    told();
  }

  function told() {
    const { column, down } = state.sort;
    onChange({ sort: column ? `${down ? "-" : ""}${column.key}` : "", page: state.page });
  }

  function pages() {
    return Math.max(1, Math.ceil(state.rows.length / size));
  }

  function draw() {
    const { column, down } = state.sort;
    columns.forEach((each, i) => mark(heads[i], each === column ? (down ? "descending" : "ascending") : null));
    state.page = Math.min(Math.max(1, state.page), pages());
    const from = (state.page - 1) * (Number.isFinite(size) ? size : 0);
    fill(
      body,
      sorted(state.rows, column, down)
        .slice(from, from + size)
        .map((row) => line(row, columns)),
    );
    fill(
      foot,
      pages() > 1
        ? pager(state.page, pages(), from, Math.min(from + size, state.rows.length), state.rows.length, leaf)
        : [],
    );
  }

  draw();
  return {
    element,
    show(newRows) {
      state.rows = newRows;
      state.page = 1;
      draw();
      told();
    },
  };
}

function orderOf(sort, columns) {
  const down = sort.startsWith("-");
  const column = columns.find((each) => each.key === sort.replace(/^-/, "")) ?? null;
  return { column, down };
}

/** Rows in the order of a column; equal ones stay in the order they have. */
export function sorted(rows, column, down) {
  if (!column) return rows;
  const sign = down ? -1 : 1;
  const keyed = rows.map((row) => [column.value(row), row]);
  const compare = ([x], [y]) => {
    const missing = (x === null || x === undefined) - (y === null || y === undefined);
    if (missing || x === y) return missing;
    if (typeof x === "string") return sign * x.localeCompare(y, undefined, { numeric: true });
    return sign * (x - y);
  };
  return keyed.sort(compare).map(([, row]) => row);
}

function head(column, onClick) {
  if (column.fixed) return h("th", { scope: "col", class: kinds(column), text: column.title });
  const sign = h("span", { class: "sort-sign", "aria-hidden": "true" });
  const inside = h(
    "button",
    { type: "button", class: "sort-button", title: column.hint, on: { click: onClick } },
    column.label ?? column.title,
    sign,
  );
  return h("th", { scope: "col", class: kinds(column) }, inside);
}

function mark(th, order) {
  if (!th.firstElementChild) return;
  if (order) th.setAttribute("aria-sort", order);
  else th.removeAttribute("aria-sort");
  th.querySelector(".sort-sign").textContent = order === "descending" ? "▾" : order === "ascending" ? "▴" : "";
}

function line(row, columns) {
  return h(
    "tr",
    {},
    columns.map((column) =>
      h(
        column.heads ? "th" : "td",
        { scope: column.heads ? "row" : undefined, class: kinds(column) },
        column.cell(row),
      ),
    ),
  );
}

function kinds(column) {
  return [column.kind === "num" ? "num" : "", column.wide ? "wide" : "", column.name ?? ""].join(" ").trim();
}

/** Newer, older, and where we are; `leaf(page)` goes there. */
export function pager(page, pages, from, to, total, leaf) {
  return [
    button("Previous", () => leaf(page - 1), { disabled: page <= 1 }),
    h("span", { class: "muted small tabular", text: `${number(from + 1)}–${number(to)} of ${number(total)}` }),
    button("Next", () => leaf(page + 1), { disabled: page >= pages }),
  ];
}
