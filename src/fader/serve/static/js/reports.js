// The reports that are served, as a list. Knows nothing of what one holds.

import { get } from "./api.js";
import { announce, data, h, number, plural } from "./dom.js";
import { exportLinks } from "./export.js";
import { empty, load } from "./states.js";

export async function renderReports(root, context) {
  const place = h("div", { class: "reports-place" });
  root.append(
    h("h1", { class: "page-title", text: "Reports" }),
    h("p", {
      class: "lead",
      text: "Comparisons of systems on judged queries: means, significance, and every query to look into.",
    }),
    place,
  );
  await load(place, () => get("/v1/reports", {}, { signal: context.signal }), list);
}

function list({ reports }) {
  announce(plural(reports.length, "report"));
  if (!reports.length) {
    const command = "fader compare INDEX --queries FILE --qrels FILE --systems count,voting -o REPORT";
    return empty(
      "No report is served",
      [],
      [
        ["Write one: ", h("code", { text: command })],
        ["Start the service with it: ", h("code", { text: "fader serve INDEX --report REPORT" })],
      ],
    );
  }
  return [
    h(
      "ul",
      { class: "reports-list" },
      reports.map((report) => h("li", { class: "card reports-item" }, report.error ? damaged(report) : item(report))),
    ),
    exportLinks({ path: "/v1/reports", name: "reports", csv: () => rows(reports) }),
  ];
}

function item(report) {
  const address = `/reports/${encodeURIComponent(report.name)}`;
  return [
    h("h2", { class: "reports-title" }, h("a", { href: address }, data(report.title || report.name, 160))),
    h(
      "p",
      { class: "reports-facts muted small tabular" },
      [
        plural(report.systems, "system"),
        plural(report.queries, "query", "queries"),
        report.index && data(report.index, 60),
        day(report.time),
      ]
        .filter(Boolean)
        .map((fact) => h("span", {}, fact)),
    ),
    report.best &&
      h(
        "p",
        { class: "reports-best" },
        `Best ${report.best.measure}: `,
        h("strong", { class: "tabular", text: report.best.mean.toFixed(3) }),
        " by ",
        data(report.best.title, 120),
      ),
  ];
}

function damaged(report) {
  return [
    h("h2", { class: "reports-title" }, data(report.name, 160)),
    h("p", { class: "muted" }, data(report.error, 400)),
  ];
}

/** A day as people write it. */
export function day(time) {
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? ""
    : date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric" });
}

function rows(reports) {
  const heads = ["name", "title", "index", "systems", "queries", "measures", "time", "best", "mean"];
  const cells = (r) => [
    r.name,
    r.title,
    r.index,
    r.systems,
    r.queries,
    (r.measures ?? []).join(" "),
    r.time,
    r.best?.system,
    r.best?.mean,
  ];
  return [heads, ...reports.map(cells)];
}
