// The hierarchy of types: a tree whose branches come when they are opened, and a card of the type that is chosen.
// In the address: type (the one chosen), index.
//
// The tree is tree.js; this view knows /v1/types and what can be done with a type.

import { get } from "./api.js";
import { announce, cut, data, fill, h, number, plural, visible } from "./dom.js";
import { exportLinks } from "./export.js";
import { typeField } from "./fields.js";
import { beginnings } from "./intro.js";
import { empty, load } from "./states.js";
import { tree } from "./tree.js";
import * as url from "./url.js";

export const keeps = true;

const LIMIT = 100;
const POPULAR = 12;
let view = null;

export async function render(root, params, context) {
  const index = params.index ?? "";
  if (!view || view.frame.parentNode !== root || view.index !== index) view = build(root, index, context);
  view.context = context;
  if (view.chosen === (params.type ?? "")) return;
  view.chosen = params.type ?? "";
  await Promise.all([card(view, params, context), view.chosen ? reveal(view, context) : view.started]);
}

function build(root, index, context) {
  const made = {
    index,
    chosen: null,
    card: h("section", { class: "types-card", "aria-label": "The chosen type" }),
    context,
  };
  const choose = (id) => url.go("/types", { type: id, index });
  made.find = typeField({
    index: () => index,
    label: "Find a type",
    onChange: () => made.find.value() && choose(made.find.value()),
  });
  made.find.element.querySelector(".field-link")?.remove();
  made.find.input.placeholder = "a name";
  made.find.input.dataset.key = "/";
  made.tree = tree({
    label: "Types",
    children: (id, offset) => children(id, offset, index),
    draw: row,
    onChoose: (node) => (choose(node.id), (made.picked = true)),
  });
  made.frame = h(
    "div",
    { class: "types" },
    h("h1", { class: "page-title", text: "Types" }),
    h("p", { class: "lead", text: "Every query can ask for one type of answer, with all the types below it." }),
    indexes(context, index),
    h(
      "form",
      {
        class: "types-find",
        on: { submit: (event) => (event.preventDefault(), made.find.value() && choose(made.find.value())) },
      },
      made.find.element,
    ),
    h("div", { class: "types-columns" }, made.tree.element, made.card),
  );
  fill(root, made.frame);
  made.started = made.tree
    .start()
    .then(
      (total) =>
        total === 0 && fill(made.tree.element, empty("There are no types", ["The catalog of this index has none."])),
    );
  return made;
}

function indexes(context, index) {
  const all = context.stats.indexes;
  if (all.length < 2) return null;
  const current = index || all[0].name;
  const links = all.map(({ name }, i) =>
    chip(url.link("/types", { index: i ? name : "" }), data(name, 40), {
      "aria-current": name === current ? "true" : undefined,
    }),
  );
  return h("ul", { class: "chips", "aria-label": "Index" }, links);
}

function chip(href, inside, props = {}) {
  return h("li", {}, h("a", { class: "chip", href, ...props }, inside));
}

async function children(parent, offset, index) {
  const found = await get("/v1/types", { parent, offset, limit: LIMIT, index });
  return { total: found.total, nodes: found.types.map(node) };
}

function node(type) {
  return { id: type.id, children: type.subtypes, label: type.name || type.id, type };
}

function row({ type }) {
  return [
    h("span", { class: "types-name" }, data(type.name || type.id, 80)),
    h(
      "span",
      { class: "types-count small muted tabular", title: plural(type.entities, "entity", "entities") },
      number(type.entities),
    ),
  ];
}

/** Open the way to the chosen type. */
async function reveal(made, context) {
  await made.started;
  const found = await get(
    "/v1/types",
    { parent: made.chosen, limit: 1, index: made.index },
    { signal: context.signal },
  ).catch(() => null);
  if (found) await made.tree.reveal(found.path.map((type) => type.id));
}

// The card

async function card(made, params, context) {
  const { index } = made;
  if (!params.type) {
    document.title = "Types · Fader";
    return load(
      made.card,
      () => beginnings(index, context.signal),
      ({ types }) => start(types, index),
    );
  }
  const asked = { parent: params.type, limit: LIMIT, index };
  const both = async () => {
    const [found, popular] = await Promise.all([
      get("/v1/types", asked, { signal: context.signal }),
      get(
        "/v1/suggest",
        { kind: "entity", prefix: "", type: params.type, limit: POPULAR, index },
        { signal: context.signal },
      ).catch(() => ({ suggestions: [] })),
    ]);
    return { ...found, popular: popular.suggestions };
  };
  await load(made.card, both, (found) => show(found, index, asked));
  if (made.picked && window.matchMedia("(max-width: 48rem)").matches) made.card.scrollIntoView({ block: "start" });
  made.picked = false;
}

/** Before a type is chosen: those with most entities, each with what it holds. */
function start(types, index) {
  return [
    h("h2", { class: "types-title", text: "To begin with" }),
    h("p", { class: "muted small types-keys" }, "In the tree arrow keys move, right opens a branch, Enter chooses."),
    h(
      "ul",
      { class: "types-start" },
      types.map((type) =>
        h(
          "li",
          {},
          h(
            "a",
            { class: "types-start-link", href: url.link("/types", { type: type.id, index }) },
            h("span", { class: "types-start-name" }, data(type.name || type.id, 60)),
            h("span", { class: "small muted tabular", text: plural(type.entities, "entity", "entities") }),
          ),
          h(
            "p",
            { class: "small muted" },
            type.known.map(({ id, name }, i) => [
              i > 0 && ", ",
              h("a", { href: url.link("/entity", { id, type: type.id, index }) }, data(name || id, 40)),
            ]),
          ),
        ),
      ),
    ),
  ];
}

function show(found, index, asked) {
  const type = found.parent;
  document.title = `${visible(cut(type.name, 60))} · Types · Fader`;
  announce(`${type.name}: ${plural(type.entities, "entity", "entities")}, ${plural(type.descendants, "type")} below`);
  return [
    breadcrumb(found.path, index),
    h("h2", { class: "types-title" }, data(type.name || type.id, 120)),
    data(type.id, 120, { class: "entity-id mono" }),
    h(
      "dl",
      { class: "types-numbers tabular" },
      fact("Entities", type.entities),
      fact("Types right below", type.subtypes),
      fact("Types below in all", type.descendants),
    ),
    h("p", {}, h("a", { class: "button primary", href: url.link("/", { type: type.id, index }) }, "Ask for this type")),
    popular(found.popular, type, index),
    below(found, index),
    above(type, found.path, index),
    exportLinks({ path: "/v1/types", params: asked, name: "types", csv: () => rows(found) }),
  ];
}

function breadcrumb(path, index) {
  const steps = path.slice(0, -1);
  if (!steps.length) return null;
  return h(
    "nav",
    { "aria-label": "Way to this type" },
    h(
      "ol",
      { class: "types-path small" },
      steps.map((step) => h("li", {}, typeLink(step.id, step.name, index))),
    ),
  );
}

function typeLink(id, name, index) {
  return h("a", { href: url.link("/types", { type: id, index }) }, data(name || id, 60));
}

function fact(name, value) {
  return h("div", {}, h("dt", { class: "small muted", text: name }), h("dd", { text: number(value) }));
}

function popular(entities, type, index) {
  if (!entities.length) return null;
  const items = entities.map((hint) =>
    chip(url.link("/entity", { id: hint.id, type: type.id, index }), data(hint.name || hint.id, 50), {
      title: `in ${plural(hint.documents, "document")}`,
    }),
  );
  return [h("h3", { class: "types-heading", text: "Mentioned most" }), h("ul", { class: "chips" }, items)];
}

function below(found, index) {
  if (!found.types.length) return null;
  const most = [...found.types].sort((a, b) => b.entities - a.entities).slice(0, 12);
  const items = most.map((type) =>
    chip(url.link("/types", { type: type.id, index }), [
      data(type.name || type.id, 50),
      h("span", { class: "tabular", text: ` ${number(type.entities)}` }),
    ]),
  );
  const left = found.total - most.length;
  return [
    h("h3", { class: "types-heading", text: "Right below" }),
    h(
      "ul",
      { class: "chips" },
      items,
      left > 0 && h("li", { class: "chip", text: `and ${number(left)} more in the tree` }),
    ),
  ];
}

/** Supertypes that the way shown does not pass. */
function above(type, path, index) {
  const passed = new Set(path.map((step) => step.id));
  const others = type.supertypes.filter((id) => !passed.has(id));
  if (!others.length) return null;
  return h(
    "p",
    { class: "small muted" },
    "Also below ",
    others.slice(0, 8).map((id, i) => [i > 0 && ", ", typeLink(id, id, index)]),
    ".",
  );
}

function rows(found) {
  const heads = ["id", "name", "supertypes", "subtypes", "descendants", "entities"];
  return [heads, ...found.types.map((type) => heads.map((key) => type[key]))];
}
