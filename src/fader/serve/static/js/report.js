// One report in the service's design: the result in a sentence, means, two systems query by query, tests, figures,
// systems, files. Its parts with a life of their own are means.js and pair.js. What is chosen is in the address: `by`
// (order of the means), and what pair.js puts there.
//
// Knows a report as /v1/reports/{name}?values=false tells it.

import * as api from "./api.js";
import { announce, cut, data, h, number, plural, visible } from "./dom.js";
import { exportLinks, served } from "./export.js";
import { meansSection, testsSection } from "./means.js";
import { pairSection } from "./pair.js";
import { day, renderReports } from "./reports.js";
import { sortable } from "./sortable.js";
import { load } from "./states.js";

export async function render(root, params, context) {
  const name = nameIn(context.path);
  if (!name) return renderReports(root, context);
  const place = h("div", { class: "report" });
  const title = h("h1", { class: "sr-only", text: "Report" });
  root.append(title, place);
  const work = () =>
    api.get(`/v1/reports/${encodeURIComponent(name)}`, { values: "false" }, { signal: context.signal });
  await load(place, work, (report) => (title.remove(), show(report, params, context)), {
    links: () => [h("a", { class: "button", href: "/reports", text: "All reports" })],
  });
}

function nameIn(path) {
  const part = path.split("/")[2] ?? "";
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function show(report, params, context) {
  document.title = `${cut(visible(report.title), 80)} · Fader`;
  announce(`Report ${report.title}: ${plural(report.systems.length, "system")}`);
  return [
    head(report),
    contents(report),
    meansSection(report, params),
    report.systems.length > 1 && pairSection(report, params, context),
    testsSection(report),
    figures(report),
    systems(report),
    files(report),
  ];
}

function head(report) {
  return h(
    "header",
    { class: "report-head" },
    h("p", { class: "small" }, h("a", { href: "/reports", text: "Reports" })),
    h("h1", { class: "page-title" }, data(report.title, 200)),
    h("p", { class: "lead" }, lead(report)),
    h("p", { class: "small muted" }, [
      report.index && ["Index ", data(report.index, 60), ", "],
      "written ",
      day(report.time),
    ]),
    provenance(report),
  );
}

/** The result in a sentence. */
function lead(report) {
  const [column] = report.table.columns;
  const best = report.table.rows.find((row) => row.name === column.against);
  const counts = `${plural(report.systems.length, "system")} on ${plural(report.queries, "query", "queries")}.`;
  if (!best) return counts;
  const behind = report.table.rows.filter((row) => row.cells[0].worse).length;
  const verdict = column.tested ? `, ${better(behind, report.table.rows.length - 1)}` : "";
  return [
    `${counts} Best ${column.title}: `,
    data(best.title, 120),
    ` with ${best.cells[0].mean.toFixed(report.table.digits)}${verdict}.`,
  ];
}

/** How many of the others the best is significantly better than. */
function better(behind, others) {
  if (others === 1) return behind ? "significantly better than the other" : "not significantly better than the other";
  if (behind === 0) return "significantly better than none of the others";
  if (behind === others) return `significantly better than ${others === 2 ? "both" : `all ${number(others)}`} others`;
  return `significantly better than ${number(behind)} of the ${number(others)} others`;
}

function provenance(report) {
  const items = Object.entries(report.made_by).map(([key, value]) => [
    h("dt", {}, data(key, 60)),
    h("dd", {}, data(value, 2000)),
  ]);
  return h(
    "details",
    { class: "report-made" },
    h("summary", { text: "What made it" }),
    h("dl", { class: "report-facts" }, items),
  );
}

function contents(report) {
  const places = [
    ["means", "Means"],
    report.systems.length > 1 && ["queries", "Query by query"],
    report.table.columns.some((column) => column.tested) && ["significance", "Significance"],
    report.figures.length && ["figures", "Figures"],
    ["systems", "Systems"],
    ["files", "Files"],
  ].filter(Boolean);
  const jump = (id) => (event) => {
    event.preventDefault();
    const target = document.getElementById(id);
    target?.scrollIntoView({ block: "start" });
    target?.focus({ preventScroll: true });
  };
  const items = places.map(([id, text]) =>
    h("li", {}, h("a", { class: "chip", href: `#${id}`, on: { click: jump(id) }, text })),
  );
  return h("nav", { class: "report-contents", "aria-label": "On this page" }, h("ul", { class: "chips" }, items));
}

/** A heading that can be jumped to. */
export function heading(id, text) {
  return h("h2", { id, tabindex: "-1", text });
}

// Figures

function figures(report) {
  if (!report.figures.length) return null;
  return h(
    "section",
    { class: "report-section" },
    heading("figures", "Figures"),
    h(
      "div",
      { class: "report-figures" },
      report.figures.map((figure) => drawing(report, figure)),
    ),
  );
}

function drawing(report, figure) {
  const path = fileOf(report, figure.file);
  const alt = visible(`${figure.title}. ${cut(figure.caption, 400)}`);
  const pictures = ["light", "dark"].map((theme) => {
    const image = h("img", { class: `only-${theme}`, alt, loading: "lazy", decoding: "async" });
    source(image, path, theme);
    return image;
  });
  return h(
    "figure",
    { class: "report-figure" },
    pictures,
    h(
      "figcaption",
      { class: "small muted" },
      h("strong", { class: "report-figure-title" }, data(figure.title, 160), "."),
      figure.caption && [" ", data(figure.caption, 1200)],
    ),
  );
}

/** An image cannot send a key: where one is in use its bytes are asked for and put into the address. */
function source(image, path, theme) {
  if (!api.hasKey()) image.src = api.address(path, { theme });
  else api.text(path, { theme }).then((text) => (image.src = `data:image/svg+xml,${encodeURIComponent(text)}`));
}

function fileOf(report, file) {
  return `/v1/reports/${encodeURIComponent(report.name)}/files/${file}`;
}

// Systems and files

function systems(report) {
  const columns = [
    { key: "title", title: "System", heads: true, wide: true, value: (s) => s.title, cell: (s) => data(s.title, 120) },
    { key: "name", title: "Name and remarks", value: (s) => s.name, cell: nameCell },
    {
      key: "folds",
      title: "Folds",
      kind: "num",
      first: "-",
      value: (s) => s.folds || null,
      cell: (s) => (s.folds ? number(s.folds) : "–"),
    },
    {
      key: "seconds",
      title: "Seconds",
      kind: "num",
      first: "-",
      value: (s) => s.seconds || null,
      cell: (s) => (s.seconds ? seconds(s.seconds) : "–"),
    },
    { key: "chosen", title: "Chosen parameters", value: (s) => s.chosen[0]?.settings ?? null, cell: chosenCell },
  ];
  const { element } = sortable({ caption: "Systems", columns, rows: report.systems, className: "report-systems" });
  return h("section", { class: "report-section" }, heading("systems", "Systems"), element);
}

function nameCell(system) {
  return [
    h("code", {}, data(system.name, 300)),
    system.notes.map((note) => h("div", { class: "small muted" }, data(note, 200))),
  ];
}

function chosenCell(system) {
  if (!system.chosen.length) return "–";
  const shown = system.chosen
    .slice(0, 3)
    .map(({ settings, folds }) => h("li", {}, h("code", {}, data(settings, 200)), folds > 1 && ` × ${number(folds)}`));
  const left = system.chosen.length - 3;
  return h(
    "ul",
    { class: "report-chosen small" },
    shown,
    left > 0 && h("li", { class: "muted", text: `and ${left} more` }),
  );
}

function seconds(x) {
  return x < 10 ? x.toFixed(1) : number(Math.round(x));
}

function files(report) {
  const items = report.files
    .filter(({ file }) => !file.startsWith("figures/"))
    .map(({ file, bytes, about }) =>
      h(
        "li",
        {},
        served(file, fileOf(report, file), {}, file, { class: "report-file" }),
        h("span", { class: "muted small" }, `${about} (${size(bytes)})`),
      ),
    );
  return h(
    "section",
    { class: "report-section" },
    heading("files", "Files"),
    h("ul", { class: "report-files" }, items),
    exportLinks({ path: `/v1/reports/${encodeURIComponent(report.name)}`, name: "report", csv: false }),
  );
}

function size(bytes) {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
