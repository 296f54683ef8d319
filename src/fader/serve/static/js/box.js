// The one box of the search view: a question, keywords or the query language; below it what was read out of it.
//
// The reading is a row of chips: the answer type, which can be completed, and each word or phrase with whether it may,
// must or must not occur. Whatever is changed there asks anew. What ranks, how many and which index are behind
// "Advanced". Knows addresses and readings; nothing of results.

import { announce, button, data, fill, h, icon } from "./dom.js";
import { choiceField, modelField, queryField, typeField } from "./fields.js";

const USUAL = "10";
const MODES = ["optional", "required", "forbidden"];
const SAID = { optional: "may", required: "must", forbidden: "not" };
const TITLES = {
  optional: "This may occur near the answer",
  required: "This must occur in the document",
  forbidden: "This must not occur in the document",
};

/**
 * The form: {element, query, type, fit(params), read(reading, onEdit), clear()}. `send(asked)` gets what was typed:
 * {q, type, index, k, model}; a type that the service read is not among it.
 */
export function askBox({ context, send }) {
  const { indexes } = context.stats;
  const several = indexes.length > 1;
  const state = { chosen: false, edit: null, literals: [] };
  const again = () => query.value() && submit();
  const index = choiceField({ label: "Collection", choices: indexes.map(({ name }) => [name, name]), onChange: again });
  const type = typeField({
    index: () => (several ? index.value() : ""),
    onChange: () => {
      state.chosen = true;
      if (state.edit) state.edit(type.value(), written(state.literals));
      else again();
    },
  });
  type.input.addEventListener("input", () => (state.chosen = true));
  const query = queryField({
    label: "Question or keywords",
    placeholder: "Who played the violin?",
    legend: false,
  });
  const model = modelField({ onChange: again });
  const k = choiceField({ label: "Results", choices: ["10", "20", "50", "100"].map((n) => [n, n]), onChange: again });
  const chips = h("ul", { class: "literals", "aria-label": "Words as they were read" });
  const advanced = h(
    "details",
    { class: "advanced" },
    h("summary", {}, "Advanced"),
    h("div", { class: "ask-more" }, model.element, k.element, help()),
  );

  function submit() {
    const q = query.value();
    if (!q) return query.complain("Ask something: a question, or a few words.");
    send({
      q,
      type: state.chosen ? type.value() : "",
      index: several && index.value() !== indexes[0].name ? index.value() : "",
      k: k.value() === USUAL ? "" : k.value(),
      model: model.value(),
    });
  }

  const element = h(
    "form",
    {
      class: "ask",
      role: "search",
      "aria-label": "Entities",
      on: { submit: (event) => (event.preventDefault(), submit()) },
    },
    h(
      "div",
      { class: "box" },
      several && index.element,
      query.element,
      h(
        "button",
        { class: "button primary ask-go", type: "submit" },
        icon("search"),
        h("span", { class: "ask-go-text", text: "Search" }),
      ),
    ),
    h("div", { class: "reading" }, type.element, chips, advanced),
  );

  function drawChips() {
    const remove = (i) => change(state.literals.filter((_, at) => at !== i), `Left out`);
    const turn = (i) => {
      const mode = MODES[(MODES.indexOf(state.literals[i].mode) + 1) % MODES.length];
      change(
        state.literals.map((each, at) => (at === i ? { ...each, mode } : each)),
        TITLES[mode],
      );
    };
    fill(
      chips,
      state.literals.map((literal, i) => chip(literal, () => turn(i), () => remove(i))),
      state.edit && h("li", {}, adder((text) => change([...state.literals, { text, mode: "optional" }], "Added"))),
    );
  }

  function change(literals, said) {
    if (!literals.some((literal) => literal.mode !== "forbidden"))
      return announce("One word to look for must stay.");
    announce(said);
    state.edit(type.value(), written(literals));
  }

  return {
    element,
    query,
    type,
    clear: query.clear,
    /** Put the parameters of an address into the fields; `typed` says that the type is the asker's own. */
    fit(params, systems, typed) {
      index.set(params.index);
      k.set(params.k ?? USUAL);
      model.offer(systems);
      model.set(params.model);
      if (params.model) advanced.open = true;
      if (query.value() !== params.q) query.set(params.q);
      if (type.value() !== (params.type ?? "")) type.show(params.type);
      state.chosen = typed;
      if (!params.q) this.read(null);
    },
    /** Show a reading {type, literals} as chips; `edit(type, query)` is told of every change. Null: none. */
    read(reading, edit = null) {
      state.edit = reading ? edit : null;
      state.literals = reading?.literals ?? [];
      if (reading && type.value() !== (reading.type ?? "")) type.show(reading.type);
      drawChips();
    },
  };
}

/** Literals as a query. */
export function written(literals) {
  return literals.map(writtenOne).join(" ");
}

function writtenOne({ text, mode, exact }) {
  const sign = { required: "+", forbidden: "-" }[mode] ?? "";
  const plain = text.replaceAll('"', " ").trim();
  const body = /\s/.test(plain) && !plain.startsWith("entity:") ? `"${plain}"` : plain;
  return sign + (exact ? "=" : "") + body;
}

function chip(literal, turn, remove) {
  const word = data(literal.text, 60, { class: "literal-text" });
  return h(
    "li",
    { class: `literal is-${literal.mode}` },
    button(SAID[literal.mode], turn, {
      class: "literal-mode",
      title: `${TITLES[literal.mode]}; press to change`,
      "aria-label": `${literal.text}: ${TITLES[literal.mode]}. Change`,
    }),
    word,
    button("", remove, { class: "literal-remove", picture: "close", "aria-label": `Leave out ${literal.text}` }),
  );
}

function adder(add) {
  const input = h("input", {
    class: "literal-add",
    type: "text",
    placeholder: "add a word",
    maxlength: 200,
    "aria-label": "Add a word or phrase",
    autocomplete: "off",
    spellcheck: "false",
    on: {
      keydown: (event) => {
        const text = input.value.trim();
        if (event.key !== "Enter" || event.isComposing) return;
        event.preventDefault();
        if (/[\p{L}\p{N}]/u.test(text)) add(text);
      },
    },
  });
  return input;
}

const LEGEND = [
  ['"a phrase"', "in this order"],
  ["+word", "must occur"],
  ["-word", "must not occur"],
  ["=word", "exactly so"],
  ["type:city", "answer type"],
];

function help() {
  return h(
    "p",
    { class: "legend" },
    "The box also takes a query: ",
    LEGEND.map(([sign, meaning]) => h("span", { class: "legend-entry" }, h("code", { text: sign }), " ", meaning)),
  );
}
