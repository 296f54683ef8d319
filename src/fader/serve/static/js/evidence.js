// Evidence: a snippet with its mention and matched words marked, how far they stand, and where it is from.
//
// Offsets count code points, as the service gives them, and may overlap: a word inside the mention is both. Pieces
// without any mark are cut in the middle, so that no word of a hundred thousand letters gets through.
// Knows nothing of ranks and of where more evidence comes from.

import { cut, data, h, icon, plural, score, visible } from "./dom.js";

const PLAIN = 400;
const MARKED = 80;

/** One piece of evidence as a list item; `place` counts from 1 and is shown where given. */
export function snippet(item, place = null, passage = null) {
  return h(
    "li",
    { class: "snippet", tabindex: -1, dataset: place === null ? {} : { place } },
    place !== null && h("span", { class: "snippet-place tabular", "aria-hidden": "true", text: place }),
    h("p", { class: "snippet-text", dir: "auto" }, marked(item)),
    h("p", { class: "snippet-about" }, distances(item.matches), source(item, passage)),
  );
}

/** The text in pieces, each plain, a mention, a match, or both. */
export function marked(item) {
  const text = Array.from(item.snippet);
  const spans = [{ from: item.mention[0], to: item.mention[1], mention: true }];
  for (const match of item.matches) spans.push({ from: match.at[0], to: match.at[1], distance: match.distance });
  const edges = new Set([0, text.length]);
  for (const span of spans) edges.add(span.from).add(span.to);
  const at = [...edges].filter((edge) => edge >= 0 && edge <= text.length).sort((a, b) => a - b);
  return at.slice(1).map((to, i) => piece(text.slice(at[i], to), covering(spans, at[i], to)));
}

function covering(spans, from, to) {
  return spans.filter((span) => span.from <= from && to <= span.to && span.from < span.to);
}

function piece(characters, spans) {
  const shown = visible(middle(characters, spans.length ? MARKED : PLAIN));
  const match = spans.find((span) => !span.mention);
  const inner = match ? h("mark", { class: "match", title: away(match.distance), text: shown }) : shown;
  return spans.some((span) => span.mention) ? h("mark", { class: "mention" }, inner) : inner;
}

function middle(characters, limit) {
  if (characters.length <= limit) return characters.join("");
  const half = limit >> 1;
  return `${characters.slice(0, half).join("")} […] ${characters.slice(-half).join("")}`;
}

/** A distance in words: `3 words away`. */
export function away(distance) {
  return distance === 0 ? "inside the name" : `${plural(distance, "word")} away`;
}

function distances(matches) {
  return matches.map((match) =>
    h(
      "span",
      { class: "snippet-distance" },
      data(match.literal, 40, { class: "snippet-literal" }),
      ` ${away(match.distance)}`,
    ),
  );
}

function source(item, passage) {
  const title = data(titleOf(item.title || item.doc), 70, { class: "snippet-title" });
  const address = webAddress(item.url);
  const within = passage ? h("a", { href: passage(item), title: "Read on in the document" }, title) : title;
  const named = [
    within,
    address &&
      h(
        "a",
        {
          class: "snippet-out",
          href: address,
          rel: "noopener noreferrer",
          target: "_blank",
          title: visible(cut(item.url, 300)),
        },
        !passage && " source",
        icon("out"),
        h("span", { class: "sr-only", text: passage ? "Its source (opens in a new tab)" : " (opens in a new tab)" }),
      ),
  ];
  const unsure =
    item.confidence < 0.5 &&
    h(
      "span",
      { class: "muted", title: "How sure the annotation of this mention is" },
      ` · annotation ${score(item.confidence)}`,
    );
  return h("span", { class: "snippet-source", title: visible(cut(`document ${item.doc}`, 200)) }, named, unsure);
}

/** A title for people: names of files and pages have underscores in the place of blanks. */
export function titleOf(text) {
  return /\s/.test(text) ? text : text.replaceAll("_", " ");
}

/** An address that may be linked: of the web, and nothing else. */
export function webAddress(text) {
  try {
    const parsed = new URL(text);
    return parsed.protocol === "http:" || parsed.protocol === "https:" ? parsed.href : null;
  } catch {
    return null;
  }
}
