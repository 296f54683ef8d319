// The table of means of a report, and the p-values behind its marks. Knows the table as the service tells it.

import { data, h, visible } from "./dom.js";
import { exportLinks } from "./export.js";
import { sortable } from "./sortable.js";
import * as url from "./url.js";

export function meansSection(report, params) {
  const { table } = report;
  const columns = [
    systemColumn((row) => data(row.title, 120, { title: visible(row.name) })),
    ...table.columns.map((column, i) => measureColumn(table, column, i)),
  ];
  const { element } = sortable({
    caption: "Means by system and measure",
    columns,
    rows: table.rows,
    sort: params.by ?? "",
    className: "report-means",
    onChange: ({ sort }) => url.replace({ ...url.read().params, by: sort }),
  });
  const rows = () => [
    ["system", "title", ...table.columns.map((c) => c.title)],
    ...table.rows.map((row) => [row.name, row.title, ...row.cells.map((c) => c.mean)]),
  ];
  return h(
    "section",
    { class: "report-section" },
    h("h2", { id: "means", tabindex: "-1", text: "Means" }),
    element,
    h("p", { class: "small muted", text: table.legend + partly(table) }),
    exportLinks({ csv: rows, name: "means" }),
  );
}

function systemColumn(cell) {
  return { key: "system", title: "System", heads: true, wide: true, value: (row) => row.title, cell };
}

function measureColumn(table, column, i) {
  const means = table.rows.map((row) => row.cells[i].mean).filter((mean) => mean !== null);
  const range = [Math.min(...means), Math.max(...means)];
  return {
    key: column.measure,
    title: column.title,
    label: column.smaller_is_better ? `${column.title} ↓` : column.title,
    hint: column.smaller_is_better ? "smaller is better" : "larger is better",
    kind: "num",
    first: column.smaller_is_better ? "" : "-",
    value: (row) => row.cells[i].mean,
    cell: (row) => meanCell(table, column, row.cells[i], i === 0 ? range : null),
  };
}

function meanCell(table, column, cell, range) {
  if (cell.mean === null) return "–";
  const text = cell.mean.toFixed(table.digits).replace("-", "−");
  const why = `significantly worse than the best, p ${pText(cell.p)}`;
  const mark = cell.worse && [
    h("span", { class: "report-worse", "aria-hidden": "true", title: why, text: "↓" }),
    h("span", { class: "sr-only", text: `, ${why}` }),
  ];
  const shown = cell.best
    ? [h("strong", { text }), h("span", { class: "sr-only", text: ", best" })]
    : h("span", { class: cell.worse ? "muted" : "", text });
  return [
    h("span", { class: "report-mean" }, shown, mark || h("span", { class: "report-worse", "aria-hidden": "true" })),
    range && bar(cell.mean, range),
  ];
}

/** From nothing to the best; a bar is a length, so it starts at 0 where all are positive. */
function bar(mean, [low, high]) {
  const from = Math.min(0, low);
  const element = h("span", { class: "bar report-bar", "aria-hidden": "true" });
  element.style.setProperty("--share", high > from ? (mean - from) / (high - from) : 0);
  return element;
}

function partly(table) {
  const [first] = table.columns;
  const fewer = table.columns
    .filter((column) => column.queries !== first.queries)
    .map((c) => `${c.title} over ${c.queries}`);
  return fewer.length ? ` Means are over ${first.queries} queries, ${fewer.join(", ")}.` : "";
}

/** p-values against the best of each column. */
export function testsSection(report) {
  const { table } = report;
  if (!table.columns.some((column) => column.tested)) return null;
  const columns = [
    systemColumn((row) => data(row.title, 120)),
    ...table.columns.map((column, i) => ({
      key: column.measure,
      title: column.title,
      kind: "num",
      value: (row) => row.cells[i].p,
      cell: (row) => pCell(row, column, row.cells[i].p, table.level),
    })),
  ];
  const { element } = sortable({
    caption: "p-values against the best system of each measure",
    columns,
    rows: table.rows,
  });
  const how = `${table.test}, two-sided${table.corrected ? ", Holm-corrected over the systems of a column" : ""}`;
  const rows = () => [
    ["system", ...table.columns.map((c) => `${c.title} p`)],
    ...table.rows.map((row) => [row.name, ...row.cells.map((c) => c.p)]),
  ];
  return h(
    "section",
    { class: "report-section" },
    h("h2", { id: "significance", tabindex: "-1", text: "Significance" }),
    h("p", {
      class: "small muted",
      text: `p-values of the ${how}, against the best system of each column. Bold: p < ${table.level}.`,
    }),
    h(
      "details",
      { class: "report-more" },
      h("summary", { text: "Show the p-values" }),
      element,
      exportLinks({ csv: rows, name: "p-values" }),
    ),
  );
}

function pCell(row, column, p, level) {
  if (p === null) return row.name === column.against ? h("span", { class: "muted", text: "best" }) : "–";
  return p < level ? h("strong", { text: pText(p) }) : pText(p);
}

/** A p-value for people. */
export function pText(p) {
  if (p === null || p === undefined) return "–";
  return p < 0.001 ? "<0.001" : p.toFixed(3);
}
