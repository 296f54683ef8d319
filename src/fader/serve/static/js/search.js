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
import { likelyName, typeName } from "./names.js";
import { PASSAGE, listResults } from "./results.js";
import { empty, failure, sentence, skeleton, withProgress } from "./states.js";
import * as url from "./url.js";

/** The form stays when the address changes. */
export const keeps = true;

const SNIPPETS = 2;
const OTHERS = 4; // readings that are offered beside the one that is shown
const WIDER = 2; // types above one that are offered where it has no answer
const UNLIKELY = 0.01; // a reading below this probability helps nobody
const TITLE = "Ask for things, and see the evidence.";
const LEAD = "Ask a question, or write a few words. Answers are things, not pages, each with the sentences that speak for it.";
const OPERATORS = /(^|\s)[+\-=](?=\S|$)|"|(^|\s)[+-]?(type|entity):/i;
let view = null;

export async function render(root, params, context) {
  if (!view || view.form.element.parentNode !== root) view = build(root, context);
  view.form.fit(params, context.systems, isTyped(params));
  const title = params.q ? visible(cut(params.q, 200)) : TITLE;
  view.title.textContent = title;
  root.classList.toggle("is-asked", Boolean(params.q));
  if (!params.q) {
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
  const title = h("h1", { class: "hero-title" });
  fill(root, h("div", { class: "hero" }, title, h("p", { class: "lead", text: LEAD })), form.element, output);
  return { form, output, title };
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
    const name = data(likelyName(answer.type), 60);
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
  const state = empty(null, reasons);
  suggest(answer, params, state);
  return state;
}

/** Offer other queries, but none that would find nothing, too: each is asked before it is shown. */
async function suggest(answer, params, state) {
  const { why, more, as, any, ...kept } = params;
  const rewritten = rewrite(params.q).map(([label, q]) => ({ label, shown: [q, "mono"], to: { ...kept, q } }));
  const untyped = params.type ? [{ label: "Ask for", shown: ["entities of any type"], to: { ...kept, type: "" } }] : [];
  const [spelled, wider] = await Promise.all([
    answer.question === undefined ? spell(params) : [],
    params.type ? widen(answer.type ?? params.type, params) : [],
  ]);
  const respelled = spelled.map((q) => ({ label: null, shown: [q], to: { ...kept, q } }));
  const above = wider.map(({ id, name }) => ({ label: "Ask for the wider type", shown: [name], to: { ...kept, type: id } }));
  const tries = [...respelled, ...rewritten, ...above, ...untyped];
  const counts = await Promise.all(tries.map(({ to }) => countAnswers(to)));
  const helping = tries.map((each, i) => ({ ...each, count: counts[i] })).filter(({ count }) => count > 0);
  if (!state.isConnected) return;
  const meant = helping.filter(({ label }) => label === null);
  const others = helping.filter(({ label }) => label !== null);
  const link = ({ shown: [text, looks = ""], to }) => h("a", { href: url.link("/", to) }, data(text, 80, { class: looks }));
  if (meant.length > 0) state.prepend(h("p", { class: "corrected" }, "Did you mean ", meant.map(link), "?"));
  if (others.length === 0) return;
  state.append(
    h("p", { class: "state-label", text: "What to try" }),
    h(
      "ul",
      { class: "state-list" },
      others.map((each) =>
        h(
          "li",
          {},
          `${each.label} `,
          link(each),
          h("span", { class: "small muted" }, ` · ${plural(each.count, "entity", "entities")}`),
        ),
      ),
    ),
  );
}

/** A query that asks for less: [[what was done, the query], ...]. */
function rewrite(q) {
  const loose = q.replace(/(^|\s)\+(?=\S)/g, "$1");
  const open = q.replace(/(^|\s)-(?:"[^"]*"|\S+)/g, "$1").trim();
  const bare = loose.replaceAll('"', "");
  return [
    loose !== q && ["Let required words be optional:", loose],
    open && open !== q && ["Forbid nothing:", open],
    bare !== loose && ["Take phrases apart:", bare],
  ].filter(Boolean);
}

/** How many entities an address would show; 0 where it cannot be asked. */
async function countAnswers(params) {
  const { path, asked } = question(params);
  const found = await api.get(path, { ...asked, k: 1, snippets: 0 }).catch(() => null);
  return found?.results.length ? found.candidates : 0;
}

/** The query with words that the index has in the place of words that it lacks. */
async function spell(params) {
  const bare = params.q.replace(/["+=]|(^|\s)-(?:"[^"]*"|\S+)/g, " ").trim();
  const found = bare && (await api.get("/v1/ask", url.given({ q: bare, k: 1, snippets: 0, index: params.index })).catch(() => null));
  const pairs = Object.entries(found?.corrected ?? {});
  return pairs.length > 0 ? [pairs.reduce((text, [was, now]) => text.replaceAll(was, now), params.q)] : [];
}

/** The types above the one that was asked for, the nearest first. */
async function widen(type, params) {
  const found = await api.get("/v1/types", { parent: type, limit: 1, index: params.index }).catch(() => null);
  return (found?.path ?? [])
    .filter((node) => node.id !== type)
    .reverse()
    .slice(0, WIDER);
}

/** The types that an error suggests, as links that ask for them instead. */
function meant(error, params) {
  const text = `${error.message} ${error.hint}`;
  const at = text.indexOf("did you mean");
  if (at < 0 || !/\btype\b/.test(text)) return [];
  const { why, more, ...kept } = params;
  const names = [...text.slice(at).matchAll(/"([^"]+)"/g)].map((found) => found[1]);
  const different = names.filter(
    (name, i) => names.findIndex((n) => likelyName(n) === likelyName(name)) === i,
  );
  return different.map((name) => {
    const to = { ...kept, type: name };
    const link = h("a", { class: "chip", href: url.link("/", to) }, "Ask for ", data(likelyName(name), 60));
    countAnswers(to).then((count) => count === 0 && link.remove());
    return link;
  });
}
