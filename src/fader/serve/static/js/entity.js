// One entity: its names, its types with the way to each, how many documents mention it; with a query all its contexts,
// page by page, and why it has its rank. In the address: id, q, type, model, index, offset, and `why` where the
// explanation is open.
//
// Knows the answer of /v1/entity; without an id it only asks for one.

import { get } from "./api.js";
import { combobox } from "./combobox.js";
import { announce, cut, data, h, number, plural, score, uid, visible } from "./dom.js";
import { snippet } from "./evidence.js";
import { explained, light } from "./explained.js";
import { exportLinks } from "./export.js";
import { modelTitle, queryField, suggested, suggestion } from "./fields.js";
import { typeName } from "./names.js";
import { pager } from "./sortable.js";
import { empty, load } from "./states.js";
import * as url from "./url.js";

const PATH = "/v1/entity";
const LIMIT = 20;

export async function render(root, params, context) {
  if (!params.id) return root.append(h("h1", { class: "page-title", text: "Entities" }), finder(params));
  const place = h("div", { class: "entity" });
  const title = h("h1", { class: "sr-only", text: "Entity" });
  root.append(title, place);
  const offset = Math.max(0, Number.parseInt(params.offset, 10) || 0);
  const asked = url.given({
    id: params.id,
    q: params.q,
    type: params.type,
    model: params.model,
    index: params.index,
    offset: params.q && offset,
    limit: params.q && LIMIT,
  });
  const links = () => [
    h("a", { class: "button", href: url.link("/entity", { index: params.index }), text: "Look for an entity" }),
  ];
  await load(
    place,
    () => get(PATH, asked, { signal: context.signal }),
    (card) => (title.remove(), show(card, params, asked, context)),
    { links, budget: context.stats.limits?.time_ms },
  );
}

/** A box that finds an entity by its name. */
function finder(params) {
  const id = uid("entity");
  const box = combobox({
    id,
    placeholder: "a name",
    onChange: () => url.go("/entity", { ...params, id: box.value(), offset: "" }),
    ask: suggested("entity", () => params.index),
    draw: ({ hint }) => suggestion(hint, `in ${plural(hint.documents, "document")}`),
  });
  box.input.dataset.key = "/";
  return h(
    "form",
    { class: "entity-finder", on: { submit: (event) => event.preventDefault() } },
    h("label", { class: "label", for: id, text: "Look for an entity by name" }),
    box.element,
  );
}

function show(card, params, asked, context) {
  document.title = `${visible(cut(card.name || card.id, 60))} · Fader`;
  announce(`${card.name || card.id}, ${plural(card.types.length, "type")}`);
  return [
    back(params),
    head(card),
    h(
      "div",
      { class: "entity-columns" },
      facts(card, params),
      h(
        "div",
        { class: "entity-main" },
        card.evidence ? contexts(card, params, asked, context) : invitation(card, params),
      ),
    ),
  ];
}

function back(params) {
  const search =
    params.q && url.link("/", { q: params.q, type: params.type, model: params.model, index: params.index });
  return h(
    "p",
    { class: "small" },
    search
      ? h("a", { href: search }, "Results for ", data(params.q, 80))
      : h("a", { href: url.link("/entity", { index: params.index }), text: "Entities" }),
  );
}

function head(card) {
  return h(
    "header",
    { class: "entity-head" },
    h("h1", { class: "page-title" }, data(card.name || card.id, 200)),
    data(card.id, 120, { class: "entity-id mono" }),
  );
}

function facts(card, params) {
  const names = card.aliases.filter((alias) => alias !== card.name);
  return h(
    "aside",
    { class: "entity-facts", "aria-label": "About it" },
    h(
      "p",
      { class: "entity-documents" },
      h("strong", { class: "tabular", text: number(card.documents) }),
      h("span", { class: "muted", text: card.documents === 1 ? " document mentions it" : " documents mention it" }),
    ),
    h("h2", { class: "entity-heading", text: card.types.length === 1 ? "Type" : "Types" }),
    card.types.length
      ? h(
          "ul",
          { class: "entity-types" },
          card.types.map((type) => h("li", {}, path(type, params.index))),
        )
      : h("p", { class: "muted", text: "None." }),
    names.length > 0 && [
      h("h2", { class: "entity-heading", text: "Also called" }),
      h(
        "ul",
        { class: "chips" },
        names.slice(0, 40).map((alias) => h("li", { class: "chip" }, data(alias, 60))),
        names.length > 40 && h("li", { class: "chip", text: `and ${names.length - 40} more` }),
      ),
    ],
    exportLinks({
      path: PATH,
      params: { id: card.id, index: params.index },
      name: "entity",
      csv: false,
    }),
  );
}

/** The way from a root to a type, each step a link. */
function path(type, index) {
  const steps = type.path.length ? type.path : [type];
  return h(
    "span",
    { class: "entity-path" },
    steps.map((step, i) => [
      i > 0 && [h("span", { class: "entity-step", "aria-hidden": "true", text: "›" }), " "],
      h(
        "a",
        {
          href: url.link("/types", { type: step.id, index }),
          "aria-current": step.id === type.id ? "true" : undefined,
        },
        data(step.name || step.id, 60),
      ),
    ]),
  );
}

/** Without a query: ask for one. */
function invitation(card, params) {
  const query = queryField({ label: "What does the text say of it near …" });
  const submit = (event) => {
    event.preventDefault();
    if (!query.value()) return query.complain("Give a word or phrase to look for.");
    url.go("/entity", { ...params, q: query.value(), offset: "" });
  };
  return h(
    "form",
    { class: "entity-ask", on: { submit } },
    h("h2", { text: "Its contexts" }),
    h(
      "p",
      { class: "muted" },
      "Give a query to see the places where ",
      data(card.name || card.id, 60),
      " is mentioned near what it asks for.",
    ),
    h(
      "div",
      { class: "entity-row" },
      query.element,
      h("button", { class: "button primary", type: "submit", text: "Show" }),
    ),
  );
}

function contexts(card, params, asked, context) {
  const { evidence } = card;
  const page = evidence.contexts;
  const from = page.offset;
  const leaf = (to) => url.go("/entity", { ...params, offset: to > 1 ? (to - 1) * LIMIT : "" });
  const pages = Math.max(1, Math.ceil(page.total / LIMIT));
  const current = Math.floor(from / LIMIT) + 1;
  const { q, type, index } = params;
  const passage = (item) => url.link("/document", { id: item.doc, entity: card.id, at: item.tokens[0], q, type, index });
  const items = page.items.map((item) => snippet(item, item.place, passage));
  const why = evidence.rank !== null && explanation(evidence, params, context, items, from);
  return h(
    "section",
    { class: "entity-contexts", "aria-label": "Contexts" },
    h(
      "h2",
      {},
      page.total === 0 ? "No context" : plural(page.total, "context"),
      " for ",
      data(params.q, 80, { class: "entity-query" }),
    ),
    standing(evidence, params, context.systems, why),
    why && why.panel,
    evidence.warnings.map((text) => h("p", { class: "warning" }, h("span", {}, data(text, 400)))),
    page.items.length
      ? h("ol", { class: "evidence", start: from + 1 }, items)
      : page.total > 0 &&
          empty(
            "Nothing on this page",
            [],
            [h("a", { href: url.link("/entity", { ...params, offset: "" }), text: "The first page" })],
          ),
    pages > 1 &&
      h(
        "nav",
        { class: "pager row wrap", "aria-label": "Pages of contexts" },
        pager(current, pages, from, from + page.items.length, page.total, leaf),
      ),
    exportLinks({ path: PATH, params: asked, name: "contexts" }),
  );
}

let wanted = 0; // the place of the context to go to once its page is shown

/** The explanation of its rank; a context that it names may be on another page. */
function explanation({ entity }, params, context, items, from) {
  const { q, type, model, index } = params;
  const reveal = (place) => {
    const target = items[place - from - 1];
    if (target) return light(target);
    wanted = place;
    url.go("/entity", { ...url.read().params, offset: Math.floor((place - 1) / LIMIT) * LIMIT || "" });
  };
  const why = explained({
    asked: { q, entity, type, model, index },
    budget: context.stats.limits?.time_ms,
    signal: context.signal,
    reveal,
    onChange: (open, byHand) => byHand && url.replace({ ...url.read().params, why: open ? entity : "" }),
  });
  if (params.why) queueMicrotask(() => arrive(why, reveal));
  return why;
}

async function arrive(why, reveal) {
  const place = wanted;
  wanted = 0;
  await why.open(false);
  if (place > 0) reveal(place);
}

/** Rank, score and what ranks. */
function standing(evidence, params, systems, why) {
  const type = evidence.type && data(evidence.type, 60);
  if (type) typeName(evidence.type, params.index).then((name) => (type.textContent = visible(cut(name, 60))));
  if (evidence.rank === null)
    return h("p", { class: "muted" }, "It is no candidate for this query", type && [" and the type ", type], ".");
  return h(
    "div",
    { class: "entity-standing" },
    h(
      "p",
      {},
      h("strong", { class: "tabular", text: `Rank ${number(evidence.rank)}` }),
      ` of ${number(evidence.candidates)}`,
      type && [" of type ", type],
      h(
        "span",
        { class: "muted" },
        ` · score ${score(evidence.score)} · `,
        data(modelTitle(params.model, evidence.model, systems), 80),
      ),
    ),
    why.button,
  );
}
