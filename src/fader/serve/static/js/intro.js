// The first visit: what this is, how to ask, and examples made from the index itself.
//
// An example asks for entities of a popular type near the name of a popular entity, which any index can answer. Types
// with many entities and few subtypes are the plain ones (city, writer); "physical entity" is popular and says nothing.
// Knows the suggestions, nothing of the form.

import { get } from "./api.js";
import { data, fill, h, number, plural } from "./dom.js";
import { link } from "./url.js";

const EXAMPLES = 4;
const LEAD =
  "Say what kind of thing you want and which words should stand near its name. " +
  "Every answer comes with the passages that speak for it, and can tell why it stands where it stands.";

/** The introduction; its examples come when they are known. */
export function intro(context) {
  const examples = h("div", { class: "intro-examples" });
  const types = h("div", { class: "intro-types" });
  patiently(() => offer(context, examples, types));
  return h(
    "section",
    { class: "intro" },
    h("h2", { class: "intro-title", text: "Find things by what is written near them." }),
    h("p", { class: "lead", text: LEAD }),
    size(context),
    examples,
    types,
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

async function offer({ index, signal }, examples, types) {
  const asked = (kind, limit) =>
    get("/v1/suggest", { kind, limit, index }, { signal }).then((found) => found.suggestions);
  const [popular, entities] = await Promise.all([asked("type", 100), asked("entity", 60)]);
  const plain = (type) => type.entities / (type.subtypes + 1);
  const wanted = apart(popular.toSorted((a, b) => plain(b) - plain(a)));
  const pairs = paired(wanted, entities.slice(-30));
  const cards = pairs.map((pair) => example(pair, index));
  const chips = wanted.slice(0, 10).map((type) => chip(type, index));
  if (cards.length === 0) examples.remove();
  else fill(examples, heading("For example"), h("ul", { class: "intro-list" }, cards));
  if (chips.length > 0) fill(types, heading("Popular types"), h("ul", { class: "chips" }, chips));
}

function heading(text) {
  return h("h3", { class: "intro-heading", text });
}

/** Types of which none stands above another. */
function apart(types) {
  const above = new Set();
  return types.filter((type) => {
    type.supertypes.forEach((id) => above.add(id));
    return !above.has(type.id);
  });
}

/** Pairs of a type and an entity that is not of it, each used once. */
function paired(types, entities) {
  const left = entities.filter((entity) => /^[\p{L}\p{N} .'-]{3,40}$/u.test(entity.name));
  const pairs = [];
  for (const type of types) {
    const at = left.findIndex((entity) => !entity.types.includes(type.id));
    if (at >= 0) pairs.push({ type, entity: left.splice(at, 1)[0] });
    if (pairs.length === EXAMPLES) break;
  }
  return pairs;
}

function example({ type, entity }, index) {
  const q = entity.name.includes(" ") ? `+"${entity.name}"` : `+${entity.name}`;
  return h(
    "li",
    {},
    h(
      "a",
      { class: "intro-example", href: link("/", { q, type: type.id, index }) },
      h(
        "span",
        {},
        data(type.name, 40, { class: "intro-type" }),
        " near ",
        data(entity.name, 40, { class: "intro-near" }),
      ),
      h("code", { class: "small muted", text: q }),
    ),
  );
}

function chip(type, index) {
  const href = link("/", { type: type.id, index });
  return h(
    "li",
    {},
    h("a", { class: "chip", href }, data(type.name, 40), h("span", { class: "tabular", text: number(type.entities) })),
  );
}
