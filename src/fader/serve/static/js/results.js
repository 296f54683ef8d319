// Ranked entities: name, types, score, support, evidence, and what can be opened of each.
//
// Knows the answer of /v1/search, nothing of the form that asked.

import { get } from "./api.js";
import { bar, scale } from "./bars.js";
import { announce, button, cut, data, h, icon, number, plural, score, visible } from "./dom.js";
import { snippet } from "./evidence.js";
import { explained, light } from "./explained.js";
import { judgeButtons } from "./judge.js";
import { likelyName, typeName } from "./names.js";
import { opened, written } from "./opened.js";
import { failure, sentence } from "./states.js";
import * as url from "./url.js";

const PAGE = 20;

/** How much text a piece of evidence shows: whole sentences within so many words around the name. */
export const PASSAGE = "window:20";

/** The list of an answer's results as an element. */
export function results(answer, params, options = {}) {
  return listResults(answer, params, options).element;
}

/**
 * The list of an answer's results: {element, complete}. `params` are those of the search; `limits` are those of the
 * service; bars are of the same scale as those of the results `beside` them. Those of a `brief` answer have room for
 * evidence, which `complete` puts there when the promise of the whole answer is kept.
 */
export function listResults(answer, params, { limits = {}, signal, beside = [], judged = null, brief = false } = {}) {
  const share = scale([...answer.results, ...beside].map((result) => result.score));
  const more = { limits, signal, answer, judged, brief };
  const cards = answer.results.map((result) => card(result, share(result.score), readAs(result, answer, params), more));
  if (!brief) queueMicrotask(() => restore(cards, params));
  const list = cards.map((state) => state.element);
  const element = h("ol", { class: "results", "aria-label": "Entities, best first" }, list);
  return { element, complete: (rest) => complete(cards, rest, params, element) };
}

/** Put the evidence of the whole answer into the room that its entities have for it. */
async function complete(cards, rest, params, element) {
  const found = new Map();
  try {
    for (const result of (await rest).results) found.set(result.entity, result.evidence);
  } catch (error) {
    if (error.name === "AbortError") return;
    element.before(h("p", { class: "warning" }, icon("warning"), h("span", {}, "Evidence could not be read. ", data(sentence(error.message), 400))));
  }
  for (const state of cards) {
    state.result.evidence = found.get(state.result.entity) ?? [];
    state.evidence.replaceChildren();
    state.evidence.removeAttribute("aria-busy");
    append(state, state.result.evidence, 0);
    state.more = moreButton(state);
    if (state.more) state.why.button.after(state.more);
  }
  if (found.size > 0) await restore(cards, params);
}

/** Room for so much evidence as an answer shows. */
function room(result) {
  const line = (width) => h("div", { class: `skeleton-line ${width}` });
  const one = () => h("li", { class: "snippet is-awaited", "aria-hidden": "true" }, line(""), line("long"));
  return Array.from({ length: Math.min(2, result.support) }, one);
}

/**
 * The query that an entity is evidence for, with its type: of a question, the reading that speaks most for it. `question`
 * and `as` lead back.
 */
function readAs(result, answer, params) {
  if (answer.question === undefined) return params;
  const type = result.readings[0]?.type ?? "";
  return { ...params, q: answer.query.text, type, question: answer.question };
}

/** Where a snippet is read on: the document, opened at its mention. */
function passageOf(result, params) {
  const { q, type, index, question, as } = params;
  return (item) => {
    const place = { id: item.doc, entity: result.entity, at: item.tokens?.[0] };
    return url.link("/document", { ...place, q, type: question && !as ? "" : type, index, question, as });
  };
}

/** Open what the address says; evidence of one entity after the other, so that a link is no burst of requests. */
async function restore(cards, params) {
  const asked = cards.find((state) => state.result.entity === params.why);
  if (asked) openWhy(asked);
  const counts = opened(params.more);
  for (const state of cards)
    if (counts.has(state.result.entity)) await showMore(state, { upTo: counts.get(state.result.entity) });
}

function card(result, share, params, more) {
  const evidence = h(
    "ol",
    { class: "evidence", "aria-label": "Evidence" },
    more.brief ? room(result) : result.evidence.map((item, i) => snippet(item, i + 1, passageOf(result, params))),
  );
  if (more.brief) evidence.setAttribute("aria-busy", "true");
  const body = h("div", { class: "result-body" }, head(result, params, more.answer), evidence);
  const element = h("li", { class: "result", dataset: { entity: result.entity } }, rank(result), body);
  const state = { result, params, evidence, element, ...more };
  state.more = more.brief ? null : moreButton(state);
  state.why = whyOf(state);
  const actions = h("div", { class: "result-actions" }, state.why.button, state.more);
  if (more.judged) {
    const { q, type, index, question } = params;
    const asked = { q: question ?? q, query: q, type, index, entity: result.entity };
    actions.append(judgeButtons(asked, more.judged.get(result.entity), element));
  }
  body.append(actions, facts(result, params.question ? null : share), state.why.panel);
  return state;
}

function rank(result) {
  return h(
    "span",
    { class: "result-rank tabular" },
    h("span", { class: "sr-only", text: "Rank " }),
    String(result.rank),
  );
}

/** Score, contexts and id: for those who ask why. A question's scores are over all readings, and are no share. */
function facts(result, share) {
  return h(
    "div",
    { class: "result-facts" },
    entityId(result.entity),
    share !== null && h("div", { class: "result-score" }, bar(share, result.score < 0), numbers(result)),
  );
}

function head(result, params, answer) {
  const about = url.link("/entity", {
    id: result.entity,
    q: params.q,
    type: params.type,
    model: params.model,
    index: params.index,
  });
  const name = h("h3", { class: "result-name" }, h("a", { href: about }, data(result.name || result.entity, 120)));
  return h(
    "div",
    { class: "result-head" },
    h("div", { class: "result-title" }, name, typeChips(result.types, params, answer.type)),
  );
}

function numbers(result) {
  return h(
    "p",
    { class: "result-numbers" },
    h(
      "span",
      { class: "tabular", title: `Score ${result.score}` },
      h("span", { class: "sr-only", text: "Score " }),
      score(result.score),
    ),
    h("span", { class: "muted", text: plural(result.support, "context") }),
  );
}

/** The id of an entity, small. */
export function entityId(id) {
  return data(id, 80, { class: "entity-id mono" });
}

/** The types of an entity; each is a link that asks for it. Names come when they are known. */
export function typeChips(types, params, current = null) {
  const { why, more, question, as, ...kept } = params;
  const shown = types.slice(0, 6).map((type) => {
    const label = data(likelyName(type), 40);
    typeName(type, params.index).then((name) => (label.textContent = visible(cut(name, 40))));
    const props = {
      class: "chip",
      href: url.link("/", { ...kept, type }),
      title: `Ask for this type: ${visible(cut(type, 80))}`,
    };
    if (type === current) props["aria-current"] = "true";
    return h("li", {}, h("a", props, label));
  });
  const rest = types.length - shown.length;
  return h(
    "ul",
    { class: "chips", "aria-label": "Types" },
    shown,
    rest > 0 && h("li", { class: "chip", text: `and ${rest} more` }),
  );
}

// ---- more evidence ----

function moreButton(state) {
  const left = state.result.support - state.result.evidence.length;
  if (left <= 0) return null;
  return button(moreLabel(left), () => showMore(state, { byHand: true }), { class: "button quiet" });
}

function moreLabel(left) {
  return `More evidence (${number(left)})`;
}

/** Append the next page of evidence; or from an address, as much as it takes to show `upTo` contexts. */
async function showMore(state, { byHand = false, upTo = 0, tried = false } = {}) {
  const { evidence, more, limits, signal } = state;
  const from = evidence.children.length;
  const wanted = upTo || from + PAGE;
  state.fault?.remove();
  if (more) more.disabled = true;
  try {
    for (let left = 1; left > 0 && evidence.children.length < wanted;) {
      const limit = Math.min(wanted - evidence.children.length, limits.snippets ?? PAGE);
      const page = await contexts(state, evidence.children.length, limit);
      append(state, page.items, page.offset);
      left = page.items.length > 0 ? page.total - evidence.children.length : 0;
      settle(state, left);
    }
    if (!byHand) return;
    evidence.children[from]?.focus({ preventScroll: true });
    remember(state);
    announce(`${plural(evidence.children.length - from, "more context")} shown`);
  } catch (error) {
    if (error.name === "AbortError" || signal?.aborted) return;
    const retry = () => showMore(state, { byHand, upTo, tried: true });
    evidence.after((state.fault = failure(error, { retry, tried })));
  } finally {
    if (more) more.disabled = false;
  }
}

async function contexts({ result, params, signal }, offset, limit) {
  const { q, type, model, index } = params;
  const asked = { id: result.entity, q, type, model, index, offset, limit, passage: PASSAGE };
  return (await get("/v1/entity", asked, { signal })).evidence.contexts;
}

/** Append contexts, of which the first has the place `offset` (from 0), without those that are already shown. */
function append({ evidence, result, params }, items, offset) {
  const shown = evidence.children.length;
  const passage = passageOf(result, params);
  evidence.append(...items.slice(shown - offset).map((item, i) => snippet(item, shown + i + 1, passage)));
}

/** Put how much evidence is opened into the address. */
function remember({ result, evidence }) {
  const { params } = url.read();
  const counts = opened(params.more).set(result.entity, evidence.children.length);
  url.replace({ ...params, more: written(counts) });
}

/** Say how many contexts are left. */
function settle(state, left) {
  if (!state.more) return;
  if (left <= 0) state.more.remove();
  else state.more.textContent = moreLabel(left);
}

/** Show the context at a place (from 1), with what stands before it, and go there. */
function reveal(state, place, found) {
  const { evidence } = state;
  if (place > evidence.children.length) {
    append(state, found.slice(0, place), 0);
    settle(state, state.result.support - evidence.children.length);
    remember(state);
  }
  const target = evidence.children[place - 1];
  if (target) light(target);
}

// ---- why this rank ----

function whyOf(state) {
  const { result, params, element, limits, signal } = state;
  const { q, type, model, index } = params;
  return explained({
    asked: { q, entity: result.entity, type, model, index },
    shown: params.question ? result.rank : null,
    budget: limits.time_ms,
    signal,
    reveal: (place, evidence) => reveal(state, place, evidence),
    onChange: (open, byHand) => {
      element.classList.toggle("is-open", open);
      if (byHand) url.replace({ ...url.read().params, why: open ? result.entity : "" });
    },
  });
}

/** Open the explanation that the address asks for. */
async function openWhy({ why, element }) {
  await why.open(false);
  element.scrollIntoView({ block: "start" });
}
