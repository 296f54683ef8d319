// The search view: the box, the reading, the answer, and every state between. The address holds all of it:
//
//   q            a question, keywords or a query              as      the query that a question is to be read as
//   type         the answer type of a query or a reading      any     a reading without a type was chosen
//   model, index, k, literally, and which explanation (`why`) or evidence (`more`) is open
//
// A text that is written in the query language, or has a type beside it, is asked as it is; everything else is read as a
// question. Knows the order of things; box.js is the form, results.js draws the answer.

import * as api from "./api.js";
import { beyond } from "./beyond.js";
import { askBox } from "./box.js";
import { announce, cut, data, fill, h, icon, number, plural, visible } from "./dom.js";
import { exportLinks } from "./export.js";
import { modelTitle } from "./fields.js";
import { hurry } from "./hurry.js";
import { intro, ofType } from "./intro.js";
import { judgedBefore } from "./judge.js";
import { language } from "./language.js";
import { typeName, typeNames } from "./names.js";
import { PASSAGE, listResults } from "./results.js";
import { empty, failure, sentence, skeleton, withProgress } from "./states.js";
import * as url from "./url.js";

/** The form stays when the address changes. */
export const keeps = true;

const SNIPPETS = 2;
const OTHERS = 4; // readings that are offered beside the one that is shown
const PATIENCE = 20; // ms that an answer waits for the names of types; later ones are filled in
const UNLIKELY = 0.01; // a reading below this probability helps nobody
const OPERATORS = /(^|\s)[+\-=](?=\S|$)|"|(^|\s)[+-]?(type|entity):/i;
let view = null;

export async function render(root, params, context) {
  if (!view || view.form.element.parentNode !== root) view = build(root, context);
  view.form.fit(params, context.systems, isTyped(params));
  if (!params.q) {
    view.form.element.classList.remove("is-asked");
    document.title = "Fader";
    fill(view.output, params.type ? ofType(params.type, context) : intro(context));
    // A field that takes the focus would bring up the keyboard of a phone.
    if (window.matchMedia("(hover: hover)").matches) view.form.query.input.focus({ preventScroll: true });
    return;
  }
  await ask(view, params, context);
}

function build(root, context) {
  const form = askBox({
    context,
    send: (asked) => url.go("/", asked),
  });
  const output = h("div", { class: "output" });
  fill(root, h("h1", { class: "sr-only", text: "Search" }), form.element, output);
  return { form, output };
}

/** Whether an address asks a query as it stands, and not a question. */
function isTyped(params) {
  if (params.as !== undefined) return false;
  const q = params.q ?? "";
  return Boolean(params.type) || (OPERATORS.test(q) && !/\?\s*$/.test(q));
}

/** What the service is asked, and where. */
function question(params) {
  const shared = { q: params.q, type: params.type, model: params.model, index: params.index, k: params.k };
  const shown = { snippets: SNIPPETS, passage: PASSAGE };
  if (isTyped(params)) return { path: "/v1/search", asked: url.given({ ...shared, ...shown }) };
  const read = { query: params.as, any_type: params.any && "true", correct: params.literally && "false" };
  return { path: "/v1/ask", asked: url.given({ ...shared, ...read, ...shown }) };
}

async function ask(made, params, context, tried = false) {
  const { path, asked } = question(params);
  made.form.element.classList.add("is-asked");
  document.title = `${visible(cut(params.q, 60))} · Fader`;
  made.form.clear();
  const budget = context.stats.limits?.time_ms ?? null;
  try {
    if (!made.output.querySelector(".results")) made.output.replaceChildren();
    const before = context.stats.judging ? judgedBefore(params.q, params.index, context.signal) : null;
    const whole = api.get(path, asked, { signal: context.signal });
    const brief = () => api.get(path, { ...asked, snippets: 0 }, { signal: context.signal });
    const { answer, rest } = await withProgress(made.output, hurry(whole, brief), {
      placeholder: skeleton(5),
      budget,
    });
    if (answer.question !== undefined) answer.type = answer.chosen?.type ?? null;
    await typeNames(
      answer.results.flatMap((r) => r.types.slice(0, 6)),
      params.index,
      PATIENCE,
    );
    const { signal, stats } = context;
    const aside = await beyond(answer, params, { limits: stats.limits, signal, snippets: SNIPPETS });
    const judged = before && (await before);
    if (signal.aborted) return;
    const list = show(made, answer, params, context, aside, judged, Boolean(rest));
    if (rest) await list?.complete(rest);
  } catch (error) {
    if (error.name === "AbortError") return;
    made.form.read(null);
    if (error.code === "bad_query" && error.position !== null) {
      made.form.query.complain(error.message, error.position);
      return fill(made.output, help());
    }
    const retry = error.status === 400 || error.status === 404 ? null : () => ask(made, params, context, true);
    const links = meant(error, params);
    const title = links.length > 0 ? "There is no such type" : undefined;
    fill(made.output, failure(error, { retry, tried, links, title }));
  }
}

/** Show an answer; the list of its results, which waits for evidence where it is `brief`. */
function show(made, answer, params, { stats, signal, systems }, aside, judged, brief) {
  const found = answer.results.length > 0;
  showReading(made, answer, params);
  const list = found ? listResults(answer, params, { limits: stats.limits, signal, judged, brief }) : null;
  const body = list ? list.element : nothing(answer, params);
  fill(
    made.output,
    corrected(answer, params),
    otherReadings(answer, params),
    summary(answer, params, systems),
    warnings(answer),
    aside,
    body,
  );
  announce(
    found
      ? `${plural(answer.candidates, "entity", "entities")} found, ${answer.results.length} shown`
      : "Nothing found",
  );
  return list;
}

// ---- the reading ----

/** The chips of what was asked; a change of them asks anew. */
function showReading(made, answer, params) {
  const { why, more, ...kept } = params;
  const asked = answer.question !== undefined;
  const reading = asked ? (answer.chosen ?? answer.readings[0]) : { type: answer.type, literals: answer.query.literals };
  made.form.read(reading, (type, query) => {
    if (asked) url.go("/", { ...kept, type, as: query, any: type ? "" : "1" });
    else url.go("/", { ...kept, type, q: query });
  });
}

/** Other ways to read a question, one click away. */
function otherReadings(answer, params) {
  if (answer.question === undefined) return null;
  const shown = answer.chosen ?? answer.readings[0];
  const others = answer.readings
    .filter((reading) => reading.type !== shown?.type && reading.probability >= UNLIKELY)
    .slice(0, OTHERS);
  if (others.length === 0 && !answer.chosen) return null;
  const { why, more, as, any, type, ...kept } = params;
  const link = (reading) =>
    url.link("/", { ...kept, as: reading.query, type: reading.type ?? "", any: reading.type ? "" : "1" });
  return h(
    "nav",
    { class: "others small", "aria-label": "Other readings" },
    h("span", { class: "muted", text: "Read it as " }),
    h(
      "ul",
      { class: "chips" },
      answer.chosen && h("li", {}, h("a", { class: "chip", href: url.link("/", kept) }, "all readings")),
      others.map((reading) =>
        h(
          "li",
          {},
          h(
            "a",
            { class: "chip", href: link(reading), title: `Probability ${Math.round(100 * reading.probability)} %` },
            reading.type ? data(reading.name || reading.type, 40) : "anything",
          ),
        ),
      ),
    ),
  );
}

/** What was taken for a slip of the pen, and the way back. */
function corrected(answer, params) {
  const pairs = Object.entries(answer.corrected ?? {});
  if (pairs.length === 0) return null;
  const { why, more, ...kept } = params;
  return h(
    "p",
    { class: "corrected" },
    "Showing answers for ",
    pairs.map(([, now], i) => [i > 0 && ", ", h("strong", {}, data(now, 60))]),
    ". ",
    h("a", { href: url.link("/", { ...kept, literally: "1" }) }, "Search for ", pairs.map(([was]) => was).join(", ")),
    " instead.",
  );
}

// ---- above the results ----

function summary(answer, params, systems) {
  const type = h("span", {});
  if (answer.type) {
    const name = data(answer.type, 60);
    typeName(answer.type, params.index).then((text) => (name.textContent = visible(cut(text, 60))));
    fill(type, " of type ", h("a", { href: url.link("/types", { type: answer.type, index: params.index }) }, name));
  }
  return h(
    "div",
    { class: "summary" },
    h(
      "div",
      {},
      h(
        "h2",
        { class: "summary-title" },
        answer.candidates ? plural(answer.candidates, "entity", "entities") : "Nothing found",
        type,
      ),
      h(
        "p",
        { class: "small muted tabular" },
        `${plural(answer.contexts, "passage")} in ${plural(answer.matched_documents, "document")} · `,
        time(answer.took_ms),
        params.model && [" · ranked by ", data(modelTitle(params.model, answer.model, systems), 100)],
      ),
    ),
    actions(answer, params),
  );
}

function time(ms) {
  return ms < 1 ? "under 1 ms" : `${number(Math.round(ms))} ms`;
}

function actions(answer, params) {
  const { path, asked } = question(params);
  const typed = answer.question === undefined;
  const q = typed ? params.q : answer.query.text;
  const type = typed ? params.type : (answer.chosen ?? answer.readings[0])?.type;
  const other = url.link("/compare", { q, type, a: params.model, index: params.index });
  const compare = h("a", { class: "button quiet", href: other, text: "Compare systems" });
  return h(
    "div",
    { class: "summary-actions" },
    compare,
    exportLinks({ path, params: asked, name: "answer", csv: typed }),
  );
}

/** Warnings, but those that are told elsewhere. */
function warnings(answer) {
  const told = Object.keys(answer.corrected ?? {});
  return (
    answer.results.length > 0 &&
    answer.warnings
      .filter((text) => !told.some((word) => text.startsWith(`${word} occurs nowhere`)))
      .map((text) => h("p", { class: "warning" }, icon("warning"), h("span", {}, data(sentence(text), 400))))
  );
}

/** How to write a query, for one that could not be read. */
function help() {
  return h("section", { class: "state" }, h("h2", { class: "state-title", text: "How to write a query" }), language());
}

// ---- nothing found, and did you mean ----

function nothing(answer, params) {
  const reasons = answer.warnings.map((text) => data(sentence(text), 400));
  if (reasons.length === 0)
    reasons.push(
      answer.matched_documents > 0
        ? "Documents match, but none of them mentions an entity of this type."
        : "No document has what the query asks for.",
    );
  const tries = [];
  const loose = params.q.replace(/(^|\s)\+(?=\S)/g, "$1");
  const { why, more, as, any, ...kept } = params;
  const offer = (text, changed) => h("a", { href: url.link("/", { ...kept, ...changed }) }, text);
  if (loose !== params.q)
    tries.push(["Let required words be optional: ", offer(data(loose, 80, { class: "mono" }), { q: loose })]);
  const open = params.q.replace(/(^|\s)-(?:"[^"]*"|\S+)/g, "$1").trim();
  if (open && open !== params.q)
    tries.push(["Forbid nothing: ", offer(data(open, 80, { class: "mono" }), { q: open })]);
  const bare = loose.replaceAll('"', "");
  if (bare !== loose) tries.push(["Take phrases apart: ", offer(data(bare, 80, { class: "mono" }), { q: bare })]);
  const wider = h("li", { hidden: true });
  if (params.type) tries.push(["Ask for ", offer("entities of any type", { type: "" })]);
  const state = empty(null, reasons, tries);
  if (params.type) {
    state.querySelector(".state-list")?.append(wider);
    widen(answer.type ?? params.type, params, offer, wider);
  }
  if (answer.question === undefined) spell(params, offer, state);
  return state;
}

/** Offer the query with words that the index has in the place of words that it lacks. */
async function spell(params, offer, state) {
  const bare = params.q.replace(/["+=]|(^|\s)-(?:"[^"]*"|\S+)/g, " ").trim();
  const asked = { q: bare, k: 1, snippets: 0, index: params.index };
  const found = bare && (await api.get("/v1/ask", asked).catch(() => null));
  const pairs = Object.entries(found?.corrected ?? {});
  if (pairs.length === 0 || !state.isConnected) return;
  const q = pairs.reduce((text, [was, now]) => text.replaceAll(was, now), params.q);
  state.prepend(h("p", { class: "corrected" }, "Did you mean ", offer(data(q, 80), { q }), "?"));
}

/** Offer the types above the one that was asked for. */
async function widen(type, params, offer, place) {
  const found = await api.get("/v1/types", { parent: type, limit: 1, index: params.index }).catch(() => null);
  const above = (found?.path ?? [])
    .filter((node) => node.id !== type)
    .reverse()
    .slice(0, 3);
  if (above.length === 0) return;
  fill(
    place,
    "Ask for a wider type: ",
    above.map((node, i) => [i > 0 && ", ", offer(data(node.name, 40), { type: node.id })]),
  );
  place.hidden = false;
}

/** The types that an error suggests, as links that ask for them instead. */
function meant(error, params) {
  const text = `${error.message} ${error.hint}`;
  const at = text.indexOf("did you mean");
  if (at < 0 || !/\btype\b/.test(text)) return [];
  const { why, more, ...kept } = params;
  const names = [...text.slice(at).matchAll(/"([^"]+)"/g)].map((found) => found[1]);
  const different = names.filter(
    (name, i) => names.findIndex((n) => n.replaceAll("_", " ") === name.replaceAll("_", " ")) === i,
  );
  return different.map((name) =>
    h("a", { class: "chip", href: url.link("/", { ...kept, type: name }) }, "Ask for ", data(name, 60)),
  );
}
