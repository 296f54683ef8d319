// The search view: the form, the answer, and every state between. The address holds all of it:
// q, type, model, index, k, and which explanation (`why`) or evidence (`more`) is open.
//
// Knows the order of things; ask.js is the form, results.js draws the answer.

import * as api from "./api.js";
import { askForm } from "./ask.js";
import { beyond } from "./beyond.js";
import { announce, cut, data, fill, h, icon, number, plural, visible } from "./dom.js";
import { exportLinks } from "./export.js";
import { modelField, modelTitle } from "./fields.js";
import { intro, ofType } from "./intro.js";
import { language } from "./language.js";
import { typeName, typeNames } from "./names.js";
import { results } from "./results.js";
import { empty, failure, sentence, skeleton, withProgress } from "./states.js";
import * as url from "./url.js";

/** The form stays when the address changes. */
export const keeps = true;

const SNIPPETS = 2;
let view = null;

export async function render(root, params, context) {
  if (!view || view.form.element.parentNode !== root) view = build(root, context);
  fit(view, params, context);
  if (!params.q) {
    view.form.element.classList.remove("is-asked");
    document.title = "Fader";
    fill(view.output, params.type ? ofType(params.type, context) : intro(context));
    // A field that takes the focus would bring up the keyboard of a phone.
    if (window.matchMedia("(hover: hover)").matches)
      view.form[params.type ? "query" : "type"].input.focus({ preventScroll: true });
    return;
  }
  await ask(view, params, context);
}

function build(root, context) {
  const model = modelField({ onChange: () => form.again() });
  const form = askForm({
    context,
    label: "Entities",
    go: [icon("search"), "Search"],
    counts: ["10", "20", "50", "100"],
    rankers: model.element,
    send: (asked) => url.go("/", { ...asked, model: model.value() }),
  });
  const output = h("div", { class: "output" });
  fill(root, h("h1", { class: "sr-only", text: "Search" }), form.element, output);
  return { form, model, output };
}

/** Put the address into the fields. */
function fit(made, params, context) {
  made.form.fit(params);
  made.model.offer(context.systems);
  made.model.set(params.model);
}

/** What the service is asked. */
function question(params) {
  return url.given({
    q: params.q,
    type: params.type,
    model: params.model,
    index: params.index,
    k: params.k,
    snippets: SNIPPETS,
  });
}

async function ask(made, params, context, tried = false) {
  const asked = question(params);
  made.form.element.classList.add("is-asked");
  document.title = `${visible(cut(params.q, 60))} · Fader`;
  made.form.query.clear();
  const budget = context.stats.limits?.time_ms ?? null;
  try {
    if (!made.output.querySelector(".results")) made.output.replaceChildren();
    const answer = await withProgress(made.output, api.get("/v1/search", asked, { signal: context.signal }), {
      placeholder: skeleton(5),
      budget,
    });
    await typeNames(
      answer.results.flatMap((r) => r.types.slice(0, 6)),
      params.index,
    );
    const { signal, stats } = context;
    const aside = await beyond(answer, params, { limits: stats.limits, signal, snippets: SNIPPETS });
    if (signal.aborted) return;
    show(made, answer, params, context, aside);
  } catch (error) {
    if (error.name === "AbortError") return;
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

function show(made, answer, params, { stats, signal, systems }, aside) {
  const found = answer.results.length > 0;
  const body = found ? results(answer, params, { limits: stats.limits, signal }) : nothing(answer, params);
  fill(made.output, summary(answer, params, systems), warnings(answer), aside, body);
  announce(
    found
      ? `${plural(answer.candidates, "entity", "entities")} found, ${answer.results.length} shown`
      : "Nothing found",
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
        `${plural(answer.contexts, "context")} in ${plural(answer.matched_documents, "document")} · `,
        `${time(answer.took_ms)} · ranked by `,
        data(modelTitle(params.model, answer.model, systems), 100),
      ),
    ),
    actions(params),
  );
}

function time(ms) {
  return ms < 1 ? "under 1 ms" : `${number(Math.round(ms))} ms`;
}

function actions(params) {
  const other = url.link("/compare", { q: params.q, type: params.type, a: params.model, index: params.index });
  const compare = h("a", { class: "button quiet", href: other, text: "Compare systems" });
  return h(
    "div",
    { class: "summary-actions" },
    compare,
    exportLinks({ path: "/v1/search", params: question(params), name: "answer" }),
  );
}

function warnings(answer) {
  return (
    answer.results.length > 0 &&
    answer.warnings.map((text) =>
      h("p", { class: "warning" }, icon("warning"), h("span", {}, data(sentence(text), 400))),
    )
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
  const { why, more, ...kept } = params;
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
  return state;
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
