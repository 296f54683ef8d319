// The fields of a query: type, keywords, what ranks, which index, how many; ask.js makes a form of them.
//
// Each gives `{element, value(), set(...)}`. Knows the suggestions and the lists of systems, nothing of answers.

import { get } from "./api.js";
import { combobox } from "./combobox.js";
import { cut, data, fill, h, plural, uid, visible } from "./dom.js";
import { typeName, typesAbove } from "./names.js";
import { link } from "./url.js";

/** A label over a field. */
export function labelled(label, id, ...field) {
  return h("div", { class: "field" }, h("label", { class: "label", for: id, text: label }), field);
}

/** The answer type, completed from the hierarchy; `index()` says of which index. */
export function typeField({ index = () => "", label = "Answer type", onChange } = {}) {
  const id = uid("type");
  const box = combobox({
    id,
    placeholder: "any type",
    onChange,
    ask: suggested("type", index),
    draw: ({ hint }) => typeOption(hint, index()),
  });
  const browse = h("a", { class: "field-link", href: link("/types"), text: "browse types" });
  const title = h("div", { class: "field-head" }, h("label", { class: "label", for: id, text: label }), browse);
  return {
    ...box,
    element: h("div", { class: "field field-type" }, title, box.element),
    /** Show a type by id or name; its name follows when it is known. */
    show(value) {
      box.set(value ?? "");
      browse.href = link("/types", { index: index() });
      if (!value) return;
      typeName(value, index()).then((name) => box.value() === value && box.set(value, visible(cut(name, 200))));
    },
  };
}

function typeOption(hint, index) {
  const above = h("span", { class: "combobox-path" });
  typesAbove(hint, index).then((chain) => fill(above, trail(chain)));
  return suggestion(hint, plural(hint.entities, "entity", "entities"), above);
}

/** The last few types above one, from the widest on. */
function trail(chain) {
  return [
    chain.length > 0 && " in ",
    chain[0]?.supertypes.length > 0 && "… › ",
    chain.map((node, i) => [i > 0 && " › ", data(node.name, 40)]),
  ];
}

/** What a combobox asks: types or entities whose names begin so; `index()` says of which index. */
export function suggested(kind, index) {
  return async (text, signal) => {
    const found = await get("/v1/suggest", { kind, prefix: text, limit: 10, index: index() }, { signal });
    return found.suggestions.map((hint) => ({ value: hint.id, label: visible(cut(hint.name, 200)), hint }));
  };
}

/** A type or an entity in the list of a combobox: its name, the alias that matched, its id, and what else is told. */
export function suggestion(hint, ...more) {
  const alias =
    hint.label && hint.label !== hint.name && h("span", { class: "muted" }, " (", data(hint.label, 40), ")");
  return [
    h(
      "span",
      { class: "combobox-main" },
      h("span", { class: "combobox-name" }, data(hint.name, 80), alias),
      data(hint.id, 60, { class: "combobox-id mono" }),
    ),
    h("span", { class: "combobox-more" }, more),
  ];
}

const LEGEND = [
  ["word", "may occur"],
  ['"a phrase"', "in this order"],
  ["+word", "must occur"],
  ["-word", "must not occur"],
];

/** The keyword box with its legend, and the place where an error of the query is shown. */
export function queryField({ label = "Keywords near it", placeholder = "played +violin", legend: told = true } = {}) {
  const id = uid("query");
  const fault = h("div", { class: "field-fault", id: `${id}-fault`, role: "alert" });
  const input = h("input", {
    id,
    class: "input",
    type: "text",
    name: "q",
    placeholder,
    maxlength: 2000,
    enterkeyhint: "search",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    dir: "auto",
    dataset: { key: "/" },
    "aria-describedby": told ? `${id}-legend ${id}-fault` : `${id}-fault`,
    "aria-keyshortcuts": "/",
  });
  const legend = told && h("p", { class: "legend", id: `${id}-legend` }, LEGEND.map(legendEntry));
  const clear = () => {
    input.removeAttribute("aria-invalid");
    fault.replaceChildren();
  };
  input.addEventListener("input", clear);
  return {
    element: labelled(label, id, input, fault, legend),
    input,
    value: () => input.value.trim(),
    set: (text) => (clear(), (input.value = text ?? "")),
    clear,
    /** Say what is wrong, and where: `position` counts characters of the text as it was sent. */
    complain: (message, position = null) => complain(input, fault, message, position),
  };
}

function legendEntry([sign, meaning]) {
  return h("span", { class: "legend-entry" }, h("code", { text: sign }), " ", meaning);
}

function complain(input, fault, message, position) {
  input.setAttribute("aria-invalid", "true");
  const text = Array.from(input.value.trim());
  fill(
    fault,
    h("p", {}, data(message.charAt(0).toUpperCase() + message.slice(1), 400)),
    position !== null && pointed(text, position),
  );
  if (position === null) return;
  const before = input.value.length - input.value.trimStart().length + text.slice(0, position).join("").length;
  input.focus();
  input.setSelectionRange(before, before);
}

/** The query with the place of the fault marked, and not much around it. */
function pointed(text, position) {
  const from = Math.max(0, position - 30);
  const piece = (a, b) => visible(text.slice(a, b).join(""));
  return h(
    "p",
    { class: "pointed mono", dir: "ltr", "aria-hidden": "true" },
    from > 0 && "…",
    piece(from, position),
    h("span", { class: "pointed-at", text: piece(position, position + 1) || " " }),
    piece(position + 1, position + 30),
    text.length > position + 30 && "…",
  );
}

const WRITTEN = "\u0000written";

/**
 * What ranks: a served model, a system that needs no training, or one written out with its parameters. The value of the
 * service's default is empty, so that addresses follow it, or where it is `named` its name.
 */
export function modelField({ label = "Ranked by", named = false, onChange = () => {} } = {}) {
  const id = uid("model");
  const select = h("select", { id, class: "select small", on: { change: changed } });
  const text = h("input", {
    class: "input small mono",
    type: "text",
    placeholder: "voting(technique=combmnz)",
    maxlength: 500,
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    "aria-label": `${label}: system with parameters`,
  });
  const hint = h("p", { class: "field-hint" });
  const written = h("div", { class: "field-written", hidden: true }, text);
  let systems = { models: [], systems: [] };
  let before = "";

  function standard() {
    return named ? defaultName(systems) : "";
  }

  function changed() {
    if (select.value !== WRITTEN) {
      choose(select.value);
      return onChange();
    }
    const system = systems.systems.find((s) => s.name === before);
    write(system ? example(system) : "");
    text.focus();
  }

  function write(value) {
    text.value = value;
    select.value = WRITTEN;
    written.hidden = false;
    parameters();
  }

  function choose(value) {
    written.hidden = true;
    select.value = before = value;
    hint.textContent = "";
  }

  function parameters() {
    const name = text.value.split("(")[0].trim();
    const system = systems.systems.find((s) => s.name === name);
    const listed = (system?.parameters ?? []).map((p) => `${p.name}=${p.tried.length ? p.tried.join("|") : p.default}`);
    hint.textContent = listed.length ? `${name}: ${listed.join(", ")}` : "";
  }

  text.addEventListener("input", parameters);
  return {
    element: h(
      "div",
      { class: "field field-model" },
      h("label", { class: "label", for: id, text: label }),
      select,
      written,
      hint,
    ),
    value: () => (select.value === WRITTEN ? text.value.trim() : select.value),
    /** Offer what this index has. */
    offer(found) {
      const kept = select.value;
      systems = found;
      fill(select, options(found, standard()));
      select.value = kept;
    },
    set(value) {
      const wanted = !value || value === defaultName(systems) ? standard() : value;
      const listed = Array.from(select.options).some((o) => o.value === wanted);
      if (listed) choose(wanted);
      else write(wanted);
    },
  };
}

/** The name of what ranks where nothing is said. */
export function defaultName({ models }) {
  return models.find((m) => m.default)?.name ?? "default";
}

function options({ models, systems }, value) {
  const standard = models.find((m) => m.default);
  const first = h("option", { value, text: standard ? shortTitle(standard) : "default" });
  const served = models.filter((m) => !m.default).map((m) => h("option", { value: m.name, text: shortTitle(m) }));
  const untrained = systems
    .filter((s) => !s.trained)
    .map((s) => h("option", { value: s.name, text: s.name, title: s.description }));
  return [
    h("optgroup", { label: "Models" }, first, served),
    h("optgroup", { label: "Systems" }, untrained),
    h("optgroup", { label: "Other" }, h("option", { value: WRITTEN, text: "with parameters …" })),
  ];
}

function shortTitle(model) {
  return visible(cut(fullTitle(model), 60));
}

function fullTitle({ name, title }) {
  const known = name === "default" ? "Fader’s own" : name;
  return title && title !== name ? `${known}: ${title}` : known;
}

/** What ranked, for people: `title` as an answer tells it, after the name that a model of this form is served under. */
export function modelTitle(asked, title, systems) {
  const model = systems.models.find((each) => each.name === (asked || defaultName(systems)));
  return model ? fullTitle({ name: model.name, title }) : title;
}

function example(system) {
  const parameter = system.parameters.find((p) => p.tried.length > 0) ?? system.parameters[0];
  return parameter ? `${system.name}(${parameter.name}=${parameter.default})` : system.name;
}

/** One of a few: `[[value, label], ...]`; a value that is not among them is added. */
export function choiceField({ label, choices, onChange = () => {} }) {
  const id = uid("choice");
  const select = h("select", { id, class: "select small", on: { change: onChange } });
  const offer = (list) =>
    fill(
      select,
      list.map(([value, text]) => h("option", { value, text: visible(cut(text, 60)) })),
    );
  offer(choices);
  return {
    element: labelled(label, id, select),
    value: () => select.value,
    set(value) {
      const wanted = value ?? choices[0]?.[0] ?? "";
      if (!Array.from(select.options).some((o) => o.value === wanted)) offer([...choices, [wanted, wanted]]);
      select.value = wanted;
    },
  };
}
