// The form of a query, as the search and compare views have it: type, keywords, which index, how many, and whatever the
// view puts beside them to say what ranks.
//
// Knows the fields and the names they have in an address; nothing of answers.

import { h } from "./dom.js";
import { choiceField, queryField, typeField } from "./fields.js";

const USUAL = "10";

/**
 * The form: {element, type, query, submit(), again(), fit(params)}. `rankers` are the elements for what ranks, `go` is
 * the label of the button, and `send(asked)` gets the parameters of the address, without those for what ranks.
 */
export function askForm({ context, label, go, counts, rankers, send, class: names = "ask" }) {
  const { indexes } = context.stats;
  const several = indexes.length > 1;
  const again = () => query.value() && submit();
  const index = choiceField({ label: "Index", choices: indexes.map(({ name }) => [name, name]), onChange: again });
  const type = typeField({ index: () => (several ? index.value() : "") });
  const query = queryField();
  const k = choiceField({ label: "Results", choices: counts.map((n) => [n, n]), onChange: again });

  function submit() {
    const q = query.value();
    if (!q) return query.complain("Give a word or phrase to look for.");
    send({
      q,
      type: type.value(),
      index: several && index.value() !== indexes[0].name ? index.value() : "",
      k: k.value() === USUAL ? "" : k.value(),
    });
  }

  const element = h(
    "form",
    {
      class: names,
      role: "search",
      "aria-label": label,
      on: { submit: (event) => (event.preventDefault(), submit()) },
    },
    h(
      "div",
      { class: "ask-main" },
      type.element,
      query.element,
      h("button", { class: "button primary ask-go", type: "submit" }, go),
    ),
    h("div", { class: "ask-more" }, several && index.element, rankers, k.element),
  );
  return {
    element,
    type,
    query,
    submit,
    again,
    /** Put the parameters of an address into the fields. */
    fit(params) {
      index.set(params.index);
      k.set(params.k ?? USUAL);
      if (query.value() !== params.q) query.set(params.q);
      if (type.value() !== (params.type ?? "")) type.show(params.type);
    },
  };
}
