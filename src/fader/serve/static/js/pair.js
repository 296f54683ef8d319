// Two systems of a report, query by query: which is better where, and by how much. Every query leads to the search
// page, and where both systems can be asked here, to the comparison of its two answers.
//
// In the address: a, b (systems), measure, sort, page, show (all, better, worse, differ), find (a text to filter by).
// Knows the report as /v1/reports/{name} tells it and the pair as /v1/reports/{name}/pair does.

import { get } from "./api.js";
import { announce, cut, data, fill, h, icon, number, plural, uid, visible } from "./dom.js";
import { exportLinks } from "./export.js";
import { pText } from "./means.js";
import { sortable } from "./sortable.js";
import { load } from "./states.js";
import * as url from "./url.js";

const SIZE = 50;
const SHOWN = new Map([
  ["all", { text: "all queries", has: () => true }],
  ["better", { text: "A is better", has: (gain) => gain > 0 }],
  ["worse", { text: "B is better", has: (gain) => gain < 0 }],
  ["differ", { text: "they differ", has: (gain) => gain !== 0 }],
]);
const OWN = ["a", "b", "measure", "sort", "page", "show", "find"];

export function pairSection(report, params, context) {
  const chosen = Object.fromEntries(OWN.map((key) => [key, params[key] ?? ""]));
  const place = h("div", { class: "pair-place" });
  const boxes = controls(report, chosen, () => draw());

  function note(changes) {
    Object.assign(chosen, changes);
    url.replace({ ...url.read().params, ...chosen });
  }

  function draw() {
    note({ ...boxes.value(), page: "", find: chosen.find, show: chosen.show });
    return fetched();
  }

  function fetched() {
    const { a, b, measure } = chosen;
    const path = `/v1/reports/${encodeURIComponent(report.name)}/pair`;
    const asked = { a, b, measure };
    return load(
      place,
      () => get(path, asked, { signal: context.signal }),
      (pair) => {
        boxes.set(pair);
        announce(
          `${pair.title}: A better on ${pair.better}, B better on ${pair.worse}, the same on ${pair.same} queries`,
        );
        return [
          summary(pair),
          list(report, pair, chosen, note, context),
          exportLinks({ path, params: asked, name: "differences" }),
        ];
      },
    );
  }

  fetched();
  return h(
    "section",
    { class: "report-section pair" },
    h("h2", { id: "queries", tabindex: "-1", text: "Query by query" }),
    h("p", { class: "muted", text: "Choose two systems and a measure. A query opens in the search page." }),
    boxes.element,
    place,
  );
}

function controls(report, chosen, onChange) {
  const systems = report.systems.map((s) => [s.name, s.title]);
  const a = choice("System A", systems, chosen.a, onChange, "is-a");
  const b = choice("System B", systems, chosen.b, onChange, "is-b");
  const measures = report.table.columns.map((c) => [c.measure, c.title]);
  const measure = choice("Measure", measures, chosen.measure, onChange);
  return {
    element: h("div", { class: "pair-controls" }, a.element, b.element, measure.element),
    value: () => ({ a: a.value(), b: b.value(), measure: measure.value() }),
    set(pair) {
      a.set(pair.a.system);
      b.set(pair.b.system);
      measure.set(pair.measure);
    },
  };
}

function choice(label, options, value, onChange, name = "") {
  const id = uid("pair");
  const select = h(
    "select",
    { id, class: "select small", on: { change: onChange } },
    options.map(([key, text]) => h("option", { value: key, text: visible(cut(text, 90)) })),
  );
  const set = (wanted) => (select.value = wanted);
  set(value);
  return {
    element: h("div", { class: `field ${name}` }, h("label", { class: "label", for: id, text: label }), select),
    value: () => select.value,
    set,
  };
}

/** Wins, ties and losses as one bar, and what the test says. */
function summary(pair) {
  const parts = [
    ["is-a", pair.better, "A better"],
    ["is-same", pair.same, "the same"],
    ["is-b", pair.worse, "B better"],
  ];
  const bar = h("div", { class: "pair-bar", "aria-hidden": "true" });
  for (const [name, count] of parts) {
    const piece = h("span", { class: name });
    piece.style.setProperty("flex-grow", count);
    if (count) bar.append(piece);
  }
  const significant = pair.p !== null && pair.p < pair.level;
  return h(
    "div",
    { class: "pair-summary" },
    bar,
    h(
      "ul",
      { class: "pair-counts tabular" },
      parts.map(([name, count, text]) => h("li", { class: name }, h("strong", { text: number(count) }), ` ${text}`)),
    ),
    h(
      "dl",
      { class: "pair-numbers tabular" },
      fact(`A ${pair.title}`, number3(pair.a.mean)),
      fact(`B ${pair.title}`, number3(pair.b.mean)),
      fact("Difference", signed(pair.difference)),
      fact(
        `p (${pair.test === "t" ? "t-test" : pair.test})`,
        pText(pair.p),
        pair.p === null ? "" : significant ? "significant" : "may be chance",
      ),
    ),
    pair.undefined > 0 &&
      h("p", {
        class: "small muted",
        text: `${plural(pair.undefined, "query", "queries")} without a value of both are left out.`,
      }),
  );
}

function fact(name, value, remark = "") {
  return h(
    "div",
    {},
    h("dt", { class: "small muted", text: name }),
    h("dd", {}, value, remark && h("span", { class: "small muted", text: ` ${remark}` })),
  );
}

function list(report, pair, chosen, note, context) {
  const asked = asking(report, pair, context);
  const scale = Math.max(...pair.queries.map((q) => Math.abs(q.difference)), 1e-12);
  const { element, show } = sortable({
    caption: `${pair.measure} of two systems by query`,
    columns: columns(pair, asked, scale),
    rows: filtered(pair, chosen),
    sort: chosen.sort,
    page: Number.parseInt(chosen.page, 10) || 1,
    size: SIZE,
    className: "pair-table",
    onChange: ({ sort, page }) => note({ sort, page: page > 1 ? String(page) : "" }),
  });
  const count = h("p", { class: "small muted", role: "status" });
  const said = (rows) =>
    fill(
      count,
      rows.length === pair.queries.length
        ? ""
        : `${plural(rows.length, "query", "queries")} of ${number(pair.queries.length)}`,
    );
  const again = () => {
    note({ show: showing.value === "all" ? "" : showing.value, find: find.value.trim(), page: "" });
    const rows = filtered(pair, chosen);
    show(rows);
    said(rows);
  };
  const find = h("input", {
    id: uid("find"),
    class: "input small",
    type: "search",
    placeholder: "text, type or id",
    value: chosen.find,
    maxlength: 200,
    on: { input: again },
  });
  const showing = h(
    "select",
    { id: uid("show"), class: "select small", on: { change: again } },
    [...SHOWN].map(([value, { text }]) => h("option", { value, text })),
  );
  showing.value = SHOWN.has(chosen.show) ? chosen.show : "all";
  said(filtered(pair, chosen));
  return h(
    "div",
    { class: "pair-list" },
    h(
      "div",
      { class: "pair-filter" },
      h("div", { class: "field" }, h("label", { class: "label", for: find.id, text: "Find queries" }), find),
      h("div", { class: "field" }, h("label", { class: "label", for: showing.id, text: "Show" }), showing),
    ),
    asked.remark && h("p", { class: "small muted" }, asked.remark),
    count,
    element,
  );
}

function filtered(pair, { show, find }) {
  const gain = (q) => (pair.smaller_is_better ? -q.difference : q.difference);
  const { has } = SHOWN.get(show) ?? SHOWN.get("all");
  const words = (find ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const finds = (q) => words.every((word) => `${q.query} ${q.text} ${q.type ?? ""}`.toLowerCase().includes(word));
  return pair.queries.filter((q) => has(gain(q)) && finds(q));
}

function columns(pair, asked, scale) {
  const value = (key, title, label, name) => ({
    key,
    title,
    label,
    name,
    kind: "num",
    first: "-",
    value: (q) => q[key],
    cell: (q) => number3(q[key]),
  });
  const some = (key) => pair.queries.some((q) => q[key] !== null);
  return [
    {
      key: "query",
      title: "Query",
      heads: true,
      wide: true,
      value: (q) => q.text || q.query,
      cell: (q) => queryCell(q, asked),
    },
    some("type") && {
      key: "type",
      title: "Type",
      name: "pair-type",
      value: (q) => q.type,
      cell: (q) => (q.type ? data(q.type, 60) : "–"),
    },
    value("a", "A", h("abbr", { class: "pair-letter is-a", title: visible(pair.a.title), text: "A" })),
    value("b", "B", h("abbr", { class: "pair-letter is-b", title: visible(pair.b.title), text: "B" })),
    {
      key: "difference",
      title: "Difference",
      kind: "num",
      first: "-",
      value: (q) => q.difference,
      cell: (q) => differenceCell(pair, q, scale),
    },
    some("candidates") && {
      key: "candidates",
      title: "Candidates",
      kind: "num",
      first: "-",
      value: (q) => q.candidates,
      cell: (q) => number(q.candidates),
    },
    asked.pair && { key: "compare", title: "Both answers", fixed: true, cell: (q) => q.text && compareLink(q, asked) },
  ].filter(Boolean);
}

function queryCell(q, asked) {
  const text = q.text ? h("a", { href: asked.search(q) }, data(q.text, 160)) : null;
  return [
    text ?? data(q.query, 80),
    text &&
      h(
        "div",
        { class: "small muted" },
        data(q.query, 80),
        q.type && h("span", { class: "pair-type-inside" }, " · ", data(q.type, 60)),
      ),
  ];
}

function compareLink(q, asked) {
  return h(
    "a",
    {
      class: "pair-compare",
      href: asked.compare(q),
      "aria-label": visible(`Compare the answers of both systems to ${cut(q.text, 80)}`),
    },
    "compare",
    icon("right"),
  );
}

function differenceCell(pair, q, scale) {
  const bar = h("span", { class: `pair-diff ${q.difference > 0 ? "is-up" : "is-down"}`, "aria-hidden": "true" });
  bar.style.setProperty("--share", Math.abs(q.difference) / scale);
  const gain = pair.smaller_is_better ? -q.difference : q.difference;
  return h(
    "span",
    { class: gain > 0 ? "pair-change is-a" : gain < 0 ? "pair-change is-b" : "pair-change" },
    signed(q.difference),
    bar,
  );
}

function number3(x) {
  return x === null ? "–" : x.toFixed(3).replace("-", "−");
}

function signed(x) {
  if (x === null) return "–";
  const text = x.toFixed(3);
  return Number(text) === 0 ? "0.000" : (x > 0 ? "+" : "") + text.replace("-", "−");
}

// Where a query leads

/** How queries of the report can be asked here: on which index, and by which systems. */
function asking(report, pair, context) {
  const [first] = context.stats.indexes;
  const served = indexOf(report, context.stats.indexes);
  const index = served && served !== first ? served.name : "";
  const runs = new Map(report.systems.map((s) => [s.name, runnable(s.runs, context.systems)]));
  const [a, b] = [pair.a, pair.b].map(({ system }) => runs.get(system) ?? null);
  const model = a ?? b ?? "";
  return {
    pair: a !== null && b !== null && a !== b,
    search: (q) => url.link("/", { q: q.text, type: q.type, model, index }),
    compare: (q) => url.link("/compare", { q: q.text, type: q.type, a, b, index }),
    remark: remarks(report, pair, served, first.name),
  };
}

/** The served index that the report was made on: one with the same counts, or else of the same name. */
function indexOf({ index, provenance }, served) {
  const counts = ["documents", "tokens", "mentions"];
  const same = (each) => counts.every((key) => provenance[key] === each[key]);
  return (
    served.find((each) => each.name === index && same(each)) ??
    served.find(same) ??
    served.find((each) => each.name === index)
  );
}

function remarks(report, pair, served, first) {
  const said = [];
  if (!served)
    said.push([
      "The report was made on the index ",
      data(report.index ?? "?", 60),
      ", which is not served here: queries are asked of ",
      data(first, 60),
      ". ",
    ]);
  if (pair.queries.every((q) => q.type === null))
    said.push("The report does not say the answer types of its queries. ");
  return said.length ? said : null;
}

/** The name under which a system can be asked here, or null: a served model, or a system that needs no training. */
function runnable(runs, { models, systems }) {
  const model = models.find((each) => each.title === runs || each.name === runs);
  if (model) return model.name;
  const system = systems.find((each) => each.name === runs.split(/[([]/)[0]);
  return system && !system.trained && !/[|[]/.test(runs) ? runs : null;
}
