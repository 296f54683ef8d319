// Why this rank: where the words stand, what each word and each context is worth, and what the rank would be without.
//
// Shows the answer of /v1/explain. `reveal(place)` brings a context's snippet into view.

import { bar } from "./bars.js";
import { button, data, h, number, plural, score, visible } from "./dom.js";
import { gridFigure } from "./grid.js";
import { badge } from "./plane.js";
import { scatterFigure } from "./scatter.js";

const FIRST = 6;

/** The insides of the panel; `shown` is the rank among the answers to a question, where it was asked as one. */
export function whyPanel(why, { reveal, shown = null }) {
  const figures =
    why.grids.length > 0
      ? why.grids.map((grid) => gridFigure(grid, why.literals))
      : [scatterFigure(why.matches, why.literals)];
  return h(
    "div",
    { class: "why-inner" },
    h("h4", { class: "why-title", text: `Why rank ${number(why.rank)} of ${number(why.candidates)}` }),
    shown !== null &&
      shown !== why.rank &&
      h("p", {
        class: "small muted",
        text: `Rank ${number(shown)} is that of all readings of the question together; this is the reading that speaks most for it.`,
      }),
    h("p", { class: "why-sum" }, summary(why)),
    warnings(why.warnings),
    h(
      "div",
      { class: "why-columns" },
      h("div", { class: "why-figures" }, figures),
      h("div", { class: "why-side" }, words(why), parts(why)),
    ),
    contexts(why, reveal),
  );
}

function summary(why) {
  const best = why.explain.contexts[0];
  const parts = [`Score ${score(why.score)} from ${plural(why.support, "context")}.`];
  if (best?.without && why.support > 1) {
    parts.push(
      best.without.rank === why.rank
        ? " Without the best of them it would still be rank " + number(why.rank) + "."
        : ` Without the best of them it would be rank ${number(best.without.rank)}.`,
    );
  }
  if (why.score < 0)
    parts.push(" Scores of this system can lie below zero: higher is better, and the parts below add up to the score.");
  return parts.join("");
}

function warnings(list = []) {
  return list.map((text) => h("p", { class: "warning" }, data(text, 300)));
}

// ---- per literal ----

function words(why) {
  const values = new Map(Object.entries(why.explain.literals));
  const largest = Math.max(1e-300, ...[...values.values()].map(Math.abs));
  const total = [...values.values()].reduce((a, b) => a + b, 0);
  const list = why.literals.map((literal, i) => word(literal, i, values.get(literal.text) ?? 0, largest, total));
  return h("div", {}, h("h5", { class: "why-heading", text: "By word" }), h("ul", { class: "why-list" }, list));
}

function word(literal, i, value, largest, total) {
  const rare =
    literal.documents === 0
      ? "occurs nowhere"
      : `${plural(literal.documents, "document")}, IDF share ${score(literal.share)}`;
  const part = total !== 0 ? ` (${Math.round((100 * value) / total)} %)` : "";
  return h(
    "li",
    { class: "why-word" },
    h(
      "p",
      { class: "why-line" },
      h(
        "span",
        { class: "why-name" },
        badge(i),
        literal.required && h("span", { class: "muted", text: "+" }),
        data(literal.text, 60),
      ),
      h("span", { class: "tabular nowrap", text: score(value) + part }),
    ),
    tinted(bar(Math.abs(value) / largest, value < 0), i),
    h("p", { class: "small muted", text: rare }),
  );
}

function tinted(element, i) {
  element.classList.add(`hue-${i % 6}`);
  return element;
}

// ---- per feature map ----

function parts(why) {
  const shown = (why.features ?? []).filter((part) => part.contribution !== 0);
  if (shown.length < 2) return null;
  const line = (part) =>
    h(
      "li",
      { class: "why-line" },
      data(part.feature, 60),
      h("span", { class: "tabular", text: score(part.contribution) }),
    );
  return h(
    "div",
    {},
    h("h5", { class: "why-heading", text: "By feature" }),
    h("ul", { class: "why-parts" }, shown.map(line)),
  );
}

// ---- per context ----

function contexts(why, reveal) {
  const listed = why.explain.contexts;
  const largest = Math.max(1e-300, ...listed.map((c) => Math.abs(c.contribution)));
  const rows = listed.map((context, i) => contextRow(why, context, i, largest, reveal));
  const list = h("ol", { class: "why-list why-contexts" }, rows.slice(0, FIRST));
  const others = why.explain.others;
  const rest =
    others?.contexts > 0 &&
    h("p", {
      class: "small muted",
      text: `${plural(others.contexts, "more context")} of less weight: ${score(others.contribution)} together`,
    });
  const all =
    rows.length > FIRST &&
    button(
      `Show all ${number(rows.length)}`,
      () => (
        list.append(...rows.slice(FIRST)),
        all.replaceWith(rest || ""),
        rows[FIRST].querySelector("button")?.focus()
      ),
      { class: "button quiet" },
    );
  return h("div", { class: "why-bycontext" }, h("h5", { class: "why-heading", text: "By context" }), list, all || rest);
}

function contextRow(why, context, i, largest, reveal) {
  const shown = why.evidence[i];
  const title = data(shown?.title || context.doc, 80);
  const without = context.without && change(context.without.rank, why.rank);
  return h(
    "li",
    {},
    h(
      "button",
      {
        type: "button",
        class: "why-context",
        on: { click: () => reveal(i + 1) },
        title: visible(`Go to this context in ${context.doc}`),
      },
      h("span", { class: "snippet-place tabular", text: String(i + 1) }),
      h("span", { class: "why-context-title" }, title),
      h("span", { class: "why-context-without muted", text: without ?? "" }),
      h("span", { class: "why-context-value tabular", text: score(context.contribution) }),
      bar(Math.abs(context.contribution) / largest, context.contribution < 0),
    ),
  );
}

function change(rank, now) {
  if (rank === null || rank === undefined) return "out of the list without it";
  return rank === now ? `still rank ${number(rank)} without it` : `rank ${number(rank)} without it`;
}
