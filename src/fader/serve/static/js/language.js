// How to write a query. Knows nothing of any index: its words are an example of the language, not of what is there.

import { h } from "./dom.js";

const LANGUAGE = [
  ["played violin", "either word may occur; entities near both come first"],
  ['"played violin"', "the words stand side by side, in this order"],
  ["played +violin", "violin must occur in the document"],
  ["violin -piano", "piano must not occur in it"],
  ["violin type:scientist", "the answer type, written into the query"],
];

/** The signs of the language, each with what it means. */
export function language() {
  const row = ([sign, meaning]) => [h("dt", {}, h("code", { text: sign })), h("dd", { text: meaning })];
  return h("dl", { class: "language" }, LANGUAGE.map(row));
}
