// Before a query: what this is, examples that the owner chose or that were made from the index, and popular types; or
// where a type is already chosen, that words are needed, and the entities of the type that are mentioned most.
//
// Knows /v1/examples and the suggestions, nothing of the form.

import { get } from "./api.js";
import { cut, data, fill, h, number, plural, visible } from "./dom.js";
import { language } from "./language.js";
import { typeName } from "./names.js";
import { opening } from "./opening.js";
import { link } from "./url.js";

const TYPES = 10;

/** The introduction; its examples come when they are known. */
export function intro(context) {
  const samples = h("div", { class: "intro-examples" });
  const types = h("div", { class: "intro-types" });
  patiently(() => offer(context, samples, types));
  return h(
    "section",
    { class: "intro" },
    samples,
    types,
    size(context),
  );
}

function size(context) {
  const stats = context.stats.indexes.find((i) => i.name === context.index) ?? context.stats.indexes[0];
  if (!stats?.documents) return null;
  const facts = [
    plural(stats.documents, "document"),
    plural(stats.mentions, "mention"),
    plural(stats.entities, "entity", "entities"),
    plural(stats.types, "type"),
  ];
  return h("p", { class: "intro-size small muted", text: facts.join(" · ") });
}

/** Examples are worth a second try, where the service is only just starting or busy. */
async function patiently(work, tries = 3) {
  try {
    await work();
  } catch (error) {
    if (tries > 1 && error.status >= 500) setTimeout(() => patiently(work, tries - 1), 1500);
  }
}

async function offer({ index, signal }, samples, types) {
  const found = await beginnings(index, signal);
  const chips = found.types.slice(0, TYPES).map((type) => chip(type, index));
  if (chips.length > 0) fill(types, heading("Kinds of things"), h("ul", { class: "chips" }, chips));
  if (found.examples.length > 0) {
    const cards = found.examples.map(({ q }) => h("li", {}, card(q, index)));
    fill(samples, heading("For example"), h("ul", { class: "intro-list" }, cards));
  } else fill(samples, heading("How to write a query"), language());
}

/** What to begin with: {examples, types}, as the document has it or as the service tells. */
export async function beginnings(index, signal) {
  return (!index && opening?.examples) || (await get("/v1/examples", { index }, { signal }));
}

function heading(text) {
  return h("h3", { class: "intro-heading", text });
}

function card(q, index) {
  return h("a", { class: "intro-example", href: link("/", { q, index }) }, data(q, 120));
}

function chip(type, index) {
  const href = link("/", { type: type.id, index });
  return h(
    "li",
    {},
    h("a", { class: "chip", href }, data(type.name, 40), h("span", { class: "tabular", text: number(type.entities) })),
  );
}

// A type without words

const ENTITIES = 24;

/** A type was chosen: words are needed to find some of it, and the most mentioned can be looked at without. */
export function ofType(type, { index, signal }) {
  const name = data(type, 60, { class: "intro-type" });
  typeName(type, index).then((text) => (name.textContent = visible(cut(text, 60))));
  const list = h("div", { class: "intro-entities" });
  patiently(async () => fill(list, await mentioned(type, index, signal)));
  return h(
    "section",
    { class: "intro" },
    h("h2", { class: "intro-title is-small" }, "Which ", name, "?"),
    h("p", {
      class: "lead",
      text: "Write a word or two that should stand near its name into the box, then search.",
    }),
    list,
  );
}

async function mentioned(type, index, signal) {
  const asked = { kind: "entity", type, limit: ENTITIES, index };
  const { suggestions } = await get("/v1/suggest", asked, { signal });
  if (suggestions.length === 0) return h("p", { class: "muted", text: "No entity of this type is in the index." });
  return [
    heading("Most mentioned of this type"),
    h(
      "ul",
      { class: "chips" },
      suggestions.map(({ id, name, documents }) =>
        h(
          "li",
          {},
          h(
            "a",
            { class: "chip", href: link("/entity", { id, type, index }) },
            data(name || id, 60),
            h("span", { class: "tabular", text: number(documents) }),
          ),
        ),
      ),
    ),
  ];
}
