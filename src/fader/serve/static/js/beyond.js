// The entity whose explanation an address asks for (`why`), where it is not among the results: a result like the
// others, with its rank, or why it has none.
//
// Knows the answer of /v1/entity; results.js draws it.

import { get } from "./api.js";
import { data, h, icon } from "./dom.js";
import { results } from "./results.js";
import { sentence } from "./states.js";

/** A section for it, or null where the results have it. It is above them, since it was asked for. */
export async function beyond(answer, params, { limits, signal, snippets }) {
  if (!params.why || answer.results.some((result) => result.entity === params.why)) return null;
  const { why: id, q, type, model, index } = params;
  try {
    const found = await get("/v1/entity", { id, q, type, model, index, limit: snippets }, { signal });
    return found.evidence.rank === null ? unranked(found) : ranked(found, answer, params, { limits, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return note(["No rank to explain. ", data(sentence(error.message), 400)]);
  }
}

function ranked({ id, name, types, evidence }, answer, params, rest) {
  const { rank, score, support, contexts } = evidence;
  const only = {
    rank,
    entity: id,
    name,
    types: types.map((each) => each.id),
    score,
    support,
    evidence: contexts.items,
  };
  return h(
    "section",
    { class: "beyond", "aria-label": "Asked for" },
    h("p", {
      class: "beyond-note small muted",
      text: "The explanation that was asked for, of a rank below those shown",
    }),
    results({ ...answer, results: [only] }, params, { ...rest, beside: answer.results }),
  );
}

function unranked({ evidence }) {
  const reasons = evidence.warnings.length > 0 ? evidence.warnings : ["It is no candidate for this query."];
  return note(["No rank to explain. ", reasons.map((text) => [data(sentence(text), 400), " "])]);
}

function note(parts) {
  return h("p", { class: "warning" }, icon("warning"), h("span", {}, parts));
}
