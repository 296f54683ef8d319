// Ranked entities: name, types, score, support, evidence, and what can be opened of each.
//
// Knows the answer of /v1/search, nothing of the form that asked.

import { get } from "./api.js";
import { bar, scale } from "./bars.js";
import { announce, button, cut, data, fill, h, icon, number, plural, score, visible } from "./dom.js";
import { snippet } from "./evidence.js";
import { typeName } from "./names.js";
import { failure, withProgress } from "./states.js";
import * as url from "./url.js";
import { whyPanel } from "./why.js";

const PAGE = 20;

/** The list of an answer's results. `params` are those of the search; `budget` is the time a query has, in ms. */
export function results(answer, params, { budget, signal } = {}) {
  const share = scale(answer.results.map((result) => result.score));
  const cards = answer.results.map((result) => card(result, share(result.score), params, { budget, signal, answer }));
  return h("ol", { class: "results", "aria-label": "Entities, best first" }, cards);
}

function card(result, share, params, more) {
  const evidence = h(
    "ol",
    { class: "evidence", "aria-label": "Evidence" },
    result.evidence.map((item, i) => snippet(item, i + 1)),
  );
  const panel = h("section", { class: "why", hidden: true });
  const body = h("div", { class: "result-body" }, head(result, share, params, more.answer), evidence);
  const element = h("li", { class: "result", dataset: { entity: result.entity } }, rank(result), body);
  const state = { result, params, evidence, panel, element, ...more };
  state.more = moreButton(state);
  state.why = whyButton(state);
  body.append(h("div", { class: "result-actions" }, state.why, state.more), panel);
  if (params.more === result.entity) queueMicrotask(() => showMore(state, false));
  if (params.why === result.entity) queueMicrotask(() => openWhy(state, false));
  return element;
}

function rank(result) {
  return h(
    "span",
    { class: "result-rank tabular" },
    h("span", { class: "sr-only", text: "Rank " }),
    String(result.rank),
  );
}

function head(result, share, params, answer) {
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
    h("div", { class: "result-title" }, name, entityId(result.entity), typeChips(result.types, params, answer.type)),
    h("div", { class: "result-score" }, bar(share, result.score < 0), numbers(result)),
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
  const { why, more, ...kept } = params;
  const shown = types.slice(0, 6).map((type) => {
    const label = data(type, 40);
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
  return button(moreLabel(left), () => showMore(state), { class: "button quiet" });
}

function moreLabel(left) {
  return `More evidence (${number(left)})`;
}

/** Append the next page of evidence. */
async function showMore(state, byHand = true) {
  const { result, params, evidence, more } = state;
  const offset = evidence.children.length;
  if (byHand) remember(state, "more");
  try {
    if (more) more.disabled = true;
    const waits = pageOf(state, offset);
    const page = await withProgress(h("div"), waits);
    evidence.append(...page.items.map((item, i) => snippet(item, offset + i + 1)));
    if (byHand) evidence.children[offset]?.focus({ preventScroll: true });
    announce(`${plural(page.items.length, "more context")} shown`);
    settle(state, page.total - evidence.children.length, page.items.length);
  } catch (error) {
    if (error.name === "AbortError") return;
    const note = h("li", { class: "snippet" }, failure(error, { retry: () => (note.remove(), showMore(state)) }));
    evidence.append(note);
  } finally {
    if (more) more.disabled = false;
  }

  async function pageOf({ signal }, from) {
    const asked = {
      q: params.q,
      type: params.type,
      model: params.model,
      index: params.index,
      offset: from,
      limit: PAGE,
    };
    const found = await get(`/v1/entity/${encodeURIComponent(result.entity)}`, asked, { signal });
    return found.evidence.contexts;
  }
}

function settle(state, left, got) {
  if (!state.more) return;
  if (left <= 0 || got === 0) state.more.remove();
  else state.more.textContent = moreLabel(left);
}

/** Show the context at a place (from 1), with what stands before it, and go there. */
function reveal(state, place, found) {
  const { evidence } = state;
  for (let i = evidence.children.length; i < place && i < found.length; i += 1)
    evidence.append(snippet(found[i], i + 1));
  settle(state, state.result.support - evidence.children.length, 1);
  const target = evidence.children[place - 1];
  if (!target) return;
  target.scrollIntoView({ block: "center", behavior: calm() ? "auto" : "smooth" });
  target.focus({ preventScroll: true });
  target.classList.remove("is-found");
  void target.offsetWidth;
  target.classList.add("is-found");
}

function calm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// ---- why this rank ----

function whyButton(state) {
  const toggle = () => (state.panel.hidden ? openWhy(state) : closeWhy(state));
  return button(["Why this rank", icon("down")], toggle, {
    class: "button quiet result-why",
    "aria-expanded": "false",
  });
}

async function openWhy(state, byHand = true) {
  const { panel, result, params, element } = state;
  for (const other of document.querySelectorAll(".why:not([hidden])")) if (other !== panel) other.close?.();
  panel.close = () => closeWhy(state, false);
  panel.hidden = false;
  state.why.setAttribute("aria-expanded", "true");
  element.classList.add("is-open");
  if (byHand) remember(state, "why");
  // It returns nothing: a handler set this way that returned false would take every other key from the panel.
  panel.onkeydown = (event) => {
    if (event.key === "Escape" && !event.defaultPrevented) closeWhy(state);
  };
  if (panel.childElementCount > 0) return;
  const asked = { q: params.q, entity: result.entity, type: params.type, model: params.model, index: params.index };
  await fetchWhy(state, asked);
  if (!byHand) element.scrollIntoView({ block: "start" });
}

async function fetchWhy(state, asked) {
  const { panel, budget, signal } = state;
  try {
    const why = await withProgress(panel, get("/v1/explain", asked, { signal }), { budget });
    const close = button("", () => closeWhy(state), {
      class: "icon-button why-close",
      picture: "close",
      "aria-label": "Close the explanation",
    });
    fill(panel, close, whyPanel(why, { reveal: (place) => reveal(state, place, why.evidence) }));
    panel.setAttribute("aria-label", `Why rank ${why.rank}`);
    announce("Explanation shown");
  } catch (error) {
    if (error.name === "AbortError") return panel.replaceChildren();
    fill(panel, failure(error, { retry: () => (panel.replaceChildren(), fetchWhy(state, asked)) }));
  }
}

function closeWhy(state, byHand = true) {
  state.panel.hidden = true;
  state.why.setAttribute("aria-expanded", "false");
  state.element.classList.remove("is-open");
  if (!byHand) return;
  const { why, ...rest } = url.read().params;
  url.replace(rest);
  state.why.focus();
}

/** Put what was opened into the address. */
function remember(state, what) {
  url.replace({ ...url.read().params, [what]: state.result.entity });
}
