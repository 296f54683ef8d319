// Two systems on one query: two columns with lines between the places of an entity in both, or on a narrow screen one
// list with both ranks. In the address: q, type, a, b, k, index.
//
// `a` and `b` are what ranks, always by name, so that either can be the default; a change is told as from A to B.
// Knows the answer of /v1/compare.

import { get } from "./api.js";
import { askForm } from "./ask.js";
import { bar, scale } from "./bars.js";
import { announce, cut, data, fill, h, icon, number, plural, score, svg, uid, visible } from "./dom.js";
import { snippet } from "./evidence.js";
import { exportLinks } from "./export.js";
import { defaultName, modelField, modelTitle } from "./fields.js";
import { typeChips } from "./results.js";
import { empty, failure, withProgress } from "./states.js";
import * as url from "./url.js";

export const keeps = true;

const SNIPPETS = 2;
const OTHERS = ["voting", "balog2", "count"]; // what to set against the default, the first that there is
let view = null;

export async function render(root, params, context) {
  if (!view || view.frame.parentNode !== root) view = build(root, context);
  const named = { ...params, ...rankers(params, context.systems) };
  fit(view, named, context);
  if (!params.q) {
    document.title = "Compare · Fader";
    fill(view.output, intro(context));
    return;
  }
  url.replace(named);
  await ask(view, named, context);
  return () => view.watch?.disconnect();
}

/** A and B by their names: what the address says, else the default and what it is usually set against. */
function rankers({ a, b }, systems) {
  const standard = defaultName(systems);
  const other = (than) => OTHERS.find((name) => name !== than && systems.systems.some((s) => s.name === name));
  const first = a || (b === standard ? (other(b) ?? standard) : standard);
  return { a: first, b: b || (other(first) ?? standard) };
}

// The form

function build(root, context) {
  const made = { output: h("div", { class: "output" }), context };
  const again = () => made.form.again();
  made.a = modelField({ label: "A ranked by", named: true, onChange: again });
  made.b = modelField({ label: "B ranked by", named: true, onChange: again });
  made.a.element.classList.add("is-a");
  made.b.element.classList.add("is-b");
  made.form = askForm({
    context,
    label: "Compare two systems",
    class: "ask is-asked compare-form",
    go: "Compare",
    counts: ["10", "20", "50"],
    rankers: [made.a.element, swapButton(made), made.b.element],
    send: (asked) => url.go("/compare", { ...asked, ...chosen(made, asked.index) }),
  });
  made.frame = h(
    "div",
    { class: "compare" },
    h("h1", { class: "sr-only", text: "Compare two systems" }),
    made.form.element,
    made.output,
  );
  fill(root, made.frame);
  return made;
}

/** What ranks, for an address; another index has a default of its own. */
function chosen(made, index) {
  const { systems, index: before } = made.context;
  const name = (field) => (index !== before && field.value() === defaultName(systems) ? "" : field.value());
  return { a: name(made.a), b: name(made.b) };
}

function swapButton(made) {
  const swap = () => {
    const [a, b] = [made.a.value(), made.b.value()];
    made.a.set(b);
    made.b.set(a);
    made.form.submit();
  };
  return h(
    "button",
    {
      type: "button",
      class: "icon-button compare-swap",
      title: "Swap A and B",
      "aria-label": "Swap A and B",
      on: { click: swap },
    },
    arrows(),
  );
}

function arrows() {
  return svg(
    "svg",
    { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" },
    svg("path", { d: "M4 8h15m-4-4 4 4-4 4M20 16H5m4-4-4 4 4 4" }),
  );
}

function fit(made, params, context) {
  made.context = context;
  made.form.fit(params);
  for (const side of ["a", "b"]) {
    made[side].offer(context.systems);
    made[side].set(params[side]);
  }
}

function intro(context) {
  const systems = context.systems.systems.filter((s) => !s.trained).map((s) => s.name);
  return h(
    "div",
    { class: "compare-intro stack" },
    h("p", { class: "lead", text: "The same query to two systems: who ranks what higher, and on what evidence." }),
    h(
      "p",
      { class: "muted small" },
      "Systems that need no training: ",
      systems.map((name, i) => [i > 0 && ", ", h("code", { text: name })]),
      ". Models are those that the service was started with.",
    ),
  );
}

// The answer

function question(params) {
  return url.given({
    q: params.q,
    type: params.type,
    a: params.a,
    b: params.b,
    k: params.k,
    index: params.index,
    snippets: SNIPPETS,
  });
}

async function ask(made, params, context, tried = false) {
  const asked = question(params);
  document.title = `${visible(cut(params.q, 50))} compared · Fader`;
  made.form.query.clear();
  try {
    const budget = context.stats.limits?.time_ms ?? null;
    const versus = await withProgress(made.output, get("/v1/compare", asked, { signal: context.signal }), { budget });
    if (!context.signal.aborted) show(made, titled(versus, params, context.systems), params, asked);
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.code === "bad_query" && error.position !== null) made.form.query.complain(error.message, error.position);
    const retry = error.status === 400 || error.status === 404 ? null : () => ask(made, params, context, true);
    fill(made.output, failure(error, { retry, tried }));
  }
}

/** The answer with the names that its two models are served under. */
function titled(versus, params, systems) {
  const title = (side, i) => modelTitle(params["ab"[i]], side.model, systems);
  return { ...versus, sides: versus.sides.map((side, i) => ({ ...side, model: title(side, i) })) };
}

function show(made, versus, params, asked) {
  const k = Number(params.k ?? 10);
  const found = versus.sides.some((side) => side.results.length > 0);
  announce(found ? told(versus, k) : "Nothing found");
  if (!found) {
    const search = url.link("/", { q: params.q, type: params.type, index: params.index });
    const reasons = [...new Set(versus.sides.flatMap((side) => side.warnings))].map((text) => data(text, 400));
    return fill(
      made.output,
      empty("Nothing found", reasons, [
        ["See ", h("a", { href: search, text: "the search page" }), " for what to try with this query"],
      ]),
    );
  }
  const both = columns(versus, params, k);
  fill(
    made.output,
    h(
      "div",
      { class: "compare-top" },
      agreement(versus, k),
      exportLinks({ path: "/v1/compare", params: asked, name: "comparison" }),
    ),
    warnings(versus),
    legend(),
    both.element,
    merged(versus, params, k),
  );
  made.watch?.disconnect();
  made.watch = new ResizeObserver(both.draw);
  made.watch.observe(both.element);
}

function told(versus, k) {
  return `${versus.agreement.shared} of the best ${k} are the same in both`;
}

function agreement(versus, k) {
  const { shared, tau } = versus.agreement;
  const most = Math.max(...versus.sides.map((side) => side.results.length));
  return h(
    "dl",
    { class: "compare-agreement tabular" },
    fact("In both", `${number(shared)} of ${number(Math.min(k, most))}`, "Entities among the best of both"),
    fact(
      "Kendall’s τ",
      tau === null ? "–" : (tau > 0 ? "+" : "") + tau.toFixed(2).replace("-", "−"),
      "How alike the two order all candidates: +1 the same, −1 the opposite",
    ),
    fact("Candidates", number(versus.candidates), "Entities of the type with a context"),
    fact("Contexts", number(versus.contexts), "Mentions of candidates in matching documents"),
  );
}

function fact(name, value, hint) {
  return h("div", { title: hint }, h("dt", { class: "small muted", text: name }), h("dd", { text: value }));
}

function warnings(versus) {
  const all = [...new Set(versus.sides.flatMap((side) => side.warnings))];
  return all.map((text) => h("p", { class: "warning" }, icon("warning"), h("span", {}, data(text, 400))));
}

const BADGES = [
  ["up", "▲ 3", "3 places higher in B than in A"],
  ["down", "▼ 3", "lower"],
  ["same", "=", "the same place"],
  ["far", "14 in A", "its rank there, below those shown"],
];

function legend() {
  const entry = ([kind, text, meaning]) =>
    h("li", { class: `compare-meaning is-${kind}` }, h("span", { class: `compare-badge is-${kind}`, text }), meaning);
  return h("ul", { class: "compare-legend small muted", "aria-label": "What the badges mean" }, BADGES.map(entry));
}

// Two columns

function columns(versus, params, k) {
  const lines = svg("svg", { class: "compare-lines", "aria-hidden": "true", focusable: "false" });
  const gutter = h("div", { class: "compare-gutter" }, lines);
  const places = versus.sides.map(() => new Map());
  const sides = versus.sides.map((side, i) => column(side, i, params, k, places[i]));
  const element = h("div", { class: "compare-columns" }, sides[0], gutter, sides[1]);
  const draw = () => connect(lines, gutter, places, versus, k);
  element.addEventListener("toggle", draw, true);
  for (const type of ["mouseover", "focusin"])
    element.addEventListener(type, (event) => light(element, event.target.closest?.("[data-entity]")?.dataset.entity));
  element.addEventListener("mouseleave", () => light(element, null));
  return { element, draw };
}

/** Show where one entity is in both columns. */
function light(element, entity) {
  for (const each of element.querySelectorAll(".is-lit")) each.classList.remove("is-lit");
  if (entity === undefined || entity === null) return;
  for (const each of element.querySelectorAll("[data-entity]"))
    if (each.dataset.entity === entity) each.classList.add("is-lit");
}

function column(side, i, params, k, places) {
  const id = uid("side");
  const share = scale(side.results.map((r) => r.score));
  const letter = i === 0 ? "A" : "B";
  const rows = side.results.map((result) => {
    const row = entry(result, share(result.score), i, params, k);
    places.set(result.entity, row);
    return row;
  });
  return h(
    "section",
    { class: `compare-side ${i === 0 ? "is-a" : "is-b"}`, "aria-labelledby": id },
    h(
      "h2",
      { id, class: "compare-name" },
      h("span", { class: "compare-letter", text: letter }),
      " ",
      data(side.model, 80),
    ),
    h("p", { class: "small muted tabular", text: `${Math.max(1, Math.round(side.took_ms))} ms` }),
    rows.length ? h("ol", { class: "compare-list" }, rows) : h("p", { class: "muted", text: "Nothing found." }),
  );
}

function entry(result, share, i, params, k) {
  return h(
    "li",
    { class: "compare-entry", dataset: { entity: result.entity } },
    h("span", { class: "compare-rank tabular" }, h("span", { class: "sr-only", text: "Rank " }), String(result.rank)),
    h(
      "div",
      { class: "compare-body" },
      title(result, params, i, badge(result, i, k)),
      h(
        "div",
        { class: "compare-score" },
        bar(share, result.score < 0),
        h("span", { class: "small tabular", title: `Score ${result.score}`, text: score(result.score) }),
        h("span", { class: "small muted", text: plural(result.support, "context") }),
      ),
      evidence([result.evidence]),
    ),
  );
}

/** The name of an entity, with a link to what the system says of it, and its badge. */
function title(result, params, i, beside) {
  const model = i === 0 ? params.a : params.b;
  const about = url.link("/entity", { id: result.entity, q: params.q, type: params.type, model, index: params.index });
  const name = h("a", { href: about }, data(result.name || result.entity, 100));
  return h("div", { class: "compare-line" }, h("h3", { class: "compare-entity" }, name), beside);
}

/** How far it moves from A to B, the same in both columns; where the other does not show it, its rank there. */
function badge(result, i, k) {
  const { kind, text, words } = movement(result, i, k);
  return h(
    "span",
    { class: `compare-badge is-${kind}`, title: words },
    h("span", { "aria-hidden": "true", text }),
    h("span", { class: "sr-only", text: words }),
  );
}

function movement({ rank, other_rank: elsewhere }, i, k) {
  const there = i === 0 ? "B" : "A";
  const beyond = { kind: i === 0 ? "down" : "up" };
  if (elsewhere === null) return { ...beyond, text: `not in ${there}`, words: `No candidate of ${there}` };
  if (elsewhere > k)
    return {
      ...beyond,
      text: `${number(elsewhere)} in ${there}`,
      words: `Rank ${number(elsewhere)} in ${there}, beyond what is shown`,
    };
  if (elsewhere === rank) return { kind: "same", text: "=", words: `The same rank in ${there}` };
  const up = i === 0 ? rank - elsewhere : elsewhere - rank;
  return {
    kind: up > 0 ? "up" : "down",
    text: up > 0 ? `▲ ${up}` : `▼ ${-up}`,
    words: `Rank ${elsewhere} in ${there}: ${Math.abs(up)} ${up > 0 ? "higher" : "lower"} in B than in A`,
  };
}

function evidence(lists) {
  const seen = new Set();
  const items = lists.flat().filter((item) => {
    const key = JSON.stringify([item.doc, item.mention, item.snippet]);
    return seen.has(key) ? false : seen.add(key);
  });
  if (!items.length) return null;
  return h(
    "details",
    { class: "compare-evidence" },
    h("summary", { text: "Evidence" }),
    h(
      "ol",
      { class: "evidence" },
      items.map((item) => snippet(item)),
    ),
  );
}

/** A line from where A has an entity to where B has it; towards the foot where it is not shown. */
function connect(lines, gutter, places, versus, k) {
  const frame = gutter.getBoundingClientRect();
  lines.setAttribute("viewBox", `0 0 ${Math.max(1, frame.width)} ${Math.max(1, frame.height)}`);
  const middle = (row) => {
    const head = row.querySelector(".compare-line").getBoundingClientRect();
    return head.top + head.height / 2 - frame.top;
  };
  const paths = versus.sides[0].results
    .filter((result) => places[1].has(result.entity))
    .map((result) => {
      const [y1, y2] = [middle(places[0].get(result.entity)), middle(places[1].get(result.entity))];
      const w = frame.width;
      const { kind } = movement(result, 0, k);
      return svg("path", {
        class: `compare-link is-${kind}`,
        "data-entity": result.entity,
        d: `M0 ${y1} C ${w / 2} ${y1} ${w / 2} ${y2} ${w} ${y2}`,
      });
    });
  fill(lines, paths);
}

// One list, for narrow screens

function merged(versus, params, k) {
  const found = new Map();
  versus.sides.forEach((side, i) => {
    for (const result of side.results) {
      const both = found.get(result.entity) ?? { result, i, ranks: [null, null], lists: [] };
      both.ranks[i] = result.rank;
      both.ranks[1 - i] ??= result.other_rank;
      both.lists.push(result.evidence);
      found.set(result.entity, both);
    }
  });
  const order = [...found.values()].sort((x, y) => best(x) - best(y));
  return h(
    "div",
    { class: "compare-merged" },
    h("h2", { class: "sr-only", text: "Both rankings" }),
    h(
      "p",
      { class: "compare-keys small" },
      versus.sides.map((side, i) =>
        h(
          "span",
          { class: i === 0 ? "is-a" : "is-b" },
          h("strong", { class: "compare-letter", text: "AB"[i] }),
          " ",
          data(side.model, 60),
        ),
      ),
    ),
    h(
      "ol",
      { class: "compare-list" },
      order.map((both) => mergedEntry(both, params, k)),
    ),
  );
}

function best({ ranks }) {
  const known = ranks.filter((rank) => rank !== null);
  return Math.min(...known) + Math.max(...known) / 1e6;
}

function mergedEntry({ result, i, ranks, lists }, params, k) {
  const moved = { rank: ranks[i], other_rank: ranks[1 - i] };
  return h(
    "li",
    { class: "compare-entry" },
    h(
      "div",
      { class: "compare-ranks tabular" },
      ranks.map((rank, side) =>
        h(
          "span",
          { class: `${side === 0 ? "is-a" : "is-b"} ${rank !== null && rank <= k ? "" : "is-beyond"}` },
          h("span", { class: "sr-only", text: `Rank in ${"AB"[side]}: ` }),
          rank === null ? "–" : number(rank),
        ),
      ),
    ),
    h(
      "div",
      { class: "compare-body" },
      title(result, params, i, badge(moved, i, Infinity)),
      typeChips(result.types.slice(0, 3), { q: params.q, index: params.index }),
      evidence(lists),
    ),
  );
}
