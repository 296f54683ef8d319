// A document: its text with all mentions, opened at the passage that an answer was found in.
//
// The address holds the document (`id`), the entity that is looked at, the query whose words are marked, and the tokens
// of the mention that is shown first (`at`). Knows /v1/document; nothing of ranks.

import { get } from "./api.js";
import { announce, cut, data, fill, h, icon, number, plural, visible } from "./dom.js";
import { titleOf, webAddress } from "./evidence.js";
import { load } from "./states.js";
import * as url from "./url.js";

const MOST_ENTITIES = 40;

export async function render(root, params, context) {
  const output = h("div", { class: "document" });
  fill(root, output);
  if (!params.id) return fill(output, h("p", { class: "lead", text: "No document is named." }));
  const asked = { id: params.id, q: params.q, index: params.index };
  await load(
    output,
    () => get("/v1/document", asked, { signal: context.signal }),
    (page) => shown(page, params),
  );
  const target = output.querySelector("#passage");
  if (!target) return;
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
  announce("Opened at the passage");
}

function shown(page, params) {
  document.title = `${visible(cut(titleOf(page.title || page.id), 60))} · Fader`;
  const address = webAddress(page.url);
  return [
    h(
      "header",
      { class: "document-head" },
      params.q && h("p", { class: "small" }, h("a", { href: back(params) }, "← Back to the answers")),
      h("h1", { class: "page-title" }, data(titleOf(page.title || page.id), 200)),
      h(
        "p",
        { class: "small muted" },
        `${plural(page.characters, "character")}, ${plural(page.mentions.length, "mention")}`,
        address && [
          " · ",
          h("a", { href: address, rel: "noopener noreferrer", target: "_blank" }, "source", icon("out")),
          h("span", { class: "sr-only", text: " (opens in a new tab)" }),
        ],
      ),
    ),
    page.text ? h("div", { class: "document-text", dir: "auto" }, text(page, params)) : nothing(),
    page.text.length > 0 && page.characters > page.text.length && h("p", { class: "muted", text: "The rest is not shown." }),
    entities(page, params),
  ];
}

function nothing() {
  return h("p", { class: "muted", text: "The text of this document is not kept in the index." });
}

function back({ q, question, type, as, index }) {
  return question ? url.link("/", { q: question, type, as, index }) : url.link("/", { q, type, index });
}

/** The text in paragraphs, each in pieces that are plain, a mention, a match, or both. */
function text(page, params) {
  const points = Array.from(page.text);
  const at = Number.parseInt(params.at ?? "", 10);
  const spans = [];
  for (const mention of page.mentions) {
    if (!mention.at) continue;
    const own = mention.entity === params.entity;
    spans.push({ from: mention.at[0], to: mention.at[1], mention, own, first: own && mention.tokens[0] === at });
  }
  if (params.entity && !spans.some((span) => span.first)) {
    const any = spans.find((span) => span.own);
    if (any) any.first = true;
  }
  for (const match of page.matches) spans.push({ from: match.at[0], to: match.at[1], match });
  const first = spans.find((span) => span.first);
  const sentence = first && page.sentences.find(([from, to]) => from <= first.from && first.from < to);
  if (sentence) spans.push({ from: sentence[0], to: sentence[1], sentence: true });
  const edges = new Set([0, points.length]);
  for (const span of spans) edges.add(span.from).add(span.to);
  points.forEach((c, i) => c === "\n" && edges.add(i).add(i + 1));
  const cuts = [...edges].filter((edge) => edge >= 0 && edge <= points.length).sort((a, b) => a - b);
  spans.sort((a, b) => a.from - b.from);
  const paragraphs = [[]];
  let opened = [];
  let next = 0;
  for (let i = 1; i < cuts.length; i += 1) {
    const [from, to] = [cuts[i - 1], cuts[i]];
    while (next < spans.length && spans[next].from <= from) opened.push(spans[next++]);
    opened = opened.filter((span) => span.to >= to);
    if (to === from + 1 && points[from] === "\n") {
      if (paragraphs.at(-1).length > 0) paragraphs.push([]);
    } else paragraphs.at(-1).push(piece(points.slice(from, to).join(""), opened, params));
  }
  return paragraphs.filter((parts) => parts.length > 0).map((parts) => h("p", {}, parts));
}

function piece(characters, spans, params) {
  const shown = visible(characters);
  const mention = spans.find((span) => span.own) ?? spans.find((span) => span.mention);
  let node = spans.some((span) => span.match) ? h("mark", { class: "match", text: shown }) : shown;
  if (mention?.own)
    node = h("mark", { class: "mention", id: mention.first ? "passage" : undefined, tabindex: mention.first ? -1 : undefined }, node);
  else if (mention)
    node = h(
      "a",
      {
        class: "document-mention",
        href: url.link("/entity", { id: mention.mention.entity, index: params.index }),
        title: visible(cut(mention.mention.name, 100)),
      },
      node,
    );
  return spans.some((span) => span.sentence) ? h("span", { class: "document-sentence" }, node) : node;
}

/** The entities of the document, those with most mentions first. */
function entities(page, params) {
  const counts = new Map();
  for (const { entity, name } of page.mentions) {
    const held = counts.get(entity) ?? { entity, name, count: 0 };
    held.count += 1;
    counts.set(entity, held);
  }
  if (counts.size === 0) return null;
  const sorted = [...counts.values()].sort((a, b) => b.count - a.count).slice(0, MOST_ENTITIES);
  return h(
    "section",
    { class: "document-entities" },
    h("h2", { class: "intro-heading", text: "Mentioned here" }),
    h(
      "ul",
      { class: "chips" },
      sorted.map(({ entity, name, count }) =>
        h(
          "li",
          {},
          h(
            "a",
            { class: "chip", href: url.link("/entity", { id: entity, index: params.index }) },
            data(name || entity, 60),
            count > 1 && h("span", { class: "tabular", text: number(count) }),
          ),
        ),
      ),
    ),
  );
}
